"""One clock for a run: UTC as it was when the run began, extrapolated with the monotonic clock.

The system clock may be stepped during a run; the monotonic clock is only slewed, so that it runs at the right rate.
So every time of a run is the anchor (UTC and monotonic time read together) plus monotonic time since, and a step of
the system clock is an event that leaves no jump in a series.
Simplification: a machine that is suspended stops its monotonic clock, and times after that are too early by the
suspension; the system clock then differs by as much, which is recorded as a jump.
"""

import threading
import time
from dataclasses import dataclass
from typing import Final, Protocol

from eee_testbed.record.columns import midpoint

_READINGS: Final = 7
_NS: Final = 1_000_000_000


class Clock(Protocol):
    """The seam at which tests plug in."""

    def monotonic_ns(self) -> int:
        """Never steps."""

    def utc_ns(self) -> int:
        """The system clock, since 1970."""

    def wait(self, wake: threading.Event, seconds: float) -> bool:
        """Wait for an event, `seconds` at most; whether it is set."""


class SystemClock:
    """The clock of this machine."""

    def monotonic_ns(self) -> int:
        """CLOCK_MONOTONIC."""
        return time.monotonic_ns()

    def utc_ns(self) -> int:
        """CLOCK_REALTIME."""
        return time.time_ns()

    def wait(self, wake: threading.Event, seconds: float) -> bool:
        """Wait for an event, `seconds` at most."""
        return wake.wait(seconds)


@dataclass(frozen=True, slots=True)
class Anchor:
    """UTC and monotonic time of one moment, read at most `bound_ns` apart."""

    utc_ns: int
    monotonic_ns: int
    bound_ns: int


def _anchor(clock: Clock) -> Anchor:
    best: Anchor | None = None
    for _ in range(_READINGS):
        before_ns, utc_ns, after_ns = clock.monotonic_ns(), clock.utc_ns(), clock.monotonic_ns()
        reading = Anchor(utc_ns, midpoint(before_ns, after_ns), (after_ns - before_ns + 1) // 2)
        if best is None or reading.bound_ns < best.bound_ns:
            best = reading
    if best is None:
        raise AssertionError("at least one reading")
    return best


class RunClock:
    """Times of a run in UTC nanoseconds."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Clock = SystemClock() if clock is None else clock
        self.anchor = _anchor(self.clock)

    def now_ns(self) -> int:
        """The time."""
        return self.at_ns(self.clock.monotonic_ns())

    def at_ns(self, monotonic_ns: int) -> int:
        """The time at a reading of the monotonic clock."""
        return self.anchor.utc_ns + monotonic_ns - self.anchor.monotonic_ns

    def system_ahead_ns(self) -> int:
        """How far the system clock has moved ahead of the run's clock since the run began."""
        now = _anchor(self.clock)
        return now.utc_ns - self.at_ns(now.monotonic_ns)

    def wait_until(self, due_ns: int, wake: threading.Event) -> bool:
        """Wait until a time of the run's clock, or until an event is set; whether it is set."""
        while not wake.is_set():
            left_ns = due_ns - self.now_ns()
            if left_ns <= 0:
                return False
            self.clock.wait(wake, left_ns / _NS)
        return True


@dataclass(frozen=True, slots=True)
class Schedule:
    """Ticks at fixed times: tick n is due `n` periods after the first one, whatever happened before."""

    first_ns: int
    period_ns: int

    def due_ns(self, tick: int) -> int:
        """When a tick is due."""
        return self.first_ns + tick * self.period_ns

    def following(self, tick: int, now_ns: int) -> int:
        """The tick after `tick`: the next one that is not overdue by more than half a period."""
        overdue_ns = now_ns - self.first_ns - self.period_ns // 2
        return max(tick + 1, -(-overdue_ns // self.period_ns))


def aligned(period_ns: int, now_ns: int) -> Schedule:
    """A schedule on whole multiples of its period, from the first one in the future."""
    return Schedule((now_ns // period_ns + 1) * period_ns, period_ns)
