"""A conversation with one switch, as the rest of the controller sees it: the seam at which tests plug in.

One thread talks to one switch at a time. The caller that opens a session closes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from eee_testbed.controller.drivers.driver import Answers, Command, Query
from eee_testbed.lab.model import Switch


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A command that the switch accepted. Times are of the monotonic clock, in nanoseconds."""

    command: Command
    sent_ns: int
    acknowledged_ns: int


class Session(Protocol):
    """Raises Unreachable (no answer, or the session broke), Rejected (the switch refused) and Unreadable."""

    def ask(self, queries: Sequence[Query]) -> Answers:
        """Answers to all queries."""

    def send(self, command: Command) -> Acknowledged:
        """Send one command and wait until the switch has accepted it. Never sent a second time."""

    def close(self) -> None:
        """End it; harmless when it is broken or closed already."""


Connect = Callable[[Switch], Session]
"""Opens a session; Unreachable, or HostKeyChanged and AccessDenied, if that fails. Only opening is ever retried."""
