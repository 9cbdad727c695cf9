"""Sampling: every source has a thread and a schedule, and what one of them does delays no other.

Beats are due at fixed times. A beat that begins late is marked, one that passes while a source is still busy with the
one before is recorded as missed, and neither moves those that follow. A source that fails is asked again at its next
beat, with a new connection; only one that does not let us in is left alone, as asking again may lock an account.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, Self

from controller.collecting.source import Reading, Source, SourceKind
from lab.errors import AccessDenied, HostKeyChanged, LabError, RunFolderFailed
from record.run_clock import RunClock, Schedule, aligned
from record.sample_tables import Batch, Column

_NS: Final = 1_000_000_000
_LATE_SHARE: Final = 10  # a beat is late from a tenth of its period
_JUMP_NS: Final = 50_000_000
_LOOK_NS: Final = _NS

Outcome = Literal["waiting", "ok", "failed", "gave up"]


class Recorder(Protocol):
    """Where what is sampled is kept: a run's folder (`store.Run`), or memory for a live view."""

    @property
    def clock(self) -> RunClock:
        """The clock of all its times."""

    def append(self, batch: Batch) -> None:
        """Rows for a table; RunFolderFailed if they cannot be kept."""

    def event(self, kind: str, **facts: Any) -> None:
        """Note that something happened, now or at `time_ns`."""

    def add_clocks(self, offsets: Sequence[Mapping[str, Any]]) -> None:
        """Add estimates of other clocks."""


class Sink(Protocol):
    """Who else is told of every batch."""

    def take(self, batch: Batch) -> None:
        """Keep it or drop it, and return at once."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A source and how often it is asked."""

    source: Source
    period_s: float


@dataclass(frozen=True, slots=True)
class SourceState:
    """How a source does: its last outcome, and counts of its beats so far."""

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
    """One source in its thread."""

    def __init__(self, timed: Timed, collector: "Collector") -> None:
        source = timed.source
        self.state = SourceState(source.name, source.kind, timed.period_s)
        self.source = source
        self._collector = collector
        self._run = collector.run
        self._clock: RunClock = collector.run.clock
        self.thread = threading.Thread(target=self._sample, name=f"sample {source.name} {source.kind}")

    def _sample(self) -> None:
        orderly = False
        try:
            self._beats()
            orderly = True
        except RunFolderFailed as error:
            orderly = True
            self._collector.give_up(error)
        finally:
            if not orderly:
                sentence = f"sampling {self.state.name} ended by a mistake in this program: report the trace above."
                self._collector.give_up(LabError(sentence))
            self.source.close()

    def _beats(self) -> None:
        schedule, tick = self._collector.schedule(self.state.period_s), 0
        while not self._clock.wait_until(schedule.due_ns(tick), self._collector.ending):
            if not self._beat(schedule, tick):
                return
            following = schedule.following(tick, self._clock.now_ns())
            for missed in range(tick + 1, following):
                self._poll(missed, schedule, None, "missed", "", "the beat before took too long")
            self.state = replace(self.state, missed_count=self.state.missed_count + following - tick - 1)
            tick = following

    def _beat(self, schedule: Schedule, tick: int) -> bool:
        """Ask once; False if there is no use in asking again."""
        due_ns, begun_ns = schedule.due_ns(tick), self._clock.now_ns()
        late = begun_ns - due_ns > schedule.period_ns // _LATE_SHARE
        try:
            reading = self.source.read(self._clock)
        except LabError as error:
            useless = isinstance(error, AccessDenied | HostKeyChanged)
            self._failed(error, "gave up" if useless else "failed")
            self._poll(tick, schedule, (begun_ns, self._clock.now_ns()), "failed", "late" if late else "", str(error))
            self.source.close()
            return not useless
        mark = reading.mark or ("late" if late else "")
        self._poll(tick, schedule, (reading.sent_ns, reading.received_ns), "ok", mark, "", reading.uptime_ms)
        self._took(reading, late=late)
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

    def _took(self, reading: Reading, *, late: bool) -> None:
        before = self.state
        if before.outcome == "failed":
            self._run.event("answers_again", source=before.name, source_kind=before.kind)
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
            kind = "gave_up" if outcome == "gave up" else "failed"
            self._run.event(kind, source=before.name, source_kind=before.kind, why=str(error))
        self.state = replace(before, outcome=outcome, why=str(error), failed_count=before.failed_count + 1)

    def _poll(
        self,
        tick: int,
        schedule: Schedule,
        times_ns: tuple[int, int] | None,
        outcome: str,
        mark: str,
        why: str,
        uptime_ms: int | None = None,
    ) -> None:
        """A row of `polls`."""
        sent_ns, received_ns = times_ns if times_ns is not None else (None, None)
        who: dict[str, Column] = {
            "source": self.state.name,
            "kind": self.state.kind,
            "tick": tick,
            "due_ns": schedule.due_ns(tick),
        }
        told: dict[str, Column] = {"sent_ns": sent_ns, "received_ns": received_ns, "outcome": outcome, "mark": mark}
        self._put(Batch("polls", 1, {**who, **told, "uptime_ms": uptime_ms, "why": why}))

    def _put(self, batch: Batch) -> None:
        self._run.append(batch)
        for sink in self._collector.sinks:
            sink.take(batch)


class Collector:
    """Samples from `start` to `stop`, or as a context. All sources with the same period beat together."""

    def __init__(self, sources: Sequence[Timed], run: Recorder, sinks: Sequence[Sink] = ()) -> None:
        for timed in sources:
            if not 0.05 <= timed.period_s <= 3_600:
                raise LabError(f"{timed.source.name} cannot be asked every {timed.period_s:g} s: 0.05 to 3600.")
        self.run = run
        self.sinks = tuple(sinks)
        self.ending = threading.Event()
        self._begun_ns = run.clock.now_ns()
        self._failure: LabError | None = None
        self._samplers = [_Sampler(timed, self) for timed in sources]
        self._timekeeper = threading.Thread(target=self._keep_time, name="keep time")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._end()
        if kind is None:
            self.check()

    def schedule(self, period_s: float) -> Schedule:
        """When sources of a period are due: on whole multiples of it."""
        return aligned(round(period_s * _NS), self._begun_ns)

    def start(self) -> None:
        """Begin."""
        self._begun_ns = self.run.clock.now_ns()
        names = [f"{sampler.state.name} {sampler.state.kind}" for sampler in self._samplers]
        self.run.event("sampling_begun", sources=names)
        for sampler in self._samplers:
            sampler.thread.start()
        self._timekeeper.start()

    def stop(self) -> None:
        """Let every source end its beat, and note what was learned of their clocks; raises what ended the sampling."""
        self._end()
        self.check()

    def check(self) -> None:
        """Raise what ended the sampling before its time, if something did."""
        if self._failure is not None:
            raise self._failure

    @property
    def states(self) -> tuple[SourceState, ...]:
        """How every source does now."""
        return tuple(sampler.state for sampler in self._samplers)

    def give_up(self, error: LabError) -> None:
        """Called by a source's thread when there is no use in going on: what is measured cannot be kept."""
        self._failure = self._failure or error
        self.ending.set()

    def _end(self) -> None:
        if self.ending.is_set() and not self._timekeeper.is_alive():
            return
        self.ending.set()
        for sampler in self._samplers:
            sampler.thread.join()
        self._timekeeper.join()
        self.run.add_clocks([one.plain() for sampler in self._samplers for one in sampler.source.offsets()])
        if self._failure is None:
            self.run.event("sampling_ended")

    def _keep_time(self) -> None:
        """Watch the system's clock, which others may step."""
        clock = self.run.clock
        ahead_ns, due_ns = clock.system_ahead_ns(), clock.now_ns()
        while not clock.wait_until(due_ns := due_ns + _LOOK_NS, self.ending):
            now_ahead_ns = clock.system_ahead_ns()
            if abs(now_ahead_ns - ahead_ns) > _JUMP_NS:
                self.run.event("clock_jump", jump_ns=now_ahead_ns - ahead_ns)
            ahead_ns = now_ahead_ns
