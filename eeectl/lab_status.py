"""What `eeectl status` shows of a lab: who holds it, the last change, runs that go on or were killed, what differs."""

import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from eee_testbed.controller.applying.holder import holder_of
from eee_testbed.controller.applying.journal import JournalState, read_journal
from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.run_notes import RunNote, RunNotes
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.model.state import Change, State, diff
from eee_testbed.controller.planning.plan_text import target_of, words_of
from eee_testbed.eeectl.journal_text import SHOWN
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.lab.model import Lab

_RUN_STATES = {"running": "in progress", "stopped": "stopped", "gone": "killed"}


def report_of(lab: Lab, folder: StateFolder, observe: Callable[[], State] | None) -> dict[str, Any]:
    """The report as plain values for JSON; `observe` reads the switches, None: they are not asked."""
    holder = holder_of(folder)
    record = read_journal(folder.journal, folder.operand)
    rest = record.rest if record else None
    drift: tuple[Change, ...] = ()
    problem = ""
    if rest is not None and observe is not None:
        try:
            drift = diff(observe(), rest)
        except LabError as error:
            problem = str(error)
    runs = [_run_json(note, held=holder is not None) for note in RunNotes(folder).all()]
    return _change_json(record) | {
        "lab": lab.name,
        "operand": folder.operand,
        "folder": str(folder.path),
        "holder": str(holder) if holder else None,
        "drift": [f"{target_of(change)}: {words_of(change.inverse)}" for change in drift],
        "run": runs[-1]["folder"] if runs else None,
        "runs": runs,
        "descriptions": PortProofs(folder.port_proofs).replaced if holder is None else {},
        "drift_known": rest is not None and observe is not None and not problem,
        "problem": problem or None,
    }


def is_pending(report: dict[str, Any]) -> bool:
    """Whether somebody has to do something: confirm, recover, restore, or look."""
    change = report["state"] in ("broken", "unfinished", "to be confirmed")
    killed = any(run["state"] == "killed" for run in report["runs"])
    return bool(change or killed or report["descriptions"] or report["drift"] or report["problem"])


def print_status(report: dict[str, Any]) -> None:
    """Print the report for a person."""
    name = report["operand"]
    print_text(f"lab {report['lab']}: {report['state']}")
    if report["last"]:
        print_text(f"last: {report['last']}")
    if report["holder"]:
        print_text(f"held by {report['holder']}")
    for run in report["runs"]:
        _print_run(run, name)
    for switch, count in report["descriptions"].items():
        print_text(f"{switch}: a killed command left the marks of its port proof in place of {count} port descriptions")
        print_text(f"run `eeectl recover {name}` to restore them")
    if report["seconds_left"] is not None:
        if report["seconds_left"] > 0:
            print_text(
                f"{report['seconds_left']:.0f} s left to `eeectl confirm {name}`, then everything is rolled back"
            )
        else:
            print_text(f"the time to confirm is over: if it is not rolled back by now, run `eeectl recover {name}`")
    if report["state"] in ("broken", "unfinished") and not report["holder"]:
        print_text(report.get("why") or "it was interrupted.")
        print_text(f"run `eeectl recover {name}` to roll it back, or `eeectl adopt {name}` to leave the lab as it is")
    if report["problem"]:
        print_text(report["problem"])
    _print_drift(report)


def _run_json(note: RunNote, *, held: bool) -> dict[str, Any]:
    return {
        "folder": note.run,
        "state": _RUN_STATES[note.standing(held=held)],
        "process": note.process.pid if note.process else None,
        "resumable": note.resumable,
        "folder_there": (note.folder / "run.yaml").is_file(),
    }


def _change_json(record: JournalState | None) -> dict[str, Any]:
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


def _print_run(run: dict[str, Any], lab: str) -> None:
    name = shlex.quote(run["folder"])
    if run["state"] == "in progress":
        print_text(f"the run {run['folder']} is in progress")
    elif run["state"] == "stopped":
        print_text(f"the run {run['folder']} is stopped: `fg`, or `kill -CONT {run['process']}`, lets it go on")
    elif run["folder_there"]:
        print_text(f"the run {run['folder']} was killed:")
        if run["resumable"]:
            print_text(f"  `eeectl run {name} --resume` goes on with it, and restores the lab at its end")
        print_text(f"  `eeectl run {name} --put-back` only restores the lab")
    else:
        print_text(f"the run {run['folder']} was killed, and its folder is gone:")
        print_text(f"  `eeectl recover {lab}` restores the lab, without the folder")


def _print_drift(report: dict[str, Any]) -> None:
    for change in report["drift"][:SHOWN]:
        print_text(f"changed since: {change}")
    if len(report["drift"]) > SHOWN:
        print_text(f"changed since: {len(report['drift']) - SHOWN} more")
    if report["drift_known"] and not report["drift"]:
        print_text("the switches have the settings that were left")
