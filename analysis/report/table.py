"""Tables of a report, to read and to copy: the page also has each as CSV."""

import base64
import csv
import io
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from eee_testbed.analysis.interval import Interval
from eee_testbed.lab.errors import LabError

_SHORT_CHARACTERS = 34

Cell = str | int | float | Interval | None
_Plain = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `unit` is empty for text and plain numbers."""

    name: str
    unit: str = ""

    @property
    def head(self) -> str:
        """Name and unit, for CSV."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def shown_head(self) -> str:
        """Name and unit, for the page; a plain count has no unit."""
        unit = {"us": "µs", "1": ""}.get(self.unit, self.unit)
        return f"{self.name} ({unit})" if unit else self.name


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a cell for each column; an interval is one cell on the page and three columns in CSV."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    behind_figure: bool = False
    """Whether a figure shows these numbers: the page then folds the table away."""

    def without_empty_columns(self, always: int = 0) -> "Table":
        """Without the columns that have no value in any row; the first `always` columns stay."""
        kept = [n for n in range(len(self.columns)) if n < always or any(row[n] is not None for row in self.rows)]
        columns = tuple(self.columns[n] for n in kept)
        return replace(self, columns=columns, rows=tuple(tuple(row[n] for n in kept) for row in self.rows))

    @property
    def heads(self) -> list[tuple[str, str]]:
        """Text of each head, and the kind of its column: numbers or text."""
        numeric = [
            bool(column.unit) or any(isinstance(row[n], int | float | Interval) for row in self.rows)
            for n, column in enumerate(self.columns)
        ]
        return [
            (column.shown_head, "number" if is_number else "text")
            for column, is_number in zip(self.columns, numeric, strict=True)
        ]

    @property
    def shown(self) -> list[list[tuple[str, str]]]:
        """Text of each cell, and its kind: a number, short text that stays on one line, or long text."""
        return [[_shown(cell, column) for cell, column in zip(row, self.columns, strict=True)] for row in self.rows]

    @property
    def csv(self) -> str:
        """RFC 4180; numbers with all digits."""
        return self._written(lambda value: value)

    @property
    def short_csv(self) -> str:
        """The same, to read and to copy: numbers with four digits."""
        return self._written(lambda value: number(value, "") if isinstance(value, float) else value)

    def _written(self, shown: Callable[[_Plain], _Plain]) -> str:
        spread = [any(isinstance(row[n], Interval) for row in self.rows) for n in range(len(self.columns))]
        text = io.StringIO()
        writer = csv.writer(text)
        heads = [_heads(column, wide=wide) for column, wide in zip(self.columns, spread, strict=True)]
        writer.writerow([name for group in heads for name in group])
        for row in self.rows:
            cells = [_cells(cell, wide=wide) for cell, wide in zip(row, spread, strict=True)]
            writer.writerow([shown(value) for group in cells for value in group])
        return text.getvalue()

    @property
    def link(self) -> str:
        """The CSV as a link that needs no network."""
        return "data:text/csv;charset=utf-8;base64," + base64.b64encode(self.csv.encode()).decode()


def save_table(table: Table, folder: Path) -> Path:
    """Write NAME.csv; LabError if that fails."""
    path = folder / f"{table.name}.csv"
    try:
        folder.mkdir(exist_ok=True)
        path.write_text(table.csv, encoding="utf-8", newline="")
    except OSError as error:
        raise LabError(
            f"the tables cannot be written to {folder} ({error.strerror}): check its permissions and free space."
        ) from error
    return path


def cell_text(cell: Cell) -> str:
    """Text of a cell: four digits; an interval with both ends, rounded according to its width."""
    if cell is None:
        return "–"  # noqa: RUF001 - an en dash: no value
    if isinstance(cell, Interval):
        return _interval(cell)
    if isinstance(cell, float):
        return number(cell)
    return str(cell)


def _interval(interval: Interval) -> str:
    if interval.low == interval.high:
        return number(interval.value)
    if math.isnan(interval.low) and math.isnan(interval.high):
        return f"{number(interval.value)} (–)"  # noqa: RUF001 - too little was repeated for an interval
    width, size = interval.high - interval.low, max(abs(interval.low), abs(interval.high))
    if width < 1e-6 * size:
        return number(interval.value)
    if not math.isfinite(width) or not 1e-3 <= size < 1e6:
        return f"{number(interval.value)} ({number(interval.low)} to {number(interval.high)})"
    digits = min(max(1 - math.floor(math.log10(width / 2)), 0), 6)
    value, low, high = (round(one, digits) + 0.0 for one in (interval.value, interval.low, interval.high))  # no "-0.00"
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def number(value: float, thousands: Literal["", ","] = ",") -> str:
    """A number with four digits, above 10,000 with all before the point."""
    if math.isnan(value):
        return "–"  # noqa: RUF001
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3e}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:{thousands}.0f}"


def _shown(cell: Cell, column: Column) -> tuple[str, str]:
    text = cell_text(cell)
    if column.unit or isinstance(cell, int | float | Interval):
        return text, "number"
    return text, "short" if len(text) <= _SHORT_CHARACTERS else "long"


def _heads(column: Column, *, wide: bool) -> list[str]:
    if not wide:
        return [column.head]
    return [column.head, f"{column.head} low", f"{column.head} high"]


def _cells(cell: Cell, *, wide: bool) -> list[_Plain]:
    if isinstance(cell, Interval):
        return [cell.value, *cell.known_ends]
    return [cell, None, None] if wide else [cell]
