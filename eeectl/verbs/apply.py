"""`eeectl apply`, and what belongs to it: confirm, recover, adopt, status."""

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from controller.applying.apply import Planner
from controller.applying.holder import holder_of
from controller.applying.journal import Journal, JournalState, read_journal
from controller.applying.observe import observe_lab
from controller.applying.recover import adopt, confirm, recover, require_same_inventory
from controller.applying.statefolder import StateFolder
from controller.applying.work import Work
from controller.experiments.session import is_loop
from controller.model.state import Change, State, diff
from controller.planning.plan_text import print_head, target_of, words_of
from controller.planning.proof import ProvedPlan, ProvedRollback
from controller.planning.rollback import Position, restore_plan
from controller.planning.routing_options import Head, RoutingOptions, work_out
from eeectl.apply_options import ApplyOptions
from eeectl.exit_status import DONE, PENDING, REFUSED
from eeectl.interactive import ask_person, attended, plan_and_apply
from eeectl.journal_text import SHOWN, interruptible, journal_of, print_differences
from eeectl.lab_name import LabName, known_lab, require_up
from eeectl.verbs.plan import OBSERVED
from lab.errors import LabError

Json = Annotated[bool, Parameter(name="--json", negative="")]
Yes = Annotated[bool, Parameter(negative="")]

apply_app = App(name="apply", default_parameter=Parameter(consume_multiple=True, negative=""))
confirm_app = App(name="confirm")
recover_app = App(name="recover")
adopt_app = App(name="adopt")
status_app = App(name="status")


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
    heads: list[Head] = []

    def planner(work: Work) -> Planner:
        def plan(state: State) -> ProvedPlan:
            planned = work_out(work.lab, state, routing, work.backend.abilities, OBSERVED)
            heads.append(planned.head)
            return planned.plan

        return plan

    return plan_and_apply(lab, planner, "apply", apply_options, show=lambda known: print_head(known, heads[-1]))


@confirm_app.default
def confirm_command(lab: LabName = "") -> int:
    """Keep the changes of an apply with --confirm-in.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.

    """
    with attended(lab, "confirm") as (work, signals), Journal(journal_of(work)) as journal:
        signals.arm()
        confirm(work, journal)
    print("confirmed: the lab stays as it is.")
    return DONE


@recover_app.default
def recover_command(lab: LabName = "", *, yes: Yes = False) -> int:
    """Bring a lab back to a state that was verified, after a crash or a switch that lost its settings.

    Keeps an apply that was verified, and rolls back an unfinished one without asking. If no apply is unfinished, but
    switches differ from their last verified state, shows the changes that restore it and asks.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    yes
        Do not ask before restoring settings that others changed.

    """
    outcome: list[str] = []
    with attended(lab, "recover") as (work, signals), Journal(journal_of(work)) as journal:
        record = journal.record
        if not record.finished:
            if record.waiting and record.deadline is not None and record.deadline > datetime.now(UTC):
                operand = work.folder.operand
                raise LabError(
                    f"{record.described} is verified: `eeectl confirm {operand}` keeps it, "
                    f"`eeectl rollback {operand}` does not."
                )
            signals.arm()
            status = interruptible(work, lambda: outcome.append(recover(work, journal)))
            for sentence in outcome:
                print(sentence)
            return status
        require_same_inventory(work, record)
    return _restore(lab, record, yes=yes)


def _restore(lab: str, record: JournalState, *, yes: bool) -> int:
    """Restore the settings that changed since the last apply ended."""
    rest = record.rest
    if rest is None:
        raise LabError(f"the journal names no state to restore: run `eeectl adopt {lab}` to accept the lab as it is.")

    def planner(work: Work) -> Planner:
        def plan(found: State) -> ProvedRollback:
            management, abilities = record.begun.management, work.backend.abilities
            return restore_plan(work.lab, found, Position(rest, rest, ()), rest, management, abilities)

        return plan

    return plan_and_apply(lab, planner, "recover", ApplyOptions(yes=yes, no_host_check=True))


@adopt_app.default
def adopt_command(lab: LabName = "", *, yes: Yes = False) -> int:
    """Accept a lab as it is found; an unfinished apply or run is forgotten.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    yes
        Do not ask.

    """
    with attended(lab, "adopt") as (work, signals):
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
        work.folder.forget_run()
    print("accepted: later commands compare with the lab as found.")
    return DONE


@status_app.default
def status(
    lab: LabName = "", *, offline: Annotated[bool, Parameter(negative="")] = False, as_json: Json = False
) -> int:
    """Show who works on a lab, what was done last, and whether the switches still have the settings left then.

    Exit status 3 means that something is pending: an apply to confirm or to recover, a run that was killed, or settings
    that changed since.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    offline
        Do not ask the switches.
    as_json
        Print JSON.

    """
    known = known_lab(lab)
    folder = StateFolder.of(known)
    holder = holder_of(folder)
    run = folder.noted_run()
    record = read_journal(folder.journal, folder.operand)
    rest = record.rest if record else None
    drift: tuple[Change, ...] = ()
    problem = ""
    if rest is not None and not offline:
        try:
            require_up(known)
            drift = diff(observe_lab(known), rest)
        except LabError as error:
            problem = str(error)
    report = _status_json(record) | {
        "lab": known.name,
        "operand": folder.operand,
        "folder": str(folder.path),
        "holder": str(holder) if holder else None,
        "drift": [f"{target_of(change)}: {words_of(change.inverse)}" for change in drift],
        "run": str(run) if run else None,
        "drift_known": rest is not None and not offline and not problem,
        "problem": problem or None,
    }
    if as_json:
        print(json.dumps(report, indent=1))
    else:
        _print_status(report)
    left = record is not None and (not record.finished or bool(drift) or bool(problem))
    return PENDING if left or (run is not None and holder is None) else DONE


def _print_run(run: str, *, going_on: bool) -> None:
    if going_on:
        print(f"the run {run} is in progress")
        return
    name = shlex.quote(run)
    print(f"the run {run} was killed:")
    if not is_loop(Path(run)):
        print(f"  `eeectl run {name} --resume` goes on with it, and restores the lab at its end")
    print(f"  `eeectl run {name} --put-back` only restores the lab")


def _status_json(record: JournalState | None) -> dict[str, Any]:
    if record is None:
        return {"last": None, "state": "nothing was done here", "seconds_left": None}
    left_s = (record.deadline - datetime.now(UTC)).total_seconds() if record.waiting and record.deadline else None
    return {
        "last": record.described,
        "state": record.standing,
        "why": record.broken or None,
        "seconds_left": None if left_s is None else max(round(left_s, 1), 0.0),
        "guardian": record.guardian,
        "saved": record.saved,
    }


def _print_status(report: dict[str, Any]) -> None:
    print(f"lab {report['lab']}: {report['state']}")
    if report["last"]:
        print(f"last: {report['last']}")
    if report["holder"]:
        print(f"held by {report['holder']}")
    if report["run"]:
        _print_run(report["run"], going_on=report["holder"] is not None)
    if report["seconds_left"] is not None:
        name = report["operand"]
        if report["seconds_left"] > 0:
            print(f"{report['seconds_left']:.0f} s left to `eeectl confirm {name}`, then everything is rolled back")
        else:
            print(f"the time to confirm is over: if it is not rolled back by now, run `eeectl recover {name}`")
    if report["state"] in ("broken", "unfinished") and not report["holder"]:
        print(report.get("why") or "it was interrupted.")
        name = report["operand"]
        print(f"run `eeectl recover {name}` to roll it back, or `eeectl adopt {name}` to leave the lab as it is")
    if report["problem"]:
        print(report["problem"])
    _print_drift(report)


def _print_drift(report: dict[str, Any]) -> None:
    for change in report["drift"][:SHOWN]:
        print(f"changed since: {change}")
    if len(report["drift"]) > SHOWN:
        print(f"changed since: {len(report['drift']) - SHOWN} more")
    if report["drift_known"] and not report["drift"]:
        print("the switches have the settings that were left")
