"""A journal reads everything back that it was given."""

from pathlib import Path

from controller.applying.journal import Begun, Journal, RollingBack, read_journal
from controller.model.state import VlanChange
from controller.planning.disruption import Disruption
from controller.planning.steps import Step
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
