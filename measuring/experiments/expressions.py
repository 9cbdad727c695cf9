"""Whether the user's expressions match what a program prints: one that never does ends a run after its second trial."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eee_testbed.lab.errors import NeverMatched
from eee_testbed.measuring.experiments.launch_job import OUTPUT
from eee_testbed.measuring.experiments.measuring import Measured

_MOST: Final = 2
"""Trials in a row that print nothing like an expression: a single one may have been cut short."""


@dataclass
class Expressions:
    """Those of one run. `matched`: some trial had all that was expected, so that no later one speaks against them."""

    matched: bool = False
    _unmatched: str = ""
    _in_a_row: int = 0
    _said: str = field(default="", init=False)

    def tried(self, done: Measured, folder: Path) -> None:
        """Note a trial whose output is in `folder`."""
        self._in_a_row = self._in_a_row + 1 if done.unmatched == self._unmatched else 1
        self._unmatched = done.unmatched
        self.matched = self.matched or not done.unmatched
        if not self.matched and self._in_a_row >= _MOST:
            self._said = (
                f"{self._in_a_row} trials in a row ended alike, the last with: {done.why} Compare {folder / OUTPUT} "
                "with the figure or the answer that is expected, correct that, and start again: a resumed run would "
                "expect the same. What was measured is kept."
            )

    def require_hope(self) -> None:
        """NeverMatched if the trials so far say that no later one will match."""
        if self._said:
            raise NeverMatched(self._said)
