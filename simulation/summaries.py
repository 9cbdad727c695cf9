"""Points of one load together: means over seeds, with intervals of both the simulation and the calibration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import sqrt
from statistics import fmean, stdev

from scipy.special import stdtrit

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.point import Point

_FEWEST_DRAWS = 3


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """All points of a load. Latencies are in cycles; None where it is saturated or a point is not settled."""

    load: float
    saturated: bool
    settled: bool
    """Else no figure of the load is a value."""

    steady: bool
    latency: Interval | None
    p99: float | None
    hops: float | None
    accepted: float
    shares: StateShares
    drawn_shares: tuple[StateShares, ...]
    """Of each draw of the links' times."""

    count: int
    scaled_ratio: float | None = None
    """Of energy, if channels ran at the lowest of three rates; None unless asked."""


def summaries(points: Iterable[Point]) -> tuple[LoadSummary, ...]:
    """By load, in order."""
    by_load: dict[float, list[Point]] = {}
    for point in points:
        by_load.setdefault(point.load, []).append(point)
    return tuple(_summary(load, by_load[load]) for load in sorted(by_load))


def _summary(load: float, points: Sequence[Point]) -> LoadSummary:
    drawn: dict[int, list[Point]] = {}
    for point in points:
        drawn.setdefault(point.draw, []).append(point)
    middle = drawn.get(0, list(points))
    saturated = any(point.saturated for point in points)
    settled = saturated or all(point.settled for point in points)
    hops = [point.hops for point in middle if point.hops is not None]
    scaled = [point.scaled_ratio for point in middle if point.scaled_ratio is not None]
    p99 = [point.p99 for point in middle if point.p99 is not None]
    return LoadSummary(
        load=load,
        saturated=saturated,
        settled=settled,
        steady=all(point.steady for point in points),
        latency=None if saturated or not settled else _latency(middle, [drawn[draw] for draw in drawn if draw]),
        p99=None if saturated or not settled or not p99 else fmean(p99),
        hops=fmean(hops) if hops else None,
        accepted=fmean(point.accepted for point in middle),
        shares=_mean_shares(middle),
        drawn_shares=tuple(_mean_shares(drawn[draw]) for draw in sorted(drawn) if draw),
        count=len(points),
        scaled_ratio=fmean(scaled) if scaled else None,
    )


def _latency(middle: Sequence[Point], drawn: Sequence[Sequence[Point]]) -> Interval | None:
    """Mean over seeds; half of the 95 % interval is the root of the squares of both parts.

    The simulation's part is that of a mean of independent runs, each with its own interval. Batches have none: it is
    the spread of the seeds; of a single one it is not known, and the interval has no width. The calibration's part is
    the spread of the draws' means, by Student's t. It holds their own simulation's part, so that it is rather too wide.
    """
    seeds = [one for one in middle if one.latency is not None]
    found = [one.latency for one in seeds if one.latency is not None]
    if not found:
        return None
    value = fmean(found)
    widths = [one.latency_half_width for one in seeds if one.latency_half_width is not None]
    if len(widths) == len(found):
        half = sqrt(sum(width**2 for width in widths)) / len(found)
    else:
        half = _t(len(found)) * stdev(found) / sqrt(len(found)) if len(found) > 1 else 0.0
    latencies = [[point.latency for point in one if point.latency is not None] for one in drawn]
    means = [fmean(one) for one in latencies if one]
    if len(means) >= _FEWEST_DRAWS:
        half = sqrt(half**2 + (_t(len(means)) * stdev(means)) ** 2)
    return Interval.plus_minus(value, half)


def _t(count: int) -> float:
    """Student's t of a 95 % interval."""
    return float(stdtrit(count - 1, 0.975))


def _mean_shares(points: Sequence[Point]) -> StateShares:
    names = [field.name for field in fields(StateShares)]
    return StateShares(**{name: fmean(getattr(point.shares, name) for point in points) for name in names})
