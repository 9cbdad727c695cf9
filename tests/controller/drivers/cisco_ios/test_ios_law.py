"""The law of drivers for Cisco IOS: obeying what is rendered leads to `after`, and reading the switch says so."""

import re
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.drivers.cisco_ios.driver import CiscoIos
from eee_testbed.controller.drivers.driver import ASPECTS, Command, Line, Query, Show, aspects_of
from eee_testbed.controller.model.lag_ports import new_lag
from eee_testbed.controller.model.port_forms import one_untagged
from eee_testbed.controller.model.state import (
    Change,
    PortChange,
    PortState,
    State,
    StaticsChange,
    SwitchState,
    VlanChange,
    diff,
    replay,
)
from eee_testbed.lab.errors import NotExpressible
from eee_testbed.lab.model import Port, Switch
from tests.support.laws import law
from tests.support.switches.text_back import put_text_back, text_of
from tests.support.switches.toy_ios import ToyIos

ALL = frozenset(ASPECTS)
DRIVER = CiscoIos()
NAMES = [f"Gi1/0/{n}" for n in range(1, 4)]
FULL = [name.replace("Gi", "GigabitEthernet") for name in NAMES]
MACS = [bytes.fromhex(f"02ee000000{n:02x}") for n in range(4)]


def switch_of(names: list[str], **quirks: bool) -> Switch:
    ports = tuple(Port("sw1", name, n, 1000) for n, name in enumerate(names, start=1))
    return Switch("sw1", "cisco_ios", "WS-C2960X", "192.0.2.9", 22, 161, "admin", "/p", "/c", ports, quirks=quirks)


SWITCH = switch_of(NAMES)


def observe(toy: ToyIos, switch: Switch = SWITCH, base: SwitchState | None = None) -> SwitchState:
    aspects = ALL
    queries = DRIVER.queries(switch, aspects)
    return DRIVER.parse(switch, aspects, {q: toy.type(q.command) for q in queries if isinstance(q, Show)}, base)


def type_line(toy: ToyIos, order: Command) -> None:
    assert isinstance(order, Line)
    output = toy.type(order.text)
    for question, answer in order.replies:
        if toy.asks:
            assert re.search(question, toy.asks)
            output += toy.type(answer)
    assert not DRIVER.refusal(order, output), (order, output)
    assert re.search(order.prompt, toy.prompt), (order, toy.prompt)


def execute(toy: ToyIos, orders: tuple[Command, ...]) -> None:
    for order in orders:
        type_line(toy, order)
    assert not toy.where


vids = st.frozensets(st.sampled_from([1, 2, 3, 4, 11, 12, 600, 1006, 4094]), max_size=6)


@st.composite
def port_states(draw: st.DrawFn, lag: int | None = None) -> PortState:
    port = PortState(
        admin_up=draw(st.booleans()),
        speed_mbps=draw(st.sampled_from([None, 10, 100, 1000])),
        eee=draw(st.booleans()),
        stp=draw(st.booleans()),
        flow_control=draw(st.booleans()),
        lag=lag,
    )
    if lag is not None:
        return port
    held = draw(vids)
    pvid = draw(st.sampled_from([1, 2, 11, 600]))
    return one_untagged(
        PortState(
            admin_up=port.admin_up,
            speed_mbps=port.speed_mbps,
            eee=port.eee,
            stp=port.stp,
            flow_control=port.flow_control,
            tagged_vids=held,
            untagged_vids=frozenset(),
            pvid=pvid,
        )
    )


@st.composite
def switch_states(draw: st.DrawFn, members: dict[str, int] | None = None) -> SwitchState:
    ports = {name: draw(port_states((members or {}).get(name))) for name in NAMES}
    for number in sorted(set((members or {}).values())):
        aggregate = draw(port_states())
        ports[f"lag{number}"] = one_untagged(
            PortState(
                admin_up=aggregate.admin_up,
                tagged_vids=aggregate.vids,
                untagged_vids=frozenset(),
                pvid=aggregate.pvid,
                stp=aggregate.stp,
            )
        )
    tables = st.dictionaries(st.sampled_from(MACS), st.sampled_from(sorted(ports)), min_size=1)
    access = {port.pvid for port in ports.values() if port.vids == {port.pvid}}  # typing these makes the VLAN
    return SwitchState(
        ports,
        draw(vids) | {1} | access,
        draw(st.dictionaries(st.sampled_from([1, 11, 600]), tables, max_size=2)),
        draw(st.booleans()),
    )


def _lead(toy: ToyIos, switch: Switch, aim: SwitchState) -> None:
    """Change by change to `aim`, read back after each."""
    now = State({"sw1": observe(toy, switch)})
    for change in diff(now, State({"sw1": aim})):
        now = replay([change], now)
        execute(toy, DRIVER.render(switch, [change]))
        found = observe(toy, switch)
        if isinstance(change, PortChange) and found.vids != now.switches["sw1"].vids:
            assert found.vids == now.switches["sw1"].vids | {change.after.pvid}  # an access VLAN makes itself
            now = State({"sw1": found})
        assert found == now.switches["sw1"], change


@law(30)
@given(switch_states(), switch_states(), st.booleans())
def test_obeying_leads_to_the_state_and_reading_says_so(one: SwitchState, two: SwitchState, isl: bool) -> None:  # noqa: FBT001
    toy = ToyIos(FULL, knows_isl=isl)
    switch = switch_of(NAMES, trunk_encapsulation=True) if isl else SWITCH
    factory = observe(toy, switch)
    assert {replace(port, found_mode=None) for port in factory.ports.values()} == {PortState()}
    assert (factory.vids, factory.statics, factory.stp) == ({1}, {}, True)
    for aim in (one, two):
        _lead(toy, switch, aim)
        assert observe(toy, switch) == aim


@law(20)
@given(switch_states(), switch_states(), st.sampled_from(["11", "600,4094", "none", "all"]))
def test_the_text_comes_back_with_the_settings(one: SwitchState, two: SwitchState, allowed: str) -> None:
    toy = ToyIos(FULL)
    _lead(toy, SWITCH, one)
    for line in ("configure terminal", f"interface {FULL[0]}", f"switchport trunk allowed vlan {allowed}", "end"):
        toy.type(line)

    def ask(queries: Iterable[Query]) -> dict[Query, str]:
        return {query: toy.type(query.command) for query in queries if isinstance(query, Show)}

    before, running, wanted = observe(toy), toy.running(), text_of(DRIVER, SWITCH, ask)
    changes = diff(State({"sw1": before}), State({"sw1": two}))
    execute(toy, DRIVER.render(SWITCH, changes))
    execute(toy, DRIVER.render(SWITCH, [change.inverse for change in reversed(changes)]))
    toy.vlans = set(before.vids)  # an access VLAN makes itself
    assert observe(toy) == before

    def typed(orders: Iterable[Command]) -> None:
        for order in orders:
            type_line(toy, order)

    def frames() -> list[tuple[set[int], int]]:
        held = (port.members() for port in toy.ports.values())
        return [(vids - set(range(1002, 1006)), native) for vids, native in held]  # those four carry nothing

    put_text_back(DRIVER, SWITCH, ask, typed, wanted, frames)
    assert toy.running() == running


@law(40)
@given(
    st.sampled_from(["dynamic auto", "dynamic desirable"]),
    st.sampled_from([1, 2, 41]),
    st.sampled_from([1, 9]),
    vids,
    switch_states(),
    st.booleans(),
)
def test_a_port_that_negotiates_comes_back_as_it_was(
    mode: str,
    access: int,
    native: int,
    allowed: frozenset[int],
    aim: SwitchState,
    isl: bool,  # noqa: FBT001
) -> None:
    toy = ToyIos(FULL, knows_isl=isl)
    switch = switch_of(NAMES, trunk_encapsulation=True) if isl else SWITCH
    toy.vlans |= {access, native}
    port = toy.ports[FULL[0]]
    port.mode, port.access, port.native, port.allowed = mode, access, native, set(allowed)
    before, running = observe(toy, switch), toy.running()
    changes = diff(State({"sw1": before}), State({"sw1": aim}))
    execute(toy, DRIVER.render(switch, changes))
    if toy.vlans - aim.vids:  # an access VLAN makes itself
        toy.vlans = set(aim.vids)
    execute(toy, DRIVER.render(switch, [change.inverse for change in reversed(changes)]))
    assert observe(toy, switch) == before
    assert toy.ports[FULL[0]] == port
    assert toy.running() == running


MEMBERS = {"Gi1/0/1": 7, "Gi1/0/2": 7}


@law(12)
@given(switch_states(MEMBERS), switch_states(MEMBERS))
def test_lags_are_ports_and_their_members_keep_out_of_it(one: SwitchState, two: SwitchState) -> None:
    toy = ToyIos(FULL, channels={FULL[0]: 7, FULL[1]: 7})
    assert observe(toy).ports["Gi1/0/1"] == PortState(lag=7)
    for aim in (one, two):
        _lead(toy, SWITCH, aim)
        assert observe(toy) == aim
    assert "interface Port-channel7" in toy.running()


def test_a_lag_comes_to_be_with_its_first_port_and_ceases_to_be_with_its_last() -> None:
    """Its interface stays in the configuration without ports, and is no LAG then."""
    toy = ToyIos(FULL)
    start, shut, inside = observe(toy), PortState(admin_up=False), PortState(admin_up=False, lag=7)
    ports = [(name, start.ports[name]) for name in NAMES[:2]]
    execute(toy, DRIVER.render(SWITCH, [PortChange("sw1", name, before, shut) for name, before in ports]))
    apart = observe(toy)
    assert [apart.ports[name] for name, _ in ports] == [shut, shut]
    execute(toy, DRIVER.render(SWITCH, [PortChange("sw1", name, shut, inside) for name, _ in ports]))
    expected = {**apart.ports, **dict.fromkeys(NAMES[:2], inside), "lag7": new_lag(DRIVER.capabilities)}
    assert observe(toy) == replace(apart, ports=expected)
    execute(toy, DRIVER.render(SWITCH, [PortChange("sw1", name, inside, shut) for name, _ in ports]))
    assert observe(toy) == apart
    assert "interface Port-channel7" in toy.running()


def test_a_port_leaves_its_lag_with_its_vlans_and_joins_with_them_only() -> None:
    """What `controller.planning.members` does where `lag_members_match`; another order the switch refuses."""
    toy = ToyIos(FULL, channels={FULL[0]: 7, FULL[1]: 7})
    toy.ports[FULL[1]].channel_mode = "active"
    tagged = frozenset({11, 12})
    _lead(toy, SWITCH, replace(observe(toy), vids=frozenset({1, 11, 12})))
    start = observe(toy)
    trunk = one_untagged(PortState(untagged_vids=frozenset(), tagged_vids=tagged, pvid=1))
    _lead(toy, SWITCH, replace(start, ports={**start.ports, "lag7": trunk}))
    start, name = observe(toy), NAMES[1]
    up = start.ports[name]
    assert up == PortState(lag=7, lag_mode="active")
    shut = replace(up, admin_up=False)
    out = replace(trunk, admin_up=False)
    bare = replace(PortState(), admin_up=False)
    for port in (shut, out, bare, out, shut, up):
        now = observe(toy)
        execute(toy, DRIVER.render(SWITCH, (PortChange("sw1", name, now.ports[name], port),)))
        assert observe(toy) == replace(now, ports={**now.ports, name: port})
    execute(toy, DRIVER.render(SWITCH, [PortChange("sw1", name, *pair) for pair in ((up, out), (out, bare))]))
    (enter, interface, join, *_) = DRIVER.render(SWITCH, [PortChange("sw1", name, bare, shut)])
    for order in (enter, interface):
        type_line(toy, order)
    assert isinstance(join, Line)
    assert "not compatible" in DRIVER.refusal(join, toy.type(join.text))


@law(60)
@given(port_states(), port_states())
def test_frames_see_nothing_but_the_two_ends_and_what_lies_between(one: PortState, two: PortState) -> None:
    toy = ToyIos(FULL)
    execute(toy, DRIVER.render(SWITCH, [PortChange("sw1", NAMES[0], PortState(), one)]))
    port = toy.ports[FULL[0]]
    for order in DRIVER.render(SWITCH, [PortChange("sw1", NAMES[0], one, two)]):
        type_line(toy, order)
        held, pvid = port.members()
        assert one.vids & two.vids <= held <= one.vids | two.vids, order
        assert pvid in {one.pvid, two.pvid}
        assert one.admin_up or two.admin_up or port.shut
    assert port.members() == (set(two.vids), two.pvid)


def test_many_changes_go_in_one_visit_to_configuration_mode() -> None:
    changes: list[Change] = [VlanChange("sw1", vid, before=False, after=True) for vid in (11, 12)]
    table = {MACS[0]: NAMES[1]}
    changes.append(StaticsChange("sw1", 11, {}, table))
    toy = ToyIos(FULL)
    orders = DRIVER.render(SWITCH, changes)
    assert [order.text for order in orders if isinstance(order, Line)] == [
        "configure terminal",
        "vlan 11",
        "exit",
        "vlan 12",
        "exit",
        "mac address-table static 02ee.0000.0000 vlan 11 interface GigabitEthernet1/0/2",
        "end",
    ]
    execute(toy, orders)
    assert observe(toy).statics == {11: table}
    assert DRIVER.render(SWITCH, []) == ()


def test_a_long_list_of_vlans_is_split_and_the_native_one_never_leaves() -> None:
    many = frozenset(range(2, 1000, 2)) | {999}
    toy = ToyIos(FULL)
    before = PortState(untagged_vids=frozenset({999}), pvid=999)
    execute(toy, DRIVER.render(SWITCH, [PortChange("sw1", NAMES[0], PortState(), before)]))
    toy.ports[FULL[0]].mode, toy.ports[FULL[0]].native, toy.ports[FULL[0]].allowed = "trunk", 999, {999}
    assert observe(toy).ports[NAMES[0]] == before
    after = one_untagged(PortState(untagged_vids=frozenset(), tagged_vids=many, pvid=999))
    orders = DRIVER.render(SWITCH, [PortChange("sw1", NAMES[0], before, after)])
    assert sum("allowed" in order.text for order in orders if isinstance(order, Line)) > 3
    for order in orders:
        type_line(toy, order)
        assert 999 in toy.ports[FULL[0]].members()[0]
    assert observe(toy).ports[NAMES[0]] == after


def test_only_the_aspects_asked_for_are_read() -> None:
    toy = ToyIos(FULL)
    base = observe(toy)
    execute(toy, DRIVER.render(SWITCH, [PortChange("sw1", NAMES[0], PortState(), PortState(admin_up=False, eee=True))]))
    change = PortChange("sw1", NAMES[0], PortState(), PortState(admin_up=False))
    answers = {q: toy.type(q.command) for q in DRIVER.queries(SWITCH, aspects_of(change)) if isinstance(q, Show)}
    assert list(answers) == [Show("show running-config")]
    found = DRIVER.parse(SWITCH, frozenset({"link"}), answers, base)
    assert found.ports[NAMES[0]] == replace(base.ports[NAMES[0]], admin_up=False)
    read = DRIVER.parse(SWITCH, frozenset({"energy"}), answers, base)
    assert read.ports[NAMES[0]] == replace(base.ports[NAMES[0]], eee=True)
    assert DRIVER.parse(SWITCH, frozenset(), {}, base) == base


@pytest.mark.parametrize(
    "after",
    [
        PortState(untagged_vids=frozenset({1, 2})),
        PortState(untagged_vids=frozenset({2})),
        PortState(ingress_filtering=False, tagged_vids=frozenset({9})),
        PortState(hold_us=100),
        PortState(lag=1),
        PortState(untagged_vids=frozenset(), acceptance="all"),
    ],
)
def test_what_ios_cannot_say_is_refused(after: PortState) -> None:
    with pytest.raises(NotExpressible, match="sw1 is a cisco_ios"):
        DRIVER.render(SWITCH, [PortChange("sw1", NAMES[0], PortState(), after)])


def test_a_refusal_is_seen_and_messages_are_not() -> None:
    toy = ToyIos(FULL)
    line = Line("frobnicate")
    assert "Invalid input" in DRIVER.refusal(line, toy.type("frobnicate"))
    toy.type("configure terminal")
    assert "may not be deleted" in DRIVER.refusal(line, toy.type("no vlan 1"))
    assert "Failed to create" in DRIVER.refusal(line, toy.type("vlan 1003"))
    assert "rejected" in DRIVER.refusal(line, 'Command rejected: An interface whose trunk encapsulation is "Auto"\n')
    assert DRIVER.refusal(line, "% VLAN 11 may not be deleted\n")
    assert DRIVER.refusal(line, "VTP VLAN configuration not allowed when device is in CLIENT mode.\n")
    assert not DRIVER.refusal(line, "% Access VLAN does not exist. Creating vlan 11\n")
    assert not DRIVER.refusal(line, "*Mar  1 00:02:11: %LINK-5-CHANGED: Interface Gi1/0/1, changed state\n")
    assert not DRIVER.refusal(line, "")
    banner = "interface Gi1/0/1\n!\nbanner motd ^C\n% keep out\nBad things happen\n^C\nend\n"
    assert not DRIVER.refusal(Line("show running-config"), banner)
    assert DRIVER.refusal(Line("show eee"), ToyIos(FULL).type("show eee"))
    toy = ToyIos(FULL, knows_isl=True)
    trunk = PortChange("sw1", NAMES[0], PortState(), PortState(tagged_vids=frozenset({2})))
    with pytest.raises(AssertionError, match="rejected"):
        execute(toy, DRIVER.render(SWITCH, [trunk]))
    execute(ToyIos(FULL, knows_isl=True), DRIVER.render(switch_of(NAMES, trunk_encapsulation=True), [trunk]))


def test_saving_answers_the_question() -> None:
    toy = ToyIos(FULL)
    execute(toy, DRIVER.save(SWITCH))
    assert toy.saved == toy.running()
