"""Which loads to simulate, so that few points show a curve: pure functions of the points so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Final

from eee_testbed.simulation.description import Curve

_SATURATION_WITHIN: Final = 0.02
"""Loads: how well the saturation is found."""

_CLOSEST_LOADS: Final = 0.005
"""No two loads are closer."""

_AT_ONCE: Final = 2
"""Loads that are chosen together. It does not depend on who simulates them, so that the points do not either."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a curve needs to know of a point."""

    load: float
    latency: float | None
    saturated: bool


def next_loads(curve: Curve, points: Sequence[CurvePoint]) -> list[float]:
    """The next loads to simulate, at most two, which may be simulated at the same time; none when all points are known.

    First both ends, then the saturation by cutting what is left of its interval in three, then the middles of the
    widest gaps, where the distance of two neighbours is that of their loads, and of the logarithms of their latencies.

    >>> curve = Curve(lowest=0.1, highest=1.0, points=5)
    >>> next_loads(curve, [])
    [0.1, 1.0]
    >>> ends = [CurvePoint(0.1, 20.0, saturated=False), CurvePoint(1.0, None, saturated=True)]
    >>> next_loads(curve, ends)
    [0.4, 0.7]
    """
    known = sorted(points, key=lambda point: point.load)
    loads = [point.load for point in known]
    ends = [end for end in dict.fromkeys((curve.lowest, curve.highest)) if end not in loads]
    if ends:
        return ends
    room = min(_AT_ONCE, curve.points - len(known))
    if room <= 0:
        return []
    works = [point for point in known if not point.saturated]
    if len(works) < len(known):
        first = min(point.load for point in known if point.saturated)
        last = max((point.load for point in works if point.load < first), default=None)
        if last is None:
            return []
        # Half of the points at most go into finding the saturation.
        if first - last > _SATURATION_WITHIN and len(known) < 2 + curve.points // 2:
            return [round(last + (first - last) * part / (room + 1), 4) for part in range(1, room + 1)]
    gaps = [
        (_distance(curve, one, other, known), -one.load, _middle(one.load, other.load))
        for one, other in pairwise(works)
        if other.load - one.load >= 2 * _CLOSEST_LOADS
    ]
    return [middle for _, _, middle in sorted(gaps, reverse=True)[:room]]


def _middle(below: float, other: float) -> float:
    return round((below + other) / 2, 4)


def _distance(curve: Curve, one: CurvePoint, other: CurvePoint, known: Sequence[CurvePoint]) -> float:
    latencies = [point.latency for point in known if not point.saturated and point.latency]
    tall = log(max(latencies) / min(latencies)) if latencies else 0.0
    across = (other.load - one.load) / (curve.highest - curve.lowest)
    if not (one.latency and other.latency and tall):
        return across
    return across + abs(log(other.latency / one.latency)) / tall
