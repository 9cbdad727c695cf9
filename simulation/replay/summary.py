"""What a program does, as numbers: calls, messages by pair, collective calls by size, computing, short gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from eee_testbed.simulation.replay.calls import COLLECTIVES, NOBODY, SENDS, Call
from eee_testbed.simulation.replay.loops import repetitions
from eee_testbed.simulation.replay.program import Program

SHORT_NS: Final = 1000
"""Gaps below this are mostly what a tracer itself takes."""

_NO_CALLS: Final = frozenset({Call.LOOP, Call.END, Call.COMPUTE})


@dataclass(frozen=True, slots=True)
class Spread:
    """A number of each rank: least, median, most."""

    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Point-to-point messages from one rank of the world to another."""

    source: int
    target: int
    messages: float
    byte: float


@dataclass(frozen=True, slots=True)
class Collective:
    """Collective calls of one kind, on communicators of one size, whose first rank has one number of bytes."""

    call: str
    ranks: int
    byte: int
    times: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A program in numbers; calls in loops count as often as they are made.

    `pairs` are all pairs of ranks with messages, the one with most bytes first. `gaps` counts computing times between
    calls of a rank, `short_gaps` those of them below `SHORT_NS`. `compute_share` is the mean share of the recorded time
    that ranks computed; None if that time is unknown.
    """

    ranks: int
    communicators: int
    calls: float
    by_call: dict[str, float]
    messages: float
    byte: float
    pairs: tuple[Pair, ...]
    partners: Spread
    byte_by_rank: Spread
    collectives: tuple[Collective, ...]
    compute_ns: Spread
    compute_share: float | None
    gaps: float
    short_gaps: float


def summary_of(program: Program) -> Summary:
    """Count everything."""
    calls = program.calls.with_columns(pl.Series("times", repetitions(program.calls), dtype=pl.Float64))
    real = calls.filter(~pl.col("call").is_in([int(call) for call in _NO_CALLS]))
    pairs = _pairs(program, calls)
    times = calls["times"].to_numpy()
    compute_ns = _by_rank(program.ranks, calls["rank"].to_numpy(), calls["compute_ns"].to_numpy() * times)
    gaps = real.filter(pl.col("rank") == pl.col("rank").shift(1))
    counted = real.group_by("call").agg(pl.col("times").sum()).sort("times", "call", descending=[True, False])
    return Summary(
        ranks=program.ranks,
        communicators=len(program.communicators),
        calls=float(real["times"].sum()),
        by_call={Call(call).name.lower(): times for call, times in counted.iter_rows()},
        messages=float(pairs["messages"].sum()),
        byte=float(pairs["byte"].sum()),
        pairs=tuple(Pair(*row) for row in pairs.iter_rows()),
        partners=_spread(_partners(program.ranks, pairs)),
        byte_by_rank=_spread(_by_rank(program.ranks, pairs["source"].to_numpy(), pairs["byte"].to_numpy())),
        collectives=_collectives(program.communicators, calls),
        compute_ns=_spread(compute_ns),
        compute_share=float(compute_ns.mean()) / program.recorded_ns if program.recorded_ns else None,
        gaps=float(gaps["times"].sum()),
        short_gaps=float(gaps.filter(pl.col("compute_ns") < SHORT_NS)["times"].sum()),
    )


def _pairs(program: Program, calls: pl.DataFrame) -> pl.DataFrame:
    """Messages and bytes by source and target, in ranks of the world."""
    sends = calls.filter(pl.col("call").is_in([int(call) for call in SENDS]), pl.col("peer") != NOBODY)
    targets = np.empty(sends.height, dtype=np.int64)
    number, peer = sends["communicator"].to_numpy(), sends["peer"].to_numpy()
    for one in np.unique(number):
        own = number == one
        targets[own] = np.asarray(program.communicators[one], dtype=np.int64)[peer[own]]
    frame = sends.select(source=pl.col("rank").cast(pl.Int64), byte=pl.col("bytes") * pl.col("times"), times="times")
    grouped = frame.with_columns(target=pl.Series(targets, dtype=pl.Int64)).group_by("source", "target")
    pairs = grouped.agg(messages=pl.col("times").sum(), byte=pl.col("byte").sum())
    return pairs.sort("byte", "source", "target", descending=[True, False, False])


def _partners(ranks: int, pairs: pl.DataFrame) -> Any:
    """Ranks that each rank sends to."""
    return np.bincount(pairs["source"].to_numpy(), minlength=ranks)


def _collectives(communicators: Sequence[Sequence[int]], calls: pl.DataFrame) -> tuple[Collective, ...]:
    """By kind, size and bytes; only the first rank's calls are counted."""
    collectives = calls.filter(pl.col("call").is_in([int(call) for call in COLLECTIVES]))
    lengths = np.asarray([len(ranks) for ranks in communicators])
    first = np.asarray([ranks[0] for ranks in communicators])
    number = collectives["communicator"].to_numpy()
    sized = collectives.with_columns(ranks=pl.Series(lengths[number]), first=pl.Series(first[number]))
    own = sized.filter(pl.col("rank") == pl.col("first"))
    counted = own.group_by("call", "ranks", "bytes").agg(pl.col("times").sum())
    rows = counted.sort("times", "call", "ranks", "bytes", descending=[True, False, False, False]).iter_rows()
    return tuple(Collective(Call(call).name.lower(), ranks, byte, times) for call, ranks, byte, times in rows)


def _by_rank(ranks: int, rank: Any, values: Any) -> Any:
    return np.bincount(rank, weights=values, minlength=ranks)


def _spread(values: Any) -> Spread:
    return Spread(float(values.min()), float(np.median(values)), float(values.max()))
