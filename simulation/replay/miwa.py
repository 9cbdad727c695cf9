"""Miwa's n and S of a program: calls of MPI functions of a node, and bytes that it sends to other nodes for each.

n counts as the counter of calls does (`eeectl bench --traffic`): functions that communicate, without those that ask
whether something has come yet. S is the bytes that a node's ranks send to other nodes, divided by n.

Simplification: the bytes of collective calls go straight to the ranks that need them, those of an allreduce to the
first rank and back. Open MPI's own algorithms may send more through some node, never fewer bytes in all; messages and
all-to-all are exact.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eee_testbed.benchmarks.recorder.table import ASKING, BY_NUMBER, COMMUNICATING
from eee_testbed.simulation.replay.calls import NOBODY, SENDS, Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.readers.recorder import files_of, rank_files
from eee_testbed.simulation.replay.readers.recorder_file import ASKED


@dataclass(frozen=True, slots=True)
class Communication:
    """n, and S in bytes."""

    call_count: float
    message_byte: float


def recorded_calls(paths: Sequence[Path]) -> tuple[Mapping[str, int], ...]:
    """How often each rank called each function that communicates, by recorded files: as the counter of calls."""
    calls = []
    for file in rank_files(files_of(paths)):
        counts: Counter[str] = Counter()
        for record in file.records():
            if record.kind in BY_NUMBER:
                counts[BY_NUMBER[record.kind].name] += 1
            elif record.kind == ASKED:
                counts[BY_NUMBER[record.fields[0]].name] += record.fields[1]
        calls.append({f"MPI_{name}": count for name, count in sorted(counts.items()) if name in COMMUNICATING})
    return tuple(calls)


def communication(calls: Sequence[Mapping[str, int]], program: Program, ranks_per_host: int) -> Communication:
    """N and S, where ranks are numbered host by host."""
    hosts = -(-program.ranks // ranks_per_host)
    asking = {f"MPI_{name}" for name in ASKING}
    count = sum(count for rank in calls for name, count in rank.items() if name not in asking) / hosts
    sent = sum(
        size for source, target, size in sent_straight(program) if source // ranks_per_host != target // ranks_per_host
    )
    return Communication(count, sent / hosts / count if count else 0.0)


def sent_straight(program: Program) -> Iterator[tuple[int, int, int]]:
    """Bytes from rank to rank of the world, each if it goes straight to who needs it; loops are not passed through."""
    columns = ("rank", "call", "communicator", "peer", "bytes", "sizes")
    for rank, call, communicator, peer, size, sizes in program.calls.select(columns).iter_rows():
        members = program.communicators[communicator]
        if call in SENDS:
            if peer != NOBODY:
                yield rank, members[peer], size
        elif call in _STRAIGHT_CALLS:
            here = members.index(rank)
            for target, part in _STRAIGHT_CALLS[Call(call)](here, len(members), peer, size, sizes):
                if target != here:
                    yield rank, members[target], part


_Parts = Iterator[tuple[int, int]]


def _to_all(_here: int, ranks: int, _root: int, size: int, _sizes: Any) -> _Parts:
    return ((target, size) for target in range(ranks))


def _from_root(here: int, ranks: int, root: int, size: int, sizes: Any) -> _Parts:
    return ((target, sizes[target] if sizes else size) for target in range(ranks) if here == root)


def _to_root(_here: int, _ranks: int, root: int, size: int, _sizes: Any) -> _Parts:
    yield root, size


def _there_and_back(here: int, ranks: int, _root: int, size: int, _sizes: Any) -> _Parts:
    return ((target, size) for target in (range(ranks) if here == 0 else (0,)))


def _each(_here: int, ranks: int, _root: int, _size: int, sizes: Any) -> _Parts:
    return ((target, sizes[target]) for target in range(ranks))


def _next(here: int, ranks: int, _root: int, size: int, _sizes: Any) -> _Parts:
    return ((target, size) for target in (here + 1,) if target < ranks)


_STRAIGHT_CALLS: Final[Mapping[Call, Callable[[int, int, int, int, Any], _Parts]]] = {
    Call.BCAST: _from_root,
    Call.SCATTER: _from_root,
    Call.SCATTERV: _from_root,
    Call.REDUCE: _to_root,
    Call.GATHER: _to_root,
    Call.GATHERV: _to_root,
    Call.ALLREDUCE: _there_and_back,
    Call.ALLGATHER: _to_all,
    Call.ALLGATHERV: _to_all,
    Call.ALLTOALL: _to_all,
    Call.REDUCE_SCATTER_BLOCK: _to_all,
    Call.ALLTOALLV: _each,
    Call.REDUCE_SCATTER: _each,
    Call.SCAN: _next,
    Call.EXSCAN: _next,
}
