"""Journals of versions that kept no wishes: read, finished by `recover`, and rolled back as ever."""

from pathlib import Path

import pytest

from eee_testbed.controller.applying.history import read_history, to_take_back
from eee_testbed.controller.applying.journal import Verified, read_journal
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.model.state import State, replay
from eee_testbed.lab.model import Lab
from tests.controller.applying.test_apply import run_recover
from tests.controller.applying.test_history import roll_back
from tests.support import ROOT
from tests.support.labs.toy_lab import ToyLab, small_lab

_LINES = (ROOT / "tests/controller/applying/journals/link_off_before_wishes.jsonl").read_bytes().splitlines(True)
"""What a change wrote that shut a link of the toy lab."""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return small_lab(tmp_path / "toys")


def _left_by(lab: Lab, count: int) -> State:
    """The first lines of the journal are the lab's; the state that its switches are in then."""
    folder = StateFolder.of(lab)
    folder.make()
    folder.new_journal().write_bytes(b"".join(_LINES[:count]))
    folder.begin(1, of_run=False)
    record = read_journal(folder.journal)
    assert record is not None
    assert record.begun.wish is None
    verified = max((entry.round for entry in record.entries if isinstance(entry, Verified)), default=-1)
    return replay((step.change for step in record.begun.steps if step.round <= verified), record.begun.before)


@pytest.mark.parametrize("count", [1, 7, 16, 25])
def test_a_change_that_was_killed_is_rolled_back(lab: Lab, count: int) -> None:
    toys = ToyLab(lab, _left_by(lab, count))
    assert run_recover(toys) == "the lab is as it was before."
    record = read_journal(StateFolder.of(lab).journal)
    assert record is not None
    assert (record.outcome, record.rest) == ("taken back", toys.state)
    assert toys.state == record.begun.before
    assert not toys.harms


def test_a_change_that_stands_is_in_the_history_and_taken_back_from_there(lab: Lab) -> None:
    toys = ToyLab(lab, _left_by(lab, len(_LINES)))
    (change,) = to_take_back(read_history(StateFolder.of(lab)), None, every=False, operand="toys")
    assert (change.standing, change.record.rest) == ("applied", toys.state)
    assert roll_back(toys, [change]) == len(change.record.begun.steps)
    assert toys.state == change.record.begun.before
    assert not toys.harms
