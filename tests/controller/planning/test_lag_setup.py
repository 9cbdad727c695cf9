"""A LAG is set up and taken down at both ends, as frames walk it; what cannot be done without harm is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.lag_ports import with_lag_ports, without_bare_lags
from eee_testbed.controller.model.state import Draft, PortState, State, factory_state, replay
from eee_testbed.controller.planning.lags import require_lags
from eee_testbed.controller.planning.plan import invert, make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree, set_ports, trunks_off
from eee_testbed.controller.planning.rollback import position, rollback_plan
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.controller.planning.wishes import LinkOn, SetUpLag, TakeDownLag
from eee_testbed.lab.errors import NotExpressible, NoTree, PlanError, UnsafePlan
from tests.support.graph_lab import graph_lab
from tests.support.labs.frame_walk import harms, walked
from tests.support.labs.starts import CAN, routed, tree_state
from tests.support.laws import law
from tests.support.plain_check import check_plainly

if TYPE_CHECKING:
    from collections.abc import Collection

    from eee_testbed.controller.planning.limits import Abilities
    from eee_testbed.controller.planning.proof import ProvedPlan
    from eee_testbed.lab.model import End, Lab

TRIANGLE = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1], lag_cables={0: 3})
LAG = TRIANGLE.lags[0]
PAIR = graph_lab(2, [(0, 1)], [1, 1], lag_cables={0: 2})


def _without(lab: Lab, state: State, up: Collection[int] = ()) -> State:
    """The state before the first LAG was set up: of its cables only some, by their place, are up."""
    lag = lab.lags[0]
    places = {
        (end.device, end.port): {"lag": None, "admin_up": place in up}
        for place, cable in enumerate(lag.members)
        for end in (cable.a, cable.b)
    }
    return set_ports(state, places)


def _walk(lab: Lab, state: State, plan: ProvedPlan) -> State:
    """Frames walked after each step, which a spanning tree is no part of; and every prefix judged from nothing."""
    check_plainly(lab, state, plan.changes)
    return walked(lab, state, plan.changes)


def _members(state: State, switch: str = "sw1") -> list[tuple[int | None, bool]]:
    ports = (state.port(switch, port) for port in LAG.ports_at(switch))
    return [(port.lag, port.admin_up) for port in ports]


def test_from_the_factory_one_cable_stays_up_until_the_others_make_a_lag() -> None:
    start = _without(TRIANGLE, factory_state(TRIANGLE), up=(0, 1, 2))
    plan = plan_for(Site(TRIANGLE), start, SetUpLag(LAG.link.name))
    assert _walk(TRIANGLE, start, plan) == factory_state(TRIANGLE)
    require_lags(TRIANGLE, plan.end)
    draft = Draft(start)
    for step in plan.steps:
        draft.apply(step.change)
        ends = [draft.freeze().port(switch, port) for switch in ("sw1", "sw2") for port in LAG.ports_at(switch)]
        assert all(end.lag is None or end.lag == 1 for end in ends)
        assert any(end.admin_up for end in ends), "never are all of them shut"


def test_behind_one_pair_of_cables_hosts_are_never_cut_apart() -> None:
    lag = PAIR.lags[0]
    start = _without(PAIR, factory_state(PAIR), up=(0, 1))
    plan = plan_for(Site(PAIR), start, SetUpLag(lag.link.name))
    assert _walk(PAIR, start, plan) == factory_state(PAIR)
    assert {step.change.port for step in plan.steps[:2]} == {"t2"}, "the second cable goes first"  # type: ignore[union-attr]
    assert replay(invert(PAIR, start, plan).changes, plan.end) == start
    shut = [str(step.disruption) for step in plan.steps if step.reason == "shut a link"]
    assert shut == ["interruption ≤ 30 s", "hitless"] * 2, (
        "of each cable the first end, as a spanning tree finds another"
    )


def test_cables_that_are_shut_join_and_stay_shut_until_the_lag_is_switched_on() -> None:
    start = _without(TRIANGLE, tree_state(TRIANGLE))
    ring = [link.number for link in TRIANGLE.trunks() if link != LAG.link]
    up = {(end.device, end.port): {"admin_up": True} for n in ring for end in _trunk_ends(n)}
    start = set_ports(start, up)
    plan = plan_for(Site(TRIANGLE), start, SetUpLag(LAG.link.name))
    assert all(step.disruption.kind == "hitless" for step in plan.steps)
    end = _walk(TRIANGLE, start, plan)
    assert _members(end) == _members(end, "sw2") == [(1, False)] * 3
    routed = _walk(TRIANGLE, end, make_plan(TRIANGLE, end, multi_tree(TRIANGLE, end, shortest_routes, off={4})[1]))
    on = _walk(TRIANGLE, routed, plan_for(Site(TRIANGLE), routed, LinkOn(LAG.link.name)))
    assert not trunks_off(TRIANGLE, on)


def _trunk_ends(number: int) -> list[End]:
    link = next(link for link in TRIANGLE.trunks() if link.number == number)
    return [link.a, link.b]


def test_cables_that_carry_trees_become_a_lag_without_a_lost_frame() -> None:
    """As when a LAG is entered in cables.csv of a lab in use: hosts move to trees without its cables meanwhile."""
    apart = replace(TRIANGLE, lags=())
    start = tree_state(TRIANGLE)
    start = set_ports(_without(TRIANGLE, start), {("sw1", "t1"): {"admin_up": True}, ("sw2", "t1"): {"admin_up": True}})
    state = make_plan(apart, start, multi_tree(apart, start, shortest_routes)[1]).end
    used = [cable for cable in LAG.members if state.port(cable.a.device, cable.a.port).tagged_vids]
    assert used
    plan = plan_for(Site(TRIANGLE), state, SetUpLag(LAG.link.name))
    assert all(step.disruption.kind == "hitless" for step in plan.steps)
    end = _walk(TRIANGLE, state, plan)
    assert _members(end) == _members(end, "sw2") == [(1, True)] * 3
    assert end.port("sw1", "lag1").tagged_vids
    assert not trunks_off(TRIANGLE, end)


def test_without_a_spanning_tree_a_cable_in_use_cannot_join_and_nothing_is_planned() -> None:
    """Beside the LAG it would close a loop, and without it hosts are apart."""
    routed = tree_state(PAIR)
    start = _without(PAIR, routed, up=(0,))
    with pytest.raises(PlanError, match=r"no safe order of steps sets up sw1:lag1--sw2:lag1 .*cut hosts apart"):
        plan_for(Site(PAIR), start, SetUpLag(PAIR.lags[0].link.name))


def test_cables_without_a_lag_close_a_loop_beside_each_other() -> None:
    start = _without(PAIR, tree_state(PAIR), up=(0, 1))
    assert harms(PAIR, start) == {"loop"}
    with pytest.raises(UnsafePlan, match="close a loop"):
        make_plan(PAIR, start, start)
    guarded = _without(PAIR, factory_state(PAIR), up=(0, 1))
    assert make_plan(PAIR, guarded, guarded).end == guarded


def test_a_half_that_is_set_up_is_completed() -> None:
    """As after somebody set up one switch by hand: the cables are shut, so that they swallow nothing."""
    down = plan_for(Site(TRIANGLE), routed(TRIANGLE), TakeDownLag(LAG.link.name)).end
    with pytest.raises(PlanError, match=r"first, with `eeectl link lag set-up sw1:lag1` or by hand"):
        require_lags(TRIANGLE, down)
    half = set_ports(down, {("sw2", port): {"lag": 1} for port in LAG.ports_at("sw2")})
    plan = plan_for(Site(TRIANGLE), half, SetUpLag(LAG.link.name))
    _walk(TRIANGLE, half, plan)
    assert {step.change.switch for step in plan.steps} == {"sw1"}
    assert _members(plan.end) == [(1, False)] * 3


def test_a_lag_is_taken_down_when_its_traffic_has_moved_and_set_up_again() -> None:
    state = routed(TRIANGLE)
    plan = plan_for(Site(TRIANGLE), state, TakeDownLag(LAG.link.name))
    assert all(step.disruption.kind == "hitless" for step in plan.steps)
    down = _walk(TRIANGLE, state, plan)
    assert _members(down) == _members(down, "sw2") == [(None, False)] * 3
    assert down.port("sw1", "lag1") == down.port("sw2", "lag1") == PortState()
    again = _walk(TRIANGLE, down, plan_for(Site(TRIANGLE), down, SetUpLag(LAG.link.name)))
    on = _walk(TRIANGLE, again, plan_for(Site(TRIANGLE), again, LinkOn(LAG.link.name)))
    assert _members(on) == [(1, True)] * 3


def test_a_lag_goes_behind_a_spanning_tree_if_it_has_another_path() -> None:
    state = factory_state(TRIANGLE)
    plan = plan_for(Site(TRIANGLE), state, TakeDownLag(LAG.link.name))
    assert _members(_walk(TRIANGLE, state, plan)) == [(None, False)] * 3
    with pytest.raises(UnsafePlan, match="cut hosts apart"):
        plan_for(Site(PAIR), factory_state(PAIR), TakeDownLag(PAIR.lags[0].link.name))
    with pytest.raises(NoTree):
        plan_for(Site(PAIR), routed(PAIR), TakeDownLag(PAIR.lags[0].link.name))


def test_what_makes_no_sense_or_may_not_be_is_refused() -> None:
    state = factory_state(TRIANGLE)
    with pytest.raises(PlanError, match="is set up already"):
        plan_for(Site(TRIANGLE), state, SetUpLag(LAG.link.name))
    bare = _without(TRIANGLE, state)
    with pytest.raises(PlanError, match="is not set up"):
        plan_for(Site(TRIANGLE), bare, TakeDownLag(LAG.link.name))
    stranger = set_ports(bare, {("sw1", "t2"): {"lag": 7}})
    with pytest.raises(PlanError, match="sw1:t2 is a member of LAG 7: take it out there first"):
        plan_for(Site(TRIANGLE), stranger, SetUpLag(LAG.link.name))
    fixed = graph_lab(2, [(0, 1)], [1, 1], lag_cables={0: 2}, switchable=False)
    with pytest.raises(PlanError, match="is not switchable"):
        plan_for(Site(fixed), _without(fixed, factory_state(fixed)), SetUpLag(fixed.lags[0].link.name))
    able: Abilities = {switch.name: replace(CAN, lags_settable=switch.name != "sw2") for switch in TRIANGLE.switches}
    for wish, here in ((SetUpLag, bare), (TakeDownLag, state)):
        with pytest.raises(NotExpressible, match="sw2"):
            plan_for(Site(TRIANGLE, abilities=able), here, wish(LAG.link.name))


@law(30)
@given(st.data())
def test_wherever_it_is_interrupted_it_is_rolled_back(data: st.DataObject) -> None:
    lab = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1], lag_cables={0: data.draw(st.integers(1, 4))})
    lag = lab.lags[0]
    if data.draw(st.booleans()):
        start = _without(lab, factory_state(lab), up=range(len(lag.members)))
        plan = plan_for(Site(lab), start, SetUpLag(lag.link.name))
    else:
        start = routed(lab)
        plan = plan_for(Site(lab), start, TakeDownLag(lag.link.name))
    _walk(lab, start, plan)
    sent = data.draw(st.integers(0, plan.steps[-1].round))
    made = {name for name in ("sw1", "sw2", "sw3") if data.draw(st.booleans())}
    before = replay((step.change for step in plan.steps if step.round < sent), start)
    own = [step.change for step in plan.steps if step.round == sent and step.change.switch in made]
    found = replay(own, before)
    place = position(lab, start, plan.steps, sent, sent - 1, backward=True)
    back = rollback_plan(lab, found, place, start, None, {})
    assert replay(back.changes, found) == start


def test_a_lag_without_members_has_a_port_in_states_and_none_on_switches() -> None:
    state = factory_state(TRIANGLE).switches["sw1"]
    assert without_bare_lags(TRIANGLE, "sw1", state) == state
    out = _without(TRIANGLE, factory_state(TRIANGLE)).switches["sw1"]
    shown = without_bare_lags(TRIANGLE, "sw1", out)
    assert shown.ports.keys() == out.ports.keys() - {"lag1"}
    assert with_lag_ports(TRIANGLE, "sw1", shown, CAN) == out
    loose = with_lag_ports(TRIANGLE, "sw1", shown, replace(CAN, lag_filters=False))
    assert loose.ports["lag1"] == PortState(ingress_filtering=False)
    third = factory_state(TRIANGLE).switches["sw3"]
    assert with_lag_ports(TRIANGLE, "sw3", third, CAN) == third
