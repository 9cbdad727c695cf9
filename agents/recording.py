"""What an agent wrote, read back: the counterpart of `agents/stream.py`, as a whole or line by line as it comes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

Row = Sequence[Any]

_LARGEST = 1 << 62
"""Of a number; a time in nanoseconds, of which differences still fit into 64 bits."""


def names_of(header: Mapping[str, Any]) -> list[str]:
    """The names of a stream's columns, in order."""
    return [column["name"] for column in header["columns"]]


@dataclass
class StreamReader:
    """Reads lines as they come. `summary` is empty until the last line was read."""

    header: Mapping[str, Any] = field(default_factory=dict)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    summary: Mapping[str, Any] = field(default_factory=dict)

    def read(self, line: str | bytes) -> list[Row]:
        """The rows of one whole line; ValueError if it is broken, or stands before the header."""
        content = _parsed(line)
        kind = content.get("kind")
        if kind == "header":
            _check_columns(content.get("columns"))
            self.header = content
        elif not self.header:
            raise ValueError("no header")
        elif kind == "rows":
            return _checked_rows(content.get("rows"), len(self.header["columns"]))
        elif kind == "event":
            self.events.append(content)
        elif kind == "summary" and not self.summary:
            self.summary = content
        return []


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number of JSON")


def _parsed(line: str | bytes) -> dict[str, Any]:
    try:
        content = json.loads(line, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not an object in braces")  # noqa: TRY004 - a broken line is a ValueError
    return content


def _check_columns(columns: object) -> None:
    if not isinstance(columns, list) or not all(
        isinstance(column, dict) and isinstance(column.get("name"), str) for column in columns
    ):
        raise ValueError("its header has no columns")


def _checked_rows(rows: object, width: int) -> list[Row]:
    """Rows of numbers, of nothing, and of lists of pairs of numbers (a histogram's bins)."""
    if not isinstance(rows, list):
        raise ValueError("it has no rows")  # noqa: TRY004 - a broken line is a ValueError
    for row in rows:
        if not isinstance(row, list) or len(row) != width:
            raise ValueError(f"a row has not the {width} values of the header's columns")
        for cell in row:
            pairs = cell if isinstance(cell, list) else []
            numbers = [number for pair in pairs if isinstance(pair, list) for number in pair]
            if not all(map(_is_number, numbers if isinstance(cell, list) else [cell])) or not all(
                isinstance(pair, list) and len(pair) == 2 for pair in pairs
            ):
                raise ValueError("a row has a value that is no number")
    return rows


def _is_number(cell: object) -> bool:
    return cell is None or (isinstance(cell, int | float) and -_LARGEST <= cell <= _LARGEST)


@dataclass(frozen=True)
class Recording:
    """A whole stream. `summary` is empty if the agent was killed; `cut`: its last line is incomplete."""

    header: Mapping[str, Any]
    rows: Sequence[Row]
    events: Sequence[Mapping[str, Any]]
    summary: Mapping[str, Any]
    cut: bool

    def column(self, name: str) -> list[Any]:
        """The values of a column, row by row; KeyError if the stream has no such column."""
        names = names_of(self.header)
        if name not in names:
            raise KeyError(name)
        place = names.index(name)
        return [row[place] for row in self.rows]

    def records(self) -> Iterator[dict[str, Any]]:
        """Every row with its values by column; ValueError for a row of another length."""
        names = names_of(self.header)
        return (dict(zip(names, row, strict=True)) for row in self.rows)


def read_stream(text: str) -> Recording:
    """Read what an agent wrote; ValueError if it does not start with a header or has a broken line inside."""
    lines = text.split("\n")
    cut = lines.pop() != ""
    reader = StreamReader()
    rows = [row for line in lines for row in reader.read(line)]
    if not reader.header:
        raise ValueError("no header")
    return Recording(reader.header, rows, reader.events, reader.summary, cut)
