"""`eeectl apply`, and what belongs to it: confirm, rollback, recover, adopt, status."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from controller.applying.apply import Intention, Planner
from controller.applying.journal import Journal, JournalState, read_journal
from controller.applying.lock import holder_of
from controller.applying.observe import observe_lab
from controller.applying.recover import adopt, confirm, recover, require_same_inventory, take_back
from controller.applying.rounds import Stopped
from controller.applying.statefolder import StateFolder
from controller.applying.work import ProvedPlan, Work
from controller.model.state import Change, State, diff
from controller.planning.plan_text import print_head, target_of, words_of
from controller.planning.rollback import Position, rollback_plan
from controller.planning.routing_options import Planned, RoutingOptions, work_out
from eeectl.apply_options import ApplyOptions
from eeectl.exit_status import INTERRUPTED
from eeectl.interactive import ask_person, attended, carry_out
from eeectl.verbs.plan import OBSERVED
from lab.errors import DeviceError, LabError
from lab.folder import find_lab, load_lab
from lab.model import Lab

PENDING = 3
"""Exit status if something waits for somebody."""

_SHOWN = 10

Json = Annotated[bool, Parameter(name="--json", negative="")]
Yes = Annotated[bool, Parameter(negative="")]

apply_app = App(name="apply", default_parameter=Parameter(consume_multiple=True, negative=""))
confirm_app = App(name="confirm")
rollback_app = App(name="rollback")
recover_app = App(name="recover")
adopt_app = App(name="adopt")
status_app = App(name="status")


@apply_app.default
def apply(
    lab: str = "virtual",
    /,
    *,
    routing: Annotated[RoutingOptions, Parameter(name="*")] = RoutingOptions(),  # noqa: B008 - frozen
    apply_options: ApplyOptions = ApplyOptions(),  # noqa: B008 - frozen
) -> int:
    """Bring a lab to multi-tree routing: plan, prove, ask, send, read back; what goes wrong is taken back.

    Parameters
    ----------
    lab
        Name of a lab in ./inventory or among the shipped ones, or a folder.
    routing
        Which trees, and what else shall hold.
    apply_options
        How it is applied.

    """

    def planner(work: Work) -> Planner:
        return lambda state: work_out(work.lab, state, routing, work.backend.abilities, OBSERVED)

    def show(known: Lab, intention: Intention) -> None:
        if isinstance(intention, Planned):
            print_head(known, intention.head)

    return carry_out(lab, planner, "apply", apply_options, show=show)


@confirm_app.default
def confirm_command(lab: str = "virtual", /) -> int:
    """Keep what an apply with --confirm-in did.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.

    """
    with attended(lab, "confirm") as (work, signals), Journal(_journal_of(work)) as journal:
        signals.arm()
        confirm(work, journal)
    print("confirmed: the lab stays as it is.")
    return 0


@rollback_app.default
def rollback(lab: str = "virtual", /, *, yes: Yes = False) -> int:
    """Take the last apply back, confirmed or not.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    yes
        Do not ask.

    """
    with attended(lab, "rollback") as (work, signals), Journal(_journal_of(work)) as journal:
        journaled = journal.journaled
        if journaled.outcome in ("taken back", "adopted") or not journaled.begun.steps:
            raise LabError(f"there is nothing to take back on lab {work.lab.name}: see `eeectl status`.")
        if not journaled.finished and not journaled.waiting:
            raise LabError(f"`{journaled.begun.command}` was not finished: `eeectl recover` takes it back.")
        require_same_inventory(work, journaled)
        told = f"{len(journaled.begun.steps)} steps of {_told(journaled)}"
        if not yes and not ask_person(f"take back {told}?"):
            return 1
        signals.arm()
        status = _going_back(work, lambda: take_back(work, journal, "rollback"))
    if status == 0:
        print("everything was taken back: the lab is as it was before.")
    return status


@recover_app.default
def recover_command(lab: str = "virtual", /, *, yes: Yes = False) -> int:
    """Bring a lab back to a state that was verified, after a crash or a switch that lost its settings.

    What was verified is kept; anything half-way is taken back, without asking. If nothing is half-way but switches
    are not as they were left, the way back is shown and asked for.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    yes
        Do not ask before settings that others changed are set back.

    """
    said: list[str] = []
    with attended(lab, "recover") as (work, signals), Journal(_journal_of(work)) as journal:
        journaled = journal.journaled
        if not journaled.finished:
            if journaled.waiting and journaled.deadline is not None and journaled.deadline > datetime.now(UTC):
                raise LabError(
                    f"{_told(journaled)} is verified and waits: `eeectl confirm` keeps it, `eeectl rollback` does not."
                )
            signals.arm()
            status = _going_back(work, lambda: said.append(recover(work, journal)))
            for sentence in said:
                print(sentence)
            return status
        require_same_inventory(work, journaled)
    return _restore(lab, journaled, yes=yes)


def _restore(lab: str, journaled: JournalState, *, yes: bool) -> int:
    """Set back what changed since the last work was done."""
    rest = journaled.rest
    if rest is None:
        raise LabError("the journal says no state that the lab was left in.")

    def planner(work: Work) -> Planner:
        def plan(found: State) -> ProvedPlan:
            way = journaled.begun.management
            return ProvedPlan(
                rollback_plan(work.lab, found, Position(rest, rest, ()), rest, way, work.backend.abilities), way
            )

        return plan

    return carry_out(lab, planner, "recover", ApplyOptions(yes=yes, no_host_check=True), proved=True)


@adopt_app.default
def adopt_command(lab: str = "virtual", /, *, yes: Yes = False) -> int:
    """Accept a lab as it is found; what was begun is forgotten.

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
                _print_differences("as before", diff(found, journal.journaled.begun.before))
                _print_differences("as it was to be", diff(found, journal.journaled.after))
            if not yes and not ask_person("accept the lab as it is?"):
                return 1
            signals.arm()
            adopt(work, journal, found)
    print("accepted: the lab as found is what later commands compare with.")
    return 0


def _print_differences(aim: str, changes: tuple[Change, ...]) -> None:
    if not changes:
        print(f"the lab is {aim}.")
        return
    print(f"to be {aim} the lab would need {len(changes)} changes:")
    for change in changes[:_SHOWN]:
        print(f"  {target_of(change)}: {words_of(change)}")
    if len(changes) > _SHOWN:
        print(f"  and {len(changes) - _SHOWN} more")


@status_app.default
def status(
    lab: str = "virtual", /, *, offline: Annotated[bool, Parameter(negative="")] = False, as_json: Json = False
) -> int:
    """Show who works on a lab, what was done last, and whether the switches are still as they were left.

    Exit status 3 means that something waits: to be confirmed, to be recovered, or settings that somebody changed.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    offline
        Do not ask the switches.
    as_json
        Print JSON.

    """
    known = load_lab(find_lab(lab))
    folder = StateFolder(known.name)
    holder = holder_of(folder)
    journaled = read_journal(folder.journal)
    rest = journaled.rest if journaled else None
    drift: tuple[Change, ...] = ()
    problem = ""
    if rest is not None and not offline:
        try:
            drift = diff(observe_lab(known), rest)
        except DeviceError as error:
            problem = str(error)
    told = _status_json(journaled) | {
        "lab": known.name,
        "folder": str(folder.path),
        "holder": str(holder) if holder else None,
        "drift": [f"{target_of(change)}: {words_of(change.inverse)}" for change in drift],
        "drift_known": rest is not None and not offline and not problem,
        "problem": problem or None,
    }
    if as_json:
        print(json.dumps(told, indent=1))
    else:
        _print_status(told)
    pending = journaled is not None and (not journaled.finished or bool(drift) or bool(problem))
    return PENDING if pending else 0


def _status_json(journaled: JournalState | None) -> dict[str, Any]:
    if journaled is None:
        return {"last": None, "state": "nothing was done here", "seconds_left": None}
    left_s = (
        (journaled.deadline - datetime.now(UTC)).total_seconds() if journaled.waiting and journaled.deadline else None
    )
    state = journaled.outcome or (
        "broken" if journaled.broken else "to be confirmed" if journaled.waiting else "unfinished"
    )
    return {
        "last": _told(journaled),
        "state": state,
        "why": journaled.broken or None,
        "seconds_left": None if left_s is None else max(round(left_s, 1), 0.0),
        "guardian": journaled.guardian,
        "saved": journaled.saved,
    }


def _print_status(told: dict[str, Any]) -> None:
    print(f"lab {told['lab']}: {told['state']}")
    if told["last"]:
        print(f"last: {told['last']}")
    if told["holder"]:
        print(f"held by {told['holder']}")
    if told["seconds_left"] is not None:
        name = told["lab"]
        if told["seconds_left"] > 0:
            print(f"{told['seconds_left']:.0f} s left to `eeectl confirm {name}`, then everything is taken back")
        else:
            print(f"the time to confirm is over; if nobody takes it back now, `eeectl recover {name}` does")
    if told["state"] in ("broken", "unfinished"):
        print(told.get("why") or "it was cut short.")
        print(f"`eeectl recover {told['lab']}` takes it back; `eeectl adopt {told['lab']}` leaves the lab as it is")
    if told["problem"]:
        print(told["problem"])
    for change in told["drift"][:_SHOWN]:
        print(f"changed since: {change}")
    if len(told["drift"]) > _SHOWN:
        print(f"changed since: {len(told['drift']) - _SHOWN} more")
    if told["drift_known"] and not told["drift"]:
        print("the switches are as they were left")


def _told(journaled: JournalState) -> str:
    return f"`{journaled.begun.command}` of {journaled.begun.when:%Y-%m-%d %H:%M:%S} UTC by {journaled.begun.actor}"


def _journal_of(work: Work) -> Path:
    if read_journal(work.folder.journal) is None:
        raise LabError(f"nothing was ever applied to lab {work.lab.name} from here: see `eeectl status`.")
    return work.folder.journal


def _going_back(work: Work, act: Callable[[], None]) -> int:
    try:
        act()
    except Stopped:
        print(
            f"eeectl: the lab is between two states, safe but unfinished: run `eeectl recover {work.lab.name}`.",
            file=sys.stderr,
        )
        return INTERRUPTED
    return 0
