"""Readers of walks return the table from which a small agent answers them; the SET of an admin status changes it."""

from collections.abc import Collection
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.drivers import bridge_mib as mib
from eee_testbed.controller.drivers.driver import AdminSet, Answers, SnmpSet, SnmpValue, Walk
from eee_testbed.controller.drivers.mib_rows import ports_of
from eee_testbed.controller.drivers.places import FINDERS, IF_ADMIN_STATUS, places, resolve
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Port, Switch
from tests.support.laws import law

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

    def put_members(self, vid: int, egress: Collection[int], untagged: Collection[int]) -> None:
        def octets(ports: Collection[int]) -> bytes:
            bits = "".join("1" if n in ports else "0" for n in range(1, 8 * SIZE_BYTE + 1))
            return int(bits, 2).to_bytes(SIZE_BYTE, "big")

        self.values[f"{BASE}.7.1.4.3.1.2.{vid}"] = octets(egress)
        self.values[f"{BASE}.7.1.4.3.1.4.{vid}"] = octets(untagged)
        self.values[f"{BASE}.7.1.4.3.1.5.{vid}"] = 1
        self.values[f"{BASE}.7.1.4.2.1.3.0.{vid}"] = vid

    def execute(self, request: SnmpSet) -> None:
        for oid, value in request.objects:
            assert oid in self.values
            self.values[oid] = value

    def answer(self, *asked: Walk) -> Answers:
        return {
            walk: {oid[len(walk.oid) + 1 :]: v for oid, v in self.values.items() if oid.startswith(walk.oid + ".")}
            for walk in asked
        }


ALL = (*FINDERS, *mib.VLAN_WALKS, IF_ADMIN_STATUS, mib.MAU_AUTONEG_ADMIN, mib.MAU_DEFAULT_TYPE)
numbers = st.integers(1, PORTS)
port_sets = st.frozensets(numbers)


@given(st.frozensets(st.integers(1, 64)))
def test_port_lists_are_read_from_the_highest_bit(ports: frozenset[int]) -> None:
    octets = sum(1 << 64 - number for number in ports).to_bytes(8, "big")
    assert ports_of(octets) == ports_of(octets.rstrip(b"\0")) == ports


@law(40)
@given(st.dictionaries(st.integers(2, 4094), st.tuples(port_sets, port_sets), max_size=4), st.data())
def test_members_set_are_members_read(
    wanted: dict[int, tuple[frozenset[int], frozenset[int]]], data: st.DataObject
) -> None:
    agent, sw = Agent(), switch()
    at = places(sw, agent.answer(*ALL))
    pvids = {place.name: data.draw(st.sampled_from((1, *wanted))) for place in at}
    only_tagged = {place.name: data.draw(st.booleans()) for place in at}
    for vid, (egress, bare) in wanted.items():
        agent.put_members(vid, egress, bare)
    for place in at:
        number, yes = place.bridge_port, only_tagged[place.name]
        agent.values[f"{mib.PVID.oid}.{number}"] = pvids[place.name]
        agent.values[f"{mib.ACCEPTABLE_FRAME_TYPES.oid}.{number}"] = 2 if yes else 1
        agent.values[f"{mib.INGRESS_FILTERING.oid}.{number}"] = 1 if yes else 2
    table = mib.vlan_table(sw, at, agent.answer(*ALL))
    assert table.vids == {1, *wanted}
    for place in at:
        found = table.ports[place.name]
        inside = {vid for vid, (egress, _) in wanted.items() if place.bridge_port in egress}
        assert found.untagged_vids | found.tagged_vids == inside | {1}
        assert found.untagged_vids == {vid for vid in inside if place.bridge_port in wanted[vid][1]} | {1}
        assert found.pvid == pvids[place.name]
        assert (found.acceptance == "tagged") is found.ingress_filtering is only_tagged[place.name]


def test_a_vlan_without_an_active_row_does_not_exist() -> None:
    agent, sw = Agent(), switch()
    agent.put_members(20, range(3), range(3))
    agent.values[f"{mib.VLAN_ROW_STATUS.oid}.20"] = 2
    assert mib.vlan_table(sw, places(sw, agent.answer(*ALL)), agent.answer(*ALL)).vids == {1}


@pytest.mark.parametrize(("mau", "mbps"), [(11, 10), (16, 100), (30, 1000), (54, 10_000)])
def test_a_fixed_speed_is_that_of_the_default_type(mau: int, mbps: int) -> None:
    agent, sw = Agent(), switch()
    at = places(sw, agent.answer(*ALL))
    agent.values[f"{mib.MAU_AUTONEG_ADMIN.oid}.{if_index(5)}.1"] = 2
    agent.values[f"{mib.MAU_DEFAULT_TYPE.oid}.{if_index(5)}.1"] = f"1.3.6.1.2.1.26.4.{mau}"
    assert mib.speeds_mbps(sw, at, agent.answer(*ALL)) == {p.name: mbps if p is at[4] else None for p in at}


def test_admin_status_by_port() -> None:
    agent, sw = Agent(), switch()
    at = places(sw, agent.answer(*ALL))
    agent.execute(resolve(sw, AdminSet("p2", up=False), agent.answer(*FINDERS)).request)
    assert [name for name, up in mib.admin_up(sw, at, agent.answer(*ALL)).items() if not up] == ["p2"]


def read_all(sw: Switch, answers: Answers) -> None:
    at = places(sw, answers)
    for read in (mib.admin_up, mib.speeds_mbps, mib.vlan_table):
        read(sw, at, answers)


@pytest.mark.parametrize(
    ("oid", "value", "said"),
    [
        (f"{BASE}.1.4.1.2.3", None, "no bridge port for p3"),
        (f"{BASE}.7.1.4.5.1.1.7", None, "row 7 is missing"),
        (f"{BASE}.7.1.4.3.1.2.1", None, "VLAN 1 exists"),
        (f"{BASE}.7.1.4.3.1.2.1", 7, "not a list of ports"),
        (f"{BASE}.7.1.4.5.1.1.7", b"\1", "not a number"),
        (f"{BASE}.7.1.4.5.1.1.7.1", 1, "index 7.1"),
        (f"1.3.6.1.2.1.26.5.1.1.1.{if_index(2)}.1", 2, "p2 does not negotiate"),
        (f"1.3.6.1.2.1.2.2.1.7.{if_index(2)}", None, f"row {if_index(2)} is missing"),
    ],
)
def test_answers_that_contradict_each_other_are_unreadable(oid: str, value: SnmpValue | None, said: str) -> None:
    agent, sw = Agent(), switch()
    if value is None:
        del agent.values[oid]
    else:
        agent.values[oid] = value
    with pytest.raises(Unreadable, match=said):
        read_all(sw, agent.answer(*ALL))


@pytest.mark.parametrize("left_out", FINDERS)
def test_what_was_not_asked_is_unreadable(left_out: Walk) -> None:
    asked = [walk for walk in FINDERS if walk != left_out]
    with pytest.raises(Unreadable, match=left_out.name):
        places(switch(), Agent().answer(*asked))
