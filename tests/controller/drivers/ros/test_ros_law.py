"""The law of drivers on the twin's PowerConnect: what is rendered leads from before to after, by show and by wire.

Starting states are typed as a person would, in any mode; in between, no line may leave a port worse than both ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from eee_testbed.controller.drivers.driver import ASPECTS, AdminSet, Line
from eee_testbed.controller.drivers.ros.driver import DELL_55XX_DRIVER as DRIVER
from eee_testbed.controller.model.lag_ports import new_lag
from eee_testbed.controller.model.state import (
    Change,
    PortChange,
    PortState,
    State,
    StaticsChange,
    StpChange,
    SwitchState,
    VlanChange,
    diff,
    replay,
)
from eee_testbed.lab.errors import NotExpressible
from tests.support.switches.drawn_states import MACS, VIDS, targets
from tests.support.switches.ros_face import LAG_1, NUMBERS, SWITCH, RosFace
from tests.support.switches.text_back import met_by_frames, put_text_back, require_named, text_of

ALL = frozenset(ASPECTS)
LAW = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking would type for minutes
    suppress_health_check=(HealthCheck.function_scoped_fixture,),
)
LAGGED = ("gi1/0/5", "gi1/0/6")
FREE = tuple(name for name in NUMBERS if name not in LAGGED)
VLAN_FIELDS = ("untagged_vids", "tagged_vids", "pvid", "acceptance", "ingress_filtering")
LINK_FIELDS: dict[str, tuple[Any, ...]] = dict.fromkeys(("admin_up", "flow_control", "stp"), (False, True))
OPTIONS = {
    name: LINK_FIELDS | {"eee": (False, True), "speed_mbps": (None, 1000, 10_000 if name.startswith("te") else 100)}
    for name in NUMBERS
} | {"lag1": LINK_FIELDS}


def listed(vids: Any) -> str:
    return ",".join(map(str, sorted(vids)))


@st.composite
def starts(draw: Any) -> list[str]:
    """Lines of configuration, VLANs 11 to 16 among them: every port in some mode, or in none."""
    lines = ["vlan database", "vlan 11-16", "exit"]
    if draw(st.booleans()):
        lines += [f"interface {name}\nchannel-group 1 mode on" for name in LAGGED]
    for name in (*FREE, "port-channel 1"):
        lines.append(f"interface {name}")
        mode = draw(st.sampled_from(["", "access", "trunk", "general"]))
        some = st.sets(st.sampled_from(VIDS), min_size=1)
        if mode == "access":
            lines.append(f"switchport access vlan {draw(st.sampled_from(VIDS))}")
        elif mode == "trunk":
            lines += ["switchport mode trunk", f"switchport trunk allowed vlan add {listed(draw(some))}"]
            native = draw(st.sampled_from((None, 1, *VIDS)))
            lines.append(f"switchport trunk native vlan {native or 'none'}")
        elif mode == "general":
            lines.append("switchport mode general")
            for kind in ("tagged", "untagged"):
                lines.append(f"switchport general allowed vlan add {listed(draw(some))} {kind}")
            lines += draw(st.lists(st.sampled_from((
                "switchport general allowed vlan remove 1",
                "switchport general ingress-filtering disable",
                "switchport general acceptable-frame-type tagged-only",
                "switchport general pvid 12",
                "switchport general pvid 4095",
            )), max_size=3))  # fmt: skip
        lines += draw(st.lists(st.sampled_from(("shutdown", "spanning-tree disable", "flowcontrol on")), max_size=2))
    return [line for text in lines for line in text.split("\n")]


def read(face: RosFace, aspects: Any = ALL, base: SwitchState | None = None) -> SwitchState:
    return DRIVER.parse(SWITCH, aspects, face.ask(DRIVER.queries(SWITCH, aspects)), base)


def in_no_lag(state: SwitchState) -> list[str]:
    return [name for name, port in state.ports.items() if port.lag is None]


def fate(port: Any, vid: int) -> tuple[bool, str]:
    """Whether tagged frames of a VLAN come in, and how they go out."""
    out = "untagged" if vid in port["untagged_vids"] else "tagged" if vid in port["tagged_vids"] else ""
    return bool(out) or not port["ingress_filtering"], out


def home(port: Any) -> int:
    """The VLAN that takes frames without a tag; 0 if they are dropped."""
    inside = port["pvid"] in port["untagged_vids"] | port["tagged_vids"]
    return port["pvid"] if port["acceptance"] == "all" and (inside or not port["ingress_filtering"]) else 0


def as_fields(port: PortState) -> dict[str, Any]:
    return {field: getattr(port, field) for field in (*VLAN_FIELDS, "admin_up")}


def assert_between(face: RosFace, change: Change) -> None:
    """Nothing that frames meet is other than at one of the two ends, or a port that restarts is shut."""
    if not isinstance(change, PortChange) or change.before.lag is not None:
        return  # a member of a LAG has no VLANs of its own
    now, ends = face.wire(change.port), [as_fields(change.before), as_fields(change.after)]
    for vid in (1, *VIDS):
        assert fate(now, vid) in [fate(end, vid) for end in ends], (vid, now, change)
    homes = {home(end) for end in ends}
    assert home(now) in homes, (now, change)
    if not change.before.admin_up or not change.after.admin_up:
        moved = any(now[field] != ends[0][field] for field in VLAN_FIELDS)
        unfinished = any(now[field] != ends[1][field] for field in VLAN_FIELDS)
        assert not (now["admin_up"] and moved and unfinished), "woken before it was set, or shut after"


def assert_same(found: SwitchState, wanted: SwitchState) -> None:
    """Equal, or what differs and nothing else."""
    assert diff(State({"sw1": found}), State({"sw1": wanted})) == ()


def assert_on_the_wire(face: RosFace, state: SwitchState) -> None:
    for name, port in state.ports.items():
        now = face.wire(name)
        if port.lag is None:
            assert {field: now[field] for field in VLAN_FIELDS} == {f: getattr(port, f) for f in VLAN_FIELDS}, name
            assert now["admin_up"] == port.admin_up, name
        if name != "lag1":
            assert now["flow_control"] == port.flow_control, name
            assert now["speed_mbps"] == port.speed_mbps, name
            assert now["eee"] == (port.eee and (port.speed_mbps or 1000) >= 1000), name
    assert face.statics() == state.statics
    assert face.engine.vlans(face.device.switch).keys() == state.vids


@pytest.mark.slow
@settings(LAW, max_examples=12)
@given(starts(), st.data())
def test_obeying_leads_from_before_to_after(face: RosFace, lines: list[str], data: st.DataObject) -> None:
    face.reset()
    face.setup(*lines)
    before = read(face)
    assert_on_the_wire(face, before)
    for _ in range(data.draw(st.integers(1, 2))):
        after = data.draw(targets(before, OPTIONS, in_no_lag(before)))
        changes = diff(State({"sw1": before}), State({"sw1": after}))
        now = before
        for change in changes:
            face.execute(DRIVER.render(SWITCH, (change,)), lambda change=change: assert_between(face, change))  # type: ignore[misc]
            now = replay((change,), State({"sw1": now})).switches["sw1"]
        assert now == after
        assert_same(read(face), after)
        assert_on_the_wire(face, after)
        before = after


@settings(LAW, max_examples=6)
@given(starts(), st.data())
def test_a_whole_plan_at_once_and_taken_back(face: RosFace, lines: list[str], data: st.DataObject) -> None:
    face.reset()
    face.setup(*lines)
    before, said = read(face), face.device.personality.render()
    wanted = text_of(DRIVER, SWITCH, face.ask)
    changes = diff(State({"sw1": before}), State({"sw1": data.draw(targets(before, OPTIONS, in_no_lag(before)))}))
    orders = DRIVER.render(SWITCH, changes)
    face.execute(orders)
    assert face.prompt == "console#"
    assert_same(read(face), replay(changes, State({"sw1": before})).switches["sw1"])
    face.execute(DRIVER.render(SWITCH, [change.inverse for change in reversed(changes)]))
    assert_same(read(face), before)
    put_text_back(DRIVER, SWITCH, face.ask, face.execute, wanted, lambda: met_by_frames(before.ports, face.wire))
    assert_same(read(face), before)
    require_named(face.device.personality.render(), said, text_of(DRIVER, SWITCH, face.ask), wanted)


def test_what_is_read_apart_adds_up(face: RosFace) -> None:
    face.setup("vlan database", "vlan 11", "interface gi1/0/1", "switchport access vlan 11", "shutdown")
    face.setup("interface gi1/0/5", "channel-group 1 mode on")
    whole = read(face)
    for aspect in ASPECTS:
        assert read(face, frozenset({aspect}), whole) == whole
    face.setup("no spanning-tree", "interface gi1/0/1", "no shutdown", "no eee enable")
    for aspect in ASPECTS:
        whole = read(face, frozenset({aspect}), whole)
    assert whole == read(face)
    assert not whole.stp
    assert whole.ports["gi1/0/1"].stp
    assert whole.ports["gi1/0/1"].admin_up
    assert not whole.ports["gi1/0/1"].eee


def test_the_factory_reads_as_the_factory(face: RosFace) -> None:
    state = read(face)
    assert set(state.ports.values()) == {PortState(eee=True)}
    assert (state.vids, dict(state.statics), state.stp) == (frozenset({1}), {}, True)


def test_admin_status_alone_is_one_set(face: RosFace) -> None:
    up = read(face).ports["gi1/0/2"]
    change = PortChange("sw1", "gi1/0/2", up, replace(up, admin_up=False))
    (order,) = DRIVER.render(SWITCH, (change,))
    assert order == AdminSet("gi1/0/2", up=False)
    face.put(order)
    assert not read(face).ports["gi1/0/2"].admin_up
    silent = replace(SWITCH, snmp_write=False)
    face.execute(DRIVER.render(silent, (change.inverse,)))
    assert face.typed == ["configure", "interface gi1/0/2", "no shutdown", "exit", "end"]
    assert read(face).ports["gi1/0/2"] == up


def test_a_host_port_of_a_multi_tree_lab(face: RosFace) -> None:
    face.setup("vlan database", "vlan 11-14,16")
    before = read(face).ports["gi1/0/1"]
    after = replace(before, untagged_vids=frozenset({11, 12, 13, 14, 16}), pvid=12, stp=False)
    orders = DRIVER.render(SWITCH, (PortChange("sw1", "gi1/0/1", before, after),))
    assert [order.text for order in orders if isinstance(order, Line)] == [
        "configure",
        "interface gi1/0/1",
        "switchport mode general",
        "switchport general allowed vlan add 11-14,16 untagged",
        "switchport general pvid 12",
        "no switchport general ingress-filtering disable",
        "switchport general allowed vlan remove 1",
        "switchport general acceptable-frame-type all",
        "spanning-tree disable",
        "exit",
        "end",
    ]
    face.execute(orders)
    assert read(face).ports["gi1/0/1"] == after


def test_vlans_go_in_ranges() -> None:
    changes = [VlanChange("sw1", vid, before=False, after=True) for vid in (*range(11, 40), 50)]
    lines = [order.text for order in DRIVER.render(SWITCH, changes) if isinstance(order, Line)]
    assert lines == ["configure", "vlan database", "vlan 11-39,50", "exit", "end"]
    odd = [VlanChange("sw1", vid, before=False, after=True) for vid in range(1001, 1201, 2)]
    lines = [order.text for order in DRIVER.render(SWITCH, odd) if isinstance(order, Line)]
    assert max(map(len, lines)) <= 110
    assert ",".join(line.removeprefix("vlan ") for line in lines[2:-2]) == listed(range(1001, 1201, 2))


def test_a_lag_comes_to_be_with_its_first_port_and_ceases_to_be_with_its_last(face: RosFace) -> None:
    start = read(face)
    shut = {name: replace(start.ports[name], admin_up=False) for name in LAGGED}
    inside = {name: replace(port, lag=1) for name, port in shut.items()}
    for before, after in ((start.ports, shut), (shut, inside)):
        face.execute(DRIVER.render(SWITCH, [PortChange("sw1", name, before[name], after[name]) for name in LAGGED]))
    now = read(face)
    assert now == replace(start, ports={**start.ports, **inside, "lag1": new_lag(DRIVER.capabilities)})
    assert face.device.effect.lags[LAG_1] == tuple(NUMBERS[name] for name in LAGGED)
    face.execute(DRIVER.render(SWITCH, [PortChange("sw1", name, inside[name], shut[name]) for name in LAGGED]))
    assert read(face) == replace(start, ports={**start.ports, **shut})


@pytest.mark.parametrize(
    "before_it_joined",
    [
        (),
        ("switchport access vlan 11",),
        ("switchport mode trunk", "switchport trunk allowed vlan add 11", "switchport trunk native vlan none"),
    ],
)
def test_a_port_leaves_its_lag_and_joins_it_as_it_was(face: RosFace, before_it_joined: tuple[str, ...]) -> None:
    """Whatever the port was before it joined comes back with it, and is written anew while it is shut."""
    face.setup(
        *("vlan database", "vlan 11", "interface gi1/0/5", "channel-group 1 mode auto"),
        *("interface gi1/0/6", *before_it_joined, "channel-group 1 mode auto"),
        *("interface port-channel 1", "switchport mode general", "switchport general allowed vlan add 11 tagged"),
    )
    start = read(face)
    assert start.ports["gi1/0/6"] == PortState(eee=True, lag=1, lag_mode="auto")
    shut = replace(start.ports["gi1/0/6"], admin_up=False)
    out = replace(shut, lag=None, lag_mode="")
    for ports in ((shut, out, shut, start.ports["gi1/0/6"]), (out, start.ports["gi1/0/6"])):
        for port in ports:
            now = read(face)
            face.execute(DRIVER.render(SWITCH, (PortChange("sw1", "gi1/0/6", now.ports["gi1/0/6"], port),)))
            assert read(face) == replace(now, ports={**now.ports, "gi1/0/6": port})
            members = (NUMBERS["gi1/0/5"], *((NUMBERS["gi1/0/6"],) if port.lag else ()))
            assert face.device.effect.lags[LAG_1] == members
            assert face.wire("gi1/0/6")["admin_up"] == port.admin_up
    assert read(face) == start
    assert {"no channel-group", "channel-group 1 mode auto"} <= {*face.typed}


def test_eee_is_changed_while_the_link_is_down(face: RosFace) -> None:
    before = read(face).ports["gi1/0/1"]
    face.execute(DRIVER.render(SWITCH, (PortChange("sw1", "gi1/0/1", before, replace(before, eee=False)),)))
    assert face.typed[2:-2] == ["shutdown", "no eee enable", "no shutdown"]
    assert not read(face).ports["gi1/0/1"].eee


def test_eee_that_is_off_in_the_switch_is_off_everywhere(face: RosFace) -> None:
    face.setup("no eee enable")
    before = read(face).ports["gi1/0/1"]
    assert not before.eee
    face.execute(DRIVER.render(SWITCH, (PortChange("sw1", "gi1/0/1", before, replace(before, eee=True)),)))
    assert not any(port.eee for port in read(face).ports.values())


@pytest.mark.parametrize(
    "change",
    [
        PortChange("sw1", "gi1/0/1", PortState(), PortState(hold_us=100)),
        PortChange("sw1", "gi1/0/1", PortState(), PortState(lag=1)),
        PortChange("sw1", "lag1", PortState(), PortState(eee=True)),
        PortChange("sw1", "lag1", PortState(), PortState(speed_mbps=100)),
        VlanChange("sw1", 1, before=True, after=False),
    ],
)
def test_what_cannot_be_said_is_refused(change: Change) -> None:
    with pytest.raises(NotExpressible):
        DRIVER.render(SWITCH, (change,))


def test_what_changes_nothing_types_nothing() -> None:
    same: list[Change] = [
        PortChange("sw1", "gi1/0/1", PortState(pvid=5), PortState(pvid=5)),
        StaticsChange("sw1", 11, {MACS[0]: "gi1/0/1"}, {MACS[0]: "gi1/0/1"}),
        StpChange("sw1", before=True, after=True),
    ]
    assert DRIVER.render(SWITCH, same) == ()


@pytest.mark.parametrize(
    ("lines", "aim"),
    [
        (("general allowed vlan add 11 untagged",), {"pvid": 12, "ingress_filtering": False}),
        (("general ingress-filtering disable", "general pvid 12"), {"pvid": 1, "ingress_filtering": True}),
        (("general allowed vlan add 11 untagged", "general pvid 4095"), {"acceptance": "all"}),
        (("general allowed vlan add 11 untagged", "general pvid 4095"), {"pvid": 11}),
        (("general allowed vlan add 11 untagged", "general pvid 12"), {"pvid": 11}),
    ],
)
def test_corners_of_what_is_between(face: RosFace, lines: tuple[str, ...], aim: dict[str, Any]) -> None:
    """Filters that fall and rise with the PVID, PVIDs that drop frames."""
    face.setup(
        "vlan database",
        "vlan 11-15",
        "interface gi1/0/1",
        "switchport mode general",
        *(f"switchport {line}" for line in lines),
    )
    before = read(face)
    change = PortChange("sw1", "gi1/0/1", before.ports["gi1/0/1"], replace(before.ports["gi1/0/1"], **aim))
    for step in (change, change.inverse):
        face.execute(DRIVER.render(SWITCH, (step,)), lambda step=step: assert_between(face, step))  # type: ignore[misc]
        assert read(face).ports["gi1/0/1"] == step.after
