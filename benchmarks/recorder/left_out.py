"""Functions of which only names and times are recorded: they move data, but not as messages that can be replayed."""

from collections.abc import Mapping
from typing import Final

from eee_testbed.benchmarks.recorder.function import Function, Group

_ORIGIN: Final = "{} *origin_addr, int origin_count, MPI_Datatype origin_datatype"
_TARGET: Final = "int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype"
_RESULT: Final = "void *result_addr, int result_count, MPI_Datatype result_datatype"
_WIN: Final = "MPI_Win win"
_REQUEST: Final = "MPI_Request *request"
_PUT: Final = f"{_ORIGIN.format('const void')}, {_TARGET}, {_WIN}"
_GET: Final = f"{_ORIGIN.format('void')}, {_TARGET}, {_WIN}"
_ACCUMULATE: Final = f"{_ORIGIN.format('const void')}, {_TARGET}, MPI_Op op, {_WIN}"
_GET_ACCUMULATE: Final = f"{_ORIGIN.format('const void')}, {_RESULT}, {_TARGET}, MPI_Op op, {_WIN}"
_SIZED: Final = "MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm"

_WINDOWS: Final[Mapping[str, str]] = {
    "Put": _PUT,
    "Get": _GET,
    "Accumulate": _ACCUMULATE,
    "Get_accumulate": _GET_ACCUMULATE,
    "Fetch_and_op": "const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, "
    f"MPI_Aint target_disp, MPI_Op op, {_WIN}",
    "Compare_and_swap": "const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype, "
    f"int target_rank, MPI_Aint target_disp, {_WIN}",
    "Rput": f"{_PUT}, {_REQUEST}",
    "Rget": f"{_GET}, {_REQUEST}",
    "Raccumulate": f"{_ACCUMULATE}, {_REQUEST}",
    "Rget_accumulate": f"{_GET_ACCUMULATE}, {_REQUEST}",
    "Win_create": f"void *base, {_SIZED}, MPI_Win *win",
    "Win_allocate": f"{_SIZED}, void *baseptr, MPI_Win *win",
    "Win_allocate_shared": f"{_SIZED}, void *baseptr, MPI_Win *win",
    "Win_create_dynamic": "MPI_Info info, MPI_Comm comm, MPI_Win *win",
    "Win_free": "MPI_Win *win",
    "Win_fence": f"int mode, {_WIN}",
    "Win_start": f"MPI_Group group, int mode, {_WIN}",
    "Win_complete": _WIN,
    "Win_post": f"MPI_Group group, int mode, {_WIN}",
    "Win_wait": _WIN,
    "Win_test": f"{_WIN}, int *flag",
    "Win_lock": f"int lock_type, int rank, int mode, {_WIN}",
    "Win_lock_all": f"int mode, {_WIN}",
    "Win_unlock": f"int rank, {_WIN}",
    "Win_unlock_all": _WIN,
    "Win_flush": f"int rank, {_WIN}",
    "Win_flush_all": _WIN,
    "Win_flush_local": f"int rank, {_WIN}",
    "Win_flush_local_all": _WIN,
    "Win_sync": _WIN,
}

_FILE: Final = "MPI_File fh"
_AT: Final = f"{_FILE}, MPI_Offset offset"
_STATUS: Final = "MPI_Status *status"


def _moves(buffer: str, begin: str, end: str) -> str:
    return f"{begin}, {buffer}, int count, MPI_Datatype datatype{end}"


def _transfers() -> dict[str, str]:
    found = {}
    for verb, buffer in (("read", "void *buf"), ("write", "const void *buf")):
        for suffix, begin in (("_at", _AT), ("_at_all", _AT), ("", _FILE), ("_all", _FILE), ("_shared", _FILE)):
            found[f"File_{verb}{suffix}"] = _moves(buffer, begin, f", {_STATUS}")
            found[f"File_i{verb}{suffix}"] = _moves(buffer, begin, f", {_REQUEST}")
        found[f"File_{verb}_ordered"] = _moves(buffer, _FILE, f", {_STATUS}")
        for suffix, begin in (("_at_all", _AT), ("_all", _FILE), ("_ordered", _FILE)):
            found[f"File_{verb}{suffix}_begin"] = _moves(buffer, begin, "")
            found[f"File_{verb}{suffix}_end"] = f"{_FILE}, {buffer}, {_STATUS}"
    return found


_FILES: Final[Mapping[str, str]] = {
    "File_open": "MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh",
    "File_close": "MPI_File *fh",
    "File_set_size": f"{_FILE}, MPI_Offset size",
    "File_preallocate": f"{_FILE}, MPI_Offset size",
    "File_set_view": f"{_FILE}, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep, "
    "MPI_Info info",
    "File_seek_shared": f"{_FILE}, MPI_Offset offset, int whence",
    "File_set_atomicity": f"{_FILE}, int flag",
    "File_sync": _FILE,
    **_transfers(),
}

_PART: Final = "int partitions, MPI_Count count, MPI_Datatype datatype, int {}, int tag, MPI_Comm comm, MPI_Info info"
_PARTITIONED: Final[Mapping[str, str]] = {
    "Psend_init": f"const void *buf, {_PART.format('dest')}, {_REQUEST}",
    "Precv_init": f"void *buf, {_PART.format('source')}, {_REQUEST}",
    "Pready": "int partition, MPI_Request request",
    "Pready_range": "int low, int high, MPI_Request request",
    "Pready_list": "int length, const int partitions[], MPI_Request request",
    "Parrived": "MPI_Request request, int partition, int *flag",
}


LEFT_OUT_FUNCTIONS: Final = (
    *(Function(name, Group.ONE_SIDED, parameters) for name, parameters in _WINDOWS.items()),
    *(Function(name, Group.FILE, parameters) for name, parameters in _FILES.items()),
    *(Function(name, Group.PARTITIONED, parameters, least_version=4) for name, parameters in _PARTITIONED.items()),
)
