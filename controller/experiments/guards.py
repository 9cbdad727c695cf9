"""What makes a trial invalid although it came to its end: judged from the samples of the run, and from its clock.

A sample tells of the time since the one before it. So a complaint has an interval, and comes late: it may make
invalid what had counted already. Rows that were asked for while the lab is being changed are not looked at, as links go
down then because we want it.

A link that goes down and up between two samples of its switch shows by ifLastChange alone, where the switch keeps it.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from controller.experiments.experiment import Guards
from lab.errors import LabError, TwinLate
from lab.model import Link
from record.run_clock import RunClock
from record.sample_tables import Batch, Column

_NS: Final = 1_000_000_000
_CHANGED_STEP_MS: Final = 20
"""Agents that work ifLastChange out anew each time waver by a tick of 10 ms."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that spoils what was measured between two times of the run's clock; `kind` is a field of `Guards`."""

    kind: str
    from_ns: int
    to_ns: int
    sentence: str

    def overlaps(self, begun_ns: int, ended_ns: int) -> bool:
        """Whether it may have happened in a window."""
        return self.from_ns < ended_ns and begun_ns < self.to_ns


@dataclass(frozen=True, slots=True)
class _PortSample:
    """A port as it was last seen; `changed_ms` is None where the switch does not keep ifLastChange."""

    up: bool
    changed_ms: int | None
    sent_ns: int

    def change_to(self, now: "_PortSample") -> str:
        """What happened to its link until it was as it is now, in words; empty if nothing did."""
        if now.up != self.up:
            return "came up" if now.up else "went down"
        if self.changed_ms is None or now.changed_ms is None:
            return ""
        return "changed and changed back" if abs(now.changed_ms - self.changed_ms) > _CHANGED_STEP_MS else ""


class LatenessMonitor(Protocol):
    """Who knows the world behind a lab, such as a virtual lab's engine."""

    def begin(self) -> None:
        """A trial begins."""

    def late_us(self, limit_us: float, share: float) -> float | None:
        """If since `begin` more than a share of the frames was later than a limit: by how much; else None."""


class GuardSink:
    """Looks at every batch of a collector; its threads call `take`, the run's calls the rest. `links`: of the lab."""

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
        self._watts_ns: list[int] = []

    def lab_changing(self) -> None:
        """From now on the lab is being changed."""
        with self._lock:
            self._settled_since_ns = None
            self._down_before = frozenset(place for place, up in self._up.items() if not up)

    def lab_settled(self, now_ns: int) -> None:
        """From now on links stay as they are."""
        with self._lock:
            self._settled_since_ns = now_ns
            self._links.clear()

    def was_down(self, switch: str, port: str) -> bool:
        """Whether a port is known to have had no link when the lab began to be changed."""
        with self._lock:
            return (switch, port) in self._down_before

    def violations(self) -> tuple[Violation, ...]:
        """Everything so far."""
        with self._lock:
            return tuple(self._violations)

    def has_watts(self, begun_ns: int, ended_ns: int) -> bool:
        """Whether a meter answered in a window."""
        with self._lock:
            return any(begun_ns <= time_ns <= ended_ns for time_ns in self._watts_ns)

    def take(self, batch: Batch) -> None:
        """Look at some rows."""
        with self._lock:
            if batch.table == "ports":
                self._take_ports(batch)
            elif batch.table == "watts":
                self._take_watts(batch)

    def _take_ports(self, batch: Batch) -> None:
        for row in _rows(batch, ("switch", "port", "sent_ns", "received_ns", "up", "changed_ms", "mark")):
            sent_ns, place = row["sent_ns"], (row["switch"], row["port"])
            if row["mark"]:
                known = self._links.get(place)
                before_ns = known.sent_ns if known else sent_ns - _NS
                words = "was reset" if row["mark"] == "reset" else "went round"
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
        """A batch is one look at a strip. What stands still did so since the last change of any of it.

        An outlet whose watts stay the same, as when nothing is plugged in, is no sign of its own.
        """
        rows = list(_rows(batch, ("strip", "sent_ns", "received_ns", "power_watt", "unchanged_s", "mark")))
        still_s = min((row["unchanged_s"] or 0.0 for row in rows if row["mark"] == "stale"), default=0.0)
        for row in rows:
            if row["mark"] == "stale":
                since_ns = row["sent_ns"] - round(still_s * _NS)
                sentence = f"the meter {row['strip']} stood still"
                self._add(Violation("meters", since_ns, row["received_ns"], sentence))
            elif row["power_watt"] is not None and (not self._watts_ns or self._watts_ns[-1] != row["sent_ns"]):
                self._watts_ns.append(row["sent_ns"])

    def _add(self, violation: Violation) -> None:
        """Keep it; what goes on is one complaint that grows."""
        for place, known in enumerate(self._violations[-20:], max(len(self._violations) - 20, 0)):
            if known.sentence == violation.sentence and violation.from_ns <= known.to_ns:
                grown = Violation(known.kind, min(known.from_ns, violation.from_ns), violation.to_ns, known.sentence)
                self._violations[place] = grown
                return
        self._violations.append(violation)


def _rows(batch: Batch, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The batch row by row; a column that is missing is None."""
    columns: dict[str, Column] = {name: batch.columns.get(name) for name in names}
    for place in range(batch.row_count):
        yield {
            name: column[place] if isinstance(column, Sequence) and not isinstance(column, str) else column
            for name, column in columns.items()
        }


def why_invalid(guards: Guards, violations: Sequence[Violation], begun_ns: int, ended_ns: int) -> str:
    """Why a window does not count, in one sentence; empty if it does."""
    found = [
        one.sentence for one in violations if getattr(guards, one.kind) and one.overlaps(begun_ns, ended_ns)
    ]  # fmt: skip
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0]}{more}." if found else ""


class TrialMonitor:
    """Stands by one trial: the clock, and whoever knows the world behind the lab."""

    def __init__(self, guards: Guards, clock: RunClock, lateness_monitor: LatenessMonitor | None) -> None:
        self._guards = guards
        self._clock = clock
        self._lateness_monitor = lateness_monitor
        self._ahead_ns = clock.system_ahead_ns()
        if lateness_monitor is not None:
            lateness_monitor.begin()

    def violation(self) -> str:
        """What spoiled the trial until now, in one sentence; empty if nothing did."""
        jump_s = (self._clock.system_ahead_ns() - self._ahead_ns) / _NS
        if abs(jump_s) > self._guards.clock_jump_s:
            return f"the system's clock jumped by {jump_s:+.3f} s: let chrony slew it, not step it."
        if self._lateness_monitor is None:
            return ""
        try:
            late_us = self._lateness_monitor.late_us(self._guards.twin_late_us, self._guards.twin_late_share)
        except LabError as error:
            return str(error)
        return "" if late_us is None else str(TwinLate(late_us))
