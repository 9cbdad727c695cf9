"""Restore the state before an apply: after a failure, a Ctrl-C, a crash, a deadline, or when a person asks for it.

Callers hold the lab's lock. A rollback that fails is planned anew from the state found then, a few times, as a switch
may have lost its session or its configuration meanwhile. After that a person has to decide.
"""

from eee_testbed.controller.applying.holder import Holder
from eee_testbed.controller.applying.journal import (
    Adopted,
    Begun,
    Broken,
    Confirmed,
    Done,
    Journal,
    JournalState,
    Reached,
    RollingBack,
    Saved,
)
from eee_testbed.controller.applying.port_proof import PortProofs, restore_descriptions
from eee_testbed.controller.applying.put_back import as_it_was, put_back
from eee_testbed.controller.applying.rounds import Sink, Stopped
from eee_testbed.controller.applying.statefolder import digest_of
from eee_testbed.controller.applying.work import Work
from eee_testbed.controller.drivers.driver import Describing
from eee_testbed.controller.model.state import State, diff
from eee_testbed.controller.planning.plan_text import parted_hosts
from eee_testbed.controller.planning.rollback import Position, position, rollback_plan
from eee_testbed.controller.transports.session import Session
from eee_testbed.lab.errors import LabError, RollbackFailed
from eee_testbed.lab.model import Lab, Switch

_ATTEMPTS = 3


def roll_back(work: Work, journal: Journal, why: str, *, stops: int = 1) -> tuple[str, ...]:
    """Bring a lab back to the state before its journal began; returns what stays in configurations.

    Stopped when somebody asks to stop for the `stops`-th time; RollbackFailed if it cannot be done.
    """
    before = journal.record.begun.before
    actor = str(Holder.me(why))
    failure: LabError | None = None
    for _ in range(_ATTEMPTS):
        try:
            state = work.observe_patiently(stops)
            record = journal.record
            place = position_of(work.lab, record)
            plan = rollback_plan(work.lab, state, place, before, record.begun.management, work.backend.abilities)
            if plan.parted:
                work.progress.say(f"during the rollback: hosts {parted_hosts(plan)}")
            journal.note(RollingBack(why=why, actor=actor, found=plan.start, steps=plan.steps))
            work.executor.execute(
                plan.start,
                plan.steps,
                Sink(journal.note, journal.note),
                halt=lambda: work.stop.asked(stops),
                progress=work.progress,
                between=work.lock.renew,
                watch=work.backend.watch_links,
                patient=True,
            )
            stay = put_back(work, before, journal.note, lambda: work.stop.asked(stops))
            if record.saved:
                _save(work, journal)
        except Stopped:
            raise
        except LabError as error:
            failure = error
            work.progress.say(f"during the rollback: {error}")
        else:
            journal.note(Done(outcome="taken back"))
            return stay
    journal.note(Broken(why=str(failure)))
    raise RollbackFailed(
        f"lab {work.lab.name} is between two states, and the rollback failed: {failure} "
        f"Remove the cause, then run `eeectl recover {work.folder.operand}`, or `eeectl adopt {work.folder.operand}` "
        "to leave the lab as it is."
    ) from failure


def position_of(lab: Lab, record: JournalState) -> Position:
    """How far the last pass of a journal got, and the steps from there to the state before the change."""
    last = record.passes[-1]
    return position(lab, last.start, last.steps, last.sent, last.verified, backward=len(record.passes) == 1)


def require_same_inventory(work: Work, record: JournalState) -> None:
    """LabError if the inventory is not the one that the journal was written with."""
    if record.begun.digest != digest_of(work.lab):
        raise LabError(
            f"the inventory of lab {work.lab.name} has changed since `{record.begun.command}` of "
            f"{record.begun.when:%Y-%m-%d %H:%M} UTC: put hosts.yml and cables.csv back, or run "
            f"`eeectl adopt {work.folder.operand}` to accept the lab as it is."
        )


def recover(work: Work, journal: Journal, *, stops: int = 1) -> str:
    """Finish what a crash left: keep an apply that was verified, roll back any other. Returns what was done."""
    record = journal.record
    require_same_inventory(work, record)
    stays = (
        record.reached
        and len(record.passes) == 1
        and not record.broken
        and (record.confirmed or record.deadline is None)
    )
    if stays and not diff(work.observe_patiently(stops), record.after):
        finish(work, journal)
        return "everything had been applied and verified: the lab stays as it is."
    return f"{as_it_was(roll_back(work, journal, 'recover', stops=stops), 'before')}."


def restore_port_descriptions(work: Work) -> tuple[str, ...]:
    """Restore descriptions of ports that a command replaced for its proof of ports, and was killed; names the switches.

    LabError if a switch does not take them; they are kept then.
    """
    proofs = PortProofs(work.folder.port_proofs, say=work.progress.say)
    left = sorted(switch.name for switch in work.lab.switches if switch.name in proofs.replaced)

    def restore(switch: Switch, session: Session) -> None:
        driver = work.backend.driver_of(switch)
        if isinstance(driver, Describing):
            restore_descriptions(switch, session, proofs, driver)

    work.executor.at_each(left, restore)
    return tuple(left)


def finish(work: Work, journal: Journal) -> None:
    """End an apply that is verified and may stay; save the startup configurations if that was asked for."""
    record = journal.record
    if record.begun.save and not record.saved:
        _save(work, journal)
    journal.write(Done(outcome="applied"))


def _save(work: Work, journal: Journal) -> None:
    names = tuple(dict.fromkeys(step.change.switch for step in journal.record.begun.steps))
    work.executor.save(names)
    journal.note(Saved(switches=names))


def confirm(work: Work, journal: Journal) -> None:
    """Keep an apply that waits to be confirmed; LabError if none does."""
    record = journal.record
    if not record.waiting or record.deadline is None:
        raise LabError(
            f"nothing waits to be confirmed on lab {work.lab.name}: see `eeectl status {work.folder.operand}`."
        )
    journal.write(Confirmed(actor=str(Holder.me("confirm"))))
    finish(work, journal)


def adopt(work: Work, journal: Journal, state: State) -> None:
    """Accept the lab's present state: an unfinished apply is neither finished nor rolled back."""
    actor = str(Holder.me("adopt"))
    if not journal.entries:
        digest = digest_of(work.lab)
        journal.write(Begun(lab=work.lab.name, digest=digest, actor=actor, command="adopt", before=state, steps=()))
        journal.write(Reached())
    journal.write(Adopted(actor=actor, found=state))
    journal.write(Done(outcome="adopted"))
