"""What `eeectl run` and `eeectl sweep` print: how a run ended, or the order of an experiment's trials."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eee_testbed.controller.model.state import Change
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, PENDING, REFUSED
from eee_testbed.eeectl.interactive import ask_person
from eee_testbed.eeectl.journal_text import print_differences
from eee_testbed.lab.errors import NeverMatched
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.validation import order_for

if TYPE_CHECKING:
    from eee_testbed.measuring.experiments.restoring import Agree
    from eee_testbed.measuring.experiments.session import RunResult


def print_result(result: "RunResult", *, as_json: bool) -> int:
    """Print how a run ended; the exit status."""
    outcome = result.outcome
    if as_json:
        missing = [{"slot": slot.number, "block": slot.block, "levels": dict(slot.levels)} for slot in outcome.missing]
        counts = {"folder": str(result.folder), "slots": outcome.slots, "valid": outcome.valid, "tried": outcome.tried}
        cause = str(outcome.cause) if outcome.cause else None
        more = {"missing": missing, "interrupted": outcome.interrupted, "back": outcome.restored, "cause": cause}
        print(json.dumps(counts | more, indent=1))
    else:
        print_text(f"{outcome.valid} of {outcome.slots} trials are valid, {outcome.tried} were run: {result.folder}")
        if outcome.restored:
            print_text(outcome.restored)
        if outcome.missing and not isinstance(outcome.cause, NeverMatched):
            print_text(f"`eeectl run {result.folder} --resume` runs the {len(outcome.missing)} missing trials")
    if outcome.interrupted:
        return INTERRUPTED
    if outcome.cause is not None:
        return REFUSED
    return PENDING if outcome.missing else DONE


def print_order(experiment: Experiment, *, as_json: bool) -> int:
    """Print the slots of an experiment in their order; the exit status."""
    slots = order_for(experiment)
    if as_json:
        rows = [{"slot": slot.number, "block": slot.block, "levels": dict(slot.levels)} for slot in slots]
        print(json.dumps(rows, indent=1))
        return DONE
    for slot in slots:
        levels = ", ".join(f"{name} {level}" for name, level in slot.levels.items())
        print(f"{slot.number:5d}  block {slot.block + 1}  {levels}")
    return DONE


def agreement(*, yes: bool) -> "Agree":
    """Shows what somebody changed while a run was stopped, and asks whether it may go on; `yes`: without asking."""

    def agree(changes: Sequence[Change]) -> bool:
        print_differences("settings were changed by others since the run stopped;", "", changes, sys.stderr)
        return yes or ask_person("go on? The run undoes this when it restores the lab.")

    return agree
