"""Sampling: every source has its own thread and schedule, so that a slow source delays no other.

Ticks are due at fixed times. A poll that begins late is marked, and a tick that passes while the source is still busy
with the previous poll is recorded as missed; neither moves the ticks that follow. A source that fails is polled again
at its next tick, over a new connection. Only a source that denies access is not polled again, as further attempts may
lock the account.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, Self

from eee_testbed.lab.errors import AccessDenied, HostKeyChanged, LabError, RunFolderFailed
from eee_testbed.measuring.collecting.source import Reading, Source, SourceKind
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock, Schedule, aligned
from eee_testbed.record.sample_tables import Batch, Column

_NS: Final = 1_000_000_000
_LATE_SHARE: Final = 10  # a poll is late from a tenth of its period
_JUMP_NS: Final = 50_000_000
_CLOCK_CHECK_NS: Final = _NS

Outcome = Literal["waiting", "ok", "failed", "gave up"]


class Recorder(Protocol):
    """Keeps samples: a run's folder (`store.Run`), or memory for a live view."""

    @property
    def clock(self) -> RunClock:
        """The clock of all its times."""

    def append(self, batch: Batch) -> None:
        """Append rows to a table; RunFolderFailed if they cannot be kept."""

    def event(self, kind: EventKind, **facts: Any) -> None:
        """Record an event that happened now or at `time_ns`."""

    def add_clocks(self, offsets: Sequence[Mapping[str, Any]]) -> None:
        """Add estimates of other clocks."""


class Sink(Protocol):
    """Another receiver of every batch."""

    def take(self, batch: Batch) -> None:
        """Keep the batch or drop it, without blocking."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A source and its polling period."""

    source: Source
    period_s: float


@dataclass(frozen=True, slots=True)
class SourceState:
    """A source's last outcome, and counts of its polls so far."""

    name: str
    kind: SourceKind
    period_s: float
    outcome: Outcome = "waiting"
    why: str = ""
    received_ns: int = 0
    ok_count: int = 0
    failed_count: int = 0
    missed_count: int = 0
    late_count: int = 0


class _Sampler:
    """Polls one source in a thread."""

    def __init__(self, timed: Timed, collector: "Collector") -> None:
        source = timed.source
        self.state = SourceState(source.name, source.kind, timed.period_s)
        self.source = source
        self._collector = collector
        self._run = collector.run
        self._clock: RunClock = collector.run.clock
        self.thread = threading.Thread(target=self._sample, name=f"sample {source.name} {source.kind}")
        self.polled = threading.Event()
        """Set after the first poll, and where there will be none."""

    def _sample(self) -> None:
        orderly = False
        try:
            self._follow_schedule()
            orderly = True
        except RunFolderFailed as error:
            orderly = True
            self._collector.give_up(error)
        finally:
            self.polled.set()
            if not orderly:
                sentence = f"sampling {self.state.name} ended with a bug in this program: report the trace above."
                self._collector.give_up(LabError(sentence))
            self.source.close()

    def _follow_schedule(self) -> None:
        schedule, tick = self._collector.schedule(self.state.period_s), 0
        while not self._clock.wait_until(schedule.due_ns(tick), self._collector.ending):
            goes_on = self._poll(schedule, tick)
            self.polled.set()
            if not goes_on:
                return
            following = schedule.following(tick, self._clock.now_ns())
            for missed in range(tick + 1, following):
                self._record_poll(missed, schedule, None, "missed", "", "the poll before took too long")
            self.state = replace(self.state, missed_count=self.state.missed_count + following - tick - 1)
            tick = following

    def _poll(self, schedule: Schedule, tick: int) -> bool:
        """Poll once; False if the source must not be polled again."""
        due_ns, begun_ns = schedule.due_ns(tick), self._clock.now_ns()
        late = begun_ns - due_ns > schedule.period_ns // _LATE_SHARE
        try:
            reading = self.source.read(self._clock)
        except LabError as error:
            denied = isinstance(error, AccessDenied | HostKeyChanged)
            self._failed(error, "gave up" if denied else "failed")
            times_ns = begun_ns, self._clock.now_ns()
            self._record_poll(tick, schedule, times_ns, "failed", "late" if late else "", str(error))
            self.source.close()
            return not denied
        mark = reading.mark or ("late" if late else "")
        times_ns = reading.sent_ns, reading.received_ns
        self._record_poll(tick, schedule, times_ns, "ok", mark, "", reading.uptime_ms)
        self._succeeded(reading, late=late)
        times: dict[str, Column] = {
            "tick": tick,
            "due_ns": due_ns,
            "sent_ns": reading.sent_ns,
            "received_ns": reading.received_ns,
        }
        self._put(replace(reading.batch, columns={**times, **reading.batch.columns}))
        for event in reading.events:
            self._run.event(event.kind, source=self.state.name, source_kind=self.state.kind, **event.facts)
        return True

    def _succeeded(self, reading: Reading, *, late: bool) -> None:
        before = self.state
        if before.outcome == "failed":
            self._run.event(EventKind.SOURCE_RECOVERED, source=before.name, source_kind=before.kind)
        self.state = replace(
            before,
            outcome="ok",
            why="",
            received_ns=reading.received_ns,
            ok_count=before.ok_count + 1,
            late_count=before.late_count + late,
        )

    def _failed(self, error: LabError, outcome: Outcome) -> None:
        before = self.state
        if before.outcome != outcome or before.why != str(error):
            kind = EventKind.SOURCE_GAVE_UP if outcome == "gave up" else EventKind.SOURCE_FAILED
            self._run.event(kind, source=before.name, source_kind=before.kind, why=str(error))
        self.state = replace(before, outcome=outcome, why=str(error), failed_count=before.failed_count + 1)

    def _record_poll(
        self,
        tick: int,
        schedule: Schedule,
        times_ns: tuple[int, int] | None,
        outcome: str,
        mark: str,
        why: str,
        uptime_ms: int | None = None,
    ) -> None:
        """Append a row to `polls`."""
        sent_ns, received_ns = times_ns if times_ns is not None else (None, None)
        source: dict[str, Column] = {
            "source": self.state.name,
            "kind": self.state.kind,
            "tick": tick,
            "due_ns": schedule.due_ns(tick),
        }
        poll: dict[str, Column] = {"sent_ns": sent_ns, "received_ns": received_ns, "outcome": outcome, "mark": mark}
        self._put(Batch("polls", 1, {**source, **poll, "uptime_ms": uptime_ms, "why": why}))

    def _put(self, batch: Batch) -> None:
        self._run.append(batch)
        for sink in self._collector.sinks:
            sink.take(batch)


class Collector:
    """Samples from `start` to `stop`, or as a context. All sources with the same period tick together."""

    def __init__(self, sources: Sequence[Timed], run: Recorder, sinks: Sequence[Sink] = ()) -> None:
        for timed in sources:
            check_period(timed.source.name, timed.period_s)
        self.run = run
        self.sinks = tuple(sinks)
        self.ending = threading.Event()
        self._begun_ns = run.clock.now_ns()
        self._ahead_ns = run.clock.system_ahead_ns()
        self._failure: LabError | None = None
        self._samplers = [_Sampler(timed, self) for timed in sources]
        self._clock_watcher = threading.Thread(target=self._watch_clock, name="watch clock")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._end()
        if kind is None:
            self.check()

    def schedule(self, period_s: float) -> Schedule:
        """The schedule of a period: ticks on whole multiples of it."""
        return aligned(round(period_s * _NS), self._begun_ns)

    def start(self) -> None:
        """Start all threads."""
        self._begun_ns = self.run.clock.now_ns()
        names = [f"{sampler.state.name} {sampler.state.kind}" for sampler in self._samplers]
        self.run.event(EventKind.SAMPLING_BEGUN, sources=names)
        self._ahead_ns = self.run.clock.system_ahead_ns()
        for sampler in self._samplers:
            sampler.thread.start()
        self._clock_watcher.start()

    def await_first(self, kind: SourceKind) -> None:
        """Until every source of a kind was polled once, whatever it answered: what it counts from then on is known."""
        for sampler in self._samplers:
            if sampler.state.kind == kind:
                sampler.polled.wait()

    def stop(self) -> None:
        """Let every source finish its poll, and record the offsets of their clocks; raises what ended the sampling."""
        self._end()
        self.check()

    def check(self) -> None:
        """Raise the error that ended the sampling early, if there was one."""
        if self._failure is not None:
            raise self._failure

    @property
    def states(self) -> tuple[SourceState, ...]:
        """The state of every source now."""
        return tuple(sampler.state for sampler in self._samplers)

    def give_up(self, error: LabError) -> None:
        """End the sampling, as samples cannot be kept any more; for the threads of sources."""
        self._failure = self._failure or error
        self.ending.set()

    def _end(self) -> None:
        if self.ending.is_set() and not self._clock_watcher.is_alive():
            return
        self.ending.set()
        for sampler in self._samplers:
            sampler.thread.join()
        self._clock_watcher.join()
        self.run.add_clocks([offset.plain() for sampler in self._samplers for offset in sampler.source.offsets()])
        if self._failure is None:
            self.run.event(EventKind.SAMPLING_ENDED)

    def _watch_clock(self) -> None:
        """Record steps of the system clock, which any program may set, from the sampling's begin to its end."""
        clock = self.run.clock
        due_ns, ended = clock.now_ns(), False
        while not ended:
            ended = clock.wait_until(due_ns := due_ns + _CLOCK_CHECK_NS, self.ending)
            if self._failure is not None:
                return
            before_ns, self._ahead_ns = self._ahead_ns, clock.system_ahead_ns()
            if abs(self._ahead_ns - before_ns) > _JUMP_NS:
                self.run.event(EventKind.CLOCK_JUMP, jump_ns=self._ahead_ns - before_ns)


def check_period(name: str, period_s: float) -> None:
    """LabError for a period of polls, seconds, that is too short for devices or too long to be meant."""
    if not 0.05 <= period_s <= 3_600:
        raise LabError(f"{name} cannot be polled every {period_s:g} s: use a period of 0.05 to 3600 s.")
