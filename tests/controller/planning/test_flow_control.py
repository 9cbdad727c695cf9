"""Flow control (802.3x) as a planned setting, and plans that must not let channels wait for each other in a circle."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.state import PortChange, State, factory_state
from eee_testbed.controller.planning.disruption import HITLESS
from eee_testbed.controller.planning.flow_control import waiting_circle
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.proof import prove
from eee_testbed.controller.planning.regulate import multi_tree, set_ports
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.steps import Plan, Step
from eee_testbed.controller.planning.trees import one_tree, shortest_routes, written_routes
from eee_testbed.controller.planning.wishes import FlowControl, LinkSpeed
from eee_testbed.lab.errors import NotExpressible, PlanError
from eee_testbed.lab.model import Lab
from tests.support.graph_lab import graph_lab
from tests.support.labs.starts import CAN, named
from tests.support.laws import law

TRIANGLE = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1], lag_cables={1: 2})
RING = graph_lab(5, [(n, (n + 1) % 5) for n in range(5)], [1] * 5)


def _routed(lab: Lab, policy: object = shortest_routes) -> State:
    start = factory_state(lab)
    return make_plan(lab, start, multi_tree(lab, start, policy)[1]).end  # type: ignore[arg-type]


def _pausing(lab: Lab, state: State) -> set[str]:
    return {
        f"{sw.name}:{port}"
        for sw in lab.switches
        for port, now in state.switches[sw.name].ports.items()
        if now.flow_control
    }


def test_trunks_and_members_of_a_lag_are_set_without_a_lost_frame_and_reset() -> None:
    state = _routed(TRIANGLE)
    cables = list(TRIANGLE.trunk_cables())
    plan = plan_for(Site(TRIANGLE), state, FlowControl(named(cables), on=True))
    assert all(step.disruption.kind == "hitless" for step in plan.steps)
    assert _pausing(TRIANGLE, plan.end) == {str(end) for cable in cables for end in (cable.a, cable.b)}
    assert plan_for(Site(TRIANGLE), plan.end, FlowControl(named(cables), on=True)).steps == ()
    back = plan_for(Site(TRIANGLE), plan.end, FlowControl(named(cables), on=False))
    assert back.end == state


def test_the_cables_of_a_lag_restart_together() -> None:
    state = _routed(TRIANGLE)
    (lag,) = TRIANGLE.lags
    plan = plan_for(Site(TRIANGLE), state, FlowControl(named(lag.members), on=True))
    turned = {
        step.round
        for step in plan.steps
        if isinstance(step.change, PortChange) and step.change.before.flow_control != step.change.after.flow_control
    }
    assert len(turned) == 1


def test_hosts_links_flap_only_if_allowed() -> None:
    state = _routed(TRIANGLE)
    with pytest.raises(PlanError, match="give --may-flap"):
        plan_for(Site(TRIANGLE), state, FlowControl(named(TRIANGLE.links), on=True))
    plan = plan_for(Site(TRIANGLE), state, FlowControl(named(TRIANGLE.links), on=True, may_flap=True))
    assert {f"{end}" for link in TRIANGLE.links for end in (link.a, link.b) if end.device.startswith("sw")} == _pausing(
        TRIANGLE, plan.end
    )
    assert {str(step.disruption) for step in plan.steps} == {"hitless", "flap ≤ 3 s"}


def test_a_family_that_cannot_is_refused_before_anything() -> None:
    state = _routed(TRIANGLE)
    able = {switch.name: CAN for switch in TRIANGLE.switches} | {"sw2": replace(CAN, flow_control_settable=False)}
    with pytest.raises(NotExpressible, match=r"sw2.*switching flow control"):
        plan_for(Site(TRIANGLE, abilities=able), state, FlowControl((TRIANGLE.find_link("sw1:t1").name,), on=True))


def test_turning_it_on_over_trees_with_a_circle_is_refused_with_the_circle() -> None:
    state = _routed(RING)
    trunks = list(RING.trunks())
    circle = r"sw\d( -> sw\d){5} over sw\d:t\d--"
    with pytest.raises(PlanError, match=rf"802.3x.*{circle}"):
        plan_for(Site(RING), state, FlowControl(named(trunks), on=True, may_flap=True))
    some = plan_for(Site(RING), state, FlowControl(named(trunks[:-1]), on=True, may_flap=True)).end
    assert not waiting_circle(RING, some)
    with pytest.raises(PlanError, match=circle):
        plan_for(Site(RING), some, FlowControl(named(trunks[-1:]), on=True, may_flap=True))
    alone = _routed(RING, one_tree)
    assert plan_for(Site(RING), alone, FlowControl(named(trunks), on=True, may_flap=True)).steps


def test_three_trunks_are_enough_for_a_circle() -> None:
    """Each switch reaches the last one the long way around."""
    lab = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1])
    one, two, three = sorted(link.number for link in lab.trunks())
    around = ((["sw1"], {one, two}), (["sw2"], {two, three}), (["sw3"], {three, one}))
    state = _routed(lab, lambda topology, _links: written_routes(topology, around))
    with pytest.raises(PlanError, match="wait for each other forever"):
        plan_for(Site(lab), state, FlowControl(named(list(lab.trunks())), on=True, may_flap=True))


def test_no_plan_ends_in_a_circle_that_it_did_not_find() -> None:
    """Whatever made the plan: `prove` judges it."""
    state = _routed(RING)
    trunks = list(RING.trunks())
    some = plan_for(Site(RING), state, FlowControl(named(trunks[:-1]), on=True, may_flap=True)).end
    changes = []
    for end in (trunks[-1].a, trunks[-1].b):
        was = some.port(end.device, end.port)
        changes.append(PortChange(end.device, end.port, was, replace(was, flow_control=True)))
    with pytest.raises(PlanError, match="wait for each other forever"):
        prove(RING, some, _steps(changes), None, {})
    # A lab that is found with a circle is not made worse by what has nothing to do with it, and can be freed of it.
    whole = _with(some, changes)
    assert waiting_circle(RING, whole)
    assert not waiting_circle(
        RING, plan_for(Site(RING), whole, FlowControl(named(trunks[:1]), on=False, may_flap=True)).end
    )
    assert plan_for(Site(TRIANGLE), _routed(TRIANGLE), LinkSpeed((next(TRIANGLE.trunks()).name,), 100)).steps


def _with(state: State, changes: list[PortChange]) -> State:
    """The state after changes that no plan makes."""
    switches = dict(state.switches)
    for change in changes:
        held = switches[change.switch]
        switches[change.switch] = replace(held, ports={**held.ports, change.port: change.after})
    return State(switches)


def _steps(changes: list[PortChange]) -> Plan:
    return Plan(tuple(Step("sleep", 0, change, "by hand", HITLESS) for change in changes))


@law(25)
@given(st.data())
def test_any_sequence_leaves_no_circle(data: st.DataObject) -> None:
    count = data.draw(st.integers(3, 6))
    chords = data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=3))
    edges = [(n, (n + 1) % count) for n in range(count)] + [pair for pair in chords if pair[0] != pair[1]]
    lab = graph_lab(count, edges, [1] * count)
    state = _routed(lab)
    trunks = list(lab.trunks())
    for _ in range(data.draw(st.integers(1, 4))):
        chosen = data.draw(st.lists(st.sampled_from(trunks), min_size=1, unique=True))
        on = data.draw(st.booleans())
        aim = {(end.device, end.port): {"flow_control": on} for link in chosen for end in (link.a, link.b)}
        if waiting_circle(lab, set_ports(state, aim)):
            with pytest.raises(PlanError, match="wait for each other forever"):
                plan_for(Site(lab), state, FlowControl(named(chosen), on=on, may_flap=True))
        else:
            state = plan_for(Site(lab), state, FlowControl(named(chosen), on=on, may_flap=True)).end
            assert not waiting_circle(lab, state)
