"""From loads through outlets to meters, with an engine that has nothing but ledgers."""

import json
from dataclasses import dataclass

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.mains.entity_sensor import PowerSensor
from eee_testbed.twin.mains.mains import Mains
from eee_testbed.twin.power.loads import Loads, NodeLoad, SwitchLoad
from eee_testbed.twin.strips import FAMILIES, Strip
from eee_testbed.twin.truth.truth import (
    NodePowerTruth,
    PortPowerTruth,
    SensorTruth,
    StripTruth,
    SupplyTruth,
    SwitchPowerTruth,
)
from tests.support.twin.fake_ledgers import FakeLedgers
from tests.support.twin.strip_bench import Clock, RecordingAgent

GUDE = "1.3.6.1.4.1.28507.58.1"
SUPPLY = SupplyTruth(capacity_watt=100.0, efficiency=((0.0, 0.8),))
PORT = PortPowerTruth(up_watt={1000: 1.0}, deep_fraction=0.2, unlinked_watt=0.1, shutdown_watt=0.05, wake_joule=0.001)
SWITCH = SwitchPowerTruth(base_watt=20.0, boot_watt=5.0, port=PORT, supply=SUPPLY)
NODE = NodePowerTruth(idle_watt=50.0, full_watt=100.0, nic=PORT, supply=SUPPLY)


@dataclass
class Rig:
    """sw1 with ports 1 and 2, n01 with NIC 11 at port 1; sw1 on outlet 1 (and 3 if asked), n01 on outlet 2."""

    ledgers: FakeLedgers
    clock: Clock
    loads: Loads
    mains: Mains
    strip: Strip
    agent: RecordingAgent
    switched: list[tuple[str, bool]]
    cpu_s: list[float]

    def run(self, seconds: float, *, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.ledgers.run(seconds / ticks)
            self.clock.now_s += seconds / ticks
            self.mains.tick(self.clock.now_s)

    def switch(self, outlet: int, *, on: bool) -> None:
        self.strip.plan(self.strip.outlets[outlet], (0.0, on))


def rig(*, second_supply: bool = False, truth: StripTruth | None = None) -> Rig:
    ledgers, clock, cpu_s, switched = FakeLedgers({1: "active", 2: "down", 11: "active"}), Clock(), [0.0], []
    loads = Loads(
        ledgers,
        [SwitchLoad("sw1", SWITCH, (1, 2)), NodeLoad("n01", NODE, 11, lambda: cpu_s[0])],
        cables=[(1, 11)],
        seed=1,
    )
    family = FAMILIES["gude"]
    strip = Strip("pdu1", family, family.models[0], truth or StripTruth(lag_s=0.0), seed=1, clock_s=clock)
    agent = RecordingAgent()
    strip.bind(agent)
    feeds = {("pdu1", 1): "sw1", ("pdu1", 2): "n01"} | ({("pdu1", 3): "sw1"} if second_supply else {})
    mains = Mains(loads, [strip], feeds, on_power=lambda device, on: switched.append((device, on)))
    return Rig(ledgers, clock, loads, mains, strip, agent, switched, cpu_s)


def test_outlets_deliver_what_the_devices_draw() -> None:
    found = rig()
    found.run(2.0)
    assert found.loads.power("sw1").ac_watt == pytest.approx((20.0 + 1.0 + 0.1) / 0.8)
    assert found.loads.power("n01").ac_watt == pytest.approx((50.0 + 1.0) / 0.8)
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.1") == round(21.1 / 0.8)
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.2") == round(51.0 / 0.8)


def test_each_direction_of_a_link_sleeps_by_itself() -> None:
    found = rig()
    found.ledgers.state[11] = "quiet"  # the node's transmitter, which is half of both ends
    found.run(1.0)
    assert found.loads.power("sw1").port_watt == pytest.approx(0.5 + 0.5 * 0.2 + 0.1)
    assert found.loads.power("n01").port_watt == pytest.approx(0.5 + 0.5 * 0.2)
    assert found.loads.power("sw1").watt_by_port == pytest.approx({1: 0.6, 2: 0.1})


def test_a_shut_port_keeps_its_residue() -> None:
    found = rig()
    found.ledgers.admin_up[2] = False
    found.run(1.0)
    assert found.loads.power("sw1").port_watt == pytest.approx(1.0 + 0.05)


def test_cpu_use_between_samples_sets_the_nodes_power() -> None:
    found = rig()
    found.cpu_s[0] = 1.0
    found.run(2.0)
    assert found.loads.power("n01").base_watt == pytest.approx(75.0)
    found.run(2.0)
    assert found.loads.power("n01").base_watt == pytest.approx(50.0)


@pytest.mark.parametrize("ticks", [1, 3, 10])
def test_energy_does_not_depend_on_how_often_one_samples(ticks: int) -> None:
    found = rig()
    found.run(10.0, ticks=ticks)
    found.ledgers.state[1] = "quiet"
    found.run(10.0, ticks=ticks)
    assert found.loads.power("sw1").energy_joule == pytest.approx((10 * 21.1 + 10 * (20 + 0.1 + 0.6)) / 0.8)


def test_a_state_change_between_two_samples_is_not_missed() -> None:
    found = rig()
    found.ledgers.run(0.3)
    found.ledgers.state[1] = "quiet"
    found.ledgers.run(0.4)
    found.ledgers.state[1] = "active"
    found.ledgers.run(0.3)
    found.mains.tick(1.0)
    assert found.loads.power("sw1").watt_by_port[1] == pytest.approx(0.5 * (0.6 + 0.4 * 0.2) + 0.5)


def test_switching_an_outlet_takes_power_from_the_device_and_gives_it_back() -> None:
    found = rig()
    found.run(5.0)
    energy_joule = found.loads.power("sw1").energy_joule
    assert found.strip.on_set([(f"{GUDE}.3.1.2.1.3.1", "int", 0)]) == (0, 0)
    assert found.mains.due_in_s() == pytest.approx(0.02)
    found.run(0.02)
    assert found.switched == [("sw1", False)]
    found.run(10.0)
    assert found.loads.power("sw1").ac_watt == 0.0
    assert found.loads.power("sw1").energy_joule == pytest.approx(energy_joule + 0.02 * 21.1 / 0.8)
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.1") == 0
    found.switch(1, on=True)
    found.run(0.02)
    assert found.switched == [("sw1", False), ("sw1", True)]
    found.run(1.0)
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.1") == round(21.1 / 0.8)


def test_a_device_with_two_outlets_shares_and_survives_one() -> None:
    found = rig(second_supply=True)
    found.run(1.0)
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.1") == found.agent.value(f"{GUDE}.5.5.2.1.4.3") == round(21.1 / 1.6)
    found.switch(1, on=False)
    found.run(1.0)
    found.run(1.0)
    assert found.switched == []
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.3") == round(21.1 / 0.8)
    found.switch(3, on=False)
    found.run(1.0)
    assert found.switched == [("sw1", False)]


def test_a_switch_that_boots_draws_more() -> None:
    ledgers = FakeLedgers({1: "down"})
    booting = [True]
    loads = Loads(ledgers, [SwitchLoad("sw1", SWITCH, (1,), lambda: booting[0])])
    loads.advance(1.0)
    assert loads.power("sw1").base_watt == 25.0
    booting[0] = False
    loads.advance(2.0)
    assert loads.power("sw1").base_watt == 20.0


def test_an_idle_lab_asks_the_engine_once_a_tick() -> None:
    found = rig()
    before = found.ledgers.asked
    found.run(10.0, ticks=10)
    assert found.ledgers.asked - before == 10


def test_the_report_is_plain_data_with_the_truth_beside_what_is_shown() -> None:
    found = rig()
    found.run(2.0)
    report = json.loads(json.dumps(found.mains.report()))
    assert report["devices"]["sw1"]["ac_watt"] == pytest.approx(21.1 / 0.8)
    assert report["devices"]["sw1"]["truth"]["base_watt"] == 20.0
    assert report["devices"]["sw1"]["outlets"] == ["pdu1:1"]
    assert report["strips"]["pdu1"]["outlets"]["1"]["shown_watt"] == pytest.approx(21.1 / 0.8)
    assert report["strips"]["pdu1"]["outlets"]["4"]["feeds"] is None


def test_a_frozen_meter_hides_a_change_and_only_there() -> None:
    found = rig()
    found.run(2.0)
    found.mains.freeze("pdu1", on=True, outlet=1)
    found.ledgers.state[1] = found.ledgers.state[11] = "quiet"
    found.run(4.0)
    outlets = found.mains.report()["strips"]["pdu1"]["outlets"]
    assert outlets[1]["shown_watt"] == pytest.approx(21.1 / 0.8)
    assert outlets[2]["shown_watt"] == pytest.approx(50.2 / 0.8)
    with pytest.raises(KeyError):
        found.mains.freeze("pdu9", on=True)


@pytest.mark.parametrize(
    ("feeds", "named"),
    [({("pdu1", 13): "sw1"}, "pdu1:13"), ({("pdu2", 1): "sw1"}, "pdu2:1"), ({("pdu1", 1): "sw9"}, "feeds sw9")],
)
def test_an_impossible_outlet_is_named(feeds: dict[tuple[str, int], str], named: str) -> None:
    found = rig()
    with pytest.raises(LabError, match=named):
        Mains(found.loads, [found.strip], feeds, on_power=lambda _device, _on: None)


def test_a_switchs_own_sensor_shows_watts_at_its_own_pace() -> None:
    found, agent = rig(), RecordingAgent()
    found.mains.add_sensor("sw1", PowerSensor("sw1", SensorTruth(refresh_s=5.0), seed=1), agent, lambda: 77.0)
    sensor = "1.3.6.1.2.1.99.1.1.1"
    found.run(4.0, ticks=4)
    assert agent.column(f"{sensor}.4") == [0]
    found.run(1.0)
    assert agent.column(f"{sensor}.4") == [round(21.1 / 0.8)]
    assert [agent.column(f"{sensor}.{column}") for column in (1, 2, 3, 5, 7, 8)] == [[6], [9], [0], [1], [7700], [5000]]


def test_a_late_caller_does_not_change_watts() -> None:
    """The ledgers are read some milliseconds after the caller read its clock."""
    found = rig()
    found.ledgers.run(1.05)
    found.mains.tick(1.0)
    assert found.loads.power("sw1").dc_watt == pytest.approx(21.1)


def test_a_pulled_plug_takes_power_whatever_the_outlet_does() -> None:
    found = rig(second_supply=True)
    found.run(1.0)
    found.mains.plug("sw1", on=False)
    found.run(0.1)
    assert found.switched == [("sw1", False)]
    found.run(2.0)
    assert found.loads.power("sw1").ac_watt == 0.0
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.1") == 0
    found.switch(1, on=False)
    found.run(1.0)
    found.mains.plug("sw1", on=True)  # the other outlet is on
    found.run(0.1)
    assert found.switched == [("sw1", False), ("sw1", True)]
    found.run(2.0)
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.3") == round(21.1 / 0.8)
