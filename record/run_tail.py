"""What is new in a run's folder, look after look: for views of a run that another process may be writing.

Only whole lines are taken, and only once. An open segment that was closed in between is read on in its Parquet file,
after the rows that were seen. The first look takes all watts, and of the other tables what is young enough to be shown.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from record.sample_tables import TABLES, Batch, Table
from record.segments import segments_of
from record.store import read_facts

_YOUNG_S: Final = {"ports": 150.0, "lpi": 150.0, "polls": 600.0}
"""How old rows of the first look may be, seconds before the newest of their table."""

_ECHOES: Final = "echoes.jsonl"
_NS: Final = 1e9

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Echo:
    """One echo of a probe that a run's trial makes; `sent_ns` by the node's clock, `rtt_ns` None: lost."""

    trial: int
    sent_ns: int
    gap_ns: int
    rtt_ns: int | None


@dataclass(frozen=True, slots=True)
class Update:
    """What a look found, in the order in which it was written (by kind)."""

    batches: tuple[Batch, ...] = ()
    events: tuple[Event, ...] = ()
    echoes: tuple[Echo, ...] = ()


@dataclass(slots=True)
class _Lines:
    """A file that grows by whole lines; `count` were taken, up to `offset_byte`."""

    path: Path
    offset_byte: int = 0

    def fresh(self) -> list[bytes]:
        """Lines since the last look; FileNotFoundError if the file went away."""
        with self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_size <= self.offset_byte:
                return []
            file.seek(self.offset_byte)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.offset_byte += len(whole)
        return whole.splitlines()


@dataclass(slots=True)
class _TableTail:
    """Where reading a table has come to: `row_count` rows of segment `number`."""

    folder: Path
    table: Table
    number: int = 0
    row_count: int = 0
    lines: _Lines | None = None

    def fresh(self, young_s: float | None) -> list[Batch]:
        """Batches since the last look; those of closed segments that are older than `young_s` are left out."""
        closed: list[pl.DataFrame] = []
        found: list[Batch] = []
        for number, path in segments_of(self.folder, self.table.name).items():
            if number < self.number:
                continue
            if number > self.number:
                self.number, self.row_count, self.lines = number, 0, None
            if path.suffix == ".jsonl":
                try:
                    found += self._open(path)
                    continue
                except FileNotFoundError:  # it was closed in between
                    path = path.with_name(path.name.replace("open.jsonl", "parquet"))  # noqa: PLW2901
            rows = pl.read_parquet(path).slice(self.row_count)
            self.row_count += rows.height
            closed.append(rows)
        return [*_batches(self.table, closed, young_s), *found]

    def _open(self, path: Path) -> list[Batch]:
        if self.lines is None:
            self.lines = _Lines(path)
        told = [json.loads(line) for line in self.lines.fresh()]
        self.row_count += sum(one["rows"] for one in told)
        return [Batch(self.table.name, one["rows"], one["columns"]) for one in told]


def _batches(table: Table, parts: Iterable[pl.DataFrame], young_s: float | None) -> list[Batch]:
    """Rows as they were before they were put together: a batch for each beat of each device."""
    parts = [part for part in parts if not part.is_empty()]
    if not parts:
        return []
    rows = pl.concat(parts)
    if young_s is not None:
        rows = rows.filter(pl.col("due_ns") >= pl.col("due_ns").max() - round(young_s * _NS))
    same = ["tick", "due_ns", "source", "kind"] if table.name == "polls" else ["tick", "due_ns", table.keys[0]]
    made = []
    for part in rows.partition_by(same, maintain_order=True):
        columns: dict[str, Any] = part.to_dict(as_series=False)
        fixed = {name: columns[name][0] for name in (*same, "sent_ns", "received_ns")}
        if table.name == "polls":
            fixed = {name: column[0] for name, column in columns.items()}
        made.append(Batch(table.name, part.height, {**columns, **fixed}))
    return made


@dataclass(slots=True)
class _EchoTail:
    """The stream of one trial's probe (agents/stream.py)."""

    trial: int
    lines: _Lines
    places: tuple[int, ...] = ()
    ended: bool = False

    def fresh(self) -> list[Echo]:
        try:
            told = [json.loads(line) for line in self.lines.fresh()]
        except FileNotFoundError:
            return []
        found: list[Echo] = []
        for line in told:
            if line["kind"] == "header":
                names = [column["name"] for column in line["columns"]]
                self.places = tuple(names.index(name) for name in ("sent_ns", "wanted_ns", "rtt_ns"))
            elif line["kind"] == "rows" and self.places:
                rows = (tuple(row[place] for place in self.places) for row in line["rows"])
                found += [Echo(self.trial, *row) for row in rows if row[0] is not None]  # it left
            self.ended |= line["kind"] == "summary"
        return found


@dataclass(slots=True)
class RunTail:
    """A run's folder; LabError if it is none. One thread looks at a time."""

    folder: Path
    facts: dict[str, Any] = field(init=False)
    _tables: list[_TableTail] = field(init=False)
    _events: _Lines = field(init=False)
    _echoes: dict[int, _EchoTail] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.facts = read_facts(self.folder)
        self._tables = [_TableTail(self.folder / "samples", table) for table in TABLES.values()]
        self._events = _Lines(self.folder / "events.jsonl")

    def look(self) -> Update:
        """What came since the last look; `facts` are read again."""
        self.facts = read_facts(self.folder)
        batches = [batch for table in self._tables for batch in table.fresh(_YOUNG_S.get(table.table.name))]
        try:
            events = [json.loads(line) for line in self._events.fresh()]
        except FileNotFoundError:
            events = []
        for event in events:
            if event["kind"] == "trial_begun":
                path = self.folder / "trials" / f"{event['trial']:04d}" / _ECHOES
                self._echoes[event["trial"]] = _EchoTail(event["trial"], _Lines(path))
            elif event["kind"] == "trial_ended" and event["trial"] in self._echoes:
                self._echoes[event["trial"]].ended = True
        echoes = [echo for tail in self._echoes.values() for echo in tail.fresh()]
        self._echoes = {trial: tail for trial, tail in self._echoes.items() if not tail.ended}
        return Update(tuple(batches), tuple(events), tuple(echoes))
