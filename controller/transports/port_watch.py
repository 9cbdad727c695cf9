"""When does a link go down, and come up? ifOperStatus of some ports of a switch, polled every other millisecond.

Or ten times a second (`seldom`), where nobody needs to know so exactly.
"""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from eee_testbed.controller.drivers.driver import Answers, SnmpValue
from eee_testbed.controller.drivers.places import FINDERS, places
from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import access_of
from eee_testbed.lab.errors import LabError, Unreadable
from eee_testbed.lab.model import Switch

_OPER_STATUS: Final = "1.3.6.1.2.1.2.2.1.8"
_UP: Final = 1
_PAUSE_S: Final = 0.001
_SELDOM_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """A port's link was seen to change: between `before_ns`, when it was last seen otherwise, and `seen_ns`.

    Both are of the monotonic clock, taken when the question was sent and when the answer came, so that the change
    lies between them for certain; a lost datagram makes the two lie further apart.
    """

    port: str
    up: bool
    before_ns: int
    seen_ns: int


class PortWatch:
    """Watches ports in a thread of its own, from entering the context to leaving it.

    Entering raises Unreachable or Unreadable if the agent is not there or lacks a port. What goes wrong later is
    raised by `wait_for`. Ports of LAGs (`lagN`) cannot be watched; watch their members. `pause_s`: between an answer
    and the next question.
    """

    def __init__(
        self,
        switch: Switch,
        ports: Iterable[str],
        *,
        pause_s: float = _PAUSE_S,
        make_agent: Callable[..., Agent] = Agent,
    ) -> None:
        self._switch = switch
        self._ports = tuple(ports)
        self._pause_s = pause_s
        self._agent = make_agent(access_of(switch))
        self._oids: dict[str, str] = {}
        self._up: dict[str, bool] = {}
        self._events: list[LinkEvent] = []
        self._changed = threading.Condition()
        self._end = threading.Event()
        self._failure: LabError | None = None
        self._thread = threading.Thread(target=self._poll, name=f"watch {switch.name}", daemon=True)

    def __enter__(self) -> Self:
        asked: Answers = {walk: self._agent.walk(walk.oid) for walk in FINDERS}
        index_of = {place.name: place.if_index for place in places(self._switch, asked)}
        self._oids = {port: f"{_OPER_STATUS}.{index_of[port]}" for port in self._ports}
        self._up = self._read()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()
        self._agent.close()

    @property
    def events(self) -> tuple[LinkEvent, ...]:
        """What was seen so far, in order."""
        with self._changed:
            return tuple(self._events)

    def is_up(self, port: str) -> bool:
        """The port's link as last seen."""
        with self._changed:
            return self._up[port]

    def wait_for(self, port: str, *, up: bool, timeout_s: float, since_ns: int = 0) -> LinkEvent | None:
        """The first change of a port to `up` that was seen after `since_ns`; None after the time-out."""

        def happened() -> bool:
            return self._failure is not None or bool(self._matching(port, up, since_ns))

        with self._changed:
            self._changed.wait_for(happened, timeout_s)
            event = self._matching(port, up, since_ns)
            if not event and self._failure is not None:
                raise self._failure
            return event[0] if event else None

    def _matching(self, port: str, up: bool, since_ns: int) -> list[LinkEvent]:  # noqa: FBT001 - one word, one flag
        return [seen for seen in self._events if seen.port == port and seen.up == up and seen.seen_ns > since_ns]

    def _read(self) -> dict[str, bool]:
        states = self._agent.get(list(self._oids.values()))
        return {port: self._status(port, states.get(oid)) for port, oid in self._oids.items()}

    def _status(self, port: str, value: SnmpValue | None) -> bool:
        if not isinstance(value, int):
            raise Unreadable(self._switch.name, f"ifOperStatus of {port}", repr(value))
        return value == _UP

    def _poll(self) -> None:
        before_ns = time.monotonic_ns()
        while not self._end.wait(self._pause_s):
            asked_ns = time.monotonic_ns()
            try:
                now = self._read()
            except LabError as error:
                with self._changed:
                    self._failure = error
                    self._changed.notify_all()
                return
            seen_ns = time.monotonic_ns()
            changes = [LinkEvent(port, up, before_ns, seen_ns) for port, up in now.items() if up != self._up[port]]
            before_ns = asked_ns
            if changes:
                with self._changed:
                    self._events += changes
                    self._up = now
                    self._changed.notify_all()


def seldom(switch: Switch, ports: Iterable[str]) -> PortWatch:
    """A watch that asks ten times a second: hundreds of questions would be work for a switch that is to be measured."""
    return PortWatch(switch, ports, pause_s=_SELDOM_S)
