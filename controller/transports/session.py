"""A conversation with one switch, as the rest of the controller sees it: the seam at which tests plug in.

One thread talks to one switch at a time. Whoever opens a session closes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from controller.drivers.driver import Answers, Order, Query
from lab.model import Switch


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """An order that the switch took. Times are of the monotonic clock, in nanoseconds."""

    order: Order
    sent_ns: int
    acknowledged_ns: int


class Session(Protocol):
    """Raises Unreachable (no answer, or the session broke), Rejected (the switch refused) and Unreadable."""

    def ask(self, queries: Sequence[Query]) -> Answers:
        """Answers to all queries."""

    def send(self, order: Order) -> Acknowledged:
        """Send one order and wait until the switch took it. Never sent a second time."""

    def close(self) -> None:
        """End it; harmless when it is broken or closed already."""


Connect = Callable[[Switch], Session]
"""Opens a session; Unreachable, or HostKeyChanged and AccessDenied, if that fails. Only opening is ever retried."""
