"""A process of its own that simulates, task after task, and is started anew when it is lost (killed, out of memory)."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from eee_testbed.lab.errors import LabError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

_ATTEMPTS: Final = 3
"""A task whose process is lost so often is given up."""

Result = TypeVar("Result")
_Result_co = TypeVar("_Result_co", covariant=True)


class LostWorker(LabError):
    """A task whose process ended again and again."""


class Task(Protocol[_Result_co]):
    """What is to be simulated. It is pickled; `str` names it: "load 0.1, seed 3"."""

    def simulate(self) -> _Result_co:
        """The result; LabError if the task's parts do not fit together."""
        ...


@dataclass(frozen=True, slots=True)
class Simulated(Generic[Result]):
    """A task's result, and how often the process that simulated it was lost before."""

    result: Result
    lost: int = 0


Serve = Callable[[Connection], None]


def serve(here: Connection) -> None:
    """What the process does: tasks in, results or LabErrors out, until its parent is gone."""
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            task: Task[Any] = here.recv()
        except EOFError:
            return
        try:
            answer: Any = task.simulate()
        except LabError as error:
            answer = error
        here.send(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(0)


class Worker:
    """Simulates one task after the other in a process, which it starts when there is something to do.

    `serve` is what the process does with its end of the connection; a function that can be imported.
    """

    def __init__(self, serve: Serve = serve) -> None:
        self._serve = serve
        self._process: BaseProcess | None = None
        self._there: Connection | None = None
        self._lock = Lock()
        self._closed = False

    def work(self, task: Task[Result]) -> Simulated[Result]:
        """Simulate a task; again if its process is lost.

        LostWorker if that happens time after time, or the worker is closed meanwhile. LabError as the task.
        """
        status: int | None = None
        for lost in range(_ATTEMPTS):
            try:
                there = self._begin()
                there.send(task)
                answer = there.recv()
            except (EOFError, ConnectionError):
                status = self._end()
                if status is not None and status > 0:
                    break  # not killed: it would fail again
                continue
            if isinstance(answer, LabError):
                raise answer
            return Simulated(answer, lost)
        raise LostWorker(
            f"the process that simulated {task} ended {_how(status)}: run the same command again, perhaps with fewer "
            "processes; what is finished is kept."
        )

    def close(self) -> None:
        """Kill the process; a call of `work` that is under way ends with LostWorker."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def _begin(self) -> Connection:
        with self._lock:
            if self._closed:
                raise LostWorker("the simulation is being ended.")
            if self._process is None or self._there is None:
                context = get_context("spawn")
                self._there, theirs = context.Pipe()
                self._process = context.Process(target=self._serve, args=(theirs,), daemon=True)
                _start(self._process)
                theirs.close()
            return self._there

    def _end(self) -> int | None:
        """Forget the process that has ended; its exit status, negative if a signal killed it."""
        with self._lock:
            process, there = self._process, self._there
            self._process = self._there = None
        if there is not None:
            there.close()
        if process is None:
            return None
        process.join()
        return process.exitcode


def _start(process: "BaseProcess") -> None:
    """Start a process that Ctrl-C does not reach: children inherit the mask, and the parent kills them."""
    resource_tracker.ensure_running()  # would lift the mask while it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _how(status: int | None) -> str:
    if status is None:
        return "before it began"
    if status < 0:
        return f"{_ATTEMPTS} times, killed by {signal.Signals(-status).name} (out of memory?)"
    return f"with status {status}"
