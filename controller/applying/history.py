"""The history of a lab's changes: what was changed, by whom, and which of it stands; and how to take it back.

Each change keeps its journal. Taking back means rolling back journal after journal, the newest first, each with the
same observation, proof, read-back and journal as the rollback of an apply that failed. So the lab passes states that it
had before, and a rollback that is interrupted or killed is finished by `recover`.

What somebody adopted as found ends the history: what came before is not rolled back across it. Runs restore the lab
themselves; the changes of one that did are not rolled back, as they add up to nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eee_testbed.controller.applying.journal import Journal, JournalState, RollingBack, Standing, read_journal
from eee_testbed.controller.applying.recover import position_of, roll_back
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import Work
from eee_testbed.controller.model.state import State, diff
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.planning.proof import ProvedRollback
from eee_testbed.controller.planning.rollback import Return, restore_plan
from eee_testbed.controller.planning.site import Site
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab


@dataclass(frozen=True, slots=True)
class PastChange:
    """One change of the history, with its journal."""

    number: int
    path: Path
    record: JournalState

    @property
    def standing(self) -> Standing:
        """How it stands now."""
        return self.record.standing

    @property
    def switches(self) -> tuple[str, ...]:
        """Switches that it touches, in the order of its steps."""
        return tuple(dict.fromkeys(step.change.switch for step in self.record.begun.steps))

    @property
    def taken_back(self) -> RollingBack | None:
        """Why, when and by whom it was last taken back, if it was."""
        return next((entry for entry in reversed(self.record.entries) if isinstance(entry, RollingBack)), None)


def read_history(folder: StateFolder) -> tuple[PastChange, ...]:
    """All changes that are kept, the oldest first; LabError if a journal cannot be read."""
    past = []
    for number, path in folder.changes().items():
        record = read_journal(path, folder.operand)
        if record is not None:
            past.append(PastChange(number, path, record))
    return tuple(past)


def next_number(folder: StateFolder) -> int:
    """The number of the next change."""
    return max(folder.changes(), default=0) + 1


def restored_runs(history: Sequence[PastChange]) -> frozenset[str]:
    """Folders of runs that were undone: their changes add up to nothing, so the lab is restored."""
    first: dict[str, State] = {}
    last: dict[str, State] = {}
    for change in history:
        run, rest = change.record.begun.run, change.record.rest
        if run:
            first.setdefault(run, change.record.begun.before)
            last[run] = rest if rest is not None else change.record.after
    return frozenset(run for run, before in first.items() if not diff(before, last[run]))


def to_take_back(history: Sequence[PastChange], number: int | None, *, every: bool, operand: str) -> list[PastChange]:
    """What to roll back, the newest first: the last change that stands, all from `number` on, or all of them.

    LabError if that is nothing, if the change does not stand, or if a run left the lab changed.
    """
    adopted = max((change.number for change in history if change.standing == "adopted"), default=0)
    restored = restored_runs(history)
    standing = [
        change
        for change in reversed(history)
        if change.number > adopted
        and change.standing in ("applied", "to be confirmed")
        and change.record.begun.steps
        and change.record.begun.run not in restored
    ]
    see = f"see `eeectl history {operand}`"
    if number is not None:
        asked = next((change for change in history if change.number == number), None)
        if asked is None:
            raise LabError(f"the history has no change {number}: {see}.")
        if number <= adopted:
            raise LabError(f"change {adopted} was adopted as found, and nothing before it is rolled back: {see}.")
        if asked.record.begun.run in restored - {""}:
            raise LabError(f"change {number} is of a run that has restored the lab: {see}.")
        if asked not in standing:
            raise LabError(f"change {number} is {asked.standing} already: {see}.")
        standing = [change for change in standing if change.number >= number]
    if not standing:
        raise LabError(f"the lab has no change to roll back: {see}.")
    chosen = standing if every or number is not None else standing[:1]
    run = next((change.record.begun.run for change in chosen if change.record.begun.run), "")
    if run:
        raise LabError(f"the run {run} left the lab changed: `eeectl run {run} --put-back` restores it first.")
    return chosen


def rollback_plans(
    lab: Lab, found: State, changes: Sequence[PastChange], abilities: Abilities
) -> list[tuple[PastChange, ProvedRollback]]:
    """The proved plan of each change's rollback, from the state that the one before leaves.

    PlanError, before anything is sent, if one of them is unsafe or cannot be expressed.
    """
    plans: list[tuple[PastChange, ProvedRollback]] = []
    state = found
    for change in changes:
        begun = change.record.begun
        back = Return(position_of(lab, change.record), begun.before)
        plan = restore_plan(Site(lab, begun.management, abilities), state, back)
        plans.append((change, plan))
        state = plan.end
    return plans


def take_back(work: Work, change: PastChange) -> tuple[str, ...]:
    """Roll back one change, by its own journal, which is the last one from then on; returns what stays in texts.

    The lab's lock is held.
    Stopped or RollbackFailed as of `roll_back`; `recover` then finishes it.
    """
    work.folder.reopen(change.number)
    with Journal(work.folder.journal) as journal:
        return roll_back(work, journal, "rollback")
