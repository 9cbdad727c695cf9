"""Power from the real engine's ledgers, on its virtual clock."""

import eee_engine
import pytest

from eee_testbed.twin.mains.mains import Mains
from eee_testbed.twin.power.loads import Loads, SwitchLoad
from eee_testbed.twin.truth.truth import PortPowerTruth, SupplyTruth, SwitchPowerTruth
from tests.support.twin.strip_bench import bench

GUDE = "1.3.6.1.4.1.28507.58.1"
PS = 10**12


def test_watts_follow_the_engines_lpi_to_the_meter() -> None:
    """Two switches with one sleeping link: EEE off, then on; each end saves what it must, and the meter shows it."""
    engine = eee_engine.VirtualEngine(seed=1)
    made = [
        engine.add_switch(name, phys=["1000BASE-T"], port_names=["1"], base_mac=bytes([2, 0, 0, 0, index, 0]))
        for index, name in enumerate(("sw1", "sw2"))
    ]
    ports = [switch["ports"][0] for switch in made]
    for port in ports:
        engine.set_lpi(port, mode="deep", timing={"hold_us": 1000.0, "quiet_us": 22_000.0, "refresh_us": 200.0})
        engine.set_port(port, eee=False, admin_up=True)
    engine.connect(*ports)
    port_truth = PortPowerTruth(up_watt={1000: 1.0}, deep_fraction=0.2)
    power = SwitchPowerTruth(base_watt=20.0, port=port_truth, supply=SupplyTruth(capacity_watt=100.0))
    loads = Loads(
        engine,
        [SwitchLoad(name, power, (port,)) for name, port in zip(("sw1", "sw2"), ports, strict=True)],
        cables=[(ports[0], ports[1])],
    )
    found = bench("gude", "Expert Power Control 8226")
    mains = Mains(loads, [found.strip], {("pdu1", 1): "sw1", ("pdu1", 2): "sw2"}, on_power=lambda _device, _on: None)

    def run_until(until_s: int) -> None:
        for second in range(int(found.clock.now_s) + 1, until_s + 1):
            engine.run_until(second * PS)
            found.clock.now_s = float(second)
            mains.tick(float(second))

    run_until(20)  # the link is up, awake
    assert loads.power("sw1").ac_watt == pytest.approx(21.0, abs=1e-6)
    for port in ports:
        engine.set_port(port, eee=True)
    run_until(40)  # an idle link sleeps, but for refreshes: 200 of 22200 us
    refresh_share = 200 / 22_200
    asleep_watt = 20.0 + 0.2 * (1 - refresh_share) + refresh_share
    assert loads.power("sw1").ac_watt == pytest.approx(asleep_watt, rel=1e-3)
    milliampere, volt, permille = (int(str(found.agent.value(f"{GUDE}.5.5.2.1.{column}.1"))) for column in (5, 6, 8))
    assert milliampere * volt * permille / 1e6 == pytest.approx(asleep_watt, abs=0.12)


def two_hosts() -> tuple["eee_engine.VirtualEngine", list[int], list[int], list[tuple[int, int]]]:
    """A switch with two hosts, EEE on all ports: engine, switch ports, NICs, cables."""
    engine = eee_engine.VirtualEngine(seed=1)
    switch = engine.add_switch("sw1", phys=["1000BASE-T"] * 3, port_names=["1", "2", "3"], base_mac=b"\2\0\0\0\1\0")
    nics = [engine.add_host(f"n0{index}", mac=bytes([2, 0, 0, 0, 0, index])) for index in (1, 2)]
    for port in (*switch["ports"], *nics):
        engine.set_lpi(port, mode="deep", timing={"hold_us": 50.0})
        engine.set_port(port, eee=True, admin_up=True)
    cables = list(zip(switch["ports"], nics, strict=False))
    for cable in cables:
        engine.connect(*cable)
    return engine, switch["ports"], nics, cables


POWER = SwitchPowerTruth(
    base_watt=20.0,
    port=PortPowerTruth(
        up_watt={10: 0.2, 100: 0.3, 1000: 1.0},
        deep_fraction=0.2,
        unlinked_watt=0.1,
        shutdown_watt=0.05,
        wake_joule=1e-3,
        bit_joule=1e-9,
        frame_joule=1e-6,
    ),
    supply=SupplyTruth(capacity_watt=100.0),
)


@pytest.mark.parametrize("step_ps", [10 * PS, 3 * PS, PS // 7])
def test_energy_under_traffic_does_not_depend_on_sampling(step_ps: int) -> None:
    def energy_joule(step_ps: int) -> float:
        engine, ports, nics, cables = two_hosts()
        loads = Loads(engine, [SwitchLoad("sw1", POWER, tuple(ports))], cables=cables)
        frame = bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]) + bytes(486)
        for index in range(400):
            engine.send(nics[0], 5 * PS + index * (PS // 100), frame)
        for at_ps in (*range(step_ps, 10 * PS, step_ps), 10 * PS):
            engine.run_until(at_ps)
            loads.advance(at_ps / PS)
        assert engine.time_in_state(nics[0])["wakes"] > 300
        return loads.power("sw1").energy_joule

    assert energy_joule(step_ps) == pytest.approx(energy_joule(PS), rel=1e-9)


def test_wakes_and_traffic_cost_what_the_truth_says() -> None:
    engine, ports, nics, cables = two_hosts()
    loads = Loads(engine, [SwitchLoad("sw1", POWER, tuple(ports))], cables=cables)
    plain = POWER.model_copy(update={"port": POWER.port.model_copy(update={"wake_joule": 0.0, "bit_joule": 0.0})})
    plain = plain.model_copy(update={"port": plain.port.model_copy(update={"frame_joule": 0.0})})
    without = Loads(engine, [SwitchLoad("sw1", plain, tuple(ports))], cables=cables)
    frame = bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]) + bytes(486)
    for index in range(100):
        engine.send(nics[0], 5 * PS + index * (PS // 100), frame)
    engine.run_until(8 * PS)
    loads.advance(8.0)
    without.advance(8.0)
    wakes = sum(engine.time_in_state(port)["wakes"] for port in ports)
    counters = [engine.counters(port) for port in ports]
    octets = sum(counter["out_octets"] for counter in counters)
    frames = sum(counter["out_ucast"] + counter["out_mcast"] + counter["out_bcast"] for counter in counters)
    assert frames >= 100
    assert wakes >= 100
    more_joule = loads.power("sw1").energy_joule - without.power("sw1").energy_joule
    assert more_joule == pytest.approx(wakes * 1e-3 + octets * 8e-9 + frames * 1e-6, rel=1e-6)


def test_shut_slow_and_unlinked_ports() -> None:
    engine, ports, _nics, cables = two_hosts()
    for port in ports:
        engine.set_port(port, eee=False)
    engine.set_port(ports[1], admin_up=False)
    loads = Loads(engine, [SwitchLoad("sw1", POWER, tuple(ports))], cables=cables)
    engine.run_until(10 * PS)
    loads.advance(10.0)
    engine.run_until(20 * PS)
    loads.advance(20.0)
    assert loads.power("sw1").watt_by_port == pytest.approx({ports[0]: 1.0, ports[1]: 0.05, ports[2]: 0.1})
    engine.set_port(ports[0], advertised_mbps=[100])
    engine.run_until(30 * PS)
    loads.advance(30.0)
    engine.run_until(31 * PS)
    loads.advance(31.0)
    assert loads.power("sw1").watt_by_port[ports[0]] == pytest.approx(0.3)


def test_a_switch_without_power_draws_nothing_and_its_neighbours_ports_lose_link() -> None:
    engine, ports, nics, cables = two_hosts()
    loads = Loads(engine, [SwitchLoad("sw1", POWER, tuple(ports))], cables=cables)
    engine.run_until(10 * PS)
    loads.advance(10.0)
    energy_joule = loads.power("sw1").energy_joule
    engine.set_power(0, on=False)  # the only switch
    loads.set_powered("sw1", on=False)
    engine.run_until(20 * PS)
    loads.advance(20.0)
    assert loads.power("sw1").ac_watt == 0.0
    assert loads.power("sw1").energy_joule == energy_joule
    assert not any(engine.port(nic)["oper_up"] for nic in nics)
