"""Is a lab restored after every kill? ``python -m evaluation.accuracy.killed_runs [CONDITION ...]`` tries every moment.

A run is killed at each order, and each 0.1 s of the first 3 s of one that takes longer; after each kill its folder is
intact, full, read-only, gone or damaged (full and read-only need root): the conditions given, or all. Each line counts
the labs that were not restored, or whose kill `eeectl status` did not know.
`tests/measuring/experiments/test_restoring.py` lets the conditions take turns.
"""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from evaluation import recording
from evaluation.records import Figure
from tests.support.labs.killed_run import TENTHS_S, Scene, conditions, killed_by_time, orders_of
from tests.support.labs.toy_lab import small_lab


def main() -> int:
    """Print a line for each condition; 1 if a lab was not restored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conditions", nargs="*", help=f"of the folder: {', '.join(conditions())}; default: all")
    recording.add_argument(parser)
    given = parser.parse_args()
    records = recording.begin(given)
    killed_runs, failed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lab = small_lab(folder / "toys")
        count = orders_of(lab, folder / "whole")
        for condition in given.conditions or conditions():
            place = folder / condition
            scenes = [Scene(lab, place / f"order {number}") for number in range(count)]
            killed = [scene.killed_at(number) == -signal.SIGKILL for number, scene in enumerate(scenes)]
            slow = [Scene(lab, place / f"after {time_s} s") for time_s in TENTHS_S]
            ended = killed_by_time(slow, count)
            left = sum(scene.restored_after(condition) != 0 for scene in [*scenes, *slow])
            print(
                f"{condition}: {sum(killed)} of {count} killed at an order, {ended.count(-signal.SIGALRM)} of "
                f"{len(slow)} at a time; {left} not restored",
                flush=True,
            )
            killed_runs += len(scenes) + len(slow)
            failed += left
    restored = killed_runs - failed
    records.append({"restored": Figure(value=restored, held=f"{restored:,} of {killed_runs:,}", n=killed_runs)})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
