"""Laws of plans: they reach their goal, they can be rolled back, and no prefix loops or cuts, as frames walk it."""

from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.state import (
    Draft,
    PortChange,
    PortState,
    State,
    StaticsChange,
    SwitchState,
    diff,
    factory_state,
    replay,
)
from eee_testbed.controller.planning.check import check
from eee_testbed.controller.planning.desired import live_trees
from eee_testbed.controller.planning.plan import invert, make_plan, order_changes
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree, trunks_off
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.controller.planning.wishes import LinkOff, LinkOn, LinkSpeed
from eee_testbed.lab.errors import NoTree, PlanError
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from tests.support import ROOT
from tests.support.graph_lab import graph_lab
from tests.support.labs.frame_walk import harms
from tests.support.labs.starts import tree_state
from tests.support.laws import law
from tests.support.plain_check import check_plainly

INVENTORY = ROOT / "inventory"
ATLAS = [g for g in nx.graph_atlas_g()[1:] if nx.is_connected(g) and g.number_of_nodes() <= 6]

vids = st.frozensets(st.integers(1, 5), max_size=4)


@st.composite
def port_states(draw: st.DrawFn) -> PortState:
    untagged = draw(vids)
    return PortState(
        admin_up=draw(st.booleans()),
        speed_mbps=draw(st.sampled_from([None, 100, 1000])),
        eee=draw(st.booleans()),
        hold_us=draw(st.sampled_from([None, 0, 600])),
        untagged_vids=untagged,
        tagged_vids=draw(vids) - untagged,
        pvid=draw(st.integers(1, 5)),
        acceptance=draw(st.sampled_from(["all", "tagged"])),
        ingress_filtering=draw(st.booleans()),
        stp=draw(st.booleans()),
        flow_control=draw(st.booleans()),
    )


@st.composite
def states(draw: st.DrawFn, lab: Lab) -> State:
    """Any state; most of them loop or cut."""
    macs = [host.mac for host in lab.hosts]
    switches = {}
    for switch in lab.switches:
        names = [port.name for port in switch.ports]
        tables = st.dictionaries(st.sampled_from(macs), st.sampled_from(names), min_size=1, max_size=3)
        switches[switch.name] = SwitchState(
            {name: draw(port_states()) for name in names},
            draw(vids) | {1},
            draw(st.dictionaries(st.integers(1, 5), tables, max_size=3)),
            draw(st.booleans()),
        )
    return State(switches)


TRIANGLE = graph_lab(3, [(0, 1), (1, 2), (2, 0), (0, 1)], [1, 1, 1])


@law(150)
@given(states(TRIANGLE), states(TRIANGLE))
def test_a_difference_replayed_is_the_other_state(a: State, b: State) -> None:
    assert replay(diff(a, b), a) == b
    assert diff(a, a) == ()
    assert replay([change.inverse for change in reversed(diff(a, b))], b) == a
    assert all(change.inverse.inverse == change for change in diff(a, b))


@law(100)
@given(states(TRIANGLE), states(TRIANGLE))
def test_an_ordered_plan_is_complete_even_between_arbitrary_states(a: State, b: State) -> None:
    plan = order_changes(TRIANGLE, a, b)
    assert replay(plan.changes, a) == b
    assert replay((*plan.changes, *invert(TRIANGLE, a, plan).changes), a) == a
    assert [step.round for step in plan.steps] == sorted(step.round for step in plan.steps)
    assert order_changes(TRIANGLE, a, a) == Plan(())
    for change in plan.changes:
        assert not (isinstance(change, PortChange) and change.after.untagged_vids & change.after.tagged_vids)
        if isinstance(change, StaticsChange) and change.after != change.before:
            aim = b.switches[change.switch].statics.get(change.vid, {})
            assert all(change.after.get(mac) == port for mac, port in aim.items())


def test_a_port_that_changes_its_form_in_a_vlan_leaves_it_first() -> None:
    """A change that both added and removed would be no state that its order passes through."""
    before = factory_state(TRIANGLE).switches["sw1"]
    old = PortState(untagged_vids=frozenset({1, 3}), tagged_vids=frozenset({2}))
    new = PortState(untagged_vids=frozenset({2}), tagged_vids=frozenset({1}))
    name = next(iter(before.ports))
    a, b = (
        State({"sw1": replace(before, vids=frozenset({1, 2, 3}), ports={**before.ports, name: port})})
        for port in (old, new)
    )
    lab = graph_lab(1, [], [1])
    changes = [change for change in order_changes(lab, a, b).changes if isinstance(change, PortChange)]
    assert changes[-1].after == new
    for change in changes:
        added = [getattr(change.after, key) - getattr(change.before, key) for key in ("untagged_vids", "tagged_vids")]
        gone = [getattr(change.before, key) - getattr(change.after, key) for key in ("untagged_vids", "tagged_vids")]
        assert not (any(added) and any(gone)), change


def test_states_of_different_switches_are_not_compared() -> None:
    other = graph_lab(2, [(0, 1)], [1, 1])
    with pytest.raises(PlanError, match="different switches"):
        diff(factory_state(TRIANGLE), factory_state(other))


def test_a_change_that_does_not_fit_is_refused() -> None:
    down = PortState(admin_up=False)
    with pytest.raises(PlanError, match="observe it and plan again"):
        replay([PortChange("sw1", "t1", down, PortState())], factory_state(TRIANGLE))


def _walk(lab: Lab, state: State, plan: Plan) -> State:
    """Frames after every prefix; only states that differ for frames are walked."""
    draft = Draft(state)
    for place, step in enumerate(plan.steps, start=1):
        draft.apply(step.change)
        now = draft.freeze()
        if not any(switch.stp for switch in now.switches.values()):
            assert not harms(lab, now), (place, step)
    return draft.freeze()


@pytest.mark.slow
def test_over_all_small_graphs_no_prefix_of_any_plan_loops_or_cuts() -> None:
    for graph in ATLAS:
        count = graph.number_of_nodes()
        lab = graph_lab(count, graph.edges, [1] * count)
        for start in (tree_state(lab), factory_state(lab)):
            _, after = multi_tree(lab, start, shortest_routes)
            plan = make_plan(lab, start, after)
            assert replay(plan.changes, start) == after
            back = invert(lab, start, plan)
            assert replay((*plan.changes, *back.changes), start) == start
            check(lab, after, back.changes)
            assert multi_tree(lab, after, shortest_routes)[1] == after
            if count <= 4 or graph.number_of_edges() % 5 == 0:
                _walk(lab, start, plan)


@pytest.mark.slow
def test_over_all_graphs_of_seven_switches_plans_are_proved() -> None:
    graphs = [g for g in nx.graph_atlas_g() if g.number_of_nodes() == 7 and nx.is_connected(g)]
    for graph in graphs[::8]:
        lab = graph_lab(7, graph.edges, [1] * 7)
        start = factory_state(lab)
        make_plan(lab, start, multi_tree(lab, start, shortest_routes)[1])


@pytest.mark.parametrize("name", ["virtual", "miwa", "koibuchi"])
def test_the_shipped_labs_are_planned_and_nothing_is_left_to_do(name: str) -> None:
    lab = load_lab(INVENTORY / name)
    for start in (factory_state(lab), tree_state(lab)):
        _, after = multi_tree(lab, start, shortest_routes)
        plan = make_plan(lab, start, after)
        assert plan.steps
        assert all(step.disruption.kind == "hitless" for step in plan.steps if not start.switches["sw1"].stp)
        assert not make_plan(lab, after, multi_tree(lab, after, shortest_routes)[1]).steps


def _multigraph(data: st.DataObject) -> Lab:
    count = data.draw(st.integers(2, 5))
    edges = [(data.draw(st.integers(0, n - 1)), n) for n in range(1, count)]
    place = st.integers(0, count - 1)
    edges += [e for e in data.draw(st.lists(st.tuples(place, place), max_size=6)) if e[0] != e[1]]
    return graph_lab(count, edges, data.draw(st.lists(st.integers(1, 2), min_size=count, max_size=count)))


@law(25)
@given(st.data())
def test_any_sequence_of_link_off_on_and_speed_keeps_all_hosts_joined(data: st.DataObject) -> None:
    lab = _multigraph(data)
    start = tree_state(lab)
    state = replay(make_plan(lab, start, after := multi_tree(lab, start, shortest_routes)[1]).changes, start)
    assert state == after
    trunks = sorted(lab.trunks(), key=lambda link: link.number)
    for _ in range(data.draw(st.integers(1, 4))):
        link = data.draw(st.sampled_from(trunks))
        try:
            if link.number in trunks_off(lab, state):
                plan = plan_for(Site(lab), state, LinkOn(link.name))
                goal = True
            elif data.draw(st.booleans()):
                plan = plan_for(Site(lab), state, LinkOff(link.name))
                goal = False
            else:
                plan = plan_for(Site(lab), state, LinkSpeed((link.name,), data.draw(st.sampled_from([10, 100, None]))))
                assert all(step.disruption.kind == "hitless" for step in plan.steps)
                goal = True
        except NoTree:
            up = nx.MultiGraph((t.a.device, t.b.device) for t in trunks if t.number not in trunks_off(lab, state))
            up.remove_edge(link.a.device, link.b.device)
            assert not nx.is_connected(up)
            continue
        assert all(step.disruption.kind == "hitless" for step in plan.steps)
        state = _walk(lab, state, plan)
        assert state.port(link.a.device, link.a.port).admin_up is goal
        assert state.port(link.b.device, link.b.port).admin_up is goal


@law(25)
@given(st.data())
def test_the_steps_of_a_round_may_be_made_in_any_order(data: st.DataObject) -> None:
    lab = _multigraph(data)
    start = factory_state(lab) if data.draw(st.booleans()) else tree_state(lab)
    _, after = multi_tree(lab, start, shortest_routes)
    plan = make_plan(lab, start, after)
    shuffled = data.draw(st.randoms(use_true_random=False))
    mixed = sorted(plan.steps, key=lambda step: (step.round, shuffled.random()))
    check(lab, start, [step.change for step in mixed])
    check_plainly(lab, start, [step.change for step in mixed])


def test_off_then_on_brings_the_first_trees_back_under_new_vids() -> None:
    lab = load_lab(INVENTORY / "virtual")
    start = factory_state(lab)
    before, state = multi_tree(lab, start, shortest_routes)
    link = next(link for link in lab.trunks() if link.number in before.vlans[0].links)
    off = replay(plan_for(Site(lab), state, LinkOff(link.name)).changes, state)
    assert trunks_off(lab, off) == {link.number}
    touched = {vlan.vid for vlan in before.vlans if link.number in vlan.links}
    assert touched & off.switches["sw1"].vids == set()
    assert {vlan.vid for vlan in before.vlans} - touched <= off.switches["sw1"].vids
    on = replay(plan_for(Site(lab), off, LinkOn(link.name)).changes, off)
    again, _ = multi_tree(lab, on, shortest_routes)
    assert {vlan.links for vlan in again.vlans} == {vlan.links for vlan in before.vlans}


def test_a_change_of_speed_returns_to_the_same_state_but_for_the_speed() -> None:
    lab = load_lab(INVENTORY / "virtual")
    _, state = multi_tree(lab, factory_state(lab), shortest_routes)
    link = next(link for link in lab.trunks() if state.port(link.a.device, link.a.port).tagged_vids)
    after = replay(plan_for(Site(lab), state, LinkSpeed((link.name,), 100)).changes, state)
    changed = diff(state, after)
    assert [(c.switch, c.port) for c in changed if isinstance(c, PortChange)] == [
        (end.device, end.port) for end in sorted((link.a, link.b))
    ]
    assert len(changed) == 2
    assert after.port(link.a.device, link.a.port).speed_mbps == 100


def test_only_a_vlan_that_is_built_as_planned_is_used_again() -> None:
    start = factory_state(TRIANGLE)
    vlans, state = multi_tree(TRIANGLE, start, shortest_routes)
    assert live_trees(TRIANGLE, state) == {vlan.vid: vlan.links for vlan in vlans.vlans}
    vlan = vlans.vlans[0]
    link = TRIANGLE.find_link(str(min(vlan.links)))
    was = state.port(link.b.device, link.b.port)
    for now in (replace(was, admin_up=False), replace(was, tagged_vids=was.tagged_vids - {vlan.vid})):
        spoilt = replay([PortChange(link.b.device, link.b.port, was, now)], state)
        assert vlan.vid not in live_trees(TRIANGLE, spoilt)


def test_the_number_of_a_vlan_with_entries_left_behind_is_not_given_away() -> None:
    left = {11: {TRIANGLE.host("n02").mac: "t2"}}
    start = factory_state(TRIANGLE)
    start = State({**start.switches, "sw1": replace(start.switches["sw1"], statics=left)})
    vlans, after = multi_tree(TRIANGLE, start, one_tree)
    assert [vlan.vid for vlan in vlans.vlans] == [12]
    assert make_plan(TRIANGLE, start, after).steps


def test_only_switchable_trunks_are_regulated() -> None:
    lab = graph_lab(2, [(0, 1), (0, 1)], [1, 1], switchable=False)
    state = tree_state(lab)
    trunk = next(lab.trunks())
    with pytest.raises(PlanError, match="not switchable"):
        plan_for(Site(lab), state, LinkOff(trunk.name))
    with pytest.raises(PlanError, match="host's only link"):
        plan_for(Site(lab), state, LinkOff(lab.links[0].name))
    with pytest.raises(PlanError, match=r"cables\.csv does not allow"):
        multi_tree(lab, state, one_tree, off={trunk.number})
