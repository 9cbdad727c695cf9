"""Slowdowns of Alltoall on Koibuchi's lab by links off, on the engine's virtual clock: for `studies/koibuchi-lab.yaml`.

    python -m evaluation.accuracy.koibuchi_slowdowns

66 ranks send blocks of 60 bytes (an array of 4 KiB) over the trees of `eeectl apply`, and over those that Koibuchi's
selection leaves. Ranks wait for a processor for random times of some means, as they do on a live twin, whose hosts
share the machine's cores. Prints Markdown, with Student's 95 % interval where there are waits.
"""

import argparse
from typing import Final

from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies.statement import shown
from evaluation.accuracy.bruck_engine import Program, choices, run_time_s

BLOCK_BYTE: Final = 60
PAUSE_US: Final = 561.0
"""500 us that are asked for, and what the twin adds (`alltoall_engine`)."""

_WAITS_US: Final = (0.0, 20.0, 50.0, 100.0)


def main() -> None:
    """Run all, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="runs of each choice with waits (default %(default)s)")
    parser.add_argument("--iterations", type=int, default=200, help="calls of Alltoall a run (default %(default)s)")
    given = parser.parse_args()
    lab = load_lab(find_lab("koibuchi"))
    found = choices(lab, BLOCK_BYTE)
    (_, every), *others = found.items()
    print("| mean wait, us | all links, us a call | " + " | ".join(name for name, _ in others) + " |")
    print("| --- " * (2 + len(others)) + "|")
    for wait_us in _WAITS_US:
        program = Program(BLOCK_BYTE, PAUSE_US, given.iterations, wait_us)
        seeds = range(1, 1 + (given.seeds if wait_us else 1))
        base_s = {seed: run_time_s(lab, every, program, seed) for seed in seeds}
        slower = [
            over_seeds([100 * (run_time_s(lab, trees, program, seed) / base_s[seed] - 1) for seed in seeds])
            for _, trees in others
        ]
        call_us = 1e6 * sum(base_s.values()) / len(base_s) / given.iterations
        print(f"| {wait_us:g} | {call_us:.0f} | " + " | ".join(shown(one, "%") for one in slower) + " |", flush=True)


if __name__ == "__main__":
    main()
