"""Rollbacks and recoveries: whatever is found, no switch that answers is locked out, and nothing is made worse."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.state import Change, Draft, PortChange, State, StpChange, factory_state, replay
from eee_testbed.controller.planning.check import Management, Watch
from eee_testbed.controller.planning.disruption import HITLESS
from eee_testbed.controller.planning.plan_text import print_steps
from eee_testbed.controller.planning.proof import ProvedRollback, prove_rollback
from eee_testbed.controller.planning.rollback import Position, rollback_plan
from eee_testbed.controller.planning.steps import Plan, Step
from eee_testbed.lab.errors import LockOut, UnsafePlan
from tests.support.graph_lab import graph_lab
from tests.support.labs.lockouts import Case, all_cases, at_rest, graphs, judge, on_tree, passed, restarted, trees
from tests.support.labs.management_walk import first_lockout
from tests.support.labs.starts import tree_state
from tests.support.laws import law

WAY_IN = Management("sw1", 1)


def _two_cables() -> Case:
    """Two switches, two cables, one of them with VLAN 1; sw2 comes back with factory settings."""
    lab = graph_lab(2, [(0, 1), (0, 1)], [1, 1])
    cases = [case for kind, case in at_rest(lab, WAY_IN, frozenset({0})) if kind == "factory settings at rest"]
    return next(case for case in cases if case.found.switches["sw1"] == case.target.switches["sw1"])


def test_a_switch_is_set_up_through_the_trunk_that_it_is_reached_by_and_that_one_last() -> None:
    case = _two_cables()
    assert any(fault.path == ("sw1", "sw2") for fault in Watch(case.lab, case.found, None, WAY_IN).faults)
    plan = case.plan()
    draft = Draft(case.found)
    for step in plan.steps:
        draft.apply(step.change)
        assert all(draft.ports["sw2"][port].admin_up for port in ("t1", "t2"))
    ports = [step.change.port for step in plan.steps if isinstance(step.change, PortChange)]
    assert ports.index("t1") > max(place for place, port in enumerate(ports) if port != "t1")
    assert draft.freeze() == case.target
    assert first_lockout(case.lab, passed(case.found, plan.steps), ("sw1", 1)) is None


@pytest.mark.slow
@pytest.mark.parametrize(("count", "most", "only_at_rest"), [(2, 2, False), (3, 1, True)])
def test_no_rollback_locks_a_switch_out(count: int, most: int, *, only_at_rest: bool) -> None:
    """Every graph, tree of the management's VLAN, entry, and switch that restarts; one restart is never refused.

    `tests/support/labs/lockouts.py` searches larger ones.
    """
    verdicts = Counter((kind, judge(case)[0]) for kind, case in all_cases(count, most, only_at_rest=only_at_rest))
    assert {verdict for _, verdict in verdicts} <= {"safe", "refused"}, verdicts
    assert {kind for kind, verdict in verdicts if verdict == "refused"} <= {"two switches at once"}
    assert verdicts["factory settings at rest", "safe"] >= 12


@cache
def _large() -> list[tuple[str, Case]]:
    """Some of the cases of four switches, from all over."""
    shapes = list(graphs(4))
    found = []
    for place, edges in enumerate(shapes):
        lab = graph_lab(4, edges, [1] * 4)
        tree = next(islice(trees(edges), place, None), next(trees(edges)))
        found += list(at_rest(lab, Management(f"sw{1 + place % 4}", 1), tree))
    return found


@law(25)
@given(st.randoms(use_true_random=False))
def test_no_rollback_among_four_switches_locks_one_out(random: Random) -> None:
    kind, case = random.choice(_large())
    verdict, lockout = judge(case)
    assert lockout is None
    assert verdict == "safe" or kind == "two switches at once"


def test_where_no_order_is_known_to_be_safe_the_sentence_says_what_where_and_the_way_out() -> None:
    """Two switches speak spanning tree, and two cables close loops."""
    lab = graph_lab(4, [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], [1] * 4)
    case = next(case for kind, case in at_rest(lab, WAY_IN, frozenset({0, 1, 2})) if kind == "two switches at once")
    with pytest.raises(LockOut) as caught:
        case.plan()
    sentence = str(caught.value)
    for word in (caught.value.switch, "sw1 in VLAN 1", "nothing was sent", "console", "try again"):
        assert word in sentence


def _steps(*changes: Change) -> Plan:
    return Plan(tuple(Step("sleep", number, change, "", HITLESS) for number, change in enumerate(changes)))


def _port(state: State, place: tuple[str, str], **values: object) -> PortChange:
    before = state.port(*place)
    return PortChange(*place, before, replace(before, **values))  # type: ignore[arg-type]


def test_a_loop_that_was_found_is_no_leave_for_another_one_in_the_same_vlan() -> None:
    """Two triangles that share no cable: one circles as found, the other one is not to."""
    edges = [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)]
    lab = graph_lab(5, edges, [1] * 5)
    quiet = on_tree(lab, frozenset({0, 1, 3, 4}))
    opened = [_port(quiet, place, admin_up=True) for place in (("sw3", "t2"), ("sw1", "t2"))]
    found = replay(opened, quiet)
    assert [fault.harm for fault in Watch(lab, found).faults] == ["close a loop in VLAN 1"]
    other = [_port(found, place, admin_up=True) for place in (("sw5", "t2"), ("sw1", "t4"))]
    with pytest.raises(UnsafePlan, match="close a loop in VLAN 1") as caught:
        prove_rollback(lab, found, _steps(*other), replay(other, found), None, {}, lost_switch=True)
    assert set(caught.value.path) == {"sw1:t3--sw4:t1", "sw4:t2--sw5:t1", "sw5:t2--sw1:t4"}
    back = [change.inverse for change in reversed(opened)]
    assert prove_rollback(lab, found, _steps(*back), quiet, None, {}, lost_switch=True).steps


def test_a_spanning_tree_that_stops_does_not_count_as_a_loop_that_was_there() -> None:
    lab = graph_lab(2, [(0, 1), (0, 1)], [1, 1])
    found = replay([StpChange("sw1", True, False)], factory_state(lab))
    stop = StpChange("sw2", True, False)
    with pytest.raises(UnsafePlan, match="close a loop"):
        prove_rollback(lab, found, _steps(stop), replay([stop], found), None, {}, lost_switch=True)


def test_hosts_that_a_rollback_has_to_part_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """sw4 lost its settings, so that others may be cut apart, too: these are named."""
    lab = graph_lab(4, [(0, 1), (1, 2), (2, 3)], [1] * 4)
    start = tree_state(lab)
    cut = [_port(start, ("sw4", "h1"), pvid=7, untagged_vids=frozenset({7}))]
    found = replay(cut, start)
    shut = _port(found, ("sw1", "t1"), admin_up=False)
    plan = prove_rollback(
        lab, found, _steps(shut, shut.inverse, *(change.inverse for change in cut)), start, None, {}, lost_switch=False
    )
    assert plan.parted == (("n01", "n02"), ("n01", "n03"))
    print_steps(plan)
    assert (
        "cut apart until the end, though they reach each other now: n01 and n02, n01 and n03" in capsys.readouterr().out
    )


def test_a_plan_that_parts_no_hosts_comes_first() -> None:
    """Out of band, too, a switch is not shut out of the network if others reach each other over it."""
    lab = graph_lab(3, [(0, 1), (1, 2)], [1] * 3)
    home = tree_state(lab)
    found = restarted(home, factory_state(lab), ["sw2"])
    plan = rollback_plan(lab, found, Position(home, home, ()), home)
    assert isinstance(plan, ProvedRollback)
    assert plan.parted == ()
    assert not any(isinstance(change, PortChange) and not change.after.admin_up for change in plan.changes)


def test_a_round_is_judged_with_what_takes_away_first() -> None:
    """Two paths of management that change places in one round: the new one may come after the old one went."""
    lab = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1] * 3)
    found = on_tree(lab, frozenset({0, 1}))
    first = _port(found, ("sw1", "t2"), admin_up=True)
    together = [_port(found, ("sw3", "t2"), admin_up=True), _port(found, ("sw2", "t2"), admin_up=False)]
    apart = _steps(first, *together[::-1])
    one_round = Plan((*apart.steps[:1], *(replace(step, round=1) for step in _steps(*together).steps)))
    for plan in (apart, one_round):
        with pytest.raises(UnsafePlan, match="step 2 would cut off management in VLAN 1: sw1 - sw3"):
            prove_rollback(lab, found, plan, replay(plan.changes, found), WAY_IN, {}, lost_switch=True)
