"""The law of drivers, on the twin's M4300: what is rendered leads from before to after, for the driver and for frames.

The starting states are typed as lines: any mode, with lines of other modes that wait.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from eee_testbed.controller.drivers.driver import ASPECTS, AdminSet, Line
from eee_testbed.controller.drivers.fastpath.driver import NETGEAR_M4300 as DRIVER
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
from eee_testbed.lab.errors import NotExpressible, Unreadable
from tests.support.laws import law
from tests.support.switches.drawn_states import MACS, VIDS, between, targets
from tests.support.switches.m4300_face import NAMES, SWITCH, Face
from tests.support.switches.text_back import met_by_frames, put_text_back, require_named, text_of

ALL = frozenset(ASPECTS)
LAGGED = ("1/0/5", "1/0/6")
FURTHER = {
    "admin_up": (True, False),
    "speed_mbps": (None, 100, 1000),
    "flow_control": (True, False),
    "eee": (True, False),
    "hold_us": (None, 50, 600),
    "stp": (True, False),
}
OPTIONS = dict.fromkeys(NAMES, FURTHER) | {"lag1": {"admin_up": (True, False), "stp": (True, False)}}


def listed(vids: Any) -> str:
    return ",".join(map(str, sorted(vids)))


@st.composite
def blocks(draw: Any, vids: tuple[int, ...]) -> list[str]:
    """Lines of one port, whose waiting lines name no VLAN but 1 and those of its mode."""
    mode = draw(st.sampled_from(["", "general", "access", "trunk"]))
    some = st.sets(st.sampled_from(vids))
    lines: list[str] = []
    allowed: set[int] = set(vids)
    if mode == "access":
        allowed = {draw(st.sampled_from(vids))}
        lines.append(f"switchport access vlan {listed(allowed)}")
    if mode == "trunk":
        lines.append(f"switchport trunk native vlan {draw(st.sampled_from(vids))}")
        if draw(st.booleans()):
            allowed = draw(some)
            lines.append(f"switchport trunk allowed vlan {listed(allowed)}" if allowed else "")
            lines[-1:] = lines[-1:] if allowed else []
            allowed = allowed or set(vids)
    include = draw(st.sets(st.sampled_from(sorted(allowed))))
    exclude = draw(some) - include
    for verb, chosen in (("include", include), ("exclude", exclude)):
        lines += [f"vlan participation {verb} {listed(chosen)}"] if chosen else []
    tagged = draw(some)
    lines += [f"vlan tagging {listed(tagged)}"] if tagged else []
    lines.append(f"vlan pvid {draw(st.sampled_from(vids))}")
    lines += draw(st.sets(st.sampled_from(["vlan acceptframe vlanonly", "vlan ingressfilter", "green-mode eee"])))
    lines += draw(st.sets(st.sampled_from(["shutdown", "speed 100 full-duplex", "no spanning-tree port mode"])))
    return [*lines, f"switchport mode {mode}"] if mode else lines


@st.composite
def starts(draw: Any) -> list[str]:
    vids = (1, *sorted(draw(st.sets(st.sampled_from(VIDS)))))
    lines = [] if vids == (1,) else ["vlan database", f"vlan {listed(vids[1:])}", "exit"]
    lines.append("configure")
    for name in NAMES:
        lines += [f"interface {name}", *draw(blocks(vids)), "exit"]
    if draw(st.booleans()):
        lines += [line for name in LAGGED for line in (f"interface {name}", "addport lag 1", "exit")]
        lines += ["interface lag 1", "port-channel static", "vlan participation include " + listed(vids), "exit"]
    if draw(st.booleans()):
        lines.append("no spanning-tree")
    return lines


def read(face: Face) -> SwitchState:
    return DRIVER.parse(SWITCH, ALL, face.ask(DRIVER.queries(SWITCH, ALL)), None)


def differing(face: Face, wanted: SwitchState) -> tuple[Change, ...]:
    """What stands between the switch and a state; empty if it is in it."""
    return diff(State({"sw5": read(face)}), State({"sw5": wanted}))


def agrees(face: Face, name: str, port: PortState) -> bool:
    """Whether frames meet what the state says; a member of a LAG forwards as the LAG does."""
    wire = face.wire(name)
    vlans = () if port.lag else ("untagged_vids", "tagged_vids", "pvid", "acceptance", "ingress_filtering")
    link = () if port.lag or name == "lag1" else ("admin_up",)
    speeds = wire["advertised_mbps"]
    return all(wire[field] == getattr(port, field) for field in (*vlans, *link, "eee", "flow_control", "stp")) and (
        name == "lag1" or (speeds == [port.speed_mbps] if port.speed_mbps else len(speeds) > 1)
    )


@law(12, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_rendered_leads_from_before_to_after(shared_face: Face, data: Any) -> None:
    face = shared_face
    face.reset()
    face.setup(*data.draw(starts(), label="start"))
    before = read(face)
    static_ports = [name for name, port in before.ports.items() if port.lag is None and name != "lag1"]
    after = data.draw(targets(before, OPTIONS, static_ports), label="after")
    state = State({"sw5": before})
    for change in diff(state, State({"sw5": after})):
        state = replay([change], state)
        for order in DRIVER.render(SWITCH, [change]):
            face.execute([order])
            for name, port in state.switches["sw5"].ports.items():
                if port.lag is None and not (isinstance(change, PortChange) and change.port == name):
                    assert between(PortChange("sw5", name, port, port), face.wire(name)), (order, name)
                elif port.lag is None:
                    assert between(change, face.wire(name)), (order, name)
    assert differing(face, after) == ()
    assert all(agrees(face, name, port) for name, port in after.ports.items())
    assert face.statics() == after.statics


@law(5, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_many_changes_at_once_and_back_again(shared_face: Face, data: Any) -> None:
    face = shared_face
    face.reset()
    face.setup(*data.draw(starts(), label="start"))
    before, lines = read(face), face.device.personality.render()
    wanted = text_of(DRIVER, SWITCH, face.ask)
    static_ports = [name for name, port in before.ports.items() if port.lag is None and name != "lag1"]
    after = data.draw(targets(before, OPTIONS, static_ports), label="after")
    changes = diff(State({"sw5": before}), State({"sw5": after}))
    face.execute(DRIVER.render(SWITCH, changes))
    assert differing(face, after) == ()
    assert DRIVER.parse(SWITCH, ALL, face.ask(DRIVER.queries(SWITCH, ALL)), before) == after
    face.execute(DRIVER.render(SWITCH, [change.inverse for change in reversed(changes)]))
    assert differing(face, before) == ()
    put_text_back(DRIVER, SWITCH, face.ask, face.execute, wanted, lambda: met_by_frames(before.ports, face.wire))
    assert differing(face, before) == ()
    require_named(face.device.personality.render(), lines, text_of(DRIVER, SWITCH, face.ask), wanted)


def test_an_aspect_leaves_the_others_as_they_were(face: Face) -> None:
    base = read(face)
    face.setup("configure", "no spanning-tree", "interface 1/0/1", "shutdown", "green-mode eee", "vlan ingressfilter")
    seen = DRIVER.parse(SWITCH, frozenset({"energy"}), face.ask(DRIVER.queries(SWITCH, frozenset({"energy"}))), base)
    assert seen.ports["1/0/1"] == PortState(eee=True, ingress_filtering=False)
    assert seen.stp
    for aspect in ASPECTS:
        one = frozenset({aspect})
        assert DRIVER.parse(SWITCH, one, face.ask(DRIVER.queries(SWITCH, one)), read(face)) == read(face)


def test_admin_status_alone_is_one_set(face: Face) -> None:
    port = read(face).ports["1/0/1"]
    shut = PortChange("sw5", "1/0/1", port, PortState(admin_up=False, ingress_filtering=False))
    (order,) = DRIVER.render(SWITCH, [shut])
    assert order == AdminSet("1/0/1", up=False)
    face.execute([order])
    assert not read(face).ports["1/0/1"].admin_up


def test_waiting_lines_that_would_come_to_life_are_refused(face: Face) -> None:
    lines = ["switchport mode access", "vlan participation include 11,12"]
    face.setup("vlan database", "vlan 11-12", "exit", "configure", "interface 1/0/1", *lines)
    with pytest.raises(Unreadable, match="lines of general mode for VLAN 11-12"):
        read(face)
    face.setup("configure", "interface 1/0/1", "switchport mode general")
    assert read(face).ports["1/0/1"].untagged_vids == {1, 11, 12}


def test_a_lag_that_would_join_new_vlans_is_refused(face: Face) -> None:
    face.setup("configure", "interface 1/0/5", "addport lag 1", "exit", "interface lag 1", "switchport mode trunk")
    with pytest.raises(Unreadable, match="trunk lag1 would join every new VLAN"):
        read(face)
    face.setup("configure", "interface lag 1", "switchport trunk allowed vlan 1")
    assert read(face).ports["1/0/5"].lag == 1


def test_a_lag_comes_to_be_with_its_first_port_and_is_static(face: Face) -> None:
    """From the factory a LAG speaks LACP, so a line of its own makes it static before the first port joins."""
    start = read(face)
    names = ("1/0/5", "1/0/6")
    shut = {name: replace(start.ports[name], admin_up=False) for name in names}
    inside = PortState(admin_up=False, lag=1)
    for before, after in ((start.ports, shut), (shut, dict.fromkeys(names, inside))):
        face.execute(DRIVER.render(SWITCH, [PortChange("sw5", name, before[name], after[name]) for name in names]))
    now = read(face)
    assert [now.ports[name] for name in names] == [inside] * 2
    assert now.ports["lag1"] == new_lag(DRIVER.capabilities)
    assert face.typed.index("port-channel static") < face.typed.index("addport lag 1")
    face.execute(DRIVER.render(SWITCH, [PortChange("sw5", name, inside, shut[name]) for name in names]))
    assert read(face) == replace(start, ports={**start.ports, **shut})


def test_a_lag_that_speaks_lacp_is_told_from_a_static_one_and_stays_so(face: Face) -> None:
    face.setup("configure", "interface 1/0/5", "addport lag 1", "exit", "interface 1/0/6", "shutdown")
    before = read(face).ports["1/0/6"]
    assert read(face).ports["1/0/5"].lag_mode == "dynamic"
    joined = PortState(admin_up=False, lag=1, lag_mode="dynamic")
    face.execute(DRIVER.render(SWITCH, [PortChange("sw5", "1/0/6", before, joined)]))
    assert read(face).ports["1/0/6"] == joined
    assert "port-channel static" not in face.typed


@pytest.mark.parametrize(
    "before_it_joined", [(), ("switchport mode trunk",), ("vlan participation include 11", "vlan tagging 11")]
)
def test_a_port_leaves_its_lag_and_joins_it_as_it_was(face: Face, before_it_joined: tuple[str, ...]) -> None:
    """Whatever the port was before it joined comes back with it, and is written anew while it is shut."""
    face.setup(
        *("vlan database", "vlan 11", "exit", "configure", "interface 1/0/5", "addport lag 1", "exit"),
        *("interface 1/0/6", *before_it_joined, "addport lag 1", "exit"),
        *("interface lag 1", "port-channel static", "vlan participation include 11", "vlan tagging 11"),
    )
    start = read(face)
    assert start.ports["1/0/6"] == PortState(lag=1)
    shut = replace(start.ports["1/0/6"], admin_up=False)
    out = replace(shut, lag=None)
    for ports in ((shut, out, shut, start.ports["1/0/6"]), (out, start.ports["1/0/6"])):
        for port in ports:
            now = read(face)
            face.execute(DRIVER.render(SWITCH, (PortChange("sw5", "1/0/6", now.ports["1/0/6"], port),)))
            if before_it_joined == ("vlan participation include 11", "vlan tagging 11") and port.lag is None:
                # What nobody can see of a member cannot be taken away: it is read back, and the plan stops.
                assert read(face).ports["1/0/6"] == replace(port, tagged_vids=frozenset({11}))
                return
            assert read(face) == replace(now, ports={**now.ports, "1/0/6": port})
            numbers = [n for n, held in face.device.personality.config.ports.items() if held.lag == 1]
            assert numbers == ([5, 6] if port.lag else [5])
    assert read(face) == start
    assert {"deleteport lag 1", "addport lag 1"} <= {*face.typed}


def test_entries_that_wait_are_refused(face: Face) -> None:
    face.setup("configure", "interface 1/0/1", f"port-security mac-address {MACS[0].hex(':')} 1")
    with pytest.raises(Unreadable, match="wait for port-security"):
        read(face)


def test_what_an_m4300_cannot_say(face: Face) -> None:
    port = read(face).ports["1/0/1"]
    for wrong in (
        {"speed_mbps": 10_000},
        {"hold_us": 0},
        {"hold_us": 5_000_000_000},
        {"lag": 2},
    ):
        fields = {"ingress_filtering": False, **wrong}
        with pytest.raises(NotExpressible):
            DRIVER.render(SWITCH, [PortChange("sw5", "1/0/1", port, PortState(**fields))])
    many = {bytes((2, 0, 0, 0, 0, n)): "1/0/1" for n in range(21)}
    with pytest.raises(NotExpressible, match="20 static entries"):
        DRIVER.render(SWITCH, [StaticsChange("sw5", 1, {}, many)])


def test_a_refused_interface_stops_what_follows(face: Face) -> None:
    """Every line expects the prompt of its own mode: none can land elsewhere."""
    change = PortChange("sw5", "1/0/1", PortState(), PortState(pvid=11))
    for order in DRIVER.render(SWITCH, [VlanChange("sw5", 11, before=False, after=True), change]):
        assert isinstance(order, Line)
        assert order.prompt
    entered = next(o for o in DRIVER.render(SWITCH, [change]) if isinstance(o, Line) and "interface" in o.text)
    with pytest.raises(AssertionError):
        face.execute([Line("interface 1/0/99", prompt=entered.prompt)])


def test_spanning_tree_and_save(face: Face) -> None:
    face.execute(DRIVER.render(SWITCH, [StpChange("sw5", before=True, after=False)]))
    assert not read(face).stp
    (order,) = DRIVER.save(SWITCH)
    assert "no spanning-tree" not in face.device.startup
    face.execute([order])
    assert "no spanning-tree" in face.device.startup


def test_lists_of_vlans_are_cut_to_fit_a_line(face: Face) -> None:
    vids = [*range(2, 120, 2), 200, 201, 202]
    face.execute(DRIVER.render(SWITCH, [VlanChange("sw5", vid, before=False, after=True) for vid in vids]))
    assert read(face).vids == {1, *vids}
    port = read(face).ports["1/0/1"]
    after = PortState(tagged_vids=frozenset(vids), ingress_filtering=False)
    face.execute(DRIVER.render(SWITCH, [PortChange("sw5", "1/0/1", port, after)]))
    assert read(face).ports["1/0/1"] == after
    assert max(map(len, face.typed)) < 100
