"""What is new in a run's folder, poll by poll: for views of a run that another process may be writing.

Only whole lines are taken, and only once. An open segment that was closed in between is continued in its Parquet file,
after the rows that were already taken. The first poll takes all watts, and of the other tables the recent rows.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import polars as pl

from eee_testbed.agents.recording import StreamReader, names_of
from eee_testbed.lab.untrusted_files import lose
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import Event
from eee_testbed.record.sample_tables import TABLES, Batch, Table
from eee_testbed.record.segments import read_closed, segments_of
from eee_testbed.record.shapes import parse_batch, parse_event
from eee_testbed.record.store import read_facts
from eee_testbed.record.trial_events import trial_folder

_RECENT_S: Final = {"ports": 150.0, "lpi": 150.0, "polls": 600.0}
"""How old rows of the first poll may be, in seconds before the newest row of their table."""

_ECHOES: Final = "echoes.jsonl"
_NS: Final = 1e9
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Echo:
    """One echo of a trial's probe; `sent_ns` by the node's clock, `rtt_ns` None: lost."""

    trial: int
    sent_ns: int
    gap_ns: int
    rtt_ns: int | None


@dataclass(frozen=True, slots=True)
class Update:
    """What one poll found: each kind in the order in which it was written."""

    batches: tuple[Batch, ...] = ()
    events: tuple[Event, ...] = ()
    echoes: tuple[Echo, ...] = ()


@dataclass(slots=True)
class _Lines:
    """A file that grows by whole lines, which were taken up to `offset_byte`."""

    path: Path
    offset_byte: int = 0
    line_count: int = 0

    def fresh(self) -> list[bytes]:
        """Lines since the last poll; FileNotFoundError if the file does not exist (any more)."""
        with self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_size <= self.offset_byte:
                return []
            file.seek(self.offset_byte)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.offset_byte += len(whole)
        return whole.split(b"\n")[:-1]

    def parsed(self, parse: Callable[[bytes], _Part]) -> list[_Part]:
        """What new lines say; a line for which `parse` raises ValueError is lost (DamagedPart)."""
        parts = []
        for line in self.fresh():
            self.line_count += 1
            try:
                parts.append(parse(line))
            except ValueError as error:
                lose(self.path, self.line_count, f"this line is left out: {error}")
        return parts


@dataclass(slots=True)
class _TableTail:
    """The position in a table: `row_count` rows of segment `number` were taken."""

    folder: Path
    table: Table
    number: int = 0
    row_count: int = 0
    lines: _Lines | None = None

    def fresh(self, recent_s: float | None) -> list[Batch]:
        """Batches since the last poll, without rows of closed segments that are older than `recent_s`."""
        closed: list[pl.DataFrame] = []
        batches: list[Batch] = []
        for number, path in segments_of(self.folder, self.table.name).items():
            if number < self.number:
                continue
            if number > self.number:
                self.number, self.row_count, self.lines = number, 0, None
            if path.suffix == ".jsonl":
                try:
                    batches += self._open(path)
                    continue
                except FileNotFoundError:  # the segment was closed in between
                    path = path.with_name(path.name.replace("open.jsonl", "parquet"))  # noqa: PLW2901
            rows = read_closed(path, self.table).slice(self.row_count)
            self.row_count += rows.height
            closed.append(rows)
        return [*_batches(self.table, closed, recent_s), *batches]

    def _open(self, path: Path) -> list[Batch]:
        if self.lines is None:
            self.lines = _Lines(path)
        batches = self.lines.parsed(lambda line: parse_batch(line, self.table))
        self.row_count += sum(batch.row_count for batch in batches)
        return batches


def _batches(table: Table, parts: Iterable[pl.DataFrame], recent_s: float | None) -> list[Batch]:
    """Rows as they were sampled: a batch for each tick of each device."""
    parts = [part for part in parts if not part.is_empty()]
    if not parts:
        return []
    rows = pl.concat(parts)
    if recent_s is not None:
        rows = rows.filter(pl.col("due_ns") >= pl.col("due_ns").max() - round(recent_s * _NS))
    same = ["tick", "due_ns", "source", "kind"] if table.name == "polls" else ["tick", "due_ns", table.keys[0]]
    batches = []
    for part in rows.partition_by(same, maintain_order=True):
        columns: dict[str, Any] = part.to_dict(as_series=False)
        fixed = {name: columns[name][0] for name in (*same, "sent_ns", "received_ns")}
        if table.name == "polls":
            fixed = {name: column[0] for name, column in columns.items()}
        batches.append(Batch(table.name, part.height, {**columns, **fixed}))
    return batches


@dataclass(slots=True)
class _EchoTail:
    """The stream of one trial's probe (agents/stream.py)."""

    trial: int
    lines: _Lines
    reader: StreamReader = field(default_factory=StreamReader)
    trial_ended: bool = False

    @property
    def ended(self) -> bool:
        """Whether no more echoes will come."""
        return self.trial_ended or bool(self.reader.summary)

    def fresh(self) -> list[Echo]:
        """Echoes since the last poll, of those that were sent."""
        try:
            rows = [row for rows in self.lines.parsed(self._echoes) for row in rows]
        except FileNotFoundError:
            return []
        return [Echo(self.trial, sent, gap, rtt) for sent, gap, rtt in rows if sent is not None]

    def _echoes(self, line: bytes) -> list[tuple[int | None, int, int | None]]:
        """Departure, wanted gap and round trip of each echo of a line; ValueError if it is damaged."""
        rows = self.reader.read(line)
        names = names_of(self.reader.header)
        sent, gap, rtt = (names.index(name) for name in ("sent_ns", "wanted_ns", "rtt_ns"))
        for row in rows:
            if not isinstance(row[gap], int) or not all(isinstance(row[at], int | None) for at in (sent, rtt)):
                raise ValueError("an echo has no whole numbers")
        return [(row[sent], row[gap], row[rtt]) for row in rows]


@dataclass(slots=True)
class RunTail:
    """Follows a run's folder; LabError if it is not one. For one thread at a time."""

    folder: Path
    facts: dict[str, Any] = field(init=False)
    _tables: list[_TableTail] = field(init=False)
    _events: _Lines = field(init=False)
    _echoes: dict[int, _EchoTail] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.facts = read_facts(self.folder)
        self._tables = [_TableTail(self.folder / "samples", table) for table in TABLES.values()]
        self._events = _Lines(self.folder / "events.jsonl")

    def poll(self) -> Update:
        """What was written since the last poll; `facts` are read again."""
        self.facts = read_facts(self.folder)
        batches = [batch for table in self._tables for batch in table.fresh(_RECENT_S.get(table.table.name))]
        try:
            events = self._events.parsed(parse_event)
        except FileNotFoundError:
            events = []
        for event in events:
            if event["kind"] == EventKind.TRIAL_BEGUN:
                trial = event["trial"]
                self._echoes[trial] = _EchoTail(trial, _Lines(trial_folder(self.folder, trial) / _ECHOES))
            elif event["kind"] == EventKind.TRIAL_ENDED and event["trial"] in self._echoes:
                self._echoes[event["trial"]].trial_ended = True
        echoes = [echo for tail in self._echoes.values() for echo in tail.fresh()]
        self._echoes = {trial: tail for trial, tail in self._echoes.items() if not tail.ended}
        return Update(tuple(batches), tuple(events), tuple(echoes))
