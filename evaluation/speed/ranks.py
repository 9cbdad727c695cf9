"""Time and memory of replays without a network, by ranks: ``python -m evaluation.speed.ranks [--side 4 8 16 28 47]``.

By LogGOPS, a cube of ranks exchanges messages of 8 bytes with six neighbours, 20 times; a side of 47 is 103,823 ranks.
Each size is replayed by a process of its own, so that its memory is its own: the process's largest, Python's included.
Times are processor time: what else the machine does makes them longer. Prints Markdown.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from evaluation import recording
from evaluation.records import Figure
from evaluation.speed.replays import measure_program, stencil

_STEPS = 20


def measure(side: int) -> dict[str, float]:
    """Figures of one size, in this process."""
    return measure_program(stencil(side, 8, _STEPS, 2_000), {"log_gops": {}})


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--side", type=int, nargs="+", default=[4, 8, 16, 28, 47], help="of each cube of ranks")
    recording.add_argument(parser)
    given = parser.parse_args()
    records, figures = recording.begin(given), dict[str, Figure]()
    print("| ranks | set-up (s) | replay (s) | million messages/s | MiB |\n| --- | --- | --- | --- | --- |")
    for side in given.side:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            found = alone.submit(measure, side).result()
        print(
            f"| {side**3:,} | {found['set_up_s']:.2f} | {found['run_s']:.2f} | {found['messages_per_s'] / 1e6:.2f} | "
            f"{found['memory_mib']:.0f} |",
            flush=True,
        )
        figures[f"{side**3:,} ranks"] = Figure(value=found["messages_per_s"] / 1e6, n=1)
    records.append(figures)


if __name__ == "__main__":
    main()
