"""Back to what a lab was: after a failure, a Ctrl-C, a crash, a deadline, or because somebody wants to.

Whoever calls has the lab's lock. A way back that fails is tried again from what is there then, a few times, as a switch
may have lost its session or its configuration on the way; after that a person has to decide.
"""

from controller.applying.journal import (
    Adopted,
    Begun,
    Broken,
    Confirmed,
    Done,
    Journal,
    JournalState,
    Reached,
    Saved,
    TakingBack,
)
from controller.applying.lock import Holder
from controller.applying.rounds import Sink, Stopped
from controller.applying.statefolder import digest_of
from controller.applying.work import Work
from controller.model.state import State, diff
from controller.planning.rollback import Position, position, rollback_plan
from lab.errors import Drift, LabError, RollbackFailed

_ATTEMPTS = 3


def take_back(work: Work, journal: Journal, why: str, *, stops: int = 1) -> None:
    """Bring a lab back to what it was before its journal began.

    Stopped when somebody asks to stop for the `stops`-th time; RollbackFailed if it cannot be done.
    """
    before = journal.journaled.begun.before
    failure: LabError | None = None
    for _ in range(_ATTEMPTS):
        try:
            found = work.observe_patiently(stops)
            journaled = journal.journaled
            place = _position(work, journaled)
            plan = rollback_plan(work.lab, found, place, before, journaled.begun.management, work.backend.abilities)
            journal.note(TakingBack(why=why, found=found, steps=plan.steps))
            work.executor.go(
                found,
                plan.steps,
                Sink(journal.note, journal.note),
                halt=lambda: work.stop.asked(stops),
                progress=work.progress,
                between=work.lock.renew,
                watch=work.backend.watch_links,
                patient=True,
            )
            left = diff(work.executor.observe(), before)
            if left:
                raise Drift(left)
            if journaled.saved:
                _save(work, journal)
        except Stopped:
            raise
        except LabError as error:
            failure = error
            work.progress.say(f"on the way back: {error}")
        else:
            journal.note(Done(outcome="taken back"))
            return
    journal.note(Broken(why=str(failure)))
    raise RollbackFailed(
        f"lab {work.lab.name} is between two states, and the way back failed: {failure} "
        "Mend the cause, then `eeectl recover`, or `eeectl adopt` to leave it as it is."
    ) from failure


def _position(work: Work, journaled: JournalState) -> Position:
    leg = journaled.passes[-1]
    return position(work.lab, leg.start, leg.steps, leg.sent, leg.verified, backward=len(journaled.passes) == 1)


def require_same_inventory(work: Work, journaled: JournalState) -> None:
    """LabError if the inventory is another than the journal was written with."""
    if journaled.begun.digest != digest_of(work.lab):
        raise LabError(
            f"the inventory of lab {work.lab.name} has changed since `{journaled.begun.command}` of "
            f"{journaled.begun.when:%Y-%m-%d %H:%M} UTC: put hosts.yml and cables.csv back, or "
            "`eeectl adopt` the lab as it is."
        )


def recover(work: Work, journal: Journal, *, stops: int = 1) -> str:
    """Finish what a crash left: an apply that was verified is kept, any other is taken back. Says what was done."""
    journaled = journal.journaled
    require_same_inventory(work, journaled)
    stays = (
        journaled.reached
        and len(journaled.passes) == 1
        and not journaled.broken
        and (journaled.confirmed or journaled.deadline is None)
    )
    if stays and not diff(work.observe_patiently(stops), journaled.after):
        finish(work, journal)
        return "everything had been done and verified: the lab is as it was to be."
    take_back(work, journal, "recover", stops=stops)
    return "the lab is as it was before."


def finish(work: Work, journal: Journal) -> None:
    """End an apply that is verified and may stay; startup configurations are written if that was asked for."""
    journaled = journal.journaled
    if journaled.begun.save and not journaled.saved:
        _save(work, journal)
    journal.write(Done(outcome="applied"))


def _save(work: Work, journal: Journal) -> None:
    names = tuple(dict.fromkeys(step.change.switch for step in journal.journaled.begun.steps))
    work.executor.save(names)
    journal.note(Saved(switches=names))


def confirm(work: Work, journal: Journal) -> None:
    """Let an apply stay that waits for this; LabError if none does."""
    journaled = journal.journaled
    if not journaled.waiting or journaled.deadline is None:
        raise LabError(f"nothing waits to be confirmed on lab {work.lab.name}: see `eeectl status`.")
    journal.write(Confirmed(actor=str(Holder.me("confirm"))))
    finish(work, journal)


def adopt(work: Work, journal: Journal, found: State) -> None:
    """Accept the lab as it was found; what was begun is neither finished nor taken back."""
    actor = str(Holder.me("adopt"))
    if not journal.entries:
        journal.write(
            Begun(lab=work.lab.name, digest=digest_of(work.lab), actor=actor, command="adopt", before=found, steps=())
        )
        journal.write(Reached())
    journal.write(Adopted(actor=actor, found=found))
    journal.write(Done(outcome="adopted"))
