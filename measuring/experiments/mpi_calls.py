"""Calls of MPI functions by each rank, counted through MPI's profiling interface (`benchmarks/on_nodes/count_calls.c`).

Miwa et al. (2013, section 5.3) take their n from a profiler: all calls of MPI functions, from a program's start to its
end. So does `communications`, without those that ask whether something has come yet: how often a program asks says
how long it waited. A message that is sent and received without blocking counts as sent, as received, and as waited for.

The counter also says when MPI ran: the run time of programs that report none. It costs a call of MPI an addition and a
jump, some nanoseconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed import benchmarks
from eee_testbed.measuring.experiments.preloads import Preload

PREFIX: Final = "calls.rank"
"""Each rank writes its counts to PREFIX.RANK."""

_SOURCE: Final = "count_calls.c"
_LIBRARY: Final = "count_calls.so"


def _sources() -> Mapping[str, bytes]:
    return {_SOURCE: (Path(benchmarks.__file__).parent / "on_nodes" / _SOURCE).read_bytes()}


COUNTER: Final = Preload(
    _LIBRARY,
    _sources,
    ("cc", "-O1", "-w", "-shared", "-fPIC", "-o", _LIBRARY, _SOURCE, "-ldl"),
    "EEE_CALLS",
    PREFIX,
)
PATTERN: Final = f"{PREFIX}.*"
"""The files of a node's ranks."""

_WORLD: Final = "world"
_TIMES: Final = ("begun_ns", "ended_ns", "took_ns")
_ASKING: Final = frozenset({"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe"})


@dataclass(frozen=True, slots=True)
class MpiCalls:
    """How often each rank called each function, and when its MPI ran.

    `run_s`: from the end of MPI_Init to MPI_Finalize, of the rank where that took longest, by its own clock; None if a
    rank's is not known. `first_ns`: begin and end of rank 0, in UTC by its node's clock. `worlds`: sizes of the ranks'
    MPI_COMM_WORLD, where they are known: 1 alone if a launcher started them for another MPI.
    """

    by_rank: tuple[Mapping[str, int], ...]
    run_s: float | None = None
    first_ns: tuple[int, int] | None = None
    worlds: frozenset[int] = frozenset()

    def communications(self, hosts: int) -> float:
        """Miwa's n: calls of a node's ranks, the mean of so many nodes."""
        return sum(count for rank in self.by_rank for name, count in rank.items() if name not in _ASKING) / hosts


def read_calls(ranks: int, files: Mapping[str, str]) -> MpiCalls | None:
    """The counts, from the texts of the ranks' files by name; None if a rank wrote none."""
    found = []
    for rank in range(ranks):
        text = files.get(f"{PREFIX}.{rank}")
        if text is None:
            return None
        found.append({name: int(count) for name, count in (line.split() for line in text.splitlines())})
    worlds = frozenset(rank.pop(_WORLD) for rank in found if _WORLD in rank)
    times = [{name: rank.pop(name) for name in _TIMES if name in rank} for rank in found]
    if not all(len(one) == len(_TIMES) for one in times):
        return MpiCalls(tuple(found), worlds=worlds)
    run_s = max(one["took_ns"] for one in times) / 1e9
    return MpiCalls(tuple(found), run_s, (times[0]["begun_ns"], times[0]["ended_ns"]), worlds)
