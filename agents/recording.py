"""What an agent wrote, read back: the counterpart of `agents/stream.py`, as a whole or line by line as it comes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Sequence[Any]


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
        content = json.loads(line)
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "header":
            self.header = content
        elif not self.header:
            raise ValueError("no header")
        elif kind == "rows":
            return list(content["rows"])
        elif kind == "event":
            self.events.append(content)
        elif kind == "summary" and not self.summary:
            self.summary = content
        return []


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
