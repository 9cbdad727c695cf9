"""The history of a lab's changes, and taking them back: one, some, all, with proofs, interruptions and kills."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from eee_testbed.controller.applying.apply import Aim, Options
from eee_testbed.controller.applying.history import (
    PastChange,
    next_number,
    read_history,
    restored_runs,
    rollback_plans,
    take_back,
    to_take_back,
)
from eee_testbed.controller.applying.journal import Begun, Journal
from eee_testbed.controller.applying.recover import adopt
from eee_testbed.controller.applying.rounds import Stopped
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import at_work
from eee_testbed.controller.model.state import State, factory_state
from eee_testbed.controller.planning.rollback import Position, Return
from eee_testbed.controller.planning.wishes import LinkOff, LinkSpeed, MultiTree
from eee_testbed.lab.errors import LabError, RollbackFailed
from eee_testbed.lab.model import Lab
from tests.controller.applying.test_apply import run_apply, run_recover
from tests.support.labs.toy_lab import Quiet, ToyLab, small_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return small_lab(tmp_path / "toys")


def history_of(lab: Lab) -> tuple[PastChange, ...]:
    return read_history(StateFolder.of(lab))


def change(toys: ToyLab, aim: Aim, command: str, run: str = "") -> State:
    """Apply something; returns the state before."""
    before = toys.state
    assert run_apply(toys, aim, options=Options(command, run=run)).ending == "applied"
    return before


def three_changes(lab: Lab, run: str = "") -> tuple[ToyLab, list[State]]:
    """A lab after three changes, and the states before each of them."""
    toys = ToyLab(lab, factory_state(lab))
    link, other = list(lab.trunks())[:2]
    states = [change(toys, MultiTree(), "apply")]
    states.append(change(toys, LinkOff(link.name), "link off", run))
    states.append(change(toys, LinkSpeed((other.name,), 100), "link speed", run))
    return toys, states


def chosen(lab: Lab, number: int | None = None, *, every: bool = False) -> list[PastChange]:
    return to_take_back(history_of(lab), number, every=every, operand="toys")


def roll_back(toys: ToyLab, changes: Sequence[PastChange]) -> int:
    """Plan, then take back; returns the number of steps."""
    with at_work(toys.lab, toys.backend(), "rollback", Quiet(), toys.stop) as work:
        plans = rollback_plans(toys.lab, work.executor.observe(), changes, work.backend.abilities)
        for one in changes:
            take_back(work, one)
    return sum(len(plan.steps) for _, plan in plans)


def test_each_change_has_a_number_and_is_taken_back_the_newest_first(lab: Lab) -> None:
    toys, states = three_changes(lab)
    assert [(one.number, one.record.begun.command, one.standing) for one in history_of(lab)] == [
        (1, "apply", "applied"),
        (2, "link off", "applied"),
        (3, "link speed", "applied"),
    ]
    for number in (3, 2, 1):
        (last,) = chosen(lab)
        assert last.number == number
        assert roll_back(toys, [last]) > 0
        assert toys.state == states[number - 1]
        assert not toys.harms
    assert {one.standing for one in history_of(lab)} == {"taken back"}
    assert all(one.taken_back is not None and "rollback" in one.taken_back.actor for one in history_of(lab))
    with pytest.raises(LabError, match="no change to roll back"):
        chosen(lab)


def test_all_changes_from_a_number_on_and_what_comes_after_a_rollback(lab: Lab) -> None:
    toys, states = three_changes(lab)
    assert [one.number for one in chosen(lab, 2)] == [3, 2]
    assert [one.number for one in chosen(lab, every=True)] == [3, 2, 1]
    roll_back(toys, chosen(lab, 2))
    assert toys.state == states[1]
    with pytest.raises(LabError, match="change 3 is taken back already"):
        chosen(lab, 3)
    with pytest.raises(LabError, match="has no change 9"):
        chosen(lab, 9)
    assert next_number(StateFolder.of(lab)) == 4
    link = list(lab.trunks())[1]
    change(toys, LinkOff(link.name), "link off")
    assert [one.number for one in chosen(lab, every=True)] == [4, 1]
    roll_back(toys, chosen(lab, every=True))
    assert toys.state == states[0]
    assert not toys.harms


@pytest.mark.parametrize("order", range(1, 30, 4))
def test_a_rollback_of_the_past_that_is_interrupted_is_finished_by_recover(lab: Lab, order: int) -> None:
    toys, states = three_changes(lab)
    toys.troubles = {toys.orders + order: "Ctrl-C"}
    try:
        roll_back(toys, chosen(lab, every=True))
    except Stopped:
        toys.stop = type(toys.stop)()
        with pytest.raises(LabError, match="neither finished nor rolled back"):
            run_apply(toys, MultiTree())
        assert run_recover(toys) == "the lab is as it was before."
        interrupted = next(one for one in history_of(lab) if one.record.begun.before == toys.state)
        assert interrupted.standing == "taken back"
        assert all(one.standing == "applied" for one in history_of(lab) if one.number < interrupted.number)
        if interrupted.number > 1:
            roll_back(toys, chosen(lab, every=True))
    assert toys.state == states[0]
    assert not toys.harms


def test_a_rollback_that_fails_leaves_its_own_journal_to_recover(lab: Lab) -> None:
    toys, states = three_changes(lab)
    begin = toys.orders
    toys.troubles = dict.fromkeys(range(begin + 3, begin + 4000), "refuse")
    with pytest.raises(RollbackFailed):
        roll_back(toys, chosen(lab, 2))
    assert history_of(lab)[-1].standing == "broken"
    toys.troubles = {}
    run_recover(toys)
    assert toys.state == states[2]
    roll_back(toys, chosen(lab, 2))
    assert toys.state == states[1]


def test_settings_of_others_are_undone_with_it(lab: Lab) -> None:
    toys, states = three_changes(lab)
    toys.meddle("sw2")
    assert toys.state != states[2]
    roll_back(toys, chosen(lab, every=True))
    assert toys.state == states[0]


def test_what_was_adopted_is_not_rolled_back(lab: Lab) -> None:
    toys, _ = three_changes(lab)
    toys.meddle("sw2")
    with at_work(lab, toys.backend(), "adopt", Quiet(), toys.stop) as work, Journal(work.folder.journal) as journal:
        adopt(work, journal, work.executor.observe())
    with pytest.raises(LabError, match="no change to roll back"):
        chosen(lab, every=True)
    with pytest.raises(LabError, match="change 3 was adopted as found"):
        chosen(lab, 2)


def test_a_run_that_restored_the_lab_is_passed_over_and_one_that_did_not_is_refused(lab: Lab) -> None:
    toys, states = three_changes(lab, run="/runs/one")
    with pytest.raises(LabError, match="`eeectl run /runs/one --put-back` restores it first"):
        chosen(lab, 1)
    assert not restored_runs(history_of(lab))
    change(toys, Return(Position(toys.state, toys.state, ()), states[1]), "restore", "/runs/one")
    assert restored_runs(history_of(lab)) == {"/runs/one"}
    assert [one.number for one in chosen(lab, every=True)] == [1]
    with pytest.raises(LabError, match="change 2 is of a run that has restored the lab"):
        chosen(lab, 2)
    roll_back(toys, chosen(lab))
    assert toys.state == states[0]


def test_the_last_changes_are_kept_and_as_many_of_runs(lab: Lab) -> None:
    folder = StateFolder.of(lab)
    folder.make()
    for number in range(1, 131):
        with Journal(folder.new_journal()) as journal:
            run = "/runs/one" if number % 2 else ""
            begun = Begun(
                number=number, lab=lab.name, digest="", actor="me", command="x", before=State({}), steps=(), run=run
            )
            journal.write(begun)
            folder.begin(number, of_run=bool(run))
    assert next_number(folder) == 131
    assert list(folder.changes()) == list(range(31, 131))
    assert read_history(folder)[-1].path.samefile(folder.journal)
    folder.reopen(40)
    assert folder.journal.samefile(folder.changes()[40])
    folder.reopen(40)
    assert len(folder.changes()) == 100
