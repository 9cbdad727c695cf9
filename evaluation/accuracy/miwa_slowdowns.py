"""Slowdowns of Miwa's program by EEE on the engine's virtual clock: what `studies/miwa-lab.yaml` stands beside.

    python -m evaluation.accuracy.miwa_slowdowns

Each configuration runs with EEE on and off, with other seeds each time. Prints Markdown, with Student's 95 % interval.
"""

import argparse
from typing import Final

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies.statement import shown
from evaluation.accuracy.alltoall_engine import MIWA, Configuration, play

CONFIGURATIONS: Final = ((4096, 100), (4096, 600), (4096, 1000), (65_536, 900), (131_072, 1000))
"""Bytes of the array, and microseconds of the pause."""

ITERATIONS: Final = 300


def slowdown_percent(array_byte: int, sleep_us: int, seeds: int, iterations: int = ITERATIONS) -> Interval:
    """Of 4 ranks on 4 nodes, over so many pairs of runs."""
    shape = Configuration(array_byte, sleep_us, ranks_per_node=1, iterations=iterations)
    pairs = [(play(shape, None, 2 * seed + 1), play(shape, MIWA, 2 * seed + 2)) for seed in range(seeds)]
    return over_seeds([100 * (eee.time_s / base.time_s - 1) for base, eee in pairs])


def main() -> None:
    """Run all, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="pairs of runs (default %(default)s)")
    seeds = parser.parse_args().seeds
    print("| array, byte | pause, us | slower by EEE |")
    print("| --- | --- | --- |")
    for array_byte, sleep_us in CONFIGURATIONS:
        found = slowdown_percent(array_byte, sleep_us, seeds)
        print(f"| {array_byte} | {sleep_us} | {shown(found, '%')} |", flush=True)


if __name__ == "__main__":
    main()
