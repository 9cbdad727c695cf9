"""One thread and one session for each switch, kept for a whole piece of work.

A session that failed is closed; the next job opens another. Nothing is sent twice.
"""

import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Self, TypeVar

from eee_testbed.controller.transports.session import Connect, Session
from eee_testbed.lab.errors import DeviceError, Rejected, Unreachable
from eee_testbed.lab.model import Switch

_Found = TypeVar("_Found")
Job = Callable[[Session], _Found]


class _Worker:
    """The thread that talks to one switch. A daemon thread: a switch that hangs does not keep the program alive."""

    def __init__(self, switch: Switch, connect: Connect) -> None:
        self._switch = switch
        self._connect = connect
        self._session: Session | None = None
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"talk to {switch.name}", daemon=True)
        self._thread.start()

    def ask(self, job: Job[_Found]) -> "Future[_Found]":
        """Run a job in the thread."""
        future: Future[_Found] = Future()

        def do() -> None:
            try:
                future.set_result(job(self._opened()))
            except BaseException as error:  # noqa: BLE001 - the waiting thread gets it, whatever it is
                if isinstance(error, DeviceError) and not isinstance(error, Rejected):
                    self._drop()
                future.set_exception(error)

        self._jobs.put(do)
        return future

    def hang_up(self) -> None:
        """End the thread and its session once the job in hand is done."""
        self._jobs.put(None)

    def wait(self, timeout_s: float) -> None:
        """Wait until the thread has ended."""
        self._thread.join(timeout_s)

    def _opened(self) -> Session:
        if self._session is None:
            self._session = self._connect(self._switch)
        return self._session

    def _drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        self._drop()


class Switchboard:
    """Sessions with the switches of a lab, opened when first needed, closed on leaving the context."""

    def __init__(self, switches: Iterable[Switch], connect: Connect, *, patience_s: float = 5.0) -> None:
        self._workers = {switch.name: _Worker(switch, connect) for switch in switches}
        self._patience_s = patience_s

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers.values():
            worker.hang_up()
        if not isinstance(error, KeyboardInterrupt):
            for worker in self._workers.values():
                worker.wait(self._patience_s)

    def each(self, jobs: Mapping[str, Job[_Found]]) -> dict[str, _Found | DeviceError]:
        """Run a job at each of some switches, all at once; returns results or errors by switch. Waits for all of them.

        Other errors than those of devices are raised, once all jobs have ended.
        """
        futures = {name: self._workers[name].ask(job) for name, job in jobs.items()}
        answers: dict[str, _Found | DeviceError] = {}
        others: list[BaseException] = []
        for name, future in futures.items():
            try:
                answers[name] = future.result()
            except DeviceError as error:
                answers[name] = error
            except KeyboardInterrupt:
                raise
            except Exception as error:  # noqa: BLE001 - raised below, after all jobs have ended
                others.append(error)
        if others:
            raise others[0]
        return answers


def require(answers: Mapping[str, _Found | DeviceError]) -> dict[str, _Found]:
    """The result of each job; raises the error of a failed one, that of an unreachable device only if all are."""
    errors = [outcome for outcome in answers.values() if isinstance(outcome, DeviceError)]
    if errors:
        raise next((error for error in errors if not isinstance(error, Unreachable)), errors[0])
    return {name: outcome for name, outcome in answers.items() if not isinstance(outcome, DeviceError)}
