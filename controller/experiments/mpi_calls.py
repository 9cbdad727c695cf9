"""Calls of MPI functions by each rank, counted through MPI's profiling interface (`benchmarks/on_nodes/count_calls.c`).

The counter travels as text, and each node compiles it before the program starts, once for all trials of a run. A node
without a C compiler runs the program all the same, and nothing is counted.

Miwa et al. (2013, section 5.3) take their n from a profiler: all calls of MPI functions, from a program's start to its
end. So does `communications`, without those that ask whether something has come yet: how often a program asks says
how long it waited. A message that is sent and received without blocking counts as sent, as received, and as waited for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import benchmarks
from lab.model import Host

PREFIX: Final = "calls.rank"
"""Each rank writes its counts to PREFIX.RANK."""

_SOURCE: Final = "count_calls.c"
_LIBRARY: Final = "count_calls.so"
_COMPILE: Final = ("cc", "-O1", "-w", "-shared", "-fPIC", "-o", _LIBRARY, _SOURCE, "-ldl")

_RUN: Final = (
    f'if [ -e "$PWD/{_LIBRARY}" ]; then '
    f'export EEE_CALLS="$PWD/{PREFIX}" LD_PRELOAD="$PWD/{_LIBRARY}${{LD_PRELOAD:+:$LD_PRELOAD}}"; fi; exec "$@"'
)
_ASKING: Final = frozenset({"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe"})


_compiled: dict[Host, bytes] = {}
"""What nodes compiled for this process, so that no later trial waits for it: half a second of a processor."""


@dataclass(frozen=True, slots=True)
class MpiCalls:
    """How often each rank called each function."""

    by_rank: tuple[Mapping[str, int], ...]

    def communications(self, hosts: int) -> float:
        """Miwa's n: calls of a node's ranks, the mean of so many nodes."""
        return sum(count for rank in self.by_rank for name, count in rank.items() if name not in _ASKING) / hosts


def needed_by(host: Host) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Files that a node needs, by name, and the command that it runs first in their folder, if any."""
    if host in _compiled:
        return {_LIBRARY: _compiled[host]}, ()
    return {_SOURCE: (Path(benchmarks.__file__).parent / "on_nodes" / _SOURCE).read_bytes()}, _COMPILE


def fetched_from(host: Host) -> tuple[str, ...]:
    """Patterns of the files that a node has at the end."""
    return (f"{PREFIX}.*",) if host in _compiled else (f"{PREFIX}.*", _LIBRARY)


def keep_compiled(host: Host, files: dict[str, bytes]) -> None:
    """Take what a node compiled out of the files that were fetched from it, for the next launch there.

    Simplification: another version of MPI on the node, while this process runs, would not be noticed.
    """
    if _LIBRARY in files:
        _compiled[host] = files.pop(_LIBRARY)


def counting(argv: Sequence[str]) -> tuple[str, ...]:
    """The command of a rank whose calls are counted, in the folder of the files that a node needs."""
    return ("sh", "-c", _RUN, "sh", *argv)


def read_calls(ranks: int, files: Mapping[str, str]) -> MpiCalls | None:
    """The counts, from the texts of the ranks' files by name; None if a rank wrote none."""
    found = []
    for rank in range(ranks):
        text = files.get(f"{PREFIX}.{rank}")
        if text is None:
            return None
        found.append({name: int(count) for name, count in (line.split() for line in text.splitlines())})
    return MpiCalls(tuple(found))
