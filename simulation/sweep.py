"""Simulate all points of a description, by whichever processes a pool has."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from eee_testbed.simulation.curve import CurvePoint, next_loads
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.point import Point, PointTask
from eee_testbed.simulation.pool import HerePool, Pool, finished
from eee_testbed.simulation.results import Results
from eee_testbed.simulation.worker import Simulated


class _Asked(NamedTuple):
    load: float
    seed: int
    draw: int


Done = Callable[[Simulated[Point]], None]
"""Called with each point when it is on the disk."""


def simulate(
    description: Description, results: Results, pool: Pool, done: Done, draws: Sequence[Description] = ()
) -> None:
    """Simulate the points that `results` lacks; each is kept as soon as it is known.

    `draws` are the same description with other times of its links; each load and seed is simulated with all of them.
    The points do not depend on the pool. A curve chooses loads after all points of the loads before are known.
    """
    every = (description, *draws)
    for loads in _rounds(description, results):
        asked = [
            _Asked(load, seed, draw)
            for load in loads
            for seed in description.seeds
            for draw in range(len(every))
            if results.find(load, seed, draw) is None
        ]
        for simulated in _points(every, asked, pool):
            results.add(simulated.result)
            done(simulated)


def _rounds(description: Description, results: Results) -> Iterator[Sequence[float]]:
    """Loads to simulate at a time; the next round may depend on the results of the one before."""
    if description.loads is not None:
        yield description.loads
    if description.curve is not None:
        chosen: list[float] = []
        while loads := next_loads(description.curve, [_curve_point(results, one) for one in chosen]):
            yield loads
            chosen += loads


def _curve_point(results: Results, load: float) -> CurvePoint:
    points = [point for point in results.points if point.load == load]
    latencies = [point.latency for point in points if point.latency is not None]
    return CurvePoint(load, fmean(latencies) if latencies else None, any(point.saturated for point in points))


def _points(every: Sequence[Description], asked: Sequence[_Asked], pool: Pool) -> Iterator[Simulated[Point]]:
    # For several processes the longest first, so that they end together.
    order = asked if isinstance(pool, HerePool) else sorted(asked, reverse=True)
    tasks = [(key, PointTask(every[key.draw], key.load, key.seed)) for key in order]
    for key, simulated in finished(pool, tasks):
        yield _drawn(simulated, key)


def _drawn(simulated: Simulated[Point], asked: _Asked) -> Simulated[Point]:
    return replace(simulated, result=replace(simulated.result, draw=asked.draw))
