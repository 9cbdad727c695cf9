"""A program as the engine takes it, and gives it: rows of 48 bytes, and lists of numbers beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from eee_testbed.simulation.replay.checks import lists_of
from eee_testbed.simulation.replay.program import SCHEMA, Program

ROW: Final = np.dtype(
    [
        ("call", "<u2"),
        ("flags", "<u2"),
        ("communicator", "<u4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("request", "<i4"),
        ("list_length", "<u4"),
        ("bytes", "<i8"),
        ("compute_ns", "<u8"),
        ("list_at", "<u8"),
    ]
)
"""A call: little-endian, without gaps. The columns of a replay file, and where `lists` has its sizes."""


@dataclass(frozen=True, slots=True)
class Records:
    """The calls of all ranks, packed.

    `rows` holds a `ROW` for each call, ranks in order; those of rank r are `first[r]` to `first[r + 1]`. `lists` holds
    little-endian 64-bit numbers: the sizes of a call are `list_length` of them from number `list_at` on. The program
    has been checked before: the engine follows references without looking.
    """

    rows: bytes
    first: list[int]
    lists: bytes
    communicators: list[list[int]]


_PLAIN_COLUMNS: Final = ("call", "flags", "communicator", "peer", "tag", "request", "bytes", "compute_ns")
"""Columns of a replay file that rows have as they are."""


def records(program: Program) -> Records:
    """Pack a program."""
    calls = program.calls
    rows = np.zeros(calls.height, dtype=ROW)
    for name in _PLAIN_COLUMNS:
        rows[name] = calls[name].to_numpy()
    lengths, numbers = lists_of(calls["sizes"])
    rows["list_length"] = lengths
    rows["list_at"] = np.cumsum(lengths) - lengths
    first: Any = np.searchsorted(calls["rank"].to_numpy(), np.arange(program.ranks + 1))
    lists = numbers.astype("<i8").tobytes()
    return Records(rows.tobytes(), first.tolist(), lists, [list(ranks) for ranks in program.communicators])


def calls_of(rows: bytes, lists: bytes, ends: Sequence[int]) -> pl.DataFrame:
    """The columns of a replay file: the inverse of `records`. Rank r ends before row `ends[r]`."""
    packed = np.frombuffer(rows, dtype=ROW)
    lengths: Any = np.diff(np.asarray(ends, dtype=np.int64), prepend=0)
    columns = {name: pl.Series(name, packed[name]).cast(SCHEMA[name]) for name in _PLAIN_COLUMNS}
    columns["rank"] = pl.Series("rank", np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths))
    columns["sizes"] = _sizes(packed, np.frombuffer(lists, dtype="<i8"))
    return pl.DataFrame([columns[name] for name in SCHEMA])


def _sizes(packed: Any, numbers: Any) -> pl.Series:
    """The list of each row, null where it is empty."""
    length = packed["list_length"]
    row = np.flatnonzero(length)
    owner = np.repeat(np.arange(len(row), dtype=np.uint32), length[row])
    listed = pl.DataFrame({"owner": owner, "sizes": numbers}).group_by("owner", maintain_order=True).agg("sizes")
    at = np.full(len(packed), len(row), dtype=np.uint32)
    at[row] = np.arange(len(row))
    return pl.concat([listed["sizes"], pl.Series("sizes", [None], dtype=SCHEMA["sizes"])]).gather(at)
