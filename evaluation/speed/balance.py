"""How evenly a study's points would load thousands of processes: on paper, from the times that points took.

    python -m evaluation.speed.balance simulations/andujar --copies 10

Reads the processor time of each point (`costs.parquet`) of one study, or of several that then are one queue. Points
are handed out as `eeectl simulate` does it: seed by seed in the order of the study, each to the process that is free
first. Beside it: the longest first, which needs times that are known before; and the bound that no order can pass.
Prints Markdown. With --mpi one process more hands out, and is not counted here.

`--copies` repeats every seed that often: a whole set has more seeds than its reduced one.
`--keep-ms` is what the handing process takes to write a point to the disk; it does so one after the other.

Left out: start of the processes, sending of tasks and results, processes that slow each other down.
"""

import argparse
import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from eee_testbed.eeectl.studies import in_words
from eee_testbed.record.frames import read_frame
from eee_testbed.simulation.studies.results import COSTS

MOST: Final = 4096
"""Processes."""


def makespan_s(times_s: Sequence[float], workers: int, keep_s: float = 0.0) -> float:
    """From the first point's begin until the last one is kept, each begun by the process that is free first.

    Three points on two processes, the longest last:

    >>> makespan_s([1.0, 1.0, 4.0], 2)
    5.0
    """
    free = [0.0] * workers
    ends = []
    for time_s in times_s:
        ends.append(heapq.heappop(free) + time_s)
        heapq.heappush(free, ends[-1])
    kept = 0.0
    for end in sorted(ends):
        kept = max(kept, end) + keep_s
    return kept


@dataclass(frozen=True, slots=True)
class Balance:
    """Of a number of processes; efficiencies are shares of their time in which they simulate."""

    workers: int
    makespan_s: float
    efficiency: float
    longest_first: float
    most: float
    """Of any order: nothing is shorter than the longest point, or than all points shared out evenly."""


def balance(times_s: Sequence[float], workers: int, keep_s: float = 0.0) -> Balance:
    """Of times in the order in which points are handed out."""
    total_s = sum(times_s)
    own_s = makespan_s(times_s, workers, keep_s)
    sorted_s = makespan_s(sorted(times_s, reverse=True), workers, keep_s)
    least_s = max(*times_s, total_s / workers)
    return Balance(workers, own_s, *(total_s / workers / one for one in (own_s, sorted_s, least_s)))


def times_of(folder: Path) -> list[list[float]]:
    """Of each seed in turn, its points' times in the order of the study. FileNotFoundError without `costs.parquet`."""
    found = read_frame(folder / COSTS, {"seed": pl.Int64, "process_s": pl.Float64})
    return [one["process_s"].to_list() for one in found.partition_by("seed", maintain_order=True)]


def main() -> None:
    """Print a row for each number of processes, a power of two."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="of a study's results")
    parser.add_argument("--copies", type=int, default=1, help="how often every seed is simulated (default %(default)s)")
    parser.add_argument("--keep-ms", type=float, default=0.0, help="to write a point (default %(default)s)")
    given = parser.parse_args()
    try:
        seeds = [seed for folder in given.folders for seed in times_of(folder)]
    except FileNotFoundError as error:
        parser.error(f"{error.filename} is missing: name the folder of a study, simulations/NAME.")
    times_s = [time_s for _ in range(given.copies) for seed in seeds for time_s in seed]
    print(f"{len(times_s)} points, {in_words(sum(times_s))} in all, the longest {in_words(max(times_s))}\n")
    print("| processes | ends after | efficiency | longest first | at most |")
    print("| --- | --- | --- | --- | --- |")
    workers = 1
    while workers <= MOST:
        one = balance(times_s, workers, given.keep_ms / 1e3)
        shares = " | ".join(f"{100 * share:.1f} %" for share in (one.efficiency, one.longest_first, one.most))
        print(f"| {workers} | {in_words(one.makespan_s)} | {shares} |")
        workers *= 2


if __name__ == "__main__":
    main()
