"""How late a virtual lab delivered frames between two moments: a late lab can spoil a measurement."""

import contextlib
import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol

from eee_engine import read_lab_clock

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.lab import lifecycle as labs
from eee_testbed.twin.machine.statedir import CLOCK, StateDir

_SAME_RATE: Final = 0.005
_ROUNDED_FROM: Final = 2.0
_LONG_MINUTES: Final = 1.0
"""Who sees a rate like 1/474 does not see that a program of a second then runs for eight minutes."""


class Daemon(Protocol):
    """What a running lab answers; LabError if it no longer runs."""

    def order(self, do: str, **arguments: Any) -> Any:
        """Send a request and return the answer."""

    def clock(self) -> tuple[str, int, int]:
        """The rate of the lab's clock, lab time and the wall's, ns; without a clock real time."""

    def wall_s(self) -> float:
        """The wall's monotonic time, s."""


@dataclass(frozen=True, slots=True)
class DaemonOf:
    """The daemon of a lab, by the lab's name."""

    lab: str

    def order(self, do: str, **arguments: Any) -> Any:
        """Send a request and return the answer."""
        return labs.order(self.lab, do, **arguments)

    def clock(self) -> tuple[str, int, int]:
        """The rate of the lab's clock, lab time and the wall's, ns; without a clock real time."""
        page = StateDir(self.lab) / CLOCK
        return read_lab_clock(page) if page.exists() else ("1", 0, 0)

    def wall_s(self) -> float:
        """The wall's monotonic time, s."""
        return labs.wall_s(self.lab)


class Lateness:
    """Lateness of a running lab's frames since `begin`. LabError if the lab no longer runs.

    A process measures in the lab from now on: a lab that sets its own rate goes in real time between trials.
    """

    def __init__(self, daemon: Daemon, process: int) -> None:
        self._daemon = daemon
        self._process = process
        daemon.order("work", process=process)
        self._before = self._counts()
        self._times_ns = self._daemon.clock()[1:]

    @classmethod
    def of(cls, lab: str) -> "Lateness | None":
        """Make one for this process and a lab by its name; None if no such virtual lab runs here."""
        try:
            return cls(DaemonOf(lab), os.getpid())
        except LabError:
            return None

    def begin(self, *, timed: bool) -> None:
        """Count from now on. For a timed trial a lab that sets its own rate holds it until `end`.

        A process that ends lets go of it.
        """
        self._daemon.order("begin_trial", process=self._process, timed=timed)
        self._before = self._counts()
        self._times_ns = self._daemon.clock()[1:]

    def end(self) -> float | None:
        """The trial has ended: the lab's rate is free again.

        How late it was, us of lab time, if a lab that sets its own rate makes the next one slower for it; else None.
        Its frames were (99 % of them less), or its processes waited for a processor at a time, for so long.
        """
        with contextlib.suppress(LabError):  # a lab that has gone holds nothing
            late_us: float | None = self._daemon.order("end_trial")
            return late_us
        return None

    def read_slower(self) -> None:
        """Samples of a window were missed: a lab that sets its own rate halves that of windows until the run ends."""
        self._daemon.order("read_slower")

    def pace(self) -> str:
        """The rate of the lab's clock, such as "1/10 of real time"; empty in real time.

        Where it has changed since `begin`, the mean, such as "0.08 times real time on average"; in whole times
        where that is fast, as then nobody times anything, and a run need not say each small change. Where a lab second
        takes more than a minute, it is said how long.
        """
        rate, lab_ns, wall_ns = self._daemon.clock()
        lab_before_ns, wall_before_ns = self._times_ns
        if wall_ns > wall_before_ns:
            mean = (lab_ns - lab_before_ns) / (wall_ns - wall_before_ns)
            if abs(mean / Fraction(rate) - 1) > _SAME_RATE:
                shown = f"{mean:.2g}" if mean < _ROUNDED_FROM else str(round(mean))
                return f"{shown} times real time on average"
        if rate == "1":
            return ""
        shown = f"{rate} {'of' if '/' in rate else 'times'} real time"
        minutes = float(1 / Fraction(rate) / 60)
        return f"{shown} (a second takes {minutes:.2g} min)" if minutes > _LONG_MINUTES else shown

    def wall_s(self) -> float:
        """The wall's monotonic time, s."""
        return self._daemon.wall_s()

    def late_us(self, limit_us: float, share: float) -> float | None:
        """A lateness that more than `share` of the frames exceeded, if it is over the limit; else None.

        The resolution is that of the histogram: the limit counts as the bounds of its bucket.
        """
        now = self._counts()
        counts = [
            after - before for after, before in zip(now["bucket_count"], self._before["bucket_count"], strict=True)
        ]
        total, later = sum(counts), 0
        for count, lower_us in zip(reversed(counts), reversed([0.0, *now["bucket_upper_us"]]), strict=True):
            later += count
            if lower_us < limit_us:
                return None
            if later > share * total:
                return float(lower_us)
        return None

    def _counts(self) -> dict[str, Any]:
        return dict(self._daemon.order("truth")["engine"]["lateness"])
