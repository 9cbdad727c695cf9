"""Progress of an experiment and its remaining time: bars on a terminal, plain lines elsewhere."""

import math
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from eee_testbed.controller.applying.progress import doing_column

_LINE_EVERY_S: Final = 10.0
_BESIDE: Final = 45
"""Columns of the terminal for a short bar, counts and times, beside what is being done."""

_WIDE: Final = 120
"""Columns from which on the bar is long."""


def in_words(seconds: float) -> str:
    """A remaining time, rounded to its precision."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class RunProgress:
    """A bar for the whole run, below it one for a change of the lab in progress, and messages above both.

    Without a terminal: a line for each message, and for trials one line every ten seconds at most. `now_s`: the clock
    that times are shown by, s; `wait_by` changes it.
    """

    def __init__(self, total: int, *, quiet: bool = False, now_s: Callable[[], float] = time.monotonic) -> None:
        self._console = Console(stderr=True, highlight=False, quiet=quiet)
        columns = (
            TextColumn("{task.description}", table_column=doing_column(self._console.width - _BESIDE)),
            BarColumn(24 if self._console.width >= _WIDE else 8),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._plain = not self._console.is_terminal
        self._now_s = now_s
        self._bars = Progress(
            *columns, console=self._console, transient=True, disable=self._plain, get_time=self._time_s
        )
        self._whole = self._bars.add_task("", total=total, left="")
        self._change: TaskID | None = None
        self._total, self._done, self._done_at_start = total, 0, 0
        self._begun_s = self._now_s()
        self._line_s = -math.inf

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    @property
    def left_s(self) -> float | None:
        """Estimated remaining time, from the slots done so far including their repetitions; None before the first."""
        done = self._done - self._done_at_start
        return (self._now_s() - self._begun_s) / done * (self._total - self._done) if done else None

    def wait_by(self, now_s: Callable[[], float]) -> None:
        """Show times by another clock, in s, such as the wall's where this process lives in a lab's time.

        Slots that are done already count no more for the remaining time.
        """
        self._now_s = now_s
        self._line_s = -math.inf
        self._bars.reset(self._whole, total=self._total, completed=self._done, left="")
        self.resumed(self._done)

    def resumed(self, done: int) -> None:
        """Set how many slots were done before; time counts from now."""
        self._done = self._done_at_start = done
        self._begun_s = self._now_s()
        self._bars.update(self._whole, completed=done)

    def trial(self, words: str) -> None:
        """Show the trial that begins."""
        self._bars.update(self._whole, description=words)

    def ended(self, words: str, done: int) -> None:
        """Show that a trial has ended, and how many slots are done."""
        self._done = done
        left_s = self.left_s
        left = f"about {in_words(left_s)} left" if left_s and done < self._total else ""
        self._bars.update(self._whole, completed=done, left=left)
        now_s = self._now_s()
        if not self._plain or now_s - self._line_s < _LINE_EVERY_S:
            return
        self._line_s = now_s
        self.say(f"{done} of {self._total}: " + (f"{words.removesuffix('.')}; {left}" if left else words))

    def begin(self, doing: str, rounds: int) -> None:
        """Show a change of the lab that takes a number of rounds."""
        self._forget()
        if rounds:
            self._change = self._bars.add_task(doing, total=rounds, left="")

    def step(self, doing: str) -> None:
        """Show that one of its rounds is done."""
        if self._change is not None:
            self._bars.update(self._change, advance=1, description=doing)
        if not doing:
            self._forget()

    def say(self, sentence: str) -> None:
        """Print a message above the bars."""
        self._console.print(f"eeectl: {sentence}", markup=False, soft_wrap=not self._console.is_terminal)

    def _time_s(self) -> float:
        return self._now_s()

    def _forget(self) -> None:
        if self._change is not None:
            self._bars.remove_task(self._change)
        self._change = None
