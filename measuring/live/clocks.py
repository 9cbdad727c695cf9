"""A lab's clock beside the wall's, for views of a virtual lab with a clock of its own.

Samples and events have the lab's time. A person who looks at them waits in real time.
"""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from eee_testbed.measuring.live.state.view import Clocks

ReadClock = Callable[[], tuple[str, int, int]]
"""Rate in force (lab seconds per real second), lab time and the wall's, both monotonic in ns; OSError if it is gone."""

_LONGEST_S: Final = 0.25
"""The rate may change during a pause, so that a pause in lab time is never longer."""


def now_of(read: ReadClock | None) -> tuple[int, Clocks | None]:
    """The time of a lab, UTC in ns, and the wall's beside it; this process's time and None without such a clock.

    Whatever time this process lives in: the lab's and the wall's are equally far ahead of their monotonic clocks.
    """
    if read is not None:
        try:
            rate, lab_ns, wall_ns = read()
        except OSError:
            return time.time_ns(), None  # the lab went down
        ahead_ns = time.time_ns() - time.monotonic_ns()
        return ahead_ns + lab_ns, Clocks(rate, ahead_ns + wall_ns, wall_ns / 1e9)
    return time.time_ns(), None


class WallPace:
    """Says when a period of real time is over, also in a process that lives in a lab's time."""

    def __init__(
        self, read: ReadClock | None, every_s: float = 1.0, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._every_s = every_s
        self._now_s = now_s
        self._due_s = self._wall()[0] + every_s

    def pause_s(self) -> float:
        """How long to wait by this process's clock before asking again. 0: a period is over, and the next begins."""
        wall_s, rate = self._wall()
        if wall_s >= self._due_s:
            self._due_s = wall_s + self._every_s
            return 0.0
        left_s = (self._due_s - wall_s) * rate
        return left_s if rate == 1 else min(left_s, _LONGEST_S)

    def _wall(self) -> tuple[float, float]:
        """The wall's monotonic time, s, and the rate of this process's clock."""
        if self._read is not None:
            try:
                rate, _, wall_ns = self._read()
            except OSError:
                self._read, self._due_s = None, self._now_s()  # the lab went down; its clock shows another time
            else:
                return wall_ns / 1e9, float(Fraction(rate))
        return self._now_s(), 1.0
