"""Walks that a small agent answers lead back to the table behind them, and SETs change that table as they say."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.drivers import bridge_mib as mib
from controller.drivers.driver import Answers, SnmpSet, SnmpValue, Walk
from lab.errors import NotExpressible, Unreadable
from lab.model import Port, Switch

PORTS = 12
SIZE_BYTE = 3
BASE = "1.3.6.1.2.1.17"


def if_index(number: int) -> int:
    return 100 + 3 * number


def switch(count: int = PORTS) -> Switch:
    ports = tuple(Port("sw", f"p{n}", n, 1000) for n in range(1, count + 1))
    return Switch("sw", "cisco_sg", "", "", 22, 161, "", "", "", ports)


@dataclass
class Agent:
    """A table of objects: OID to value, with PVID, acceptance and filters of all ports from the start."""

    values: dict[str, SnmpValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.put_members(1, range(1, PORTS + 1), range(1, PORTS + 1))
        for n in range(1, PORTS + 1):
            self.values |= {
                f"{BASE}.1.4.1.2.{n}": if_index(n),
                f"{BASE}.2.15.1.4.{n}": 1,
                f"{BASE}.7.1.4.5.1.1.{n}": 1,
                f"{BASE}.7.1.4.5.1.2.{n}": 1,
                f"{BASE}.7.1.4.5.1.3.{n}": 1,
                f"1.3.6.1.2.1.31.1.1.1.1.{if_index(n)}": f"p{n}".encode(),
                f"1.3.6.1.2.1.31.1.1.1.15.{if_index(n)}": 1000,
                f"1.3.6.1.2.1.2.2.1.7.{if_index(n)}": 1,
                f"1.3.6.1.2.1.26.5.1.1.1.{if_index(n)}.1": 1,
                f"1.3.6.1.2.1.26.2.1.1.11.{if_index(n)}.1": "0.0",
                f"1.3.6.1.2.1.10.7.10.1.1.{if_index(n)}": 1,
            }

    def put_members(self, vid: int, egress: range, untagged: range) -> None:
        def octets(ports: range) -> bytes:
            bits = "".join("1" if n in ports else "0" for n in range(1, 8 * SIZE_BYTE + 1))
            return int(bits, 2).to_bytes(SIZE_BYTE, "big")

        self.values[f"{BASE}.7.1.4.3.1.2.{vid}"] = octets(egress)
        self.values[f"{BASE}.7.1.4.3.1.4.{vid}"] = octets(untagged)
        self.values[f"{BASE}.7.1.4.3.1.5.{vid}"] = 1
        self.values[f"{BASE}.7.1.4.2.1.3.0.{vid}"] = vid

    def obey(self, put: SnmpSet) -> None:
        for oid, kind, value in put.objects:
            assert isinstance(value, {"int": int, "gauge": int, "octets": bytes, "oid": str}[kind])
            match oid.removeprefix(f"{BASE}.7.1.4.3.1.5.").split("."), value:
                case [vid], 4:
                    self.put_members(int(vid), range(0), range(0))
                case [vid], 6:
                    for column in "245":
                        del self.values[f"{BASE}.7.1.4.3.1.{column}.{vid}"]
                case _:
                    self.values[oid] = value

    def answer(self, *asked: Walk) -> Answers:
        return {
            walk: {oid[len(walk.oid) + 1 :]: v for oid, v in self.values.items() if oid.startswith(walk.oid + ".")}
            for walk in asked
        }


ALL = (*mib.walks(("link", "vlan", "statics", "stp", "energy")), mib.IF_HIGH_SPEED)
numbers = st.integers(1, PORTS)
port_sets = st.frozensets(numbers)


def test_nothing_is_asked_for_what_the_mibs_do_not_know() -> None:
    assert mib.walks(("energy",)) == ()
    assert mib.walks(("stp",)) == (mib.IF_NAME, mib.BASE_PORT_IF_INDEX, mib.STP_PORT_ENABLE)


@given(st.frozensets(st.integers(1, 64)))
def test_port_lists_round_trip(ports: frozenset[int]) -> None:
    assert mib.ports_of(mib.port_list(ports, 8)) == ports


def test_bridge_port_1_is_the_highest_bit() -> None:
    assert mib.port_list({1, 10}, 2) == b"\x80\x40"
    assert mib.ports_of(b"\x80") == {1}


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.integers(2, 4094), st.tuples(port_sets, port_sets), max_size=4), st.data())
def test_members_set_are_members_read(
    wanted: dict[int, tuple[frozenset[int], frozenset[int]]], data: st.DataObject
) -> None:
    agent, sw = Agent(), switch()
    at = mib.places(sw, agent.answer(*ALL))
    pvids = {place.name: data.draw(st.sampled_from((1, *wanted))) for place in at}
    only_tagged = {place.name: data.draw(st.booleans()) for place in at}
    for vid, (egress, bare) in wanted.items():
        agent.obey(mib.put_vlan(vid, exists=True))
        agent.obey(mib.put_members(vid, egress, bare & egress, SIZE_BYTE))
    for place in at:
        agent.obey(mib.put_pvid(place, pvids[place.name]))
        agent.obey(mib.put_acceptance(place, "tagged" if only_tagged[place.name] else "all"))
        agent.obey(mib.put_ingress_filtering(place, on=only_tagged[place.name]))
    table = mib.vlan_table(sw, at, agent.answer(*ALL))
    assert table.vids == {1, *wanted}
    for place in at:
        found = table.ports[place.name]
        inside = {vid for vid, (egress, _) in wanted.items() if place.bridge_port in egress}
        assert found.untagged_vids | found.tagged_vids == inside | {1}
        assert found.untagged_vids == {vid for vid in inside if place.bridge_port in wanted[vid][1]} | {1}
        assert found.pvid == pvids[place.name]
        assert (found.acceptance == "tagged") is found.ingress_filtering is only_tagged[place.name]


def test_a_vlan_destroyed_is_gone() -> None:
    agent, sw = Agent(), switch()
    at = mib.places(sw, agent.answer(*ALL))
    agent.obey(mib.put_vlan(20, exists=True))
    assert mib.vlan_table(sw, at, agent.answer(*ALL)).vids == {1, 20}
    agent.obey(mib.put_vlan(20, exists=False))
    assert mib.vlan_table(sw, at, agent.answer(*ALL)).vids == {1}


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.tuples(st.sampled_from((11, 12)), st.binary(min_size=6, max_size=6)), numbers, max_size=6))
def test_entries_set_are_entries_read(wanted: dict[tuple[int, bytes], int]) -> None:
    agent, sw = Agent(), switch()
    at = mib.places(sw, agent.answer(*ALL))
    for vid in (11, 12):
        agent.obey(mib.put_vlan(vid, exists=True))
        agent.values[f"{BASE}.7.1.4.2.1.3.0.{vid}"] = vid + 500
    for (vid, mac), number in wanted.items():
        agent.obey(mib.put_static(vid + 500, mac, at[number - 1], SIZE_BYTE))
    found = mib.statics(sw, at, agent.answer(*ALL))
    assert {(vid, mac): port for vid, table in found.items() for mac, port in table.items()} == {
        key: f"p{number}" for key, number in wanted.items()
    }
    for vid, mac in wanted:
        agent.obey(mib.put_static(vid + 500, mac, None, SIZE_BYTE))
    assert mib.statics(sw, at, agent.answer(*ALL)) == {}


def test_an_entry_of_a_shared_database_is_in_each_vlan_of_it() -> None:
    agent, sw = Agent(), switch()
    at = mib.places(sw, agent.answer(*ALL))
    agent.obey(mib.put_vlan(11, exists=True))
    agent.values[f"{BASE}.7.1.4.2.1.3.0.11"] = 1
    agent.obey(mib.put_static(1, b"\2\0\0\0\0\7", at[3], SIZE_BYTE))
    assert mib.statics(sw, at, agent.answer(*ALL)) == {vid: {b"\2\0\0\0\0\7": "p4"} for vid in (1, 11)}


@pytest.mark.parametrize("mbps", [10, 100, 1000, 10_000, None])
def test_speed_set_is_speed_read(mbps: int | None) -> None:
    agent, sw = Agent(), switch()
    at = mib.places(sw, agent.answer(*ALL))
    agent.obey(mib.put_speed(sw, at[4], 100))
    agent.obey(mib.put_speed(sw, at[4], mbps))
    assert mib.speeds_mbps(sw, at, agent.answer(*ALL)) == {p.name: mbps if p is at[4] else None for p in at}
    assert mib.operating_mbps(sw, at, agent.answer(*ALL))["p5"] == 1000


def test_a_speed_without_a_mau_type_is_not_expressible() -> None:
    sw = switch()
    with pytest.raises(NotExpressible, match="2500 Mb/s"):
        mib.put_speed(sw, mib.places(sw, Agent().answer(*ALL))[0], 2500)


def test_admin_spanning_tree_and_pause_by_port() -> None:
    agent, sw = Agent(), switch()
    at = mib.places(sw, agent.answer(*ALL))
    agent.obey(mib.put_admin(at[1], up=False))
    agent.obey(mib.put_stp(at[2], on=False))
    agent.values[f"{mib.PAUSE_ADMIN_MODE.oid}.{if_index(4)}"] = 4
    del agent.values[f"{mib.PAUSE_ADMIN_MODE.oid}.{if_index(5)}"]
    answers = agent.answer(*ALL)
    assert [name for name, up in mib.admin_up(sw, at, answers).items() if not up] == ["p2"]
    assert [name for name, on in mib.stp_enabled(sw, at, answers).items() if not on] == ["p3"]
    pauses = mib.pauses(sw, at, answers)
    assert [name for name, on in pauses.items() if on] == ["p4"]
    assert "p5" not in pauses


def test_a_lag_is_found_by_its_name() -> None:
    agent, sw = Agent(), switch(4)
    agent.values[f"{mib.IF_NAME.oid}.{if_index(9)}"] = b"po1"
    at = mib.places(sw, agent.answer(*ALL), {"lag1": "po1"})
    assert at[-1] == mib.Place("lag1", 9, if_index(9))
    with pytest.raises(Unreadable, match="po7"):
        mib.places(sw, agent.answer(*ALL), {"lag7": "po7"})


def read_all(sw: Switch, answers: Answers) -> None:
    at = mib.places(sw, answers)
    for read in (mib.admin_up, mib.speeds_mbps, mib.vlan_table, mib.statics):
        read(sw, at, answers)


@pytest.mark.parametrize(
    ("oid", "value", "said"),
    [
        (f"{BASE}.1.4.1.2.3", None, "no bridge port 3"),
        (f"1.3.6.1.2.1.31.1.1.1.1.{if_index(4)}", b"p3", "not p3"),
        (f"{BASE}.7.1.4.5.1.1.7", None, "no row 7"),
        (f"{BASE}.7.1.4.3.1.2.1", None, "VLAN 1 is there"),
        (f"{BASE}.7.1.4.3.1.2.1", 7, "no list of ports"),
        (f"{BASE}.7.1.4.5.1.1.7", b"\1", "no number"),
        (f"{BASE}.7.1.4.5.1.1.7.1", 1, "index 7.1"),
        (f"1.3.6.1.2.1.26.5.1.1.1.{if_index(2)}.1", 2, "p2 does not negotiate"),
        (f"1.3.6.1.2.1.2.2.1.7.{if_index(2)}", None, f"no row {if_index(2)}"),
        (f"{BASE}.7.1.3.1.1.3.1.2.0.0.0.0.1.0", b"\xc0", "not one port"),
    ],
)
def test_answers_that_contradict_each_other_are_unreadable(oid: str, value: SnmpValue | None, said: str) -> None:
    agent, sw = Agent(), switch()
    agent.values[f"{BASE}.7.1.3.1.1.4.1.2.0.0.0.0.1.0"] = 3
    agent.values[f"{BASE}.7.1.3.1.1.3.1.2.0.0.0.0.1.0"] = b"\x80"
    if value is None:
        del agent.values[oid]
    else:
        agent.values[oid] = value
    with pytest.raises(Unreadable, match=said):
        read_all(sw, agent.answer(*ALL))


def test_what_was_not_asked_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="dot1dBasePortIfIndex"):
        mib.places(switch(), {})
