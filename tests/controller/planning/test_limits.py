"""What families cannot express: hosts pop tags where ports cannot untag; refusals before anything is sent."""

from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.port_forms import one_untagged
from eee_testbed.controller.model.state import (
    Change,
    Draft,
    PortChange,
    PortState,
    State,
    StaticsChange,
    VlanChange,
    factory_state,
    replay,
)
from eee_testbed.controller.planning.limits import require_expressible
from eee_testbed.controller.planning.plan import invert, make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree, trunks_off
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.controller.planning.wishes import Eee, LinkOff, LinkOn, LinkSpeed
from eee_testbed.lab.errors import NotExpressible, NoTree, PlanError
from eee_testbed.lab.model import Lab
from tests.support.graph_lab import graph_lab
from tests.support.labs.frame_walk import harms
from tests.support.labs.starts import CAN, tree_state
from tests.support.laws import law
from tests.support.plain_check import check_plainly

NATIVE = replace(CAN, multi_untagged=False)
ATLAS = [g for g in nx.graph_atlas_g()[1:] if nx.is_connected(g) and g.number_of_nodes() <= 5]
TRIANGLE = graph_lab(3, [(0, 1), (1, 2), (2, 0), (0, 1)], [2, 1, 1])


def _walk(lab: Lab, state: State, plan: Plan, native: set[str]) -> State:
    """Frames after every prefix, and every port of a `native` switch as such a switch has it."""
    draft = Draft(state)
    for step in plan.steps:
        draft.apply(step.change)
        now = draft.freeze()
        for name in native:
            assert all(len(port.untagged_vids) <= 1 for port in now.switches[name].ports.values()), step
            assert all(one_untagged(port) == port for port in now.switches[name].ports.values()), step
        if not any(switch.stp for switch in now.switches.values()):
            assert not harms(lab, now), step
    return draft.freeze()


@pytest.mark.slow
def test_over_all_small_graphs_switches_with_one_native_vlan_carry_every_plan() -> None:
    for graph in ATLAS:
        count = graph.number_of_nodes()
        lab = graph_lab(count, graph.edges, [1] * count, pops_tags=True)
        for native in ({f"sw{n + 1}" for n in range(count)}, {f"sw{n + 1}" for n in range(0, count, 2)}):
            abilities = dict.fromkeys(native, NATIVE)
            start = factory_state(lab)
            _, after = multi_tree(lab, start, shortest_routes, abilities=abilities)
            plan = make_plan(lab, start, after, abilities=abilities)
            assert replay(plan.changes, start) == after
            if count <= 4:
                check_plainly(lab, start, plan.changes)
                _walk(lab, start, plan, native)
                back = invert(lab, start, plan)
                assert _walk(lab, after, back, native) == start
            again = multi_tree(lab, after, shortest_routes, abilities=abilities)[1]
            assert not make_plan(lab, after, again, abilities=abilities).steps


@law(25)
@given(st.data())
def test_any_sequence_of_regulation_on_mixed_switches_keeps_all_hosts_joined(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 4))
    edges = [(data.draw(st.integers(0, n - 1)), n) for n in range(1, count)]
    place = st.integers(0, count - 1)
    edges += [e for e in data.draw(st.lists(st.tuples(place, place), max_size=4)) if e[0] != e[1]]
    lab = graph_lab(count, edges, [1] * count, pops_tags=True)
    native = set(data.draw(st.lists(st.sampled_from([s.name for s in lab.switches]), min_size=1, unique=True)))
    abilities = dict.fromkeys(native, NATIVE)
    start = tree_state(lab)
    after = multi_tree(lab, start, shortest_routes, abilities=abilities)[1]
    plan = make_plan(lab, start, after, abilities=abilities)
    assert all(step.disruption.kind == "hitless" for step in plan.steps)
    state = _walk(lab, start, plan, native)
    for _ in range(data.draw(st.integers(1, 3))):
        link = data.draw(st.sampled_from(sorted(lab.trunks(), key=lambda link: link.number)))
        try:
            if link.number in trunks_off(lab, state):
                plan = plan_for(Site(lab, abilities=abilities), state, LinkOn(link.name))
            elif data.draw(st.booleans()):
                plan = plan_for(Site(lab, abilities=abilities), state, LinkOff(link.name))
            elif data.draw(st.booleans()):
                plan = plan_for(
                    Site(lab, abilities=abilities),
                    state,
                    LinkSpeed((link.name,), data.draw(st.sampled_from([10, None]))),
                )
            else:
                plan = plan_for(Site(lab, abilities=abilities), state, Eee((link.name,), on=data.draw(st.booleans())))
        except NoTree:
            continue
        assert all(step.disruption.kind == "hitless" for step in plan.steps)
        state = _walk(lab, state, plan, native)


def test_trunks_that_allow_every_vlan_are_pruned_before_new_vlans_exist() -> None:
    lab = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1], pops_tags=True)
    native = {"sw1", "sw2", "sw3"}
    abilities = dict.fromkeys(native, NATIVE)
    start = factory_state(lab)
    for link in lab.trunks():
        for end in (link.a, link.b):
            switch = start.switches[end.device]
            ports = {**switch.ports, end.port: replace(switch.ports[end.port], tagged_vids=frozenset(range(2, 4095)))}
            start = State({**start.switches, end.device: replace(switch, ports=ports)})
    after = multi_tree(lab, start, shortest_routes, abilities=abilities)[1]
    plan = make_plan(lab, start, after, abilities=abilities)
    assert _walk(lab, start, plan, native) == after


def test_a_host_that_does_not_pop_tags_is_named() -> None:
    start = tree_state(TRIANGLE)
    abilities = {"sw2": NATIVE}
    _, after = multi_tree(TRIANGLE, start, shortest_routes, abilities=abilities)
    with pytest.raises(NotExpressible, match=r"sw2 is a netgear_m4300.*port h1, and n03 .*pops_tags"):
        make_plan(TRIANGLE, start, after, abilities=abilities)


def test_a_state_that_a_native_vlan_cannot_express_is_refused() -> None:
    start = tree_state(TRIANGLE)
    _, after = multi_tree(TRIANGLE, start, shortest_routes)  # planned as if all could untag
    with pytest.raises(PlanError):
        make_plan(TRIANGLE, start, after, abilities={"sw2": NATIVE})


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"vlans": 3}, r"4 VLANs at once \(it holds 3"),
        ({"reserved_vids": frozenset({11})}, "VLAN 11, which it reserves"),
        ({"static_entries": 1}, r"static entries \(it holds 1\)"),
        ({"static_entries_per_port": 1}, r"static entries on port \w+ \(it holds 1"),
    ],
)
def test_what_a_switch_cannot_hold_is_refused(limits: dict[str, object], words: str) -> None:
    start = tree_state(TRIANGLE)
    after = multi_tree(TRIANGLE, start, shortest_routes, statics="all")[1]
    abilities = {"sw1": replace(CAN, **limits)}  # type: ignore[arg-type]
    assert make_plan(TRIANGLE, start, after).steps
    with pytest.raises(NotExpressible, match=words):
        make_plan(TRIANGLE, start, after, abilities=abilities)


@pytest.mark.parametrize("limits", [{"vlans": 4}, {"static_entries": 12}, {"static_entries_per_port": 12}])
def test_sufficient_limits_change_nothing(limits: dict[str, object]) -> None:
    start = tree_state(TRIANGLE)
    after = multi_tree(TRIANGLE, start, shortest_routes, statics="all")[1]
    assert make_plan(TRIANGLE, start, after, abilities={"sw1": replace(CAN, **limits)}).steps  # type: ignore[arg-type]


def test_the_limit_holds_while_old_and_new_vlans_stand_side_by_side() -> None:
    start = tree_state(TRIANGLE)
    state = replay(make_plan(TRIANGLE, start, multi_tree(TRIANGLE, start, shortest_routes)[1]).changes, start)
    link = next(k for k in TRIANGLE.trunks() if state.port(k.a.device, k.a.port).tagged_vids)
    most = max(
        len(replay(plan_for(Site(TRIANGLE), state, LinkOff(link.name)).changes[:n], state).switches["sw1"].vids)
        for n in range(len(plan_for(Site(TRIANGLE), state, LinkOff(link.name)).changes) + 1)
    )
    assert plan_for(Site(TRIANGLE, abilities={"sw1": replace(CAN, vlans=most)}), state, LinkOff(link.name)).steps
    with pytest.raises(NotExpressible, match="at once"):
        plan_for(Site(TRIANGLE, abilities={"sw1": replace(CAN, vlans=most - 1)}), state, LinkOff(link.name))


def test_reserved_vids_are_not_given_to_trees() -> None:
    abilities = {"sw3": replace(CAN, reserved_vids=frozenset({11, 13}))}
    vlans, _ = multi_tree(TRIANGLE, tree_state(TRIANGLE), shortest_routes, abilities=abilities)
    assert [vlan.vid for vlan in vlans.vlans] == [12, 14, 15]


@pytest.mark.parametrize(
    ("limits", "settings_", "words"),
    [
        ({"eee_settable": False}, {"eee": True}, "EEE"),
        ({"hold_settable": False}, {"hold_us": 600}, "hold time"),
        ({"flow_control_settable": False}, {"flow_control": True}, "flow control"),
        ({"speeds_mbps": (10, 100)}, {"speed_mbps": 1000}, "can fix 10, 100"),
        ({}, {"speed_mbps": 10_000}, "fastest is 1000"),
    ],
)
def test_settings_of_a_port_that_a_family_lacks(
    limits: dict[str, object], settings_: dict[str, object], words: str
) -> None:
    start = tree_state(TRIANGLE)
    ports = dict(start.switches["sw1"].ports)
    ports["h1"] = replace(ports["h1"], **settings_)  # type: ignore[arg-type]
    after = State({**start.switches, "sw1": replace(start.switches["sw1"], ports=ports)})
    with pytest.raises(NotExpressible, match=words):
        make_plan(TRIANGLE, start, after, abilities={"sw1": replace(CAN, **limits)})  # type: ignore[arg-type]
    assert make_plan(TRIANGLE, after, start, abilities={"sw1": CAN}).steps


def _with_hold(hold_us: int) -> PortChange:
    was = factory_state(TRIANGLE).port("sw1", "h1")
    return PortChange("sw1", "h1", was, replace(was, eee=True, hold_us=hold_us))


def _with_entries(count: int) -> StaticsChange:
    return StaticsChange("sw1", 1, {}, {bytes(5) + bytes([number]): "h1" for number in range(count)})


@pytest.mark.parametrize(
    ("limits", "fits", "exceeds"),
    [
        ({"hold_settable": True, "hold_least_us": 600}, _with_hold(600), _with_hold(599)),
        ({"static_entries": 3}, _with_entries(3), _with_entries(4)),
    ],
)
def test_a_limit_is_what_still_fits(limits: dict[str, object], fits: Change, exceeds: Change) -> None:
    abilities = {"sw1": replace(CAN, **limits)}  # type: ignore[arg-type]
    require_expressible(TRIANGLE, factory_state(TRIANGLE), [fits], abilities)
    with pytest.raises(NotExpressible):
        require_expressible(TRIANGLE, factory_state(TRIANGLE), [exceeds], abilities)


def test_a_switchs_initial_vlans_may_exceed_its_limit() -> None:
    start = tree_state(TRIANGLE)
    full = State({**start.switches, "sw1": replace(start.switches["sw1"], vids=frozenset(range(1, 50)))})
    less = replay([VlanChange("sw1", 49, before=True, after=False)], full)
    assert make_plan(TRIANGLE, full, less, abilities={"sw1": replace(CAN, vlans=5)}).steps


@given(st.frozensets(st.integers(1, 6)), st.frozensets(st.integers(1, 6)), st.integers(1, 6))
def test_a_port_with_one_untagged_vlan_keeps_its_memberships(u: frozenset[int], t: frozenset[int], pvid: int) -> None:
    port = PortState(untagged_vids=u, tagged_vids=t - u, pvid=pvid)
    made = one_untagged(port)
    assert made.vids == port.vids
    assert made.pvid == pvid
    assert len(made.untagged_vids) <= 1
    assert one_untagged(made) == made
