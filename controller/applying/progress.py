"""Progress of a piece of work: bars and sentences on standard error, or lines in a log."""

from datetime import UTC, datetime
from types import TracebackType
from typing import Final, Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

_BAR_COLUMNS: Final = 30
"""Columns of the terminal for a bar, counts and the time, beside what is being done."""

_MOST_COLUMNS: Final = 56
_LEAST_COLUMNS: Final = 16


def doing_column(room: int) -> Column:
    """The column of a progress bar that says what is being done: as wide as there is room, cut with an ellipsis."""
    return Column(width=max(_LEAST_COLUMNS, min(_MOST_COLUMNS, room)), no_wrap=True, overflow="ellipsis")


class Bars:
    """A bar for each pass through rounds if standard error is a terminal, and sentences."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        doing = TextColumn("{task.description}", table_column=doing_column(self._console.width - _BAR_COLUMNS))
        columns = (doing, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bars = Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def begin(self, doing: str, rounds: int) -> None:
        """A pass of that many rounds begins."""
        self._bars.start()
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task(doing, total=rounds)
        if not rounds:
            self._bars.stop()

    def step(self, doing: str) -> None:
        """One round is done; the bar disappears after the last."""
        if self._task is not None:
            self._bars.update(self._task, advance=1, description=doing)
        if not doing:
            self._bars.stop()

    def say(self, sentence: str) -> None:
        """Print a sentence above the bar."""
        self._console.print(f"eeectl: {sentence}", markup=False, soft_wrap=not self._console.is_terminal)


class Log:
    """Lines with the time."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def begin(self, doing: str, rounds: int) -> None:
        """A pass of that many rounds begins."""
        if rounds:
            self.say(f"{rounds} rounds: {doing}")

    def step(self, doing: str) -> None:
        """One round is done."""
        if doing:
            self.say(doing)

    def say(self, sentence: str) -> None:
        """Write a line."""
        self._stream.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {sentence}\n")
        self._stream.flush()
