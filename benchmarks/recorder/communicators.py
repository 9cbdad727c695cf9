"""Functions that make communicators and end them. A communicator has a record of its own behind that of the call."""

from typing import Final

from eee_testbed.benchmarks.recorder.function import COMM, Function, Group

_MADE: Final = "made(*newcomm, own);\n"
_NEW: Final = "MPI_Comm *newcomm"
_OLD: Final = "MPI_Comm comm_old"
_PORT: Final = f"const char *port_name, MPI_Info info, int root, {COMM}"


def _makes(name: str, parameters: str) -> Function:
    return Function(name, Group.COMMUNICATOR, parameters, after=_MADE)


def _ends(name: str) -> Function:
    before = "const MPI_Comm was = *which;\n"
    return Function(name, Group.COMMUNICATOR, "MPI_Comm *which", before=before, after="forget(was);\n")


COMMUNICATORS: Final = (
    _makes("Comm_dup", f"{COMM}, {_NEW}"),
    _makes("Comm_dup_with_info", f"{COMM}, MPI_Info info, {_NEW}"),
    Function(
        "Comm_idup",
        Group.COMMUNICATOR,
        f"{COMM}, {_NEW}, MPI_Request *request",
        {"request": "begun_request(*request, 0)"},
        after="duplicate(comm, newcomm, own);\n",
    ),
    _makes("Comm_create", f"{COMM}, MPI_Group group, {_NEW}"),
    _makes("Comm_create_group", f"{COMM}, MPI_Group group, int tag, {_NEW}"),
    _makes("Comm_split", f"{COMM}, int color, int key, {_NEW}"),
    _makes("Comm_split_type", f"{COMM}, int split_type, int key, MPI_Info info, {_NEW}"),
    _makes("Cart_create", f"{_OLD}, int ndims, const int dims[], const int periods[], int reorder, {_NEW}"),
    _makes("Cart_sub", f"{COMM}, const int remain_dims[], {_NEW}"),
    _makes("Graph_create", f"{_OLD}, int nnodes, const int index[], const int edges[], int reorder, {_NEW}"),
    _makes(
        "Dist_graph_create",
        f"{_OLD}, int count, const int nodes[], const int degrees[], const int targets[], const int weights[], "
        f"MPI_Info info, int reorder, {_NEW}",
    ),
    _makes(
        "Dist_graph_create_adjacent",
        f"{_OLD}, int indegree, const int sources[], const int sourceweights[], int outdegree, "
        f"const int destinations[], const int destweights[], MPI_Info info, int reorder, {_NEW}",
    ),
    _makes(
        "Intercomm_create",
        f"MPI_Comm local_comm, int local_leader, MPI_Comm bridge_comm, int remote_leader, int tag, {_NEW}",
    ),
    _makes("Intercomm_merge", f"MPI_Comm intercomm, int high, {_NEW}"),
    _makes("Comm_accept", f"{_PORT}, {_NEW}"),
    _makes("Comm_connect", f"{_PORT}, {_NEW}"),
    _makes("Comm_join", f"int fd, {_NEW}"),
    _makes(
        "Comm_spawn",
        f"const char *command, char *argv[], int maxprocs, MPI_Info info, int root, {COMM}, {_NEW}, "
        "int array_of_errcodes[]",
    ),
    _makes(
        "Comm_spawn_multiple",
        "int count, char *array_of_commands[], char **array_of_argv[], const int array_of_maxprocs[], "
        f"const MPI_Info array_of_info[], int root, {COMM}, {_NEW}, int array_of_errcodes[]",
    ),
    _ends("Comm_free"),
    _ends("Comm_disconnect"),
)
