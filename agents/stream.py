"""What an agent writes: JSON lines that are whole and readable however the agent ends.

The first line is the header, then come blocks of rows and events as they happen, at last a summary::

    {"kind": "header", "agent": ..., "columns": [{"name": ..., "unit": ..., "means": ...}, ...], ...}
    {"kind": "rows", "rows": [[...], ...]}
    {"kind": "event", "time_ns": ..., "what": ..., ...}
    {"kind": "summary", "ended_by": ..., ...}

A row has a value for each column, null where there is none. Times are of CLOCK_REALTIME in nanoseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

FORMAT = 1
_CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


class AgentError(Exception):
    """One sentence: what is wrong, where, what to do. `status` is the exit status: 1 failed, 2 wrong use."""

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status


class Arguments(argparse.ArgumentParser):
    """A command line whose mistakes are one sentence each."""

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        raise AgentError(f"{message}; --help shows how it is used.", 2)


@dataclass(frozen=True)
class Column:
    """A column of the rows; `unit` is empty for a plain number. `labels` distinguish columns of one name."""

    name: str
    unit: str
    means: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For the header."""
        entry: dict[str, Any] = {"name": self.name, "unit": self.unit, "means": self.means}
        return {**entry, "labels": dict(self.labels)} if self.labels else entry


class Stop:
    """Whether the agent was asked to end: `asked_by` is the signal's name, empty until then.

    `wakeup` becomes readable at a signal, for use in `select` or `poll`.
    """

    def __init__(self) -> None:
        self.asked_by = ""
        self.wakeup, self._poke = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(self._poke, False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)
        signal.set_wakeup_fd(self._poke, warn_on_full_buffer=False)

    def await_line(self) -> None:
        """Wait for a line on standard input, or to be asked to end."""
        select.select([sys.stdin, self.wakeup], [], [])
        if not self.asked_by and not sys.stdin.readline():
            raise AgentError("standard input ended before the line that was to come: leave it open.", 2)

    def _ask(self, number: int, _frame: object) -> None:
        self.asked_by = signal.Signals(number).name


class Stream:
    """Lines to a file, or to standard output without a name. Rows are kept for a while and written as a block."""

    def __init__(self, path: str = "", block_s: float = 0.5, block_rows: int = 1_000) -> None:
        self._path = path or "standard output"
        self._block_ns = int(block_s * 1e9)
        self._block_rows = block_rows
        self._rows: list[Sequence[Any]] = []
        self._first_ns = 0
        if path:
            try:
                self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise AgentError(
                    f"cannot write to a new file {path}: {error.strerror}; choose another --output.", 2
                ) from None
        else:
            self._descriptor = sys.stdout.fileno()

    def header(self, agent: str, columns: Iterable[Column], **facts: Any) -> None:
        """The first line."""
        self._write(
            {
                "kind": "header",
                "format": FORMAT,
                "agent": agent,
                "columns": [column.as_dict() for column in columns],
                **facts,
                "node": {**_node_facts(), "clock": clock_facts()},
            }
        )

    def row(self, values: Sequence[Any]) -> None:
        """Keep a row for the next block; nothing is written."""
        if not self._rows:
            self._first_ns = time.monotonic_ns()
        self._rows.append(values)

    @property
    def full(self) -> bool:
        """A block should be written as soon as there is time for it."""
        rows = len(self._rows)
        return rows >= self._block_rows or (rows > 0 and time.monotonic_ns() - self._first_ns >= self._block_ns)

    @property
    def overdue(self) -> bool:
        """A block has to be written, whether there is time or not."""
        rows = len(self._rows)
        return rows >= 8 * self._block_rows or (rows > 0 and time.monotonic_ns() - self._first_ns >= 4 * self._block_ns)

    def flush(self) -> None:
        """Write the rows that are kept."""
        if self._rows:
            rows, self._rows = self._rows, []
            self._write({"kind": "rows", "rows": rows})

    def event(self, what: str, **facts: Any) -> None:
        """Write the rows that are kept, and what happened."""
        self.flush()
        self._write({"kind": "event", "time_ns": time.time_ns(), "what": what, **facts})

    def summary(self, ended_by: str, **facts: Any) -> None:
        """Write the rows that are kept, and the last line. `ended_by` is a signal's name or "done"."""
        self.flush()
        self._write({"kind": "summary", "time_ns": time.time_ns(), "ended_by": ended_by, **facts})

    def _write(self, line: Mapping[str, Any]) -> None:
        data = memoryview(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except BrokenPipeError:
            raise AgentError("the reader of our output has gone; what was written until then is whole.") from None
        except OSError as error:
            raise AgentError(
                f"cannot write to {self._path}: {error.strerror}; what was written until then is whole."
            ) from None


def _node_facts() -> dict[str, Any]:
    system = os.uname()
    return {
        "name": system.nodename,
        "kernel": system.release,
        "machine": system.machine,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def clock_facts() -> dict[str, Any]:
    """Which clock the times are of, what drives it, and its distance from the monotonic clock."""
    try:
        source = _CLOCK_SOURCE.read_text(encoding="ascii").strip()
    except OSError:
        source = "unknown"
    before_ns, real_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return {
        "name": "CLOCK_REALTIME",
        "source": source,
        "ahead_of_monotonic_ns": real_ns - (before_ns + after_ns) // 2,
        "read_within_ns": after_ns - before_ns,
    }


def start(name: str, main: Any) -> NoReturn:
    """Run an agent's `main(words)` and exit with its status; what it cannot do is one sentence on standard error."""
    try:
        status = main(sys.argv[1:])
    except AgentError as error:
        print(f"{name}: {error}", file=sys.stderr)
        status = error.status
    sys.exit(status)
