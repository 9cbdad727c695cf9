"""A program as the engine takes it: rows of 48 bytes, and lists of numbers beside them."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from simulation.replay.checks import flat_lists
from simulation.replay.program import Program

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


def records(program: Program) -> Records:
    """Pack a program."""
    calls = program.calls
    rows = np.zeros(calls.height, dtype=ROW)
    for name in ("call", "flags", "communicator", "peer", "tag", "request", "bytes", "compute_ns"):
        rows[name] = calls[name].to_numpy()
    lengths = calls["sizes"].list.len().fill_null(0).to_numpy().astype(np.uint64)
    rows["list_length"] = lengths
    rows["list_at"] = np.cumsum(lengths) - lengths
    first: Any = np.searchsorted(calls["rank"].to_numpy(), np.arange(program.ranks + 1))
    lists = flat_lists(calls["sizes"]).astype("<i8")
    return Records(rows.tobytes(), first.tolist(), lists.tobytes(), [list(ranks) for ranks in program.communicators])
