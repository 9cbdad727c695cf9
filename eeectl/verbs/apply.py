"""`eeectl apply`, and what belongs to it: confirm, recover, adopt."""

from datetime import UTC, datetime
from typing import Annotated

from cyclopts import App, Parameter

from eee_testbed.controller.applying.journal import Journal, JournalState, read_journal
from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.recover import adopt, confirm, require_same_inventory
from eee_testbed.controller.applying.run_notes import RunNotes
from eee_testbed.controller.model.state import diff
from eee_testbed.controller.planning.rollback import Position, Return
from eee_testbed.eeectl.apply_options import ApplyOptions
from eee_testbed.eeectl.exit_status import DONE, REFUSED
from eee_testbed.eeectl.interactive import ask_person, attended, grant, plan_and_apply
from eee_testbed.eeectl.journal_text import interruptible, journal_of, print_differences
from eee_testbed.eeectl.lab_name import LabName, lab_in_reach
from eee_testbed.eeectl.routing_options import RoutingOptions
from eee_testbed.eeectl.run_output import agreement
from eee_testbed.lab.errors import LabError

Yes = Annotated[bool, Parameter(negative="")]

apply_app = App(name="apply", default_parameter=Parameter(consume_multiple=True, negative=""))
confirm_app = App(name="confirm")
recover_app = App(name="recover")
adopt_app = App(name="adopt")


@apply_app.default
def apply(
    lab: LabName = "",
    *,
    routing: Annotated[RoutingOptions, Parameter(name="*")] = RoutingOptions(),  # noqa: B008 - frozen
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
) -> int:
    """Bring a lab to multi-tree routing: plan, prove, ask, send, read back; a failure rolls everything back.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    routing
        Which trees, and further conditions.
    apply_options
        How to apply the plan.

    """
    known = lab_in_reach(lab)
    return grant(known, routing.wish(known), "apply", apply_options)


@confirm_app.default
def confirm_command(lab: LabName = "") -> int:
    """Keep the changes of an apply with --confirm-in.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.

    """
    with attended(lab_in_reach(lab), "confirm") as (work, signals), Journal(journal_of(work)) as journal:
        signals.arm()
        confirm(work, journal)
    print("confirmed: the lab stays as it is.")
    return DONE


@recover_app.default
def recover_command(lab: LabName = "", *, yes: Yes = False) -> int:
    """Bring a lab back to a state that was verified, after a crash or a switch that lost its settings.

    Keeps an apply that was verified, and rolls back an unfinished one without asking. Restores port descriptions that
    a killed command had replaced, and the state of the lab before killed runs, with or without their folders.
    If nothing was killed, but switches differ from their last verified state, shows the changes that restore it and
    asks.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    yes
        Do not ask before restoring settings that others changed.

    """
    from eee_testbed.measuring.experiments.restoring import clear_up

    with attended(lab_in_reach(lab), "recover") as (work, signals):
        record = read_journal(work.folder.journal, work.folder.operand)
        if (
            record is not None
            and record.waiting
            and record.deadline is not None
            and record.deadline > datetime.now(UTC)
        ):
            operand = work.folder.operand
            raise LabError(
                f"{record.described} is verified: `eeectl confirm {operand}` keeps it, "
                f"`eeectl rollback {operand}` undoes it."
            )
        killed = RunNotes(work.folder).all()
        if killed or PortProofs(work.folder.port_proofs).replaced or (record is not None and not record.finished):
            signals.arm()
            with interruptible(work):
                for sentence in clear_up(work, agreement(yes=yes)):
                    print(sentence, flush=True)
            return DONE
        with Journal(journal_of(work)) as journal:
            require_same_inventory(work, journal.record)
            record = journal.record
    return _restore(lab, record, yes=yes)


def _restore(lab: str, record: JournalState, *, yes: bool) -> int:
    """Restore the settings that changed since the last apply ended."""
    rest = record.rest
    if rest is None:
        raise LabError(f"the journal names no state to restore: run `eeectl adopt {lab}` to accept the lab as it is.")
    back = Return(Position(rest, rest, ()), rest)
    options = ApplyOptions(yes=yes, no_host_check=True)
    return plan_and_apply(lab_in_reach(lab), back, "recover", options, record.begun.management)


@adopt_app.default
def adopt_command(lab: LabName = "", *, yes: Yes = False) -> int:
    """Accept the present state of a lab as the right one; forget an unfinished apply or run.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    yes
        Do not ask.

    """
    with attended(lab_in_reach(lab), "adopt") as (work, signals):
        found = work.executor.observe()
        with Journal(work.folder.journal) as journal:
            if journal.entries:
                record = journal.record
                for goal, state in (("as it was before", record.begun.before), ("as planned", record.after)):
                    need = f"to be {goal} the lab would need"
                    print_differences(need, f"the lab is {goal}.", diff(found, state))
            if not yes and not ask_person("accept the lab as it is?"):
                return REFUSED
            signals.arm()
            adopt(work, journal, found)
        notes = RunNotes(work.folder)
        for note in notes.all():
            notes.forget(note.folder)
    print("accepted: later commands compare with the lab as found.")
    return DONE
