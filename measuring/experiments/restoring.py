"""Restore a lab to its state before a run, from what stands with the lab's state: the run's folder is not needed.

Whoever calls holds the lab's lock. A run restores its lab itself, however it ends; here is also what restores it after
a run that was killed, and all that a killed command may have left: a change, descriptions of ports, a run.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from eee_testbed.controller.applying.apply import Aim, Applicable, Options, apply
from eee_testbed.controller.applying.journal import Journal, read_journal
from eee_testbed.controller.applying.put_back import as_it_was, differs, stays
from eee_testbed.controller.applying.recover import recover, restore_port_descriptions
from eee_testbed.controller.applying.run_notes import RunNote, RunNotes
from eee_testbed.controller.applying.statefolder import StateFolder, digest_of
from eee_testbed.controller.applying.work import Work
from eee_testbed.controller.model.state import Change, State, diff
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.rollback import Position, Return
from eee_testbed.controller.planning.site import management_of
from eee_testbed.lab.counted_text import counted
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.restore_journal import RestoreJournal
from eee_testbed.record.store import mark_interrupted, read_facts

Agree = Callable[[Sequence[Change]], bool]
"""Shows a person what was changed since a run stopped, and asks whether it may be undone."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A plan that was applied, None if nothing was to be done, and the lines that stay in configurations."""

    plan: Applicable | None = None
    stays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What one run changes: each plan that leads forward is in its restore journal before it is sent."""

    work: Work
    journal: RestoreJournal
    run: Path
    command: str

    def apply(self, what: str, aim: Aim, expected: State | None = None) -> Applied:
        """Bring the lab to an aim. LabError if it fails: it is then rolled back; Drift if it is not as expected."""
        length = self.journal.length
        applied: list[Applicable] = []

        def write_down(plan: Applicable) -> bool:
            applied.append(plan)
            if isinstance(plan, ProvedPlan):
                self.journal.add(plan)
            return True

        run = str(self.run.resolve())
        options = Options(f"{self.command}: {what}", check_hosts=False, run=run, expected=expected)
        result = apply(self.work, aim, management_of(self.work.lab, None), write_down, options)
        if result.ending == "nothing to do":
            return Applied()
        if result.ending != "applied":
            if result.ending == "taken back":
                self.journal.cut(length)
            raise result.cause or LabError(result.sentence)
        return Applied(applied[0], result.stays)

    def go_back(self, index: int, why: str) -> Applied:
        """Go back to a state of the restore journal; a switch that is in none of them is set up outside the network."""
        journal = self.journal
        left, rest = journal.state(journal.length), journal.back(self.work.lab, index).steps
        applied = self.apply(why, Return(Position(left, left, rest), journal.state(index)))
        journal.cut(index)
        return applied

    def return_home(self) -> Applied:
        """Go back to the state before the run from whatever is found, a change that was interrupted included."""
        finish_and_say(self.work)
        found, home = self.work.executor.observe(), self.journal.home
        applied = Applied(stays=stays(found, home))
        if diff(found, home) or differs(found, home):
            self.journal.settle(found)
            applied = self.go_back(0, "restore")
        self.journal.settle(home)
        return applied


def restored_words(applied: Applied) -> str:
    """How a lab was restored, in a sentence."""
    if applied.plan is None or applied.stays:
        return f"{as_it_was(applied.stays, 'before the run')}."
    restored = counted(len(applied.plan.changes), "setting")
    return f"the lab was restored to its state before the run: {restored}."


def finish_interrupted(work: Work) -> list[str]:
    """Finish or roll back a change, and restore descriptions, that killed commands left; returns what was done."""
    done = []
    record = read_journal(work.folder.journal, work.folder.operand)
    if record is not None and not record.finished:
        work.progress.say(f"`{record.begun.command}` was interrupted: recovering the lab first")
        with Journal(work.folder.journal) as journal:
            done.append(recover(work, journal))
    restored = restore_port_descriptions(work)
    return done + [f"{name}: descriptions that the proof of its ports had replaced are as before." for name in restored]


def clear_up(work: Work, agree: Agree) -> Iterator[str]:
    """Finish what killed commands left: a change, descriptions, runs, the last one first; yields what was done."""
    yield from finish_interrupted(work)
    for note in reversed(RunNotes(work.folder).all()):
        yield f"the run {note.run} was killed: {restore_killed(work, note, agree)}"


def finish_and_say(work: Work) -> None:
    """The same as `finish_interrupted`, for those who go on with something else."""
    for sentence in finish_interrupted(work):
        work.progress.say(sentence)


def restore_killed(work: Work, note: RunNote, agree: Agree) -> str:
    """Restore a lab to its state before a run that was killed; returns a sentence on the result.

    LabError if the inventory has changed since, or if somebody changed settings and `agree` does not let undo that.
    """
    _require_same_inventory(work, note)
    journal = RestoreJournal.load(RunNotes(work.folder).journal(note.folder), note.folder)
    finish_and_say(work)
    said = "the run had changed nothing: the lab is in its original state."
    if journal is not None:
        changes = journal.changed_since(work.executor.observe())
        if changes and not agree(changes):
            raise LabError(
                f"settings of lab {work.lab.name} were changed since {note.run} stopped, and restoring would undo "
                "that: nothing was sent."
            )
        command = note.command or f"run {note.folder.name}"
        said = restored_words(RunChanges(work, journal, note.folder, command).return_home())
    for name in _since(work, note):
        forget_restored(work.folder, name)
        mark_interrupted(name)
    return said


def _since(work: Work, note: RunNote) -> list[Path]:
    """The folders of a run and of those that began later, whose first state came after the one that is restored."""
    names = [one.folder for one in RunNotes(work.folder).all()]
    return names[names.index(note.folder) :] if note.folder in names else [note.folder]


def forget_restored(folder: StateFolder, run: Path) -> None:
    """The lab is as it was before the run: nothing of it is pending, and a resumed run finds its first state."""
    notes = RunNotes(folder)
    with suppress(LabError):  # the lab is restored, whatever the file looks like
        journal = RestoreJournal.load(notes.journal(run), run)
        if journal is not None:
            journal.leave_home(run)
    notes.forget(run)


def _require_same_inventory(work: Work, note: RunNote) -> None:
    known = note.lab_digest or read_facts(note.folder).get("lab_digest")
    if known != digest_of(work.lab):
        raise LabError(
            f"the inventory of lab {work.lab.name} has changed since {note.run} began: put hosts.yml and cables.csv "
            f"back, or run `eeectl adopt {work.folder.operand}` to accept the lab as it is."
        )
