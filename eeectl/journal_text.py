"""What the verbs that work with a lab's journal share: differences in words, and an interrupted rollback."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from eee_testbed.controller.applying.journal import read_journal
from eee_testbed.controller.applying.rounds import Stopped
from eee_testbed.controller.applying.work import Work
from eee_testbed.controller.model.state import Change
from eee_testbed.controller.planning.plan_text import target_of, words_of
from eee_testbed.eeectl.exit_status import INTERRUPTED, Unsuccessful
from eee_testbed.lab.counted_text import counted
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text

SHOWN = 10
"""Differences that are printed; the others are counted."""


def journal_of(work: Work) -> Path:
    """The journal of the last change; LabError if there was none."""
    if read_journal(work.folder.journal) is None:
        raise LabError(
            f"this machine has never applied anything to lab {work.lab.name}: see "
            f"`eeectl status {work.folder.operand}`."
        )
    return work.folder.journal


@contextmanager
def interruptible(work: Work) -> Iterator[None]:
    """Around what a Ctrl-C may leave unfinished: Unsuccessful then."""
    try:
        yield
    except Stopped as error:
        sentence = f"the lab is between two states, safe but unfinished: run `eeectl recover {work.folder.operand}`."
        raise Unsuccessful([sentence], INTERRUPTED) from error


def print_differences(goal: str, none: str, changes: Sequence[Change], to: TextIO = sys.stdout) -> None:
    """Print the changes that lead to a goal, in words; `none` if there are none."""
    if not changes:
        if none:
            print_text(none, file=to)
        return
    print_text(f"{goal} {counted(len(changes), 'change')}:", file=to)
    for change in changes[:SHOWN]:
        print_text(f"  {target_of(change)}: {words_of(change)}", file=to)
    if len(changes) > SHOWN:
        print_text(f"  and {len(changes) - SHOWN} more", file=to)
