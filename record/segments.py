"""Tables on disk that grow and survive a kill: one open segment of JSON lines, closed segments in Parquet.

``<table>-00003.open.jsonl`` takes one line for each batch of rows, written at once with one `write`. From time to time
it is converted to ``<table>-00003.parquet`` and removed. Readers take both kinds; where a crash left both of one
number, the Parquet file is complete and wins. A last line without a line break was being written when the writer died,
and is not read. What was written survives a killed process; what was fsynced survives a power cut.
"""

import contextlib
import errno
import io
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from eee_testbed.lab import durable
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.lab.untrusted_files import lose, read_json_lines
from eee_testbed.record.columns import values_of
from eee_testbed.record.frames import read_frame
from eee_testbed.record.sample_tables import Batch, Kind, Table
from eee_testbed.record.shapes import LONGEST_NS, parse_batch, required_columns

_TYPES: Final[dict[Kind, Any]] = {"int": pl.Int64, "float": pl.Float64, "text": pl.String, "bool": pl.Boolean}
_NAME: Final = re.compile(r"(?P<table>[a-z]+)-(?P<number>\d{5})\.(?P<kind>open\.jsonl|parquet)")
_OPEN, _CLOSED = "open.jsonl", "parquet"
_DAMAGED: Final = ".damaged"  # no reader takes a file of that name


def schema_of(table: Table) -> dict[str, Any]:
    """Column to Polars type."""
    return {column.name: _TYPES[column.kind] for column in table.columns}


def segments_of(folder: Path, table: str) -> dict[int, Path]:
    """The file to read of each segment, by number."""
    files: dict[int, Path] = {}
    for path in sorted(folder.glob(f"{table}-*"), reverse=True):  # Parquet first
        match = _NAME.fullmatch(path.name)
        if match and match["table"] == table:
            files.setdefault(int(match["number"]), path)
    return dict(sorted(files.items()))


def _rows(path: Path, table: Table) -> pl.DataFrame:
    """Batches of an open segment as one table, without lines that are damaged."""
    return _frame(read_json_lines(path, lambda line: parse_batch(line, table)), table)


def _frame(batches: Iterable[Batch], table: Table) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {name: [] for name in table.names}
    for batch in batches:
        for name, values in columns.items():
            values.extend(values_of(batch.columns.get(name), batch.row_count))
    return pl.DataFrame(columns, schema=schema_of(table))


def read_table(folder: Path, table: Table) -> pl.DataFrame:
    """All rows of a table, in the order in which they were written; also while a process writes them.

    Damaged lines, rows and segments are lost (DamagedPart).
    """
    parts = [_read_segment(path, table) for path in segments_of(folder, table.name).values()]
    return pl.concat(parts) if parts else pl.DataFrame(schema=schema_of(table))


def _read_segment(path: Path, table: Table) -> pl.DataFrame:
    if path.name.endswith(_CLOSED):
        return read_closed(path, table)
    try:
        return _rows(path, table)
    except FileNotFoundError:  # it was closed in between
        return read_closed(path.with_name(path.name.replace(_OPEN, _CLOSED)), table)


def read_closed(path: Path, table: Table) -> pl.DataFrame:
    """The usable rows of a closed segment, with all columns of its table; none if the file is damaged (DamagedPart)."""
    try:
        frame = read_frame(path, schema_of(table))
    except UnreadableFile as error:
        lose(path, 0, f"this part of the samples is left out: {error}")
        return pl.DataFrame(schema=schema_of(table))
    usable = pl.all_horizontal(pl.col(name).is_not_null() for name in required_columns(table))
    for name in (name for name in table.names if name.endswith("_ns")):
        usable &= pl.col(name).is_null() | pl.col(name).is_between(-LONGEST_NS, LONGEST_NS)
    rows = frame.filter(usable)
    if rows.height < frame.height:
        lose(path, 0, f"{frame.height - rows.height} of {frame.height} rows are left out: they lack a name or a time")
    return rows


class SegmentWriter:
    """Writes one table. Every method passes the disk's OSError on, and leaves only whole lines in the file."""

    def __init__(self, folder: Path, table: Table) -> None:
        self._folder = folder
        self._table = table
        self._number = max(segments_of(folder, table.name), default=0)
        self._file: int | None = None
        self._size_byte = 0

    def recover(self) -> tuple[str, ...]:
        """Close the open segments that an earlier writer left behind.

        A segment with lines that cannot be read is set aside as `.damaged`, and loses those lines only; returns a
        sentence on each.
        """
        aside = []
        for path in sorted(self._folder.glob(f"{self._table.name}-*.{_OPEN}")):
            count, batches = self._read_open(path)
            if len(batches) < count:
                aside.append(self._set_aside(path, count, batches))
            else:
                self._close_segment(path)
        for path in self._folder.glob(f"{self._table.name}-*.new"):
            path.unlink()
        return tuple(aside)

    def append(self, batches: Sequence[Batch]) -> None:
        """Write batches, all or none of them."""
        data = b"".join(
            json.dumps({"rows": batch.row_count, "columns": batch.columns}, separators=(",", ":")).encode() + b"\n"
            for batch in batches
        )
        if self._file is None:
            self._number += 1
            path = self._folder / f"{self._table.name}-{self._number:05d}.{_OPEN}"
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._size_byte = 0
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError:
            os.ftruncate(self._file, self._size_byte)
            raise
        self._size_byte += len(data)

    def close_segment(self) -> None:
        """Convert the open segment to Parquet. Without room for both it stays as it is, and another one begins."""
        if self._file is None:
            return
        os.fsync(self._file)
        os.close(self._file)
        self._file = None
        self._close_segment(self._folder / f"{self._table.name}-{self._number:05d}.{_OPEN}")

    def _close_segment(self, path: Path) -> None:
        closed = path.with_name(path.name.replace(_OPEN, _CLOSED))
        if closed.exists():
            path.unlink()
            return
        try:
            _write(closed, _rows(path, self._table))
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
                raise
            return
        path.unlink()

    def _read_open(self, path: Path) -> tuple[int, list[Batch]]:
        """How many whole lines an open segment has, and the batches of those that can be read."""
        count, batches = 0, []
        for line in path.read_bytes().split(b"\n")[:-1]:
            count += 1
            with contextlib.suppress(ValueError):
                batches.append(parse_batch(line, self._table))
        return count, batches

    def _set_aside(self, path: Path, count: int, batches: Sequence[Batch]) -> str:
        if batches:
            _write(path.with_name(path.name.replace(_OPEN, _CLOSED)), _frame(batches, self._table))
        damaged = path.with_name(f"{path.name}{_DAMAGED}")
        while damaged.exists():  # numbers are used again
            damaged = damaged.with_name(f"{damaged.name}{_DAMAGED}")
        path.rename(damaged)
        return (
            f"{count - len(batches)} of {count} lines of {path.name} cannot be read: the others are kept, and "
            f"the file is set aside as {damaged.name}."
        )


def _write(path: Path, rows: pl.DataFrame) -> None:
    parquet = io.BytesIO()
    rows.write_parquet(parquet, compression="zstd")
    durable.replace(path, parquet.getvalue())
