"""A piece of work on one lab: its lock, its sessions with switches, and its progress reports."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.rounds import Executor, Progress, Stop, Stopped, WatchLinks
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.switchboard import Switchboard
from eee_testbed.controller.drivers.driver import Driver
from eee_testbed.controller.model.state import State, SwitchState
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.transports.session import Connect, Session
from eee_testbed.lab.errors import AccessDenied, DeviceError, HostKeyChanged, Unreachable
from eee_testbed.lab.model import Lab, Switch

ProvePorts = Callable[[Switch, Session, PortProofs], None]
"""Make sure that the command line and SNMP mean the same ports of a switch, and keep it; DeviceError if they do not."""


@dataclass(frozen=True, slots=True)
class Backend:
    """Everything that acts on devices; tests pass their own.

    `check_hosts` raises a LabError if hosts do not reach each other, or receive frames for others. `guard` starts a
    guardian before anything is sent and returns its process number; leaving the context tells it that the apply ended.
    `patience_s` is how long a rollback waits for a switch that does not answer, such as one that boots.
    """

    connect: Connect
    driver_of: Callable[[Switch], Driver]
    abilities: Abilities
    check_hosts: Callable[[Lab, State], None] | None = None
    guard: Callable[[Lab], AbstractContextManager[int]] | None = None
    watch_links: WatchLinks | None = None
    prove_ports: ProvePorts | None = None
    patience_s: float = 240.0
    pauses_s: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0, 4.0)
    """Pauses between attempts to reach it; the last one is repeated."""

    fresh_s: float = 0.5
    """A state that was read less than so long ago is not read again before the first order, unless a person was asked.

    A reading of a lab takes about as long, so another one would show nothing newer.
    """

    sync: Callable[[int], None] = os.fsync
    """Flushes the journal of an apply to the disk."""


@dataclass(frozen=True, slots=True)
class Work:
    """One command at work on one lab."""

    lab: Lab
    folder: StateFolder
    backend: Backend
    executor: Executor
    lock: Lock
    progress: Progress
    stop: Stop

    def observe_patiently(self, stops: int) -> State:
        """The present state of every switch; waits for those that do not answer.

        Stopped when somebody asks to stop for the `stops`-th time, Unreachable after `backend.patience_s`.
        """
        end_s = time.monotonic() + self.backend.patience_s
        pauses = iter(self.backend.pauses_s)
        waiting: frozenset[str] = frozenset()
        while True:
            states = self.executor.try_observing()
            errors = {name: error for name, error in states.items() if isinstance(error, DeviceError)}
            if not errors:
                return State({name: seen for name, seen in states.items() if isinstance(seen, SwitchState)})
            for error in errors.values():
                if not isinstance(error, Unreachable) or isinstance(error, AccessDenied | HostKeyChanged):
                    raise error
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                raise next(iter(errors.values()))
            if errors.keys() != waiting:
                waiting = frozenset(errors)
                self.progress.say(f"waiting up to {left_s:.0f} s for {', '.join(sorted(waiting))} to answer")
            if self.stop.wait(stops, min(left_s, next(pauses, self.backend.pauses_s[-1]))):
                raise Stopped("stopped while waiting for a switch.")


@contextmanager
def at_work(
    lab: Lab, backend: Backend, command: str, progress: Progress, stop: Stop, *, wait: bool = False
) -> Iterator[Work]:
    """Hold a lab's lock, with a thread for each switch; LabError if somebody else holds it."""
    folder = StateFolder.of(lab)
    with (
        Lock(folder, command, wait=wait, warn=progress.say) as lock,
        Switchboard(lab.switches, backend.connect) as board,
    ):
        yield Work(lab, folder, backend, Executor(lab, board, backend.driver_of), lock, progress, stop)
