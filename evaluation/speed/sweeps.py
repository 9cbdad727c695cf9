"""How much faster a sweep is over two processes.

``python -m evaluation.speed.sweeps [--jobs 2] [--rounds 3] [--force]`` measures the same points by one process and by
several, in turns, each into a fresh folder: the wall's time of the whole sweep, the start of the processes included.
Every round compares the bytes of both. Prints Markdown.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from evaluation import quiet, recording
from evaluation.speed.figures import paired

_DESCRIPTION: Final = {
    "name": "sweep",
    "network": {"kind": "hyperx", "sizes": [8, 8], "concentration": 8, "link_latency": 10},
    "routing": "dor",
    "router": {"switching": "cut_through"},
    "loads": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    "seeds": [1, 2, 3, 4, 5, 6, 7, 8],
    "precision": {"within_percent": 0.1, "most_cycles": 100_000},
}


def measure(jobs: int, folder: Path) -> float:
    """Seconds of a whole sweep."""
    # Not above: a worker loads the main module, too, and `eeectl` has nothing there that a worker would not load.
    from eee_testbed.simulation.description import Description  # noqa: PLC0415
    from eee_testbed.simulation.pool import local_pool  # noqa: PLC0415
    from eee_testbed.simulation.results import Results  # noqa: PLC0415
    from eee_testbed.simulation.sweep import simulate  # noqa: PLC0415

    description = Description.model_validate(_DESCRIPTION)
    begun = time.perf_counter()
    with local_pool(jobs) as pool:
        simulate(description, Results(folder, description), pool, lambda _: None)
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    quiet.add_argument(parser)
    recording.add_argument(parser)
    asked = parser.parse_args()
    records = recording.begin(asked)
    alone_s, together_s = [], []
    print("| round | one process (s) | several (s) | times as fast |\n| --- | --- | --- | --- |")
    for number in range(1, asked.rounds + 1):
        with TemporaryDirectory() as place:
            alone, together = Path(place) / "alone", Path(place) / "together"
            one_s, several_s = measure(1, alone), measure(asked.jobs, together)
            if (alone / "points.parquet").read_bytes() != (together / "points.parquet").read_bytes():
                raise SystemExit("the two sweeps differ")
        alone_s.append(one_s)
        together_s.append(several_s)
        print(f"| {number} | {one_s:.2f} | {several_s:.2f} | {one_s / several_s:.2f} |", flush=True)
    speeds = [[1 / each for each in side] for side in (together_s, alone_s)]
    ratio = paired("sweeps", "1/s", *speeds)
    print(f"\nMedian with {asked.jobs} processes: {ratio.ratio:.2f} times as fast.")
    records.append({"sweeps": ratio.figure()})


if __name__ == "__main__":
    main()
