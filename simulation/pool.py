"""Who simulates: this process, others beside it, or those of an MPI job. The results are the same.

With MPI (`mpi4py.futures`) the first process hands tasks out, one at a time to whichever process is free, so one less
than all simulate. Each process of the job has its tasks simulated by a child (`simulation.worker`), which is started
anew when it is lost, and its task run again. If a whole process of the job is lost (its machine fails), MPI ends the
job; what was finished is on the disk, and the same command goes on.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from threading import Lock, local
from typing import Any, Final, Protocol, TypeVar

from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.worker import Result, Simulated, Task, Worker

_SIZES: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_RANKS: Final = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")
"""Set by Open MPI; by MPICH and Intel MPI."""


Key = TypeVar("Key")


class MissingMpi(LabError):
    """The command was not started as an MPI job, or cannot take part in one."""


Simulate = Callable[[Task[Any]], Simulated[Any]]
"""Simulates a task."""


class Pool(Protocol):
    """Takes tasks, and gives results back as they are finished."""

    def submit(self, task: Task[Result]) -> Future[Simulated[Result]]:
        """Begin to simulate a task, now or when a process is free."""
        ...


class HerePool:
    """Simulates each task in this process, at once."""

    def submit(self, task: Task[Result]) -> Future[Simulated[Result]]:
        """Simulate a task; it is finished on return."""
        future: Future[Simulated[Result]] = Future()
        future.set_result(Simulated(task.simulate()))
        return future


def finished(pool: Pool, asked: Sequence[tuple[Key, Task[Result]]]) -> Iterator[tuple[Key, Simulated[Result]]]:
    """Each key with the result of its task, as tasks are finished; by this process in order, one when it is wanted.

    When the caller stops, tasks that have not begun are cancelled.
    """
    if isinstance(pool, HerePool):
        for key, task in asked:
            yield key, pool.submit(task).result()
        return
    running = {pool.submit(task): key for key, task in asked}
    try:
        for future in as_completed(running):
            yield running[future], future.result()
    finally:
        for future in running:
            future.cancel()


class _LocalPool:
    """One worker for each thread of an executor."""

    def __init__(self, jobs: int) -> None:
        self._executor = ThreadPoolExecutor(jobs)
        self._own = local()
        self._workers: list[Worker] = []
        self._lock = Lock()
        self._closed = False

    def submit(self, task: Task[Result]) -> Future[Simulated[Result]]:
        return self._executor.submit(self._simulate, task)

    def _simulate(self, task: Task[Result]) -> Simulated[Result]:
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._own.worker = Worker()
            with self._lock:
                self._workers.append(worker)
                closed = self._closed
            if closed:
                worker.close()
        return worker.work(task)

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

    def submit(self, task: Task[Result]) -> Future[Simulated[Result]]:
        return self._executor.submit(self._simulate, task)


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


def simulate_by_child(task: Task[Result]) -> Simulated[Result]:
    """Simulate a task in a child of this process, which is kept for the next one."""
    return _child.work(task)


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
            "an MPI job needs at least two processes, one to hand points out: begin the command with mpirun -n 4, of "
            "the MPI that mpi4py was made for."
        )
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
        yield None if executor is None else _MpiPool(executor, simulate)


def mpi_processes() -> int:
    """Processes of the MPI job that this process was started in, by its environment; 1 outside of any."""
    return max((int(os.environ[key]) for key in _SIZES if os.environ.get(key, "").isdigit()), default=1)


def first_of_mpi() -> bool:
    """Whether this process is the first of its MPI job, by its environment; True outside of any."""
    return all(os.environ.get(key, "0") == "0" for key in _RANKS)
