"""The MPI calls of a replay file: one table for writers, readers, the engine and the reference page."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple


class Call(IntEnum):
    """A call, by its number in replay files and in the engine (`engine/replay/src/program/records.rs`)."""

    COMPUTE = 0
    SEND = 1
    SSEND = 2
    BSEND = 3
    ISEND = 4
    ISSEND = 5
    IBSEND = 6
    RECV = 7
    IRECV = 8
    WAIT = 9
    CANCEL = 10
    BARRIER = 16
    BCAST = 17
    REDUCE = 18
    ALLREDUCE = 19
    GATHER = 20
    GATHERV = 21
    SCATTER = 22
    SCATTERV = 23
    ALLGATHER = 24
    ALLGATHERV = 25
    ALLTOALL = 26
    ALLTOALLV = 27
    REDUCE_SCATTER = 28
    REDUCE_SCATTER_BLOCK = 29
    SCAN = 30
    EXSCAN = 31
    LOOP = 40
    END = 41


class Uses(NamedTuple):
    """What a call's `bytes` and `sizes` mean, and whether it has a peer."""

    peer: str
    bytes: str
    sizes: str


_NONE: Final = ""

CALLS: Final[Mapping[Call, Uses]] = {
    Call.COMPUTE: Uses(_NONE, _NONE, _NONE),
    Call.SEND: Uses("destination", "of the message", _NONE),
    Call.SSEND: Uses("destination", "of the message", _NONE),
    Call.BSEND: Uses("destination", "of the message", _NONE),
    Call.ISEND: Uses("destination", "of the message", _NONE),
    Call.ISSEND: Uses("destination", "of the message", _NONE),
    Call.IBSEND: Uses("destination", "of the message", _NONE),
    Call.RECV: Uses("source", "that were received", _NONE),
    Call.IRECV: Uses("source", "that were received", _NONE),
    Call.WAIT: Uses(_NONE, _NONE, "requests that are waited for"),
    Call.CANCEL: Uses(_NONE, _NONE, _NONE),
    Call.BARRIER: Uses(_NONE, _NONE, _NONE),
    Call.BCAST: Uses("root", "of the message", _NONE),
    Call.REDUCE: Uses("root", "of the vector", _NONE),
    Call.ALLREDUCE: Uses(_NONE, "of the vector", _NONE),
    Call.GATHER: Uses("root", "of a block", _NONE),
    Call.GATHERV: Uses("root", "of the rank's own block", "of the blocks, rank by rank; at the root"),
    Call.SCATTER: Uses("root", "of a block", _NONE),
    Call.SCATTERV: Uses("root", "of the rank's own block", "of the blocks, rank by rank; at the root"),
    Call.ALLGATHER: Uses(_NONE, "of a block", _NONE),
    Call.ALLGATHERV: Uses(_NONE, "of the rank's own block", "of the blocks, rank by rank"),
    Call.ALLTOALL: Uses(_NONE, "of a block", _NONE),
    Call.ALLTOALLV: Uses(_NONE, "that the rank sends", "of the blocks sent to each rank, then of those received"),
    Call.REDUCE_SCATTER: Uses(_NONE, "of the whole vector", "of the blocks, rank by rank"),
    Call.REDUCE_SCATTER_BLOCK: Uses(_NONE, "of a block", _NONE),
    Call.SCAN: Uses(_NONE, "of the vector", _NONE),
    Call.EXSCAN: Uses(_NONE, "of the vector", _NONE),
    Call.LOOP: Uses(_NONE, "number of passes", _NONE),
    Call.END: Uses(_NONE, _NONE, _NONE),
}

COLLECTIVES: Final = frozenset(call for call in Call if Call.BARRIER <= call <= Call.EXSCAN)
SENDS: Final = frozenset({Call.SEND, Call.SSEND, Call.BSEND, Call.ISEND, Call.ISSEND, Call.IBSEND})
RECEIVES: Final = frozenset({Call.RECV, Call.IRECV})
STARTS: Final = frozenset({Call.ISEND, Call.ISSEND, Call.IBSEND, Call.IRECV})
"""Calls that always begin a request; a collective begins one if its `request` is not `NO_REQUEST`."""

ANY: Final = -1
"""As a source: any rank of the communicator. As a tag: any tag."""

NOBODY: Final = -2
"""MPI_PROC_NULL as a peer."""

NO_REQUEST: Final = -1
IN_PLACE: Final = 1
"""Flag: MPI_IN_PLACE."""

NOT_COMMUTATIVE: Final = 2
"""Flag: the operation of a reduction does not commute."""
