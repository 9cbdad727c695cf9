"""Single MPI calls, and orders of messages, replayed on one switch against SimGrid SMPI's replay of the same trace.

    python -m evaluation.accuracy.simgrid_calls

Eight hosts at one switch, links of 10 Gb/s. SimGrid (Debian's `libsimgrid-dev`, 3.32) chooses collective algorithms as
Open MPI does (`smpi/coll-selector: ompi`). By default it has its own simple ones, which send other messages: an
MPI_Bcast of 800 kB then takes 2.0 in place of 4.6 ms. Tests are free (`smpi/test: 0`). By default SimGrid's first test
takes 0.1 ms, and its second one 0.2 ms.

Messages are large, so that what a switch and a packet's length add matters little. Cards take turns (`hosts: smpi`), as
SimGrid lets a host send all its messages at once. One message after the other, MPI_Alltoallv takes three times as long,
because all ranks send to rank 0 first, then to rank 1.

Prints Markdown.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from eee_testbed.simulation.replay.replayed import replay
from evaluation import recording
from evaluation.accuracy.simgrid import CYCLE_NS, description_of, require_smpirun, smpi_run
from evaluation.records import Figure

_HOSTS: Final = 8
_ALIKE: Final = ("smpi/coll-selector:ompi", "smpi/test:0")
_LATENCY_NS: Final = 1.5 * CYCLE_NS
"""Of a host's link in SimGrid: with another one, three cycles."""

Lines = Mapping[int, Sequence[str]]
"""Of the ranks that do something, without the rank in front."""


def _all(call: str) -> Lines:
    return {rank: ["compute 1e5", call] for rank in range(_HOSTS)}


_PART: Final = " ".join(["10000"] * _HOSTS)

CASES: Final[Mapping[str, Lines]] = {
    "to and fro, 60 kB": {0: ["send 1 0 60000", "recv 1 0 60000"], 1: ["recv 0 0 60000", "send 0 0 60000"]},
    "to and fro, 1 MB": {0: ["send 1 0 1000000", "recv 1 0 1000000"], 1: ["recv 0 0 1000000", "send 0 0 1000000"]},
    "tags out of order, both begun": {
        0: ["isend 1 1 200000", "isend 1 2 200000", "wait 0 1 1", "wait 0 1 2"],
        1: ["irecv 0 2 200000", "irecv 0 1 200000", "wait 0 1 2", "compute 16e4", "wait 0 1 1"],
    },
    "tags out of order, the large one last": {
        0: ["isend 1 1 200000", "isend 1 2 1000", "wait 0 1 1", "wait 0 1 2"],
        1: ["recv 0 2 1000", "compute 16e4", "recv 0 1 200000"],
    },
    "tags out of order, unexpected": {
        0: ["send 1 1 1000", "send 1 2 60000"],
        1: ["recv 0 2 60000", "compute 16e4", "recv 0 1 1000"],
    },
    "test, compute, test, wait": {
        0: ["compute 1e5", "send 1 5 100000"],
        1: ["irecv 0 5 100000", "test 0 1 5", "compute 3e5", "test 0 1 5", "wait 0 1 5", "compute 1e5"],
    },
    "bcast": _all("bcast 100000 0 0"),
    "bcast of 64 MB": _all("bcast 8000000 0 0"),
    "reduce": _all("reduce 100000 0 0 0"),
    "allreduce": _all("allreduce 100000 0 0"),
    "reduce-scatter": _all(f"reducescatter {_PART} 0 0"),
    "scatter": _all("scatter 10000 10000 0 0 0"),
    "gather": _all("gather 10000 10000 0 0 0"),
    "allgather": _all("allgather 10000 10000 0 0"),
    "allgatherv": _all(f"allgatherv 10000 {_PART} 0 0"),
    "alltoall": _all("alltoall 10000 10000 0 0"),
    "alltoallv": _all(f"alltoallv 80000 {_PART} 80000 {_PART} 0 0"),
}
"""Collective calls are of 8-byte elements."""


def written(folder: Path, lines: Lines) -> list[Path]:
    """A trace, a file for each rank."""
    files = [folder / f"rank{rank}" for rank in range(_HOSTS)]
    for rank, file in enumerate(files):
        own = ["init", *lines.get(rank, ()), "finalize"]
        file.write_text("".join(f"{rank} {line}\n" for line in own), encoding="utf-8")
    return files


def ours_s(files: Sequence[Path]) -> float:
    """Run time of our replay."""
    switch = {"kind": "graph", "routers": 1, "nodes": [0] * len(files), "links": []}
    return replay(description_of(files, switch, "shortest", "smpi"), 1, sleeping=False).run_time_s


def theirs_s(files: Sequence[Path]) -> float:
    """Run time of SimGrid's replay."""
    return smpi_run(files, _LATENCY_NS, options=_ALIKE)


def compared(
    cases: Mapping[str, Lines], here: Callable[[Sequence[Path]], float], there: Callable[[Sequence[Path]], float]
) -> dict[str, tuple[float, float]]:
    """Run times of both, seconds, by case."""
    found = {}
    for name, lines in cases.items():
        with TemporaryDirectory() as scratch:
            files = written(Path(scratch), lines)
            found[name] = here(files), there(files)
    return found


def main() -> int:
    """Exit status 1 if a difference is above 2 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    recording.add_argument(parser)
    given = parser.parse_args()
    require_smpirun()
    records = recording.begin(given)
    found = compared(CASES, ours_s, theirs_s)
    percent = {name: 100 * (here / there - 1) for name, (here, there) in found.items()}
    print("| case | replay, ms | SimGrid, ms | difference |\n| --- | --- | --- | --- |")
    for name, (here, there) in found.items():
        print(f"| {name} | {1e3 * here:.3f} | {1e3 * there:.3f} | {percent[name]:+.2f} % |")
    worst = max(percent.values(), key=abs)
    records.append({"largest difference": Figure(value=worst, n=len(percent))})
    return 0 if abs(worst) <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
