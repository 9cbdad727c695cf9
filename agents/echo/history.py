"""What becomes of each echo: a row once it was answered and its stamps are there, or once it is given up."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eee_testbed.agents.stream import Column

COLUMNS = (
    Column("number", "", "number of the echo, from 0"),
    Column("wanted_ns", "ns", "gap that was wanted before it"),
    Column("late_ns", "ns", "how much longer the gap became; null where there was nothing to count from"),
    Column("idle_transmit_ns", "ns", "its departure minus that of the last frame before it that this host sent"),
    Column("idle_receive_ns", "ns", "its departure minus the arrival of the last frame before it"),
    Column(
        "sent_ns",
        "ns",
        "departure, CLOCK_REALTIME, stamped by the kernel; null: it never left (no link, or no answer to ARP)",
    ),
    Column("rtt_ns", "ns", "answer's arrival minus departure, by the kernel's software stamps; null: lost"),
    Column("rtt_hardware_ns", "ns", "the same by the card's stamps; null without them"),
)


@dataclass
class Echo:
    """One echo under way; times are of CLOCK_REALTIME in nanoseconds but for the card's."""

    number: int
    wanted_ns: int
    due_ns: int | None
    before_ns: int
    """Just before it was given to the kernel."""

    sent_ns: int | None = None
    sent_hardware_ns: int | None = None
    answered_ns: int | None = None
    answered_hardware_ns: int | None = None
    last_transmit_ns: int | None = None
    """When the last frame before it was sent."""

    last_receive_ns: int | None = None
    """When the last frame before it came."""

    def row(self) -> tuple[int | None, ...]:
        """Values of `COLUMNS`."""
        sent_ns = self.sent_ns
        return (
            self.number,
            self.wanted_ns,
            _difference(sent_ns, self.due_ns),
            _difference(sent_ns, self.last_transmit_ns),
            _difference(sent_ns, self.last_receive_ns),
            sent_ns,
            _difference(self.answered_ns, sent_ns),
            _difference(self.answered_hardware_ns, self.sent_hardware_ns),
        )


def _difference(later: int | None, earlier: int | None) -> int | None:
    return None if later is None or earlier is None else later - earlier


def quantiles(values: Sequence[int]) -> dict[str, int] | None:
    """Least, median, p90, p99 and most of some nanoseconds; None without any. Between two values, the lower one."""
    if not values:
        return None
    ordered = sorted(values)
    places = {"least_ns": 0.0, "median_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "most_ns": 1.0}
    return {name: ordered[int(share * (len(ordered) - 1))] for name, share in places.items()}


class Tally:
    """Sums over the echoes of a run, for its summary."""

    def __init__(self) -> None:
        self.sent = self.lost = self.unsent = self.answered_late = self.moved = 0
        self._rtts_ns = array("q")
        self._pacing_ns = array("q")

    def count(self, echo: Echo) -> None:
        """An echo that is done with."""
        if echo.sent_ns is None:
            self.unsent += 1
            return
        self.sent += 1
        if echo.answered_ns is None:
            self.lost += 1
        else:
            self._rtts_ns.append(echo.answered_ns - echo.sent_ns)
        if echo.due_ns is not None:
            self._pacing_ns.append(echo.sent_ns - echo.due_ns)

    def as_dict(self) -> dict[str, Any]:
        """For the summary."""
        return {
            "echoes_sent": self.sent,
            "echoes_lost": self.lost,
            "echoes_unsent": self.unsent,
            "answers_too_late": self.answered_late,
            "cpus_left": self.moved,
            "rtt": quantiles(self._rtts_ns),
            "late": quantiles(self._pacing_ns),
        }
