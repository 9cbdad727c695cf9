"""What the tables show of a switch whose state is known."""

from collections.abc import Callable

import pytest

from eee_testbed.twin.switch.lldp import host_announcement
from tests.support.twin.snmp_bench import SECOND_PS, Bench

IF = ".1.3.6.1.2.1.2.2.1"
IFX = ".1.3.6.1.2.1.31.1.1.1"
Q = ".1.3.6.1.2.1.17.7.1"
MAU = ".1.3.6.1.2.1.26"
EEE = ".1.3.6.1.4.1.89.149"
LLDP = ".1.0.8802.1.1.2.1"
HOST_A, HOST_B = bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2])


def numbers(values: dict[str, str], column: str) -> dict[str, int]:
    """Index -> value of an integer or counter column."""
    below = column + "."
    return {k.removeprefix(below): int(v.split()[-1]) for k, v in values.items() if k.startswith(below)}


def chatter(bench: Bench, frames: int, size_byte: int = 1000) -> None:
    start = bench.engine.now_ps()
    for n in range(frames):
        for own, other, host in ((HOST_A, HOST_B, bench.hosts[0]), (HOST_B, HOST_A, bench.hosts[1])):
            frame = other + own + b"\x08\x00" + bytes(size_byte - 14)
            bench.engine.send(host, start + n * SECOND_PS // 1000, frame)
    bench.run_for(1)


def test_interfaces_follow_the_links(ros: Bench) -> None:
    oper = numbers(ros.manager.walk(f"{IF}.8"), f"{IF}.8")
    assert oper["1"] == oper["2"] == 1
    assert set(oper.values()) == {1, 2}
    assert numbers(ros.manager.walk(f"{IFX}.15"), f"{IFX}.15")["1"] == 1000
    ros.engine.cut(ros.cables[0])
    ros.run_for(5)
    assert numbers(ros.manager.walk(f"{IF}.8"), f"{IF}.8")["1"] == 2
    assert numbers(ros.manager.walk(f"{IFX}.15"), f"{IFX}.15")["1"] == 0


def test_names_and_descriptions(ros: Bench) -> None:
    with ros.device.change():
        ros.device.personality.set_alias(1, "to n1")
    reply = ros.manager.get(f"{IFX}.1.1", f"{IF}.2.1", f"{IFX}.18.1", f"{IFX}.1.1000")
    assert list(reply.values.values()) == [
        'STRING: "gi1/0/1"',
        'STRING: "gigabitethernet1/0/1"',
        'STRING: "to n1"',
        'STRING: "po1"',
    ]


def test_counters_count_what_was_sent(ros: Bench) -> None:
    chatter(ros, 50)
    values = ros.manager.walk(IFX)
    engine = ros.engine.counters(ros.device.ports[0].engine_port)
    assert engine["in_ucast"] == 50
    assert numbers(values, f"{IFX}.7")["1"] == 50
    assert numbers(values, f"{IFX}.6")["1"] == engine["in_octets"] == 50 * 1004
    assert numbers(ros.manager.walk(f"{IF}.10"), f"{IF}.10")["1"] == engine["in_octets"]


def test_a_counter_set_back_is_a_discontinuity(ros: Bench) -> None:
    chatter(ros, 5)
    assert numbers(ros.manager.walk(f"{IFX}.19"), f"{IFX}.19")["1"] == 0
    ros.engine.clear_counters(ros.device.ports[0].engine_port)
    ros.agent.changed()
    when = numbers(ros.manager.walk(f"{IFX}.19"), f"{IFX}.19")
    up_ticks = int(ros.manager.get(".1.3.6.1.2.1.1.3.0").lines[0].split()[-1])
    assert 0 < when["1"] <= up_ticks
    assert when["2"] == 0


@pytest.mark.parametrize(("shared", "ids"), [(False, {1: 1, 11: 11}), (True, {1: 1, 11: 1})])
def test_fdb_ids_show_the_kind_of_learning(
    make_bench: Callable[..., Bench], ids: dict[int, int], *, shared: bool
) -> None:
    bench = make_bench("ros", shared_learning=shared)
    with bench.device.change():
        bench.device.personality.create_vlan(11)
    found = numbers(bench.manager.walk(f"{Q}.4.2.1.3"), f"{Q}.4.2.1.3.0")
    assert {int(vid): fdb_id for vid, fdb_id in found.items()} == ids
    assert numbers(bench.manager.walk(f"{Q}.4.10"), f"{Q}.4.10") == {"0": 2 if shared else 1}


def test_learned_addresses_in_both_tables(ros: Bench) -> None:
    chatter(ros, 3)
    assert numbers(ros.manager.walk(f"{Q}.2.2.1.2"), f"{Q}.2.2.1.2") == {"1.2.0.0.0.0.1": 1, "1.2.0.0.0.0.2": 2}
    assert numbers(ros.manager.walk(".1.3.6.1.2.1.17.4.3.1.2"), ".1.3.6.1.2.1.17.4.3.1.2") == {
        "2.0.0.0.0.1": 1,
        "2.0.0.0.0.2": 2,
    }
    assert set(numbers(ros.manager.walk(f"{Q}.2.2.1.3"), f"{Q}.2.2.1.3").values()) == {3}


def test_port_lists_begin_with_the_most_significant_bit(ros: Bench) -> None:
    with ros.device.change():
        ros.device.personality.create_vlan(11)
        ros.device.personality.set_vlan_ports(11, egress=frozenset({1, 2, 10}), untagged=frozenset({1}))
    lists = ros.manager.walk(f"{Q}.4.2.1.4.0.11") | ros.manager.walk(f"{Q}.4.2.1.5.0.11")
    octets = [bytes.fromhex(v.removeprefix("Hex-STRING: ")) for v in lists.values()]
    assert octets == [b"\xc0\x40" + bytes(6), b"\x80" + bytes(7)]  # 26 ports and 32 LAGs


def test_mau_types_and_negotiation(ros: Bench) -> None:
    reply = ros.manager.get(f"{MAU}.2.1.1.3.1.1", f"{MAU}.2.1.1.11.25.1", f"{MAU}.2.1.1.3.5.1", f"{MAU}.5.1.1.4.1.1")
    assert list(reply.values.values()) == [
        "OID: .1.3.6.1.2.1.26.4.30",
        "OID: .1.3.6.1.2.1.26.4.54",
        "OID: .0.0",
        "INTEGER: 3",
    ]


def test_eee_as_configured_and_as_in_force(ros: Bench) -> None:
    with ros.device.change():
        ros.device.personality.set_eee(2, on=False)
    ros.run_for(10)
    values = ros.manager.walk(EEE)
    assert numbers(values, f"{EEE}.1") == {"0": 1}
    assert [numbers(values, f"{EEE}.2.1.{column}")["1"] for column in (1, 4)] == [1, 1]
    assert [numbers(values, f"{EEE}.2.1.{column}")["2"] for column in (1, 4)] == [2, 2]
    assert values[f"{EEE}.2.1.2.1"] in {"Hex-STRING: 60", 'STRING: "`"'}


def test_pause_and_duplex(ros: Bench) -> None:
    with ros.device.change():
        ros.device.personality.config.ports[1].flow_control = "on"
    ros.run_for(10)
    values = ros.manager.walk(".1.3.6.1.2.1.10.7")
    assert numbers(values, ".1.3.6.1.2.1.10.7.10.1.1")["1"] == 4
    assert numbers(values, ".1.3.6.1.2.1.10.7.2.1.19") == {str(n): 3 if n <= 2 else 1 for n in range(1, 27)}


def test_a_netgear_has_no_eee_and_mau_objects(fastpath: Bench) -> None:
    assert "No Such Object" in fastpath.manager.get(f"{EEE}.1.0").lines[0]
    assert "No Such Object" in fastpath.manager.get(f"{MAU}.2.1.1.3.1.1").lines[0]
    assert "No Such Instance" in fastpath.manager.get(f"{IF}.8.9999").lines[0]
    assert fastpath.manager.get(".1.3.6.1.2.1.1.2.0").lines[0].endswith("OID: .1.3.6.1.4.1.4526.100.1.36")


def test_walks_agree_whatever_their_stride(ros: Bench) -> None:
    slow = ros.manager.run("snmpwalk", ".1.3.6.1.2.1.17").lines
    for stride in ("1", "7", "50", "1000"):
        assert ros.manager.run("snmpbulkwalk", f"-Cr{stride}", ".1.3.6.1.2.1.17").lines == slow


def test_version_1_walks_without_counter64(ros: Bench) -> None:
    ros.manager.user_options = ("-v1", "-c", "glance")
    columns = {
        name.split(".")[11] for name in (line.split(" = ")[0] for line in ros.manager.run("snmpwalk", IFX).lines)
    }
    assert columns == {"1", "2", "3", "4", "5", "14", "15", "16", "17", "18", "19"}


@pytest.mark.parametrize("family", ["ros", "fastpath"])
def test_a_neighbour_is_in_the_lldp_mib_while_it_announces_itself(
    make_bench: Callable[..., Bench], family: str
) -> None:
    bench = make_bench(family)
    nic = bench.hosts[1]
    bench.engine.set_lldp(nic, host_announcement("n2", HOST_B, "eth1"), receive=False)
    bench.run_for(5)
    local = bench.manager.walk(f"{LLDP}.3")
    port = bench.device.ports[1]
    assert f'"{port.name}"' in local[f"{LLDP}.3.7.1.3.{port.if_index}"]
    assert local[f"{LLDP}.3.2.0"] == "Hex-STRING: 02 5E 00 00 01 00 "
    heard = bench.manager.walk(f"{LLDP}.4")
    cells = {name.split(".")[11]: (name.split(".")[12:], value) for name, value in heard.items()}
    (_time_mark, number, index), name = cells["9"]
    assert (number, index, name) == (str(port.if_index), "1", 'STRING: "n2"')
    assert cells["5"][1] == cells["7"][1] == "Hex-STRING: 02 00 00 00 00 02 "
    assert cells["12"][1].startswith("Hex-STRING: 01 00")
    bench.engine.set_lldp(nic, host_announcement("n2", HOST_B, "eth1"), transmit=False, receive=False)
    bench.run_for(5)
    assert list(bench.manager.walk(f"{LLDP}.4").values()) == ["No Such Object available on this agent at this OID"]
