"""Guards: what makes a finished trial invalid, judged from the run's samples and from its clock.

A sample covers the time since the previous one. So a violation has an interval and is found late: it may invalidate a
trial that was valid until then. Rows that were polled while the lab is being changed are ignored, because links then
go down on purpose.

A link that goes down and up between two samples of its switch is visible only in ifLastChange, if the switch keeps it.
"""

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from types import TracebackType
from typing import Any, Final, Protocol, Self

from eee_testbed.lab.counted_text import counted
from eee_testbed.lab.errors import LabError, TwinLate
from eee_testbed.lab.model import Link
from eee_testbed.measuring.experiments.experiment import Guards
from eee_testbed.record.columns import rows_of
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch

_NS: Final = 1_000_000_000
_CHANGED_STEP_MS: Final = 20
"""SNMP agents that compute ifLastChange at every poll vary by one tick of 10 ms."""

_LEAST_POLLS: Final = {"watts": 3, "ports": 1}
"""Within a window, of a strip and of a switch, for the window to have mean watts (`analysis.power`)."""

_KEPT_POLLS: Final = 64
"""Of each device: a window is judged when it ends, and one with as many has enough."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that invalidates measurements between two times of the run's clock; `kind` is a field of `Guards`."""

    kind: str
    from_ns: int
    to_ns: int
    sentence: str

    def overlaps(self, begun_ns: int, ended_ns: int) -> bool:
        """Whether it may have happened within a window."""
        return self.from_ns < ended_ns and begun_ns < self.to_ns


@dataclass(frozen=True, slots=True)
class _PortSample:
    """The last sample of a port; `changed_ms` is None where the switch does not keep ifLastChange."""

    up: bool
    changed_ms: int | None
    sent_ns: int

    def change_to(self, later: "_PortSample") -> str:
        """What happened to the link until a later sample, in words; empty if nothing did."""
        if later.up != self.up:
            return "came up" if later.up else "went down"
        if self.changed_ms is None or later.changed_ms is None:
            return ""
        return "changed twice between two samples" if abs(later.changed_ms - self.changed_ms) > _CHANGED_STEP_MS else ""


class LatenessMonitor(Protocol):
    """Reports how late a virtual lab delivers frames; a real lab has none."""

    def begin(self, *, timed: bool) -> None:
        """A trial or a wait begins: start observing. While it times frames or ranks, lab time must run at one rate."""

    def end(self) -> float | None:
        """It has ended. How late it was, us, if lab time runs slower in the next one for it; else None."""

    def read_slower(self) -> None:
        """Samples of a window were missed: lab time is to run more slowly in those to come."""

    def pace(self) -> str:
        """How fast the lab's time runs now, such as "1/10 of real time"; empty in real time."""

    def wall_s(self) -> float:
        """The time by which people wait, s, whatever the lab's time does; it counts from anywhere."""

    def late_us(self, limit_us: float, share: float) -> float | None:
        """The lateness that more than `share` of the frames since `begin` exceeded, if above the limit; else None."""


@contextmanager
def untimed(monitor: LatenessMonitor | None) -> Iterator[None]:
    """A wait in which nobody times anything, so that a virtual lab that sets its own rate may go faster."""
    if monitor is None:
        yield
        return
    monitor.begin(timed=False)
    try:
        yield
    finally:
        monitor.end()


class GuardSink:
    """Checks every batch of a collector. The collector's threads call `take`; the run's thread calls the rest.

    `links` are the lab's.
    """

    def __init__(self, links: Iterable[Link] = ()) -> None:
        self._names = {
            (end.device, end.port): f"{end} to {link.other(end.device)}" for link in links for end in (link.a, link.b)
        }
        self._lock = threading.Lock()
        self._settled_since_ns: int | None = None
        self._links: dict[tuple[str, str], _PortSample] = {}
        self._up: dict[tuple[str, str], bool] = {}
        self._down_before: frozenset[tuple[str, str]] = frozenset()
        self._violations: list[Violation] = []
        self._polls: dict[str, dict[str, deque[tuple[int, int]]]] = {"watts": {}, "ports": {}}

    def lab_changing(self) -> None:
        """The lab is being changed from now on: ignore its links."""
        with self._lock:
            self._settled_since_ns = None
            self._down_before = frozenset(place for place, up in self._up.items() if not up)

    def lab_settled(self, now_ns: int) -> None:
        """The lab is settled from now on: a link that changes is a violation."""
        with self._lock:
            self._settled_since_ns = now_ns
            self._links.clear()

    def was_down(self, switch: str, port: str) -> bool:
        """Whether a port is known to have had no link before the lab was changed."""
        with self._lock:
            return (switch, port) in self._down_before

    def violations(self) -> tuple[Violation, ...]:
        """All violations so far."""
        with self._lock:
            return tuple(self._violations)

    def has_watts(self, begun_ns: int, ended_ns: int) -> bool:
        """Whether any meter delivered a sample within a window."""
        with self._lock:
            polls = chain.from_iterable(self._polls["watts"].values())
            return any(begun_ns <= sent_ns <= ended_ns for sent_ns, _ in polls)

    def undersampled(self, begun_ns: int, ended_ns: int) -> str:
        """Which devices have too few samples within a window for its mean watts, in clauses; "" if none has.

        Strips need three readings, switches one of all their counters, as the fit of powers does. Only devices that
        have delivered any in this run.
        """
        with self._lock:
            few = [
                f"{device} answered {counted(count, 'time')} in this window, which needs {least}"
                for table, least in _LEAST_POLLS.items()
                for device, polls in sorted(self._polls[table].items())
                if (count := sum(begun_ns <= sent_ns and got_ns <= ended_ns for sent_ns, got_ns in polls)) < least
            ]
        return "; ".join(few)

    def take(self, batch: Batch) -> None:
        """Check the rows of a batch."""
        with self._lock:
            if batch.table == "ports":
                self._take_ports(batch)
            elif batch.table == "watts":
                self._take_watts(batch)

    def _polled(self, table: str, row: Mapping[str, Any]) -> None:
        device = row["strip" if table == "watts" else "switch"]
        polls = self._polls[table].setdefault(device, deque(maxlen=_KEPT_POLLS))
        poll = row["sent_ns"], row["received_ns"]
        if not polls or polls[-1] != poll:
            polls.append(poll)

    def _take_ports(self, batch: Batch) -> None:
        for row in rows_of(batch, ("switch", "port", "sent_ns", "received_ns", "up", "changed_ms", "mark")):
            self._polled("ports", row)
            sent_ns, place = row["sent_ns"], (row["switch"], row["port"])
            if row["mark"]:
                previous = self._links.get(place)
                before_ns = previous.sent_ns if previous else sent_ns - _NS
                words = "was reset" if row["mark"] == "reset" else "wrapped around"
                sentence = f"a counter of {place[0]}:{place[1]} {words}"
                self._add(Violation("counters", before_ns, row["received_ns"], sentence))
            if row["up"] is not None:
                self._up[place] = row["up"]
            if self._settled_since_ns is None or sent_ns < self._settled_since_ns or row["up"] is None:
                continue
            before, now = self._links.get(place), _PortSample(row["up"], row["changed_ms"], sent_ns)
            self._links[place] = now
            if before is not None and (words := before.change_to(now)):
                sentence = f"the link at {self._names.get(place, ':'.join(place))} {words}"
                self._add(Violation("flaps", before.sent_ns, row["received_ns"], sentence))

    def _take_watts(self, batch: Batch) -> None:
        """A batch is one poll of a strip. A stale meter has been stale since the last change of any of its outlets.

        A single outlet whose watts stay constant, as when nothing is plugged in, does not make the meter stale.
        """
        rows = list(rows_of(batch, ("strip", "sent_ns", "received_ns", "power_watt", "unchanged_s", "mark")))
        stale_s = min((row["unchanged_s"] or 0.0 for row in rows if row["mark"] == "stale"), default=0.0)
        for row in rows:
            if row["mark"] == "stale":
                since_ns = row["sent_ns"] - round(stale_s * _NS)
                sentence = f"the meter {row['strip']} stopped updating"
                self._add(Violation("meters", since_ns, row["received_ns"], sentence))
            elif row["power_watt"] is not None:
                self._polled("watts", row)

    def _add(self, violation: Violation) -> None:
        """Record a violation; one that continues an earlier one extends it."""
        for place, earlier in enumerate(self._violations[-20:], max(len(self._violations) - 20, 0)):
            if earlier.sentence == violation.sentence and violation.from_ns <= earlier.to_ns:
                extended = Violation(
                    earlier.kind, min(earlier.from_ns, violation.from_ns), violation.to_ns, earlier.sentence
                )
                self._violations[place] = extended
                return
        self._violations.append(violation)


def why_invalid(guards: Guards, violations: Sequence[Violation], begun_ns: int, ended_ns: int) -> str:
    """Why a window is invalid, in one sentence; empty if it is valid."""
    found = [
        one.sentence for one in violations if getattr(guards, one.kind) and one.overlaps(begun_ns, ended_ns)
    ]  # fmt: skip
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0]}{more}." if found else ""


def contamination(guards: Guards, figures: Iterable[tuple[str, float, str]]) -> str:
    """Why the figures show more than the network, in one sentence; "" if they do not, or if the program cannot tell.

    Reasons are ranks that waited for a processor, a hypervisor that took it from the node, and iterations that form a
    second mode far slower than the median (`benchmarks.alltoall`).
    """
    found = {name: value for name, value, _ in figures}
    wait, steal = found.get("processor_wait_share", 0.0), found.get("steal_share", 0.0)
    slow = found.get("slow_iterations", 0.0) / max(found.get("time", 0.0), 1e-9)
    if wait > guards.processor_wait_share:
        return (
            f"a rank waited for a processor for {wait:.0%} of the time: use fewer ranks, or end what else runs there "
            "(guards: processor_wait_share)."
        )
    if steal > guards.steal_share:
        return (
            f"a node lost {steal:.0%} of its processors to its hypervisor: measure when its host is quiet "
            "(guards: steal_share)."
        )
    if slow > guards.slow_share:
        return (
            f"{slow:.0%} of the time passed in iterations far slower than the median, a second mode that no link "
            "explains: end what else runs on the nodes (guards: slow_share)."
        )
    return ""


class TrialMonitor:
    """Observes the timed part of one trial, within its context: jumps of the clock, lateness of a virtual lab.

    `timed`: the trial times frames or ranks, so that lateness spoils it; meters do not mind. At the end of the context
    `violation` says in one sentence what made the trial invalid, or is empty, `late` that lab time runs slower in the
    next one, so that this one is better tried again, and `pace` how fast it ran.
    """

    def __init__(
        self, guards: Guards, clock: RunClock, lateness_monitor: LatenessMonitor | None, *, timed: bool = True
    ) -> None:
        self._timed = timed
        self._guards = guards
        self._clock = clock
        self._lateness_monitor = lateness_monitor
        self._ahead_ns = clock.system_ahead_ns()
        self.violation = ""
        self.late = ""
        self.pace = ""

    def __enter__(self) -> Self:
        if self._lateness_monitor is not None:
            self._lateness_monitor.begin(timed=self._timed)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.violation = self._violation()
                self.pace = "" if self._lateness_monitor is None else self._lateness_monitor.pace()
        finally:
            late_us = None if self._lateness_monitor is None else self._lateness_monitor.end()
            if late_us is not None:
                late = f"its frames or ranks were late by {late_us:.3g} us of lab time"
                self.late = f"{late}, which runs slower from then on."

    def _violation(self) -> str:
        jump_s = (self._clock.system_ahead_ns() - self._ahead_ns) / _NS
        if abs(jump_s) > self._guards.clock_jump_s:
            return f"the system clock jumped by {jump_s:+.3f} s: let chrony slew it, not step it."
        if self._lateness_monitor is None or not self._timed:
            return ""
        try:
            late_us = self._lateness_monitor.late_us(self._guards.twin_late_us, self._guards.twin_late_share)
        except LabError as error:
            return str(error)
        return "" if late_us is None else str(TwinLate(late_us))
