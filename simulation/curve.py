"""Which loads to simulate, so that few points show a curve: pure functions of the points so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Final

from simulation.description import Curve

_SATURATION_WITHIN: Final = 0.02
"""Loads: how well the saturation is found."""

_CLOSEST: Final = 0.005
"""No two loads are closer."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a curve needs to know of a point."""

    load: float
    latency: float | None
    saturated: bool


def next_load(curve: Curve, points: Sequence[CurvePoint]) -> float | None:
    """The next load to simulate; None when the curve has its points.

    First both ends, then the saturation by bisection, then the middle of the widest gap, where the distance of two
    neighbours is that of their loads, and of the logarithms of their latencies.

    >>> curve = Curve(lowest=0.1, highest=0.9, points=5)
    >>> next_load(curve, [])
    0.1
    >>> ends = [CurvePoint(0.1, 20.0, saturated=False), CurvePoint(0.9, None, saturated=True)]
    >>> next_load(curve, ends)
    0.5
    """
    known = sorted(points, key=lambda point: point.load)
    loads = [point.load for point in known]
    for end in (curve.lowest, curve.highest):
        if end not in loads:
            return end
    if len(known) >= curve.points:
        return None
    works = [point for point in known if not point.saturated]
    if len(works) < len(known):
        first = min(point.load for point in known if point.saturated)
        last = max((point.load for point in works if point.load < first), default=None)
        if last is None:
            return None
        # Half of the points at most go into finding the saturation.
        if first - last > _SATURATION_WITHIN and len(known) < 2 + curve.points // 2:
            return _middle(last, first)
    gaps = [
        (_distance(curve, one, other, known), -one.load, _middle(one.load, other.load))
        for one, other in pairwise(works)
        if other.load - one.load >= 2 * _CLOSEST
    ]
    return max(gaps)[2] if gaps else None


def _middle(one: float, other: float) -> float:
    return round((one + other) / 2, 4)


def _distance(curve: Curve, one: CurvePoint, other: CurvePoint, known: Sequence[CurvePoint]) -> float:
    latencies = [point.latency for point in known if not point.saturated and point.latency]
    tall = log(max(latencies) / min(latencies)) if latencies else 0.0
    across = (other.load - one.load) / (curve.highest - curve.lowest)
    if not (one.latency and other.latency and tall):
        return across
    return across + abs(log(other.latency / one.latency)) / tall
