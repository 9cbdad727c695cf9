"""`eeectl history`: the changes of a lab, numbered; and `eeectl rollback`, which takes them back, the newest first."""

import json
import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.table import Table

from eee_testbed.controller.applying.history import (
    PastChange,
    read_history,
    restored_runs,
    rollback_plans,
    take_back,
    to_take_back,
)
from eee_testbed.controller.applying.journal import Journal
from eee_testbed.controller.applying.put_back import as_it_was
from eee_testbed.controller.applying.recover import require_same_inventory
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.model.state import State, diff
from eee_testbed.controller.planning.plan_text import print_steps
from eee_testbed.controller.planning.proof import ProvedRollback
from eee_testbed.eeectl import lab_text as show
from eee_testbed.eeectl.exit_status import DONE, REFUSED
from eee_testbed.eeectl.interactive import ask_person, attended
from eee_testbed.eeectl.journal_text import interruptible, journal_of, print_differences
from eee_testbed.eeectl.lab_name import LabName, known_lab, lab_in_reach
from eee_testbed.lab.counted_text import counted
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.fitting_text import print_text

history_app = App(name="history")
rollback_app = App(name="rollback")

_NAMED_COUNT = 3
"""Switches that a line of the history names."""


@history_app.default
def history(lab: LabName = "", *, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> int:
    """Show the changes of a lab: number, when, by whom, which command, on what, and whether it is still in force.

    `eeectl rollback` undoes them. The last 50 changes of people are kept, and the last 50 of runs.

    Parameters
    ----------
    lab
        Name of a lab, or a folder.
    as_json
        Print JSON.

    """
    known = known_lab(lab)
    folder = StateFolder.of(known)
    changes = read_history(folder)
    restored = restored_runs(changes)
    if as_json:
        rows = [_plain(change, restored) for change in changes]
        print(json.dumps({"lab": known.name, "operand": folder.operand, "changes": rows}, indent=1))
    elif not changes:
        print_text(f"lab {known.name}: this machine has changed nothing there")
    else:
        table = Table("NO", "WHEN, UTC", "BY", "COMMAND", "STEPS", "STATE", box=None, pad_edge=False)
        for _, own in groupby(changes, key=lambda change: change.record.begun.run or change.number):
            table.add_row(*_cells(tuple(own), restored))
        print_table(show.console(), table)
    return DONE


def _state(change: PastChange, restored: frozenset[str]) -> str:
    record = change.record
    if record.begun.run in restored - {""}:
        return "the run restored the lab"
    saved = ", saved" if record.saved else ""
    return {
        "applied": f"verified{saved}",
        "taken back": "taken back",
        "adopted": "adopted as found",
        "to be confirmed": "verified, to be confirmed",
    }.get(change.standing, change.standing)


def _cells(changes: Sequence[PastChange], restored: frozenset[str]) -> tuple[str, ...]:
    """One line: a person's change, or all that a run made in a row."""
    first, last = changes[0], changes[-1]
    begun = first.record.begun
    names = tuple(dict.fromkeys(name for change in changes for name in change.switches))
    more = f" and {len(names) - _NAMED_COUNT} more" if len(names) > _NAMED_COUNT else ""
    count = sum(len(change.record.begun.steps) for change in changes)
    steps = f"{count} on {', '.join(names[:_NAMED_COUNT])}{more}" if names else "none"
    who = begun.actor.partition("@")[0]
    number = str(first.number) if first is last else f"{first.number}-{last.number}"
    command = begun.command.partition(":")[0] if begun.run else begun.command
    return number, f"{begun.when:%m-%d %H:%M:%S}", who, command, steps, _state(last, restored)


def _plain(change: PastChange, restored: frozenset[str]) -> dict[str, Any]:
    begun, back = change.record.begun, change.taken_back
    return {
        "number": change.number,
        "when": begun.when.isoformat(),
        "by": begun.actor,
        "command": begun.command,
        "wish": begun.model_dump(mode="json", include={"wish"})["wish"],
        "run": begun.run or None,
        "run_restored": begun.run in restored if begun.run else None,
        "steps": len(begun.steps),
        "switches": list(change.switches),
        "verified": change.record.reached,
        "state": change.standing,
        "saved": change.record.saved,
        "taken_back": {"when": back.when.isoformat(), "by": back.actor, "why": back.why} if back else None,
    }


@rollback_app.default
def rollback(
    *words: str,
    lab: LabName = "",
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    yes: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Roll back the last change of a lab, all changes from a number of `eeectl history` on, or all.

    The newest change is undone first. Each rollback is proved and read back. You are asked once, for all steps.

    Parameters
    ----------
    words
        `[LAB] [NUMBER]`: roll back the change of that number in `eeectl history`, and all that came after it.
    lab
        Name of a lab, or a folder, if the first word is none.
    every
        Roll back all changes that are still in force.
    yes
        Do not ask.

    """
    lab, number = _lab_and_number(words, lab)
    if every and number is not None:
        raise LabError(f"both {number} and --all are given: give only one of them.")
    with attended(lab_in_reach(lab), "rollback") as (work, signals):
        with Journal(journal_of(work)) as last:
            record = last.record
        if not record.finished and not record.waiting:
            raise LabError(
                f"`{record.begun.command}` was not finished: run `eeectl recover {work.folder.operand}` to roll it "
                "back."
            )
        operand = work.folder.operand
        chosen = to_take_back(read_history(work.folder), number, every=every, operand=operand)
        for change in chosen:
            require_same_inventory(work, change.record)
        found = work.executor.observe()
        planned = rollback_plans(work.lab, found, chosen, work.backend.abilities)
        _show(found, record.rest or record.after, planned)
        if not yes and not ask_person("roll this back?"):
            return REFUSED
        signals.arm()
        stay: list[tuple[str, ...]] = []
        for change in chosen:
            with interruptible(work):
                stay.append(take_back(work, change))
            print_text(f"change {change.number}, {change.record.described}, was rolled back")
    print_text(f"verified: {as_it_was(stay[-1], f'before change {chosen[-1].number}')}.")
    return DONE


def _lab_and_number(words: Sequence[str], lab: str) -> tuple[str, int | None]:
    """What the words name; LabError if they are not [LAB] [NUMBER]."""
    left = list(words)
    number = int(left.pop()) if left and left[-1].isdecimal() else None
    if left and not lab:
        lab = left.pop(0)
    if left:
        raise LabError(f"'{' '.join(words)}' is neither a lab nor a change: write [LAB] [NUMBER], or [LAB] --all.")
    return lab, number


def _show(found: State, left: State, planned: Sequence[tuple[PastChange, ProvedRollback]]) -> None:
    """What is going to be rolled back, and what others changed since, which goes with it."""
    words = "somebody changed settings since, and the rollback undoes that as well; it takes"
    print_differences(words, "", diff(found, left), sys.stderr)
    for change, plan in planned:
        print_text(f"roll back change {change.number}, {change.record.described}: {counted(len(plan.steps), 'step')}")
        if len(planned) == 1:
            print_steps(plan)
