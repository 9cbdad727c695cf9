"""Simulate all points of a description, by whichever processes a pool has."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from statistics import fmean

from simulation.curve import CurvePoint, next_loads
from simulation.description import Description
from simulation.pool import HerePool, Pool
from simulation.results import Results
from simulation.worker import Simulated

Done = Callable[[Simulated], None]
"""Called with each point when it is on the disk."""


def simulate(description: Description, results: Results, pool: Pool, done: Done) -> None:
    """Simulate the points that `results` lacks; each is kept as soon as it is known.

    The points do not depend on the pool. A curve chooses loads after all seeds of the loads before are known.
    """
    for loads in _rounds(description, results):
        asked = [(load, seed) for load in loads for seed in description.seeds if results.find(load, seed) is None]
        for simulated in _points(description, asked, pool):
            results.add(simulated.point)
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


def _points(description: Description, asked: Sequence[tuple[float, int]], pool: Pool) -> Iterator[Simulated]:
    if isinstance(pool, HerePool):
        for load, seed in asked:
            yield pool.submit(description, load, seed).result()
        return
    # The longest first, so that the processes end together.
    running = [pool.submit(description, load, seed) for load, seed in sorted(asked, reverse=True)]
    try:
        for future in as_completed(running):
            yield future.result()
    finally:
        for future in running:
            future.cancel()
