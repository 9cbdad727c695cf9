"""One cable of a LAG goes off and comes back, in the LAG or out of it, as frames walk it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.state import Draft, PortChange, State, factory_state, replay
from eee_testbed.controller.planning.check import check
from eee_testbed.controller.planning.lags import require_lags
from eee_testbed.controller.planning.plan import invert, make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import (
    multi_tree,
    trunks_off,
)
from eee_testbed.controller.planning.rollback import position, rollback_plan
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.controller.planning.wishes import Eee, FlowControl, LinkOff, LinkOn, LinkSpeed
from eee_testbed.lab.errors import NotExpressible, NoTree, PlanError, UnsafePlan
from eee_testbed.lab.named_links import trunk_or_member_named
from tests.support.graph_lab import graph_lab
from tests.support.labs.frame_walk import harms
from tests.support.labs.starts import CAN, routed
from tests.support.laws import law
from tests.support.plain_check import check_plainly

if TYPE_CHECKING:
    from eee_testbed.controller.planning.limits import Abilities
    from eee_testbed.controller.planning.steps import Plan
    from eee_testbed.lab.model import Lab

TRIANGLE = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1], lag_cables={0: 3})
LAG = TRIANGLE.lags[0]
PAIR = graph_lab(2, [(0, 1)], [1, 1], lag_cables={0: 2})


def _walk(lab: Lab, state: State, plan: Plan) -> State:
    draft = Draft(state)
    for step in plan.steps:
        draft.apply(step.change)
        assert not harms(lab, draft.freeze()), step
    return draft.freeze()


def _at(state: State, field: str, switch: str = "sw1") -> list[object]:
    return [getattr(state.port(switch, port), field) for port in LAG.ports_at(switch)]


def _lossless(plan: Plan) -> bool:
    return all(step.disruption.kind == "hitless" for step in plan.steps)


def test_a_cable_is_named_by_its_number_or_its_ports_and_the_lag_by_its_own() -> None:
    assert [trunk_or_member_named(TRIANGLE, name) for name in ("4", "5", "sw2:t3")] == list(LAG.members)
    for name in ("sw1:lag1", "sw2:lag1", LAG.link.name):
        assert trunk_or_member_named(TRIANGLE, name) == LAG.link
    plain = TRIANGLE.find_link("sw3:t1")
    assert trunk_or_member_named(TRIANGLE, str(plain.number)) == plain
    with pytest.raises(PlanError, match="host's only link"):
        trunk_or_member_named(TRIANGLE, "n01")


def test_one_cable_goes_off_and_comes_back_while_the_lag_goes_on() -> None:
    state = routed(TRIANGLE)
    plan = plan_for(Site(TRIANGLE), state, LinkOff(LAG.members[1].name))
    assert _lossless(plan)
    off = _walk(TRIANGLE, state, plan)
    assert _at(off, "admin_up") == [True, False, True]
    assert _at(off, "lag") == [1, 1, 1]
    assert not trunks_off(TRIANGLE, off)
    assert {(name, port) for name, switch in off.switches.items() for port, held in switch.ports.items()
            if held != state.port(name, port)} == {("sw1", "t2"), ("sw2", "t2")}  # fmt: skip
    assert plan_for(Site(TRIANGLE), off, LinkOff(LAG.members[1].name)).end == off
    on = plan_for(Site(TRIANGLE), off, LinkOn(LAG.members[1].name))
    assert _lossless(on)
    assert _walk(TRIANGLE, off, on) == state
    assert replay(invert(TRIANGLE, state, plan).changes, off) == state


def test_a_cable_leaves_while_it_is_shut_and_joins_before_it_is_woken() -> None:
    state = routed(TRIANGLE)
    plan = plan_for(Site(TRIANGLE), state, LinkOff(LAG.members[2].name, leave=True))
    assert _lossless(plan)
    out = _walk(TRIANGLE, state, plan)
    assert _at(out, "lag") == [1, 1, None]
    assert _at(out, "admin_up") == [True, True, False]
    require_lags(TRIANGLE, out)
    for kind, other in (("lag", "admin_up"), ("admin_up", "lag")):
        for change in (step.change for step in plan.steps):
            if isinstance(change, PortChange) and getattr(change.before, kind) != getattr(change.after, kind):
                assert getattr(change.before, other) == getattr(change.after, other)
    on = plan_for(Site(TRIANGLE), out, LinkOn(LAG.members[2].name))
    assert _walk(TRIANGLE, out, on) == state
    # Other plans leave it out: trees, speeds, the whole LAG off and on.
    assert not make_plan(TRIANGLE, out, multi_tree(TRIANGLE, out, shortest_routes)[1]).steps
    whole = _walk(TRIANGLE, out, plan_for(Site(TRIANGLE), out, LinkOff(LAG.link.name)))
    with pytest.raises(PlanError, match=r"is off as a whole: `eeectl link on sw1:lag1`"):
        plan_for(Site(TRIANGLE), whole, LinkOn(LAG.members[2].name))
    again = _walk(TRIANGLE, whole, plan_for(Site(TRIANGLE), whole, LinkOn(LAG.link.name)))
    assert (_at(again, "lag"), _at(again, "admin_up")) == ([1, 1, None], [True, True, False])


def test_the_last_cable_is_left_and_hosts_links_are_refused() -> None:
    state = routed(TRIANGLE)
    for cable in LAG.members[:2]:
        state = plan_for(Site(TRIANGLE), state, LinkOff(cable.name)).end
    with pytest.raises(PlanError, match=r"last cable of sw1:lag1--sw2:lag1 that is up: name the LAG \(sw1:lag1\)"):
        plan_for(Site(TRIANGLE), state, LinkOff(LAG.members[2].name))
    with pytest.raises(PlanError, match="is not a cable of a LAG: leave --leave out"):
        plan_for(Site(TRIANGLE), state, LinkOff(TRIANGLE.find_link("sw3:t1").name, leave=True))
    fixed = graph_lab(2, [(0, 1)], [1, 1], lag_cables={0: 2}, switchable=False)
    with pytest.raises(PlanError, match="not switchable"):
        plan_for(Site(fixed), routed(fixed), LinkOff(fixed.lags[0].members[0].name))


def test_without_another_path_frames_are_lost_only_if_they_may_and_the_steps_say_how_long() -> None:
    state = routed(PAIR)
    cable = PAIR.lags[0].members[0]
    with pytest.raises(PlanError, match=r"traffic of sw1:lag1--sw2:lag1 cannot move away: .*; give --may-lose"):
        plan_for(Site(PAIR), state, LinkOff(cable.name))
    plan = plan_for(Site(PAIR), state, LinkOff(cable.name, may_lose=True))
    assert [str(step.disruption) for step in plan.steps] == ["loss ≤ 0.75 s"] * 2
    assert [step.round for step in plan.steps] == [0, 0]
    off = _walk(PAIR, state, plan)
    with pytest.raises(PlanError, match="give --may-lose"):
        plan_for(Site(PAIR), off, LinkOn(cable.name))
    on = plan_for(Site(PAIR), off, LinkOn(cable.name, may_lose=True))
    assert {str(step.disruption) for step in on.steps} >= {"loss ≤ 0.75 s"}
    assert _walk(PAIR, off, on) == state


def test_a_cable_that_is_up_outside_its_lag_is_no_step_of_a_plan() -> None:
    state = routed(TRIANGLE)

    def out(switch: str, here: State) -> PortChange:
        was = here.port(switch, "t1")
        return PortChange(switch, "t1", was, replace(was, lag=None))

    one = out("sw1", state)
    half = replay([one], state)
    assert "swallow" in harms(TRIANGLE, half)
    both = out("sw2", half)
    for judge in (check, check_plainly):
        with pytest.raises(UnsafePlan, match="step 1 would close a loop beside LAG 1: sw1:t1--sw2:t1"):
            judge(TRIANGLE, state, [one, both])
    was = state.port("sw1", "t1")
    with pytest.raises(PlanError, match="set the LAG up"):
        check(TRIANGLE, state, [PortChange("sw1", "t1", was, replace(was, lag=7))])
    with pytest.raises(PlanError, match="should be members of LAG 1"):
        require_lags(TRIANGLE, half)


def test_a_family_that_cannot_change_members_can_still_shut_them() -> None:
    state = routed(TRIANGLE)
    able: Abilities = {switch.name: replace(CAN, lag_members_settable=False) for switch in TRIANGLE.switches}
    assert plan_for(Site(TRIANGLE, abilities=able), state, LinkOff(LAG.members[0].name)).steps
    with pytest.raises(NotExpressible, match="taking port t1 into a LAG or out of it"):
        plan_for(Site(TRIANGLE, abilities=able), state, LinkOff(LAG.members[0].name, leave=True))


def test_where_members_must_match_they_get_the_lags_vlans_before_they_join() -> None:
    """And they are those that the LAG has by then."""
    able: Abilities = {switch.name: replace(CAN, lag_members_match=True) for switch in TRIANGLE.switches}
    state = routed(TRIANGLE)
    out = _walk(
        TRIANGLE, state, plan_for(Site(TRIANGLE, abilities=able), state, LinkOff(LAG.members[0].name, leave=True))
    )
    assert out.port("sw1", "t1").vids == {1}
    other = make_plan(TRIANGLE, out, multi_tree(TRIANGLE, out, one_tree)[1], abilities=able).end
    plan = plan_for(Site(TRIANGLE, abilities=able), other, LinkOn(LAG.members[0].name))
    joins = [
        step.change
        for step in plan.steps
        if isinstance(step.change, PortChange) and step.change.before.lag != step.change.after.lag
    ]
    assert [change.before.form for change in joins] == [other.port(sw, "lag1").form for sw in ("sw1", "sw2")]
    assert _walk(TRIANGLE, other, plan).port("sw1", "t1") == state.port("sw1", "t1")


def test_a_member_comes_back_as_its_fellows_are() -> None:
    state = routed(TRIANGLE)
    ports = {
        name: {port: replace(held, lag_mode="auto" if held.lag else "") for port, held in switch.ports.items()}
        for name, switch in state.switches.items()
    }
    state = State({name: replace(switch, ports=ports[name]) for name, switch in state.switches.items()})
    out = plan_for(Site(TRIANGLE), state, LinkOff(LAG.members[0].name, leave=True)).end
    assert _at(out, "lag_mode") == ["", "auto", "auto"]
    assert plan_for(Site(TRIANGLE), out, LinkOn(LAG.members[0].name)).end == state


@law(25)
@given(st.data())
def test_any_sequence_over_cables_and_lags_neither_cuts_nor_loops_nor_loses(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 4))
    edges = [(data.draw(st.integers(0, n - 1)), n) for n in range(1, count)]
    place = st.integers(0, count - 1)
    edges += [e for e in data.draw(st.lists(st.tuples(place, place), max_size=4)) if e[0] != e[1]]
    lags = data.draw(st.dictionaries(st.integers(0, len(edges) - 1), st.integers(2, 3), min_size=1))
    lab = graph_lab(count, edges, [1] * count, lag_cables=lags)
    match = data.draw(st.booleans())
    able: Abilities = {switch.name: replace(CAN, lag_members_match=match) for switch in lab.switches}
    site, state = Site(lab, abilities=able), routed(lab)
    for _ in range(data.draw(st.integers(1, 5))):
        may_lose = data.draw(st.booleans())
        trunk = data.draw(st.sampled_from(sorted(lab.trunks(), key=lambda link: link.number)))
        cable = data.draw(st.sampled_from([cable for lag in lab.lags for cable in lag.members]))
        action = data.draw(st.sampled_from(["off", "leave", "on", "on", "trunk", "speed", "eee", "flow"]))
        try:
            if action in {"off", "leave"}:
                plan = plan_for(site, state, LinkOff(cable.name, leave=action == "leave", may_lose=may_lose))
            elif action == "on":
                plan = plan_for(site, state, LinkOn(cable.name, may_lose=may_lose))
            elif action == "trunk":
                turn = LinkOn if trunk.number in trunks_off(lab, state) else LinkOff
                plan = plan_for(site, state, turn(trunk.name))
            elif action == "speed":
                plan = plan_for(site, state, LinkSpeed((trunk.name,), data.draw(st.sampled_from([100, None]))))
            elif action == "eee":
                plan = plan_for(site, state, Eee((trunk.name,), on=data.draw(st.booleans())))
            else:
                plan = plan_for(site, state, FlowControl((cable.name,), on=data.draw(st.booleans())))
        except NoTree:
            continue
        except PlanError as refusal:
            known = ("--may-lose", "last cable", "off as a whole", "wait for each other", "--may-flap")
            assert any(words in str(refusal) for words in known), refusal  # noqa: PT017 - which refusals may come
            continue
        kinds = {step.disruption.kind for step in plan.steps}
        assert kinds <= ({"hitless", "loss"} if may_lose and action in {"off", "leave", "on"} else {"hitless"})
        check_plainly(lab, state, plan.changes)
        before, state = state, _walk(lab, state, plan)
        require_lags(lab, state)
        assert replay(invert(lab, before, plan).changes, state) == before


@law(40)
@given(st.data())
def test_a_change_of_members_is_rolled_back_from_wherever_it_stopped(data: st.DataObject) -> None:
    """In the middle of any round, with any part of its changes made; and after a switch lost its settings."""
    match = data.draw(st.booleans())
    able: Abilities = {switch.name: replace(CAN, lag_members_match=match) for switch in TRIANGLE.switches}
    start = routed(TRIANGLE)
    if data.draw(st.booleans()):
        start = plan_for(Site(TRIANGLE, abilities=able), start, LinkOff(LAG.members[0].name, leave=True)).end
        plan = plan_for(Site(TRIANGLE, abilities=able), start, LinkOn(LAG.members[0].name))
    else:
        plan = plan_for(Site(TRIANGLE, abilities=able), start, LinkOff(LAG.members[0].name, leave=True))
    sent = data.draw(st.integers(0, plan.steps[-1].round))
    own = [step.change for step in plan.steps if step.round == sent]
    made = {name for name in ("sw1", "sw2", "sw3") if data.draw(st.booleans())}
    before = replay((step.change for step in plan.steps if step.round < sent), start)
    found = replay((change for change in own if change.switch in made), before)
    if data.draw(st.booleans()):
        lost = data.draw(st.sampled_from(sorted(found.switches)))
        boots_into = data.draw(st.sampled_from([start, routed(TRIANGLE), factory_state(TRIANGLE)]))
        found = State({**found.switches, lost: boots_into.switches[lost]})
    place = position(TRIANGLE, start, plan.steps, sent, sent - 1, backward=True)
    back = rollback_plan(TRIANGLE, found, place, start, None, able)
    harmed = harms(TRIANGLE, found)
    draft = Draft(found)
    for step in back.steps:
        draft.apply(step.change)
        assert harms(TRIANGLE, draft.freeze()) <= harmed | ({"cut"} if harmed else set()), step
    assert draft.freeze() == start
