"""What the ranks of a program call, send and compute, loops counted."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from eee_testbed.simulation.replay.calls import SENDS, Call
from eee_testbed.simulation.replay.loops import repetitions
from eee_testbed.simulation.replay.program import Program


def made(program: Program) -> pl.DataFrame:
    """The calls with a column `times`; the rows of loops themselves are left out."""
    ended = program.calls.with_columns(pl.Series("times", repetitions(program.calls).astype(np.int64)))
    return ended.filter(~pl.col("call").is_in([int(Call.LOOP), int(Call.END)]))


def busiest_ns(program: Program) -> int:
    """Computing of the rank that computes longest."""
    computed = made(program).group_by("rank").agg((pl.col("compute_ns").cast(pl.Int64) * pl.col("times")).sum())
    return int(computed["compute_ns"].max() or 0)  # type: ignore[arg-type]


def sent(program: Program, rank: int | None = None, tags: Sequence[int] | None = None) -> tuple[int, int]:
    """Messages and bytes, of all ranks or of one, with any tag or with some."""
    calls = _sends(program)
    if rank is not None:
        calls = calls.filter(pl.col("rank") == rank)
    if tags is not None:
        calls = calls.filter(pl.col("tag").is_in(list(tags)))
    return int(calls["times"].sum()), int((calls["times"] * calls["bytes"]).sum())


def sent_by_rank(program: Program) -> dict[int, tuple[int, int]]:
    """Messages and bytes of each rank that sends."""
    size = pl.col("times") * pl.col("bytes")
    found = _sends(program).group_by("rank").agg(pl.col("times").sum().alias("messages"), size.sum().alias("size"))
    return {rank: (messages, total) for rank, messages, total in found.iter_rows()}


def _sends(program: Program) -> pl.DataFrame:
    return made(program).filter(pl.col("call").is_in([int(call) for call in SENDS]), pl.col("peer") >= 0)


def called(program: Program, call: Call, rank: int = 0) -> int:
    """How often a rank makes a call."""
    calls = made(program).filter(pl.col("call") == int(call), pl.col("rank") == rank)
    return int(calls["times"].sum())
