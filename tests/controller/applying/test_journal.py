"""A journal reads everything back that it was given."""

from pathlib import Path

from eee_testbed.controller.applying.journal import (
    Begun,
    Done,
    Entry,
    Journal,
    JournalState,
    Reached,
    RollingBack,
    Sending,
    Verified,
    read_journal,
    state_of,
)
from eee_testbed.controller.model.state import State, VlanChange
from eee_testbed.controller.planning.disruption import Disruption
from eee_testbed.controller.planning.steps import Step
from tests.support.labs.toy_lab import small_lab, trees_state


def test_a_rollback_that_cuts_hosts_off_for_ever_is_read_back(tmp_path: Path) -> None:
    """As that of a switch which restarted: the disruption of its steps has no end."""
    lab = small_lab(tmp_path / "toy")
    step = Step("sleep", 0, VlanChange("sw1", 9, False, True), "", Disruption("interruption", float("inf")))
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.write(Begun(lab="toy", digest="", actor="", command="", before=trees_state(lab), steps=()))
        journal.write(RollingBack(why="a restart", found=trees_state(lab), steps=(step,)))
        kept = journal.record
    found = read_journal(path)
    assert found is not None
    assert found.passes == kept.passes


_BEGUN = Begun(lab="toy", digest="", actor="", command="", before=State({}), steps=())
_BACK = RollingBack(why="", found=State({}), steps=())


def _after(*entries: Entry) -> JournalState:
    return state_of([_BEGUN, *entries])


def test_of_each_pass_the_last_round_that_may_have_been_sent_and_the_last_one_read_back_are_known() -> None:
    forward = _after(Sending(round=0, orders={}), Verified(round=0), Sending(round=1, orders={}))
    assert [(one.sent, one.verified) for one in forward.passes] == [(1, 0)]
    both = _after(*forward.entries[1:], _BACK, Sending(round=0, orders={}))
    assert [(one.sent, one.verified) for one in both.passes] == [(1, 0), (0, -1)]


def test_what_is_being_rolled_back_neither_waits_to_be_confirmed_nor_is_finished() -> None:
    assert _after(Reached()).waiting
    assert not _after(Reached(), _BACK).waiting
    assert _after(Reached(), Done(outcome="applied")).finished
    assert not _after(Reached(), Done(outcome="applied"), _BACK).finished
