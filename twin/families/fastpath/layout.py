"""Columns and dotted lines as FASTPATH prints them (measured on outputs of EdgeSwitch, ICOS and M4300)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DOTTED_CHARACTERS = 47
MORE = "--More-- or (q)uit"


def dotted(label: str, value: object, *, width: int = DOTTED_CHARACTERS, indent: int = 0) -> str:
    """``Label......... value``: label and dots fill `width` with the indent."""
    return " " * indent + label.ljust(width - indent, ".") + f" {value}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: heading lines, its width in dashes, and the blanks in front of it."""

    heading: tuple[str, ...]
    width: int
    gap: int = 1


def table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return heading rows (aligned at the bottom), dashes, and the rows; nothing is cut, no line ends in blanks."""
    height = max(len(c.heading) for c in columns)
    lines = []
    for level in range(height):
        cells = [
            c.heading[level - height + len(c.heading)] if level >= height - len(c.heading) else "" for c in columns
        ]
        lines.append(_row(columns, cells))
    lines.append(_row(columns, ["-" * c.width for c in columns]))
    lines += [_row(columns, [str(v) for v in row]) for row in rows]
    return lines


def _row(columns: Sequence[Column], cells: Sequence[str]) -> str:
    text = ""
    for column, cell in zip(columns, cells, strict=True):
        text += " " * column.gap + cell.ljust(column.width)
    first = columns[0].gap
    return text[first:].rstrip()


def span(seconds: float) -> str:
    """``1 day 20 hr 47 min 34 sec``."""
    whole = int(seconds)
    return f"{whole // 86400} day {whole // 3600 % 24} hr {whole // 60 % 60} min {whole % 60} sec"


def uptime(seconds: float) -> str:
    """``39 days 3 hrs 12 mins 53 secs``."""
    whole = int(seconds)
    return f"{whole // 86400} days {whole // 3600 % 24} hrs {whole // 60 % 60} mins {whole % 60} secs"


def enabled(on: bool) -> str:  # noqa: FBT001 - a word for a flag
    """Return Enable or Disable."""
    return "Enable" if on else "Disable"
