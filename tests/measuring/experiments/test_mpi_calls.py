"""Calls of MPI functions, counted as a node would: compiled here, loaded before programs with a small MPI."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.lab.model import Host
from eee_testbed.measuring.experiments.mpi_calls import COUNTER, PREFIX, MpiCalls, read_calls
from eee_testbed.measuring.experiments.preloads import Preload, fresh_libraries, keep_compiled, needed_by, preloading
from tests.support.needs import needs


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    needs("cc")


_MPI = r"""
#include <stdio.h>
int PMPI_Send(void *buffer, int count, long type, int to, int tag, long comm)
{ printf("send %d %ld %d %d %ld\n", count, type, to, tag, comm); return 7; }
int PMPI_Sendrecv(void *a, int b, long c, int d, int e, void *f, int g, long h, int i, int j, long k, int *status)
{ *status = b + c + d + e + g + h + i + j + k; return 0; }
int PMPI_Iprobe(int from, int tag, long comm, int *flag, void *status) { *flag = from; return 0; }
int PMPI_Init_thread(int *argc, char ***argv, int wanted, int *given) { *given = wanted; return 0; }
int PMPI_Finalize(void) { printf("finalized\n"); fflush(stdout); return 0; }
void pmpi_send_(void *b, int *c, int *t, int *to, int *tag, int *comm, int *error)
{ *error = PMPI_Send(b, *c, *t, *to, *tag, *comm); }
int MPI_Send(void *b, int c, long t, int to, int tag, long comm) { return PMPI_Send(b, c, t, to, tag, comm); }
int MPI_Sendrecv(void *a, int b, long c, int d, int e, void *f, int g, long h, int i, int j, long k, int *s)
{ return PMPI_Sendrecv(a, b, c, d, e, f, g, h, i, j, k, s); }
int MPI_Iprobe(int from, int tag, long comm, int *f, void *s) { return PMPI_Iprobe(from, tag, comm, f, s); }
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{ return PMPI_Init_thread(argc, argv, wanted, given); }
int MPI_Finalize(void) { return PMPI_Finalize(); }
void mpi_send_(void *b, int *c, int *t, int *to, int *tag, int *comm, int *error)
{ pmpi_send_(b, c, t, to, tag, comm, error); }
"""
_PROGRAM = r"""
int MPI_Send(void *, int, long, int, int, long);
int MPI_Sendrecv(void *, int, long, int, int, void *, int, long, int, int, long, int *);
int MPI_Iprobe(int, int, long, int *, void *);
int MPI_Init_thread(int *, char ***, int, int *);
int MPI_Finalize(void);
int usleep(unsigned);
void mpi_send_(void *, int *, int *, int *, int *, int *, int *);
int run(void)
{
    int status = 0, flag = 0, one = 1, error = 0, given = 0;
    if (MPI_Init_thread(0, 0, 3, &given) || given != 3)
        return 1;
    usleep(20000);
    int sent = MPI_Send(0, 5, 1L << 40, 2, 3, -4L);
    mpi_send_(0, &one, &one, &one, &one, &one, &error);
    MPI_Sendrecv(0, 1, 2, 3, 4, 0, 5, 6, 7, 8, 9, &status);
    MPI_Iprobe(6, 0, 0, &flag, 0);
    MPI_Iprobe(6, 0, 0, &flag, 0);
    MPI_Finalize();
    return sent == 7 && error == 7 && status == 45 && flag == 6 ? 0 : 1;
}
int main(void) { return run(); }
"""
_MODULE = """
import ctypes, os
raise SystemExit(ctypes.CDLL("./module.so", mode=os.RTLD_LOCAL | os.RTLD_NOW).run())
"""
_HOST = Host("n01", "lab", "127.0.0.1", 22, "198.18.0.1", bytes(6), "eth0", 1000, 1500)
_FILES, _PREPARE = needed_by([COUNTER], _HOST)
_LIBRARY = _PREPARE[_PREPARE.index("-o") + 1]
_CALLED = {"MPI_Send": 2, "MPI_Sendrecv": 1, "MPI_Iprobe": 2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a rank finds it, with a program, and the same as a module that loads its MPI for itself."""

    def compiled(*words: str) -> None:
        subprocess.run(["cc", *words, f"-Wl,-rpath,{tmp_path}"], cwd=tmp_path, check=True)

    for name, data in _FILES.items():
        (tmp_path / name).write_bytes(data)
    subprocess.run(_PREPARE, cwd=tmp_path, check=True)
    (tmp_path / "mpi.c").write_text(_MPI, encoding="utf-8")
    (tmp_path / "program.c").write_text(_PROGRAM, encoding="utf-8")
    compiled("-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", "-o", "libmpi.so.40", "mpi.c")
    compiled("-o", "program", "program.c", "./libmpi.so.40")
    compiled("-shared", "-fPIC", "-o", "module.so", "program.c", "./libmpi.so.40")
    return tmp_path


def _run(folder: Path, *argv: str, rank: int = 0) -> str:
    environment = {**os.environ, "OMPI_COMM_WORLD_RANK": str(rank)}
    done = subprocess.run(
        preloading(argv, [COUNTER]),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _counted(folder: Path, ranks: int) -> MpiCalls | None:
    return read_calls(ranks, {path.name: path.read_text(encoding="utf-8") for path in folder.glob(f"{PREFIX}.*")})


@pytest.mark.slow
def test_calls_are_counted_once_and_reach_mpi_as_they_were_made(folder: Path) -> None:
    for rank in (0, 1):
        printed = _run(folder, "./program", rank=rank)
        assert printed == "send 5 1099511627776 2 3 -4\nsend 1 1 1 1 1\nfinalized\n"
    calls = _counted(folder, 2)
    assert calls is not None
    assert calls.by_rank == (_CALLED, _CALLED)
    assert calls.communications(2) == 3, "asking whether something has come is none"
    assert calls.communications(1) == 6, "of two ranks on a node"


def test_a_module_that_loads_mpi_for_itself_is_counted(folder: Path) -> None:
    """As mpi4py does, whose MPI the process does not see."""
    _run(folder, sys.executable, "-c", _MODULE)
    calls = _counted(folder, 1)
    assert calls is not None
    assert calls.by_rank == (_CALLED,)
    assert calls.run_s is not None


def test_run_time_is_from_init_to_finalize_of_the_slowest_rank(folder: Path) -> None:
    before_ns = time.time_ns()
    for rank in (0, 1):
        _run(folder, "./program", rank=rank)
    calls = _counted(folder, 2)
    assert calls is not None
    assert calls.run_s is not None
    assert calls.first_ns is not None
    begun_ns, ended_ns = calls.first_ns
    assert before_ns < begun_ns < ended_ns < time.time_ns()
    assert 0.02 <= calls.run_s < (time.time_ns() - before_ns) / 1e9
    assert (ended_ns - begun_ns) / 1e9 <= calls.run_s + 0.005


def test_of_ranks_whose_mpi_did_not_begin_here_no_time_is_known() -> None:
    files = {f"{PREFIX}.0": "begun_ns 1\nended_ns 5\ntook_ns 4\nMPI_Send 2\n", f"{PREFIX}.1": "MPI_Recv 2\n"}
    assert read_calls(2, files) == MpiCalls(({"MPI_Send": 2}, {"MPI_Recv": 2}))


def test_without_a_compiler_the_program_runs_and_nothing_is_counted(folder: Path) -> None:
    (folder / _LIBRARY).unlink()
    assert "finalized" in _run(folder, "./program")
    assert _counted(folder, 1) is None


def test_what_a_node_has_compiled_is_sent_to_it_again(folder: Path) -> None:
    host = replace(_HOST, name="n02")
    assert needed_by([COUNTER], host) == (_FILES, _PREPARE)
    compiled = (folder / _LIBRARY).read_bytes()
    files = {_LIBRARY: compiled, f"{PREFIX}.0": b"MPI_Send 1\n"}
    assert fresh_libraries([COUNTER], host) == (_LIBRARY,)
    keep_compiled([COUNTER], host, files)
    assert files == {f"{PREFIX}.0": b"MPI_Send 1\n"}, "it is no count"
    assert needed_by([COUNTER], host) == ({_LIBRARY: compiled}, ())
    assert fresh_libraries([COUNTER], host) == (), "it is not fetched again"
    assert needed_by([COUNTER], _HOST) == (_FILES, _PREPARE), "another node may have another MPI"


def test_several_libraries_are_compiled_and_loaded_in_their_order(tmp_path: Path) -> None:
    """A library calls the next one's functions, and the last one those of the node's own libraries."""
    first, second = (
        Preload(f"{name}.so", lambda name=name: {f"{name}.c": b""}, ("touch", f"{name}.so"), name.upper(), name)  # type: ignore[misc]
        for name in ("first", "second")
    )
    files, prepare = needed_by([first, second], _HOST)
    assert files == {"first.c": b"", "second.c": b""}
    subprocess.run(prepare, cwd=tmp_path, check=True)
    shown = 'echo "$LD_PRELOAD $FIRST $SECOND"'
    environment = {"PATH": os.environ["PATH"], "LD_PRELOAD": ""}
    argv = preloading(["sh", "-c", shown], [first, second])
    argv = (argv[0], argv[1], f"LD_PRELOAD=/clock.so; {argv[2]}", *argv[3:])
    done = subprocess.run(argv, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == f"{tmp_path}/first.so:{tmp_path}/second.so:/clock.so {tmp_path}/first {tmp_path}/second\n"
    assert preloading(["program"], []) == ("program",)


def test_the_size_of_a_ranks_world_is_no_call() -> None:
    """Each rank alone: a launcher started it for another MPI."""
    files = {f"{PREFIX}.{rank}": "world 1\nMPI_Send 2\n" for rank in range(2)}
    calls = read_calls(2, files)
    assert calls is not None
    assert calls.worlds == {1}
    assert calls.by_rank == ({"MPI_Send": 2}, {"MPI_Send": 2})
