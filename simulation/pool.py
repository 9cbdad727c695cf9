"""Who simulates points: this process, others beside it, or those of an MPI job. The points are the same.

With MPI (`mpi4py.futures`) the first process hands points out, one at a time to whichever process is free, so one less
than all simulate. Each process of the job has its points simulated by a child (`simulation.worker`), which is started
anew when it is lost, and its point run again. If a whole process of the job is lost (its machine fails), MPI ends the
job; the points that were finished are on the disk, and the same command goes on.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock, local
from typing import Final, Protocol

from lab.errors import LabError
from simulation.description import Description
from simulation.point import simulate_point
from simulation.worker import Simulated, Worker

_SIZES: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_RANKS: Final = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")
"""Set by Open MPI; by MPICH and Intel MPI."""


class MissingMpi(LabError):
    """The command was not started as an MPI job, or cannot take part in one."""


Simulate = Callable[[Description, float, int], Simulated]
"""Simulates a point of a description at a load with a seed."""


class Pool(Protocol):
    """Takes points, and gives them back as they are finished."""

    def submit(self, description: Description, load: float, seed: int) -> Future[Simulated]:
        """Begin to simulate a point, now or when a process is free."""
        ...


class HerePool:
    """Simulates each point in this process, at once."""

    def submit(self, description: Description, load: float, seed: int) -> Future[Simulated]:
        """Simulate a point; it is finished on return."""
        future: Future[Simulated] = Future()
        future.set_result(Simulated(simulate_point(description, load, seed)))
        return future


class _LocalPool:
    """One worker for each thread of an executor."""

    def __init__(self, jobs: int) -> None:
        self._executor = ThreadPoolExecutor(jobs)
        self._own = local()
        self._workers: list[Worker] = []
        self._lock = Lock()
        self._closed = False

    def submit(self, description: Description, load: float, seed: int) -> Future[Simulated]:
        return self._executor.submit(self._simulate, description, load, seed)

    def _simulate(self, description: Description, load: float, seed: int) -> Simulated:
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._own.worker = Worker()
            with self._lock:
                self._workers.append(worker)
                closed = self._closed
            if closed:
                worker.close()
        return worker.point(description, load, seed)

    def close(self) -> None:
        """Kill all workers; what is under way ends with LostWorker."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            workers = tuple(self._workers)
        for worker in workers:
            worker.close()
        self._executor.shutdown()


class _MpiPool:
    """The other processes of an MPI job."""

    def __init__(self, executor: Executor, simulate: Simulate) -> None:
        self._executor = executor
        self._simulate = simulate

    def submit(self, description: Description, load: float, seed: int) -> Future[Simulated]:
        return self._executor.submit(self._simulate, description, load, seed)


@contextmanager
def local_pool(jobs: int) -> Iterator[Pool]:
    """So many processes of this machine; with 1, this process. They have ended when the block is left."""
    if jobs == 1:
        yield HerePool()
        return
    pool = _LocalPool(jobs)
    try:
        yield pool
    finally:
        pool.close()


_child = Worker()


def simulate_by_child(description: Description, load: float, seed: int) -> Simulated:
    """Simulate a point in a child of this process, which is kept for the next one."""
    return _child.point(description, load, seed)


@contextmanager
def mpi_pool(simulate: Simulate = simulate_by_child) -> Iterator[Pool | None]:
    """The processes of the MPI job that this process belongs to; each of them has to call this.

    `simulate` is what they do with a point; a function that can be imported.
    The first process gets the pool. The others simulate until the first leaves the block, and get None. MissingMpi if
    there is no mpi4py, or no other process.
    """
    try:
        from mpi4py import MPI  # noqa: PLC0415 - starts MPI, and need not be installed
        from mpi4py.futures import MPICommExecutor  # noqa: PLC0415
    except ImportError as error:
        raise MissingMpi(
            f"mpi4py cannot be loaded ({error}): install an MPI library, and mpi4py into this Python environment "
            "(uv pip install mpi4py), on every machine of the job."
        ) from error
    if MPI.COMM_WORLD.Get_size() < 2:
        raise MissingMpi(
            "an MPI job needs one process that hands points out and at least one that simulates: begin the command "
            "with mpirun -n 4, with the same MPI that mpi4py was made for."
        )
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
        yield None if executor is None else _MpiPool(executor, simulate)


def mpi_processes() -> int:
    """Processes of the MPI job that this process was started in, by its environment; 1 outside of any."""
    return max((int(os.environ[key]) for key in _SIZES if os.environ.get(key, "").isdigit()), default=1)


def first_of_mpi() -> bool:
    """Whether this process is the first of its MPI job, by its environment; True outside of any."""
    return all(os.environ.get(key, "0") == "0" for key in _RANKS)
