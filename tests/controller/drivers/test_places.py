"""A port is found by its name, in whichever spelling, and never by its position.

Shapes of names and numbers are those of recordings: a Catalyst 3560 (no bridge table outside VLAN contexts, Gi0/N as
10100+N), a CBS350 (te1 is bridge port 49), M4300 and EdgeSwitch (ifDescr in words).
"""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.drivers.driver import AdminSet, Answers, SnmpValue
from eee_testbed.controller.drivers.interface_names import interface_key
from eee_testbed.controller.drivers.places import (
    BASE_PORT_IF_INDEX,
    FINDERS,
    IF_ADMIN_STATUS,
    IF_ALIAS,
    IF_DESCR,
    IF_NAME,
    Place,
    places,
    resolve,
)
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Port, Switch
from tests.support.laws import law


def switch(*names: str, stated: Mapping[str, int] | None = None) -> Switch:
    numbers = stated or {}
    ports = (Port("sw", name, numbers.get(name, n), 1000, name in numbers) for n, name in enumerate(names, 1))
    return Switch("sw", "cisco_sg", "", "", 22, 161, "", "", "", tuple(ports))


def answers(
    names: Mapping[int, str],
    bridge: Mapping[int, int] | None = None,
    descriptions: Mapping[int, str] | None = None,
    aliases: Mapping[int, str] | None = None,
) -> Answers:
    """An agent's columns by ifIndex; `bridge` maps bridge ports to ifIndex."""

    def text(column: Mapping[int, str] | None) -> dict[str, SnmpValue]:
        return {str(index): name.encode() for index, name in (column or {}).items()}

    return {
        IF_NAME: text(names),
        IF_DESCR: text(descriptions),
        IF_ALIAS: text(aliases),
        BASE_PORT_IF_INDEX: {str(number): index for number, index in (bridge or {}).items()},
    }


def indices(sw: Switch, found: Answers) -> dict[str, int]:
    return {place.name: place.if_index for place in places(sw, found)}


C3560 = answers(
    {1: "Vl1", **{10_100 + n: f"Gi0/{n}" for n in range(1, 49)}, **{14_000 + n: f"Fa0/{n}" for n in (1, 2)}},
    descriptions={
        1: "Vlan1",
        **{10_100 + n: f"GigabitEthernet0/{n}" for n in range(1, 49)},
        **{14_000 + n: f"FastEthernet0/{n}" for n in (1, 2)},
    },
)


def test_the_long_name_of_a_catalyst_is_not_the_first_port() -> None:
    """On a Catalyst 3560 "FastEthernet0/1" read Gi0/1, whose place in the inventory it had."""
    assert indices(switch("FastEthernet0/1", "GigabitEthernet0/1"), C3560) == {
        "FastEthernet0/1": 14_001,
        "GigabitEthernet0/1": 10_101,
    }
    without = {**C3560, IF_NAME: {}, IF_DESCR: {}}
    for sw in (switch("FastEthernet0/3"), switch("1/0/1"), switch("gi1/0/1")):
        for found in (C3560, without):
            with pytest.raises(Unreadable, match=f"no interface {sw.ports[0].name}"):
                places(sw, found)


def test_a_unit_that_only_one_side_names_is_another_interface() -> None:
    shown = answers({n: f"0/{n}" for n in range(1, 9)}, {n: n for n in range(1, 9)})
    assert indices(switch("0/3"), shown) == {"0/3": 3}
    with pytest.raises(Unreadable, match=r"no interface 1/0/3.*it has 0/1, 0/2"):
        places(switch("1/0/3"), shown)


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("Gi0/1", ("gi0/1", "GigabitEthernet0/1", "GigabitEthernet 0/1")),
        ("te1/0/2", ("TenGigabitEthernet1/0/2", "tengigabitethernet1/0/2", "Te1/0/2")),
        ("1/0/5", ("Unit: 1 Slot: 0 Port: 5 Gigabit - Level", "Unit: 1 Slot: 0 Port: 5 10G - Level")),
        ("0/5", ("Slot: 0 Port: 5 Gigabit - Level",)),
        ("1/g11", ("1/G11",)),
        ("lag3", ("Po3", "port-channel 3", "lag 3", "ch3", "Port-channel3")),
    ],
)
def test_spellings_of_one_interface(name: str, spellings: tuple[str, ...]) -> None:
    assert {interface_key(spelling) for spelling in spellings} == {interface_key(name)}
    assert interface_key(name) is not None


def test_names_that_differ_in_more_than_their_spelling_stay_apart() -> None:
    apart = ["0/1", "1/0/1", "gi1/0/1", "te1/0/1", "gi1/0/11", "1/g1", "fa1/0/1", "Gi1/0/1.1", "po1", "vlan1"]
    assert len({interface_key(name) for name in apart}) == len(apart)
    assert {interface_key(text) for text in ("", "Null", "StackSub-St1-1", "CPU Interface: 0/5/1")} == {None}


def test_numbers_are_the_devices() -> None:
    shown = answers(
        {**{n: f"gi{n}" for n in range(1, 25)}, **{n: f"te{n - 48}" for n in range(49, 53)}},
        {n: n for n in (*range(1, 25), *range(49, 53))},
    )
    sw = switch(*(f"gi{n}" for n in range(1, 25)), *(f"te{n}" for n in range(1, 5)))
    assert places(sw, shown)[24] == Place("te1", 49, 49)
    assert resolve(sw, AdminSet("te1", up=False), shown).request.objects == ((f"{IF_ADMIN_STATUS.oid}.49", 2),)


@law(60)
@given(st.permutations(range(1, 9)), st.permutations(range(1, 9)), st.sampled_from(("gi1/0/", "GigabitEthernet1/0/")))
def test_whatever_the_numbers_are_a_port_is_where_its_name_is(order: list[int], bridge: list[int], word: str) -> None:
    shown = answers(
        {100 + index: f"{word}{n}" for n, index in enumerate(order, 1)},
        {number: 100 + index for index, number in enumerate(bridge, 1)},
    )
    sw = switch(*(f"gi1/0/{n}" for n in range(1, 9)))
    for n, place in enumerate(places(sw, shown), 1):
        assert place == Place(f"gi1/0/{n}", bridge[order[n - 1] - 1], 100 + order[n - 1])


def test_columns_of_names_that_contradict_each_other_are_refused() -> None:
    shown = answers({1: "gi1", 2: "gi2"}, {1: 1, 2: 2}, {1: "gigabitethernet2", 2: "gigabitethernet1"})
    with pytest.raises(Unreadable, match=r"gi1 fits two interfaces \(ifName has ifIndex 1 and ifDescr has ifIndex 2"):
        places(switch("gi1", "gi2"), shown)


def test_a_name_that_several_interfaces_have_is_refused() -> None:
    with pytest.raises(Unreadable, match="several interfaces called gi1"):
        places(switch("gi1"), answers({1: "gi1", 2: "Gi1"}, {1: 1, 2: 2}))


def test_one_interface_cannot_be_two_ports() -> None:
    with pytest.raises(Unreadable, match="one interface, ifIndex 7, for both gi1 and GigabitEthernet1"):
        places(switch("gi1", "GigabitEthernet1"), answers({7: "gi1"}, {1: 7}))


def test_what_people_wrote_counts_only_if_nothing_else_names_ports() -> None:
    uplinks = answers({1: "gi1", 2: "gi2"}, {1: 1, 2: 2}, aliases={1: "gi2", 2: "gi3"})
    assert indices(switch("gi1", "gi2"), uplinks) == {"gi1": 1, "gi2": 2}
    with pytest.raises(Unreadable, match="no interface gi3"):
        places(switch("gi2", "gi3"), uplinks)
    bare = answers({1: "1", 2: "2"}, {1: 1, 2: 2}, {1: "Ethernet", 2: "Ethernet"}, {1: "gi2", 2: "gi1"})
    assert indices(switch("gi1", "gi2"), bare) == {"gi1": 2, "gi2": 1}
    with pytest.raises(Unreadable, match="no interface gi1"):
        places(switch("gi1", "gi3"), bare)


def test_ports_without_a_bridge_port_are_found_all_the_same() -> None:
    """Cisco shows the bridge ports of one VLAN's context."""
    assert places(switch("Gi0/1"), C3560) == (Place("Gi0/1", None, 10_101),)


def test_a_stated_number_stands_in_for_names() -> None:
    nameless = answers({}, {1: 101, 49: 149})
    with pytest.raises(Unreadable, match="`bridge_ports`"):
        places(switch("gi1", "te1"), nameless)
    assert places(switch("gi1", "te1", stated={"gi1": 1, "te1": 49}), nameless) == (
        Place("gi1", 1, 101),
        Place("te1", 49, 149),
    )
    with pytest.raises(Unreadable, match="no bridge port 50, which `bridge_ports`"):
        places(switch("te1", stated={"te1": 50}), nameless)


def test_a_stated_number_that_contradicts_the_device_is_refused() -> None:
    shown = answers({101: "gi1", 149: "te1"}, {1: 101, 49: 149})
    assert places(switch("te1", stated={"te1": 49}), shown) == (Place("te1", 49, 149),)
    for number in (1, 50):
        with pytest.raises(Unreadable, match=f"bridge port 49 for te1, and `bridge_ports` in hosts.yml says {number}"):
            places(switch("te1", stated={"te1": number}), shown)
    assert places(switch("gi1", stated={"gi1": 7}), answers({101: "gi1"})) == (Place("gi1", 7, 101),)


def test_a_lag_is_found_by_what_the_switch_calls_it() -> None:
    shown = answers({1: "gi1", 1000: "Po1"}, {1: 1, 65: 1000})
    assert places(switch("gi1"), shown, {"lag1": "po1"})[-1] == Place("lag1", 65, 1000)
    with pytest.raises(Unreadable, match="no interface po7, the interface of lag7"):
        places(switch("gi1"), shown, {"lag7": "po7"})


def test_a_set_names_what_stands_at_its_index() -> None:
    found = resolve(switch("GigabitEthernet0/2"), AdminSet("GigabitEthernet0/2", up=True), C3560)
    assert found.request.objects == ((f"{IF_ADMIN_STATUS.oid}.10102", 1),)
    assert found.names == {f"{IF_NAME.oid}.10102": b"Gi0/2", f"{IF_DESCR.oid}.10102": b"GigabitEthernet0/2"}
    assert set(FINDERS) >= {IF_NAME, IF_DESCR}
