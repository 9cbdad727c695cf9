"""Functions that all ranks of a communicator call, and those that neighbours of a topology call."""

from typing import Final

from eee_testbed.benchmarks.recorder.function import COMM, Function, Group, both

_SENT: Final = "const void *sendbuf, int sendcount, MPI_Datatype sendtype"
_RECEIVED: Final = "void *recvbuf, int recvcount, MPI_Datatype recvtype"
_SENT_BLOCKS: Final = "const void *sendbuf, const int sendcounts[], const int {}displs[], MPI_Datatype sendtype"
_RECEIVED_BLOCKS: Final = "void *recvbuf, const int recvcounts[], const int {}displs[], MPI_Datatype recvtype"
_TYPED: Final = (
    "const void *sendbuf, const int sendcounts[], const {0} sdispls[], const MPI_Datatype sendtypes[], "
    "void *recvbuf, const int recvcounts[], const {0} rdispls[], const MPI_Datatype recvtypes[]"
)
_REDUCED: Final = "const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op"
_C: Final = {"communicator": "c->id"}
_ROOT: Final = {**_C, "root": "peer(root)"}
_HERE: Final = "c->rank == root"
_IN_PLACE: Final = {"flags": "sendbuf == MPI_IN_PLACE"}
_FLAGS: Final = {"flags": "flags_of(sendbuf == MPI_IN_PLACE, op)"}
_OF_SENT: Final = "bytes(sendcount, sendtype)"
_OF_RECEIVED: Final = "bytes(recvcount, recvtype)"
_WHOLE: Final = {"bytes": "bytes(count, datatype)"}
_OPERATED: Final = "const void *sendbuf, void *recvbuf, {}, MPI_Datatype datatype, MPI_Op op"
_BLOCKS: Final = "bytes of the blocks, rank by rank"
_PAIR: Final = "bytes of the blocks sent to each rank, then of those received"


def _of(name: str, parameters: str, values: dict[str, str], listed: str = "", lists: str = "") -> tuple[Function, ...]:
    return both(Function(name, Group.COLLECTIVE, f"{parameters}, {COMM}", values, listed, lists))


COLLECTIVES: Final = (
    *both(Function("Barrier", Group.COLLECTIVE, COMM, _C)),
    *_of("Bcast", "void *buffer, int count, MPI_Datatype datatype, int root", {**_ROOT, **_WHOLE}),
    *_of(
        "Gather",
        f"{_SENT}, {_RECEIVED}, int root",
        {
            **_ROOT,
            "flags": f"{_HERE} && sendbuf == MPI_IN_PLACE",
            "bytes": f"{_HERE} && sendbuf == MPI_IN_PLACE ? {_OF_RECEIVED} : {_OF_SENT}",
        },
    ),
    *_of(
        "Gatherv",
        f"{_SENT}, {_RECEIVED_BLOCKS.format('')}, int root",
        {
            **_ROOT,
            "flags": f"{_HERE} && sendbuf == MPI_IN_PLACE",
            "bytes": f"{_HERE} && sendbuf == MPI_IN_PLACE ? bytes(recvcounts[root], recvtype) : {_OF_SENT}",
        },
        f"at the root: {_BLOCKS}",
        f"if ({_HERE})\n    n = add_blocks(n, c->size, recvcounts, recvtype);\n",
    ),
    *_of(
        "Scatter",
        f"{_SENT}, {_RECEIVED}, int root",
        {
            **_ROOT,
            "flags": f"{_HERE} && recvbuf == MPI_IN_PLACE",
            "bytes": f"{_HERE} ? {_OF_SENT} : {_OF_RECEIVED}",
        },
    ),
    *_of(
        "Scatterv",
        f"{_SENT_BLOCKS.format('')}, {_RECEIVED}, int root",
        {
            **_ROOT,
            "flags": f"{_HERE} && recvbuf == MPI_IN_PLACE",
            "bytes": f"{_HERE} ? bytes(sendcounts[root], sendtype) : {_OF_RECEIVED}",
        },
        f"at the root: {_BLOCKS}",
        f"if ({_HERE})\n    n = add_blocks(n, c->size, sendcounts, sendtype);\n",
    ),
    *_of("Allgather", f"{_SENT}, {_RECEIVED}", {**_C, **_IN_PLACE, "bytes": _OF_RECEIVED}),
    *_of(
        "Allgatherv",
        f"{_SENT}, {_RECEIVED_BLOCKS.format('')}",
        {**_C, **_IN_PLACE},
        _BLOCKS,
        "n = add_blocks(n, c->size, recvcounts, recvtype);\n",
    ),
    *_of("Alltoall", f"{_SENT}, {_RECEIVED}", {**_C, **_IN_PLACE, "bytes": _OF_RECEIVED}),
    *_of(
        "Alltoallv",
        f"{_SENT_BLOCKS.format('s')}, {_RECEIVED_BLOCKS.format('r')}",
        {**_C, **_IN_PLACE},
        _PAIR,
        "n = sendbuf == MPI_IN_PLACE ? add_blocks(n, c->size, recvcounts, recvtype)\n"
        "                            : add_blocks(n, c->size, sendcounts, sendtype);\n"
        "n = add_blocks(n, c->size, recvcounts, recvtype);\n",
    ),
    *_of(
        "Alltoallw",
        _TYPED.format("int"),
        {**_C, **_IN_PLACE},
        _PAIR,
        "n = sendbuf == MPI_IN_PLACE ? add_typed_blocks(n, c->size, recvcounts, recvtypes)\n"
        "                            : add_typed_blocks(n, c->size, sendcounts, sendtypes);\n"
        "n = add_typed_blocks(n, c->size, recvcounts, recvtypes);\n",
    ),
    *_of("Reduce", f"{_REDUCED}, int root", {**_ROOT, **_FLAGS, **_WHOLE}),
    *_of("Allreduce", _REDUCED, {**_C, **_FLAGS, **_WHOLE}),
    *_of(
        "Reduce_scatter",
        _OPERATED.format("const int recvcounts[]"),
        {**_C, **_FLAGS},
        _BLOCKS,
        "n = add_blocks(n, c->size, recvcounts, datatype);\n",
    ),
    *_of(
        "Reduce_scatter_block",
        _OPERATED.format("int recvcount"),
        {**_C, **_FLAGS, "bytes": "bytes(recvcount, datatype)"},
    ),
    *_of("Scan", _REDUCED, {**_C, **_FLAGS, **_WHOLE}),
    *_of("Exscan", _REDUCED, {**_C, **_FLAGS, **_WHOLE}),
)

_TO_ALL: Final = f"n = add_equal_blocks(n, c->targets, {_OF_SENT});\n"
_FROM_ALL: Final = f"n = add_equal_blocks(n, c->sources, {_OF_RECEIVED});\n"
_FROM_EACH: Final = "n = add_blocks(n, c->sources, recvcounts, recvtype);\n"
_NEIGHBOURS: Final = "bytes sent to each neighbour, then those received from each"


def _near(name: str, parameters: str, lists: str) -> tuple[Function, ...]:
    return both(Function(name, Group.NEIGHBOUR, f"{parameters}, {COMM}", _C, _NEIGHBOURS, lists))


NEIGHBOURS: Final = (
    *_near("Neighbor_allgather", f"{_SENT}, {_RECEIVED}", _TO_ALL + _FROM_ALL),
    *_near("Neighbor_allgatherv", f"{_SENT}, {_RECEIVED_BLOCKS.format('')}", _TO_ALL + _FROM_EACH),
    *_near("Neighbor_alltoall", f"{_SENT}, {_RECEIVED}", _TO_ALL + _FROM_ALL),
    *_near(
        "Neighbor_alltoallv",
        f"{_SENT_BLOCKS.format('s')}, {_RECEIVED_BLOCKS.format('r')}",
        "n = add_blocks(n, c->targets, sendcounts, sendtype);\n" + _FROM_EACH,
    ),
    *_near(
        "Neighbor_alltoallw",
        _TYPED.format("MPI_Aint"),
        "n = add_typed_blocks(n, c->targets, sendcounts, sendtypes);\n"
        "n = add_typed_blocks(n, c->sources, recvcounts, recvtypes);\n",
    ),
)
