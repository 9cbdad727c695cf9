"""Simulate all points of a description, in one process or several."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from statistics import fmean

from lab.errors import LabError
from simulation.curve import CurvePoint, next_load
from simulation.description import Description
from simulation.point import Point, simulate_point
from simulation.results import Results

Done = Callable[[Point], None]
"""Called with each point when it is on the disk."""


class LostWorker(LabError):
    """A process that simulated a point ended."""


def simulate(description: Description, results: Results, jobs: int, done: Done) -> None:
    """Simulate the points that `results` lacks, `jobs` at a time; each is kept as soon as it is known.

    The points do not depend on `jobs`. A curve chooses a load after all seeds of the load before are known.
    """
    for loads in _rounds(description, results):
        asked = [(load, seed) for load in loads for seed in description.seeds if results.find(load, seed) is None]
        for point in _points(description, asked, jobs):
            results.add(point)
            done(point)


def _rounds(description: Description, results: Results) -> Iterator[Sequence[float]]:
    """Loads to simulate at a time; the next round may depend on the results of the one before."""
    if description.loads is not None:
        yield description.loads
    if description.curve is not None:
        chosen: list[float] = []
        while (load := next_load(description.curve, [_curve_point(results, one) for one in chosen])) is not None:
            yield [load]
            chosen.append(load)


def _curve_point(results: Results, load: float) -> CurvePoint:
    points = [point for point in results.points if point.load == load]
    latencies = [point.latency for point in points if point.latency is not None]
    return CurvePoint(load, fmean(latencies) if latencies else None, any(point.saturated for point in points))


def _points(description: Description, asked: Sequence[tuple[float, int]], jobs: int) -> Iterator[Point]:
    if jobs == 1 or len(asked) == 1:
        for load, seed in asked:
            yield simulate_point(description, load, seed)
        return
    try:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            running = [pool.submit(simulate_point, description, load, seed) for load, seed in asked]
            for future in as_completed(running):
                yield future.result()
    except BrokenProcessPool as error:
        raise LostWorker(
            "a process that simulated a point has ended (out of memory?): run the same command again, perhaps with "
            "fewer --jobs; finished points are kept."
        ) from error
