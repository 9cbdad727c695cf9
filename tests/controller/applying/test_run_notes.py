"""Notes of runs: each by itself, judged by its process, or else by the lock."""

from pathlib import Path

from eee_testbed.controller.applying.processes import ProcessId
from eee_testbed.controller.applying.run_notes import RunNote, RunNotes
from eee_testbed.controller.applying.statefolder import StateFolder


def test_runs_are_listed_each_and_forgotten_each(tmp_path: Path) -> None:
    notes = RunNotes(StateFolder("toys"))
    runs = [tmp_path / f"2026010{day}T000000Z-night" for day in (1, 2)]
    for run in reversed(runs):
        notes.write(RunNote(run=str(run)))
    assert [note.folder for note in notes.all()] == runs
    notes.forget(runs[1])
    assert [note.folder for note in notes.all()] == runs[:1]


def test_a_run_without_a_process_that_can_be_seen_is_judged_by_the_lock() -> None:
    """As notes of earlier versions, or of another machine with the same folder."""
    other = ProcessId.me().model_copy(update={"host": "other", "boot": "other"})
    for note in (RunNote(run="/a"), RunNote(run="/a", process=other)):
        assert note.standing(held=True) == "running"
        assert note.standing(held=False) == "gone"
