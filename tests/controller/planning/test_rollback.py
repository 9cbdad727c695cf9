"""Rollbacks: from wherever a pass stopped, in the reverse order, and never worse than what was found."""

from dataclasses import replace

import pytest

from eee_testbed.controller.model.state import (
    Change,
    PortChange,
    State,
    StaticsChange,
    StpChange,
    factory_state,
    replay,
)
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.disruption import HITLESS
from eee_testbed.controller.planning.plan import invert, make_plan
from eee_testbed.controller.planning.proof import prove_rollback
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.rollback import Position, follow, position, rollback_plan
from eee_testbed.controller.planning.steps import Plan, Step
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.lab.errors import PlanError, UnsafePlan
from tests.support.graph_lab import graph_lab

LAB = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1])
FACTORY = factory_state(LAB)
ONE = multi_tree(LAB, FACTORY, one_tree)[1]  # trunks sw1:t1 and sw1:t2; the third is spare
PLAN = make_plan(LAB, FACTORY, multi_tree(LAB, FACTORY, shortest_routes)[1])


def _states() -> list[State]:
    """Before the first round, and after each."""
    found = [FACTORY]
    for number in range(PLAN.steps[-1].round + 1):
        found.append(replay((step.change for step in PLAN.steps if step.round == number), found[-1]))
    return found


def _with(state: State, switch: str, port: str, **settings: object) -> PortChange:
    was = state.port(switch, port)
    return PortChange(switch, port, was, replace(was, **settings))  # type: ignore[arg-type]


def _plan(*changes: Change) -> Plan:
    return Plan(tuple(Step("sleep", number, change, "by hand", HITLESS) for number, change in enumerate(changes)))


def test_a_position_is_what_was_verified_what_may_have_been_sent_and_the_rest() -> None:
    states = _states()
    assert len(states) > 4
    for sent in range(-1, len(states) - 1):
        for verified in {max(sent - 1, -1), sent}:
            back = position(LAB, FACTORY, PLAN.steps, sent, verified, backward=True)
            on = position(LAB, FACTORY, PLAN.steps, sent, verified, backward=False)
            assert (back.low, back.high) == (on.low, on.high) == (states[verified + 1], states[sent + 1])
            assert replay((step.change for step in back.rest), back.high) == FACTORY
            assert replay((step.change for step in on.rest), on.low) == states[-1]


def test_rounds_of_a_rollback_count_up_from_0_and_undo_the_last_one_first() -> None:
    last = PLAN.steps[-1].round
    back = invert(LAB, FACTORY, PLAN)
    assert [step.round for step in back.steps] == sorted(last - step.round for step in PLAN.steps)
    assert [step.change.inverse for step in reversed(back.steps)] == [step.change for step in PLAN.steps]


def test_a_rollback_ends_where_it_should() -> None:
    calm = _with(ONE, "sw2", "t2", eee=not ONE.port("sw2", "t2").eee)
    with pytest.raises(PlanError, match="does not end in the state"):
        prove_rollback(LAB, ONE, _plan(), replay([calm], ONE), None, {}, lost_switch=False)
    assert prove_rollback(LAB, ONE, _plan(calm), replay([calm], ONE), None, {}, lost_switch=False).steps


def test_hosts_that_are_apart_are_no_reason_to_close_a_loop() -> None:
    apart = replay([_with(ONE, "sw2", "h1", pvid=1)], ONE)
    (vid,) = ONE.port("sw1", "t1").tagged_vids
    changes: list[Change] = []
    for switch, port in (("sw2", "t2"), ("sw3", "t1")):
        changes.append(_with(apart, switch, port, admin_up=True, tagged_vids=frozenset({vid})))
    with pytest.raises(UnsafePlan, match="loop"):
        prove_rollback(LAB, apart, _plan(*changes), replay(changes, apart), None, {}, lost_switch=True)


def test_hosts_that_are_apart_are_no_reason_to_cut_off_management() -> None:
    (vid,) = ONE.port("sw1", "t1").tagged_vids
    apart = replay([_with(ONE, "sw2", "h1", pvid=1)], ONE)
    shut = _with(apart, "sw1", "t1", admin_up=False)
    target = replay([shut], apart)
    with pytest.raises(UnsafePlan, match="management"):
        prove_rollback(LAB, apart, _plan(shut), target, Management("sw1", vid), {}, lost_switch=True)
    assert prove_rollback(LAB, apart, _plan(shut), target, None, {}, lost_switch=True).steps


def test_a_switch_whose_spanning_tree_the_journal_does_not_explain_is_taken_out_first() -> None:
    found = replay([StpChange("sw2", before=False, after=True)], ONE)
    plan = rollback_plan(LAB, found, Position(ONE, ONE, ()), ONE)
    first = [step.change for step in plan.steps if step.round == 0]
    assert first
    for change in first:
        assert isinstance(change, PortChange)
        assert (change.switch, change.after.admin_up) == ("sw2", False)


def test_entries_that_change_direction_are_removed_before_others_are_added() -> None:
    one, other = (host.mac for host in LAB.hosts[:2])
    found = replay([StaticsChange("sw3", 11, ONE.switches["sw3"].statics.get(11, {}), {one: "t1"})], ONE)
    aim = StaticsChange("sw3", 11, {}, {one: "t2", other: "t1"})
    changes = follow(LAB, found, [Step("sleep", 0, aim, "", HITLESS)]).changes
    assert replay(changes, found).switches["sw3"].statics[11] == aim.after
    for change in changes:
        assert isinstance(change, StaticsChange)
        before, after = change.before.items(), change.after.items()
        assert before <= after or after <= before


def test_a_port_that_is_to_be_shut_is_shut_before_it_leaves_or_joins() -> None:
    found = replay([_with(ONE, "sw1", "t1", tagged_vids=frozenset({12}))], ONE)
    goal = _with(ONE, "sw1", "t1", admin_up=False, tagged_vids=frozenset({13}))
    first, *others = follow(LAB, found, [Step("sleep", 0, goal, "", HITLESS)]).changes
    assert first == _with(found, "sw1", "t1", admin_up=False)
    assert others
    assert all(isinstance(change, PortChange) and not change.after.admin_up for change in others)
