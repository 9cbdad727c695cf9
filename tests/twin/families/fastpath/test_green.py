"""Green Ethernet: times reach the transmitters, and counters are shown, cleared and kept as history."""

import re
from collections.abc import Callable
from typing import Any

import eee_engine
import pytest
from eee_engine import VirtualEngine

from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.lldp import host_announcement

MS_PS = 1_000_000_000
S_PS = 1000 * MS_PS


@pytest.fixture
def linked(device: SwitchDevice, engine: VirtualEngine) -> Any:
    """Ports 1/0/1 and 1/0/2, up, each with a host that supports EEE."""
    hosts = []
    for number in (1, 2):
        mac = bytes([2, 0, 0, 0, 0, number])
        host = engine.add_host(f"n{number}", mac=mac)
        engine.set_port(host, eee=True)
        engine.connect(host, device.engine_port[number])
        hosts.append((host, mac))
    engine.run_until(engine.now_ps() + 10 * S_PS)
    return hosts


def send(engine: VirtualEngine, hosts: Any, count: Any, gap_ps: Any) -> Any:
    """Send frames from the first host to the second."""
    (a, a_mac), (_, b_mac) = hosts
    start = engine.now_ps() + MS_PS
    for n in range(count):
        engine.send(a, start + n * gap_ps, b_mac + a_mac + b"\x88\xb5" + bytes(46))
    return engine.run_until(start + count * gap_ps)


def figure(text: Any, label: Any) -> Any:
    return int(re.search(rf"{re.escape(label)}\.+ (\d+)", text)[1])


def settle(engine: VirtualEngine, seconds: Any = 10) -> Any:
    engine.run_until(engine.now_ps() + seconds * S_PS)


def test_eee_is_off_from_the_factory_and_on_by_command(
    device: SwitchDevice, engine: VirtualEngine, enabled: Any, linked: list[tuple[int, bytes]]
) -> None:
    assert len(linked) == 2
    port = device.engine_port[1]
    assert not engine.port(port)["eee_active"]
    enabled.do("configure", "interface 1/0/1-1/0/2", "green-mode eee")
    settle(engine)
    assert engine.port(port)["eee_active"]
    shown = enabled.do("show green-mode")
    assert "1/0/1     Disabled  Inactive  Enabled" in shown
    assert "1/0/3     Disabled  Inactive  Disabled" in shown
    enabled.do("no green-mode eee")
    settle(engine)
    assert not engine.port(port)["eee_active"]


def test_idle_time_is_the_true_hold(
    device: SwitchDevice, engine: VirtualEngine, enabled: Any, linked: list[tuple[int, bytes]]
) -> None:
    """Frames every 2 ms: a hold of 1 ms lets the transmitter sleep between them, one of 5 ms does not."""
    port = device.engine_port[2]
    enabled.do("configure", "interface 1/0/1-1/0/2", "green-mode eee", "green-mode eee tx-idle-time 1000")
    settle(engine)
    send(engine, linked, 5, 2 * MS_PS)  # let the switch learn the addresses
    before = engine.counters(port)["tx_lpi_events"]
    send(engine, linked, 100, 2 * MS_PS)
    assert 98 <= engine.counters(port)["tx_lpi_events"] - before <= 102
    enabled.do("green-mode eee tx-idle-time 5000")
    send(engine, linked, 5, 2 * MS_PS)
    before = engine.counters(port)["tx_lpi_events"]
    send(engine, linked, 100, 2 * MS_PS)
    assert engine.counters(port)["tx_lpi_events"] - before <= 1


def test_wake_time_is_the_true_tw(engine: VirtualEngine, enabled: Any, linked: list[tuple[int, bytes]]) -> None:
    def trip_us() -> Any:
        arrived = [at for _, at, _ in send(engine, linked, 1, 50 * MS_PS)]
        assert len(arrived) == 1
        return (arrived[0] - sent_at) / 1e6

    enabled.do("configure", "interface 1/0/1-1/0/2", "green-mode eee", "green-mode eee tx-idle-time 10")
    settle(engine)
    send(engine, linked, 5, 2 * MS_PS)
    settle(engine, 1)
    trips = []
    for line in (
        None,
        "green-mode eee tx-wake-time 200",
        "green-mode eee tx-wake-time 1",
        "no green-mode eee tx-wake-time",
    ):
        if line is not None:
            enabled.do(line)
        settle(engine, 1)
        sent_at = engine.now_ps() + MS_PS
        trips.append(trip_us())
    hardware_us = eee_engine.phy_profiles()["1000BASE-T"]["wake_us"]
    assert trips[1] - trips[0] == pytest.approx(200 - hardware_us, abs=0.01)
    assert trips[2] == pytest.approx(trips[0], abs=0.01)  # no faster than the PHY can
    assert trips[3] == pytest.approx(trips[0], abs=0.01)


def test_an_unsaved_time_is_lost_on_power_loss(
    device: SwitchDevice, engine: VirtualEngine, enabled: Any, linked: list[tuple[int, bytes]], reboot: Any
) -> None:
    enabled.do("configure", "interface 1/0/1-1/0/2", "green-mode eee", "end", "write memory confirm")
    enabled.do("configure", "interface 1/0/1-1/0/2", "green-mode eee tx-idle-time 5000", "end")
    reboot()
    settle(engine)
    send(engine, linked, 5, 2 * MS_PS)
    before = engine.counters(device.engine_port[2])["tx_lpi_events"]
    send(engine, linked, 100, 2 * MS_PS)
    assert engine.counters(device.engine_port[2])["tx_lpi_events"] - before >= 98


def test_removing_the_times_restores_the_hardware_defaults(another: Callable[..., SwitchDevice], clock: Any) -> None:
    del clock
    device = another(lpi_hold_us=1000.0, lpi_wake_us=60.0, hold_limit_us=(0.0, 2000.0), wake_limit_us=(0.0, 100.0))
    p = device.personality

    def now() -> Any:
        port = p.effect().ports[3]
        return port.lpi_hold_us, port.lpi_wake_us

    assert now() == (None, None)  # untouched
    p.config.change([3], tx_idle_us=600, tx_wake_us=80)
    assert now() == (600.0, 80.0)
    p.config.change([3], tx_idle_us=60_000, tx_wake_us=60_000)
    assert now() == (2000.0, 100.0)  # clipped by the hardware
    p.config.change([3], tx_idle_us=0, tx_wake_us=0)
    assert now() == (1000.0, 60.0)


def test_counters_of_one_port_are_shown_and_cleared(
    device: SwitchDevice, engine: VirtualEngine, clock: Any, enabled: Any, linked: list[tuple[int, bytes]]
) -> None:
    enabled.do("configure", "interface 1/0/1-1/0/2", "green-mode eee", "green-mode eee tx-idle-time 1000", "end")
    settle(engine)
    send(engine, linked, 50, 2 * MS_PS)
    counters = engine.counters(device.engine_port[2])
    shown = enabled.do("show green-mode 1/0/2")
    assert figure(shown, "Tx Low Power Idle Event Count") == counters["tx_lpi_events"] > 40
    assert figure(shown, "Tx Low Power Idle Duration (uSec)") == counters["tx_lpi_us"] // 10 * 10 > 0
    assert figure(shown, "Rx Low Power Idle Event Count") == counters["rx_lpi_events"]
    assert figure(shown, "Transmit Idle Time") == 1000
    assert "Tw_sys_tx (usec)......................... 17" in shown
    assert "Remote Tw_sys_tx (usec).................. 17" in shown
    clock.now_s += 90
    assert enabled.do("clear green-mode statistics 1/0/2") == ""
    clock.now_s += 61
    shown = enabled.do("show green-mode 1/0/2")
    assert figure(shown, "Tx Low Power Idle Event Count") == 0
    assert "Time Since Counters Last Cleared......... 0 day 0 hr 1 min 1 sec" in shown
    assert "Cleared......... 0 day 0 hr 2 min 31 sec" in enabled.do("show green-mode 1/0/1")
    assert engine.counters(device.engine_port[2])["tx_lpi_events"] == counters["tx_lpi_events"]  # SNMP's do not jump
    assert figure(enabled.do("show green-mode 1/0/1"), "Tx Low Power Idle Event Count") > 0


def test_traffic_counters_are_cleared_apart(
    engine: VirtualEngine, device: SwitchDevice, enabled: Any, linked: list[tuple[int, bytes]]
) -> None:
    send(engine, linked, 20, MS_PS)
    shown = enabled.do("show interface ethernet 1/0/2")
    assert figure(shown, "Total Packets Transmitted Successfully") == 21  # one announces the switch (LLDP)
    assert figure(shown, "Unicast Packets Transmitted") == 20
    assert figure(shown, "Multicast Packets Transmitted") == 1
    assert figure(enabled.do("show interface 1/0/1"), "Packets Received Without Error") == 20
    assert "1/0/1      1280" in enabled.do("show interface counters")
    enabled.do("clear counters 1/0/2")
    assert figure(enabled.do("show interface ethernet 1/0/2"), "Unicast Packets Transmitted") == 0
    assert figure(enabled.do("show interface ethernet 1/0/1"), "Unicast Packets Received") == 20
    assert engine.counters(device.engine_port[2])["out_ucast"] == 20


def test_a_port_hears_and_announces_as_it_is_told(
    device: SwitchDevice, engine: VirtualEngine, enabled: Any, linked: list[tuple[int, bytes]]
) -> None:
    host, mac = linked[0]
    engine.set_lldp(host, host_announcement("n1", mac, "eth0"), receive=False)
    settle(engine)
    assert "1/0/1      1       02:00:00:00:00:01     02:00:00:00:00:01   n1" in enabled.do(
        "show lldp remote-device all"
    )
    enabled.do("configure", "interface 1/0/1", "no lldp receive", "no lldp transmit")
    assert "no lldp transmit\nno lldp receive\n" in device.personality.render()
    settle(engine, 1)  # for the frame that takes the announcement back
    sent = engine.counters(device.engine_port[1])["out_mcast"]
    settle(engine, 100)
    assert engine.counters(device.engine_port[1])["out_mcast"] == sent
    enabled.do("exit", "exit")
    silent = enabled.do("show lldp remote-device all")
    assert "LLDP Remote Device Summary" in silent
    assert "n1" not in silent
    enabled.do("configure", "interface 1/0/1", "lldp receive", "lldp transmit", "exit", "exit")
    settle(engine, 35)
    assert "n1" in enabled.do("show lldp remote-device all")
    assert engine.counters(device.engine_port[1])["out_mcast"] > sent


def test_addresses_are_shown_and_forgotten(
    engine: VirtualEngine, enabled: Any, linked: list[tuple[int, bytes]]
) -> None:
    send(engine, linked, 2, MS_PS)
    assert "1        02:00:00:00:00:01   1/0/1                  1        Learned" in enabled.do("show mac-addr-table")
    assert "02:00:00:00:00:01" not in enabled.do("show mac-addr-table interface 1/0/2")
    assert "02:00:00:00:00:01" in enabled.do("show mac-addr-table 02:00:00:00:00:01 1")
    assert enabled.do("clear mac-addr-table all") == ""
    assert "Learned" not in enabled.do("show mac-addr-table")


class TestHistory:
    def test_samples_are_taken_at_the_interval(self, clock: Any, cli: Any, alarms: list[Any], enabled: Any) -> None:
        del cli
        assert [a.seconds for a in alarms if a.waiting] == [3600]
        enabled.do("configure", "green-mode eee-lpi-history sampling-interval 30", "exit")
        waiting = [a for a in alarms if a.waiting]
        assert [a.seconds for a in waiting] == [30]
        assert waiting[0].daemon
        clock.now_s += 30
        waiting[0].ring()
        clock.now_s += 12
        shown = enabled.do("show green-mode eee-lpi-history interface 1/0/1").splitlines()
        assert shown[1] == "Sampling Interval (sec)........................ 30"
        assert shown[2] == "Total No. of Samples to Keep................... 168"
        assert shown[-2] == "1      0d:00:00:12          0              0"
        assert len([a for a in alarms if a.waiting and a is not waiting[0]]) == 1

    def test_percentages(
        self, engine: VirtualEngine, clock: Any, alarms: list[Any], enabled: Any, linked: list[tuple[int, bytes]]
    ) -> None:
        del linked
        enabled.do("configure", "green-mode eee-lpi-history sampling-interval 30")
        enabled.do("interface 1/0/1-1/0/2", "green-mode eee", "end")
        settle(engine)
        enabled.do("clear green-mode statistics all")
        for _ in range(2):
            settle(engine, 30)
            clock.now_s += 30
            alarms[-1].ring()
        settle(engine, 30)
        clock.now_s += 30
        shown = enabled.do("show green-mode eee-lpi-history interface 1/0/1").splitlines()
        rows = [line.split() for line in shown if "0d:" in line]
        assert [r[:2] for r in rows] == [["2", "0d:00:00:30"], ["1", "0d:00:01:00"]]
        assert all(98 <= int(percent) <= 100 for r in rows for percent in r[2:])
        assert "Percentage LPI time per Stack.................. 7" in shown  # 2 of 28 ports

    def test_only_so_many_are_kept_and_power_loss_forgets(
        self, device: SwitchDevice, clock: Any, alarms: list[Any], enabled: Any, reboot: Callable[[], SwitchDevice]
    ) -> None:
        enabled.do("configure", "green-mode eee-lpi-history max-samples 3", "exit")
        for _ in range(5):
            clock.now_s += 3600
            alarms[-1].ring()
        shown = enabled.do("show green-mode eee-lpi-history interface 1/0/1").splitlines()
        assert [line.split()[0] for line in shown if "0d:" in line] == ["5", "4", "3"]
        device.power_off()
        assert not [a for a in alarms if a.waiting]
        reboot()
        assert alarms[-1].waiting
        assert "0d:" not in enabled.do("show green-mode eee-lpi-history interface 1/0/1")
