"""Run an experiment: measure trial after trial, validate each, record it, and repeat the invalid ones.

The collector samples from the first trial to the last. Events record each trial when it begins and when it ends, and
are on disk before the next trial begins. So a run that was killed can be resumed, and repeats at most the trial that
was in progress. However the run ends, the lab is restored.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from eee_testbed.analysis.links.probed_path import probed_path
from eee_testbed.controller.applying.rounds import Stop, Stopped
from eee_testbed.lab.errors import JournalFailed, LabError, RollbackFailed, RunFolderFailed
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.collecting.collect import Collector
from eee_testbed.measuring.experiments.blocks import Slot, SlotQueue
from eee_testbed.measuring.experiments.experiment import Experiment, Guards, LoopLevel
from eee_testbed.measuring.experiments.guards import (
    GuardSink,
    LatenessMonitor,
    TrialMonitor,
    contamination,
    untimed,
    why_invalid,
)
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.experiments.level_plans import loop_at
from eee_testbed.measuring.experiments.measuring import Measured, await_reach, begun_of, hosts_of, measure
from eee_testbed.measuring.experiments.probing import eee_sentence, note_eee
from eee_testbed.measuring.experiments.run_progress import RunProgress
from eee_testbed.measuring.experiments.signal_handling import SignalHandling
from eee_testbed.measuring.experiments.validation import order_for
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch
from eee_testbed.record.store import Run, read_events
from eee_testbed.record.trial_events import TrialEnded, TrialState, trial_folder

_DISK_PATIENCE_S: Final = 60.0
_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `missing` slots have no valid trial; `restored` is a sentence on how the lab was restored."""

    slots: int
    valid: int
    tried: int
    missing: tuple[Slot, ...]
    interrupted: bool
    restored: str
    cause: LabError | None = None

    @property
    def complete(self) -> bool:
        """Whether the run reached its end; trials may be missing even so."""
        return not self.interrupted and self.cause is None


class TrialLoops(Protocol):
    """Closed loops beside trials: a sink of the run's collector. `measuring.regulating.in_trial` has it."""

    def take(self, batch: Batch) -> None:
        """Receive samples."""

    def beside(
        self,
        level: LoopLevel,
        controller: LabController,
        collector: Collector,
        signals: SignalHandling,
        run_once: Callable[[int], Measured],
    ) -> AbstractContextManager[str]:
        """A loop that regulates within the context; entered when it is steady.

        `run_once` runs the program, given how often it ran before. Yields a sentence if the loop was not steady in
        time, else "". LabError if the loop failed.
        """


@dataclass
class Runner:
    """One run in progress, in the main thread. The caller holds the lab's lock, and closes the run."""

    lab: Lab
    experiment: Experiment
    run: Run
    lab_controller: LabController
    collector: Collector
    guard_sink: GuardSink
    progress: RunProgress
    signals: SignalHandling
    lateness_monitor: LatenessMonitor | None = None
    loops: TrialLoops | None = None
    """Needed if a level is a closed loop."""

    _ended: dict[int, tuple[Slot, TrialEnded]] = field(default_factory=dict)
    _queue: SlotQueue = field(init=False)
    _number: int = 0
    _settled: bool = False
    _pace: str = ""

    def __post_init__(self) -> None:
        events = read_events(self.run.folder)
        ended = (event for event in events if event["kind"] == EventKind.TRIAL_ENDED)
        states: dict[int, str] = {event["trial"]: event["state"] for event in ended}
        slots = {event["trial"]: event["slot"] for event in events if event["kind"] == EventKind.TRIAL_BEGUN}
        done = {slot for trial, slot in slots.items() if states.get(trial) == "valid"}
        self._queue = SlotQueue(order_for(self.experiment), done, self.experiment.guards.retries)
        self._number = max(slots, default=-1) + 1

    @property
    def slot_count(self) -> int:
        """Slots of the whole experiment."""
        return len(order_for(self.experiment))

    def execute(self) -> Outcome:
        """Run every slot that has no valid trial, then restore the lab; errors that end the run are in the outcome."""
        interrupted, cause, restored = False, None, ""
        self.progress.resumed(self._queue.done)
        try:
            with self.signals.asking(self.lab_controller.stop):
                self.lab_controller.open()
            self._trials()
        except (KeyboardInterrupt, Stopped):
            interrupted = True
            self.progress.say("stopped: all measurements so far are kept")
        except LabError as error:
            cause = error
            self.progress.say(str(error))
        finally:
            if not isinstance(cause, RollbackFailed):
                try:
                    restored = self._restore()
                except LabError as error:
                    cause = cause or error
                    retry = f"Run `eeectl run {self.run.folder} --put-back` to restore it."
                    restored = f"the lab could NOT be restored: {error} {retry}"
        missing = self._queue.missing()
        return Outcome(self.slot_count, self._queue.done, self._number, missing, interrupted, restored, cause)

    def _restore(self) -> str:
        self.guard_sink.lab_changing()
        self.lab_controller.stop = Stop()
        with self.signals.asking(self.lab_controller.stop):
            return self.lab_controller.restore()

    # -- trials

    def _trials(self) -> None:
        self._warm_up()
        in_a_row = 0
        while (slot := self._next()) is not None:
            self.lab_controller.lock.renew()
            self.collector.check()
            self._await_disk()
            ended = self._trial(slot)
            self._recheck()
            in_a_row = 0 if ended.state != "failed" else in_a_row + 1
            if in_a_row >= self.experiment.guards.failures_in_a_row:
                raise LabError(
                    f"{in_a_row} trials failed in a row, the last with: {ended.why} Check the lab, then resume the run."
                )

    def _next(self) -> Slot | None:
        """The slot to run now; the last samples may invalidate trials, which are then repeated."""
        slot = self._queue.next()
        if slot is None:
            self._await_last_samples()
            slot = self._queue.next()
        return slot

    def _trial(self, slot: Slot) -> TrialEnded:
        number, self._number = self._number, self._number + 1
        words = ", ".join(f"{name} {level}" for name, level in slot.levels.items()) or self.experiment.measure.what
        self.progress.trial(f"block {slot.block + 1} of {self.experiment.blocks}: {words}")
        begun = begun_of(self.experiment, slot, number)
        self.run.event(EventKind.TRIAL_BEGUN, **begun.plain(), **self._wall())
        self._flush()
        from_ns = self.run.clock.now_ns()
        try:
            ended = self._attempt(slot, number, from_ns)
        except BaseException:
            self._record_end(slot, TrialEnded(number, "failed", "it was cut short", from_ns, self.run.clock.now_ns()))
            raise
        self._record_end(slot, ended)
        self.progress.ended(
            words if ended.state == "valid" else f"{words} {ended.state}: {ended.why}", self._queue.done
        )
        return ended

    def _attempt(self, slot: Slot, number: int, from_ns: int) -> TrialEnded:
        try:
            self._set_levels(slot)
            with self._looped(slot, number) as unsteady:
                folder = trial_folder(self.run.folder, number)
                if self.experiment.measure.probe is not None:
                    self._note_eee(slot, folder)
                monitor = TrialMonitor(self.experiment.guards, self.run.clock, self.lateness_monitor, timed=self._timed)
                done = measure(self.experiment, self.lab, slot, folder, self.run.clock, monitor)
        except (Stopped, RollbackFailed, JournalFailed, RunFolderFailed):
            raise
        except (LabError, OSError) as error:
            why = (
                str(error)
                if isinstance(error, LabError)
                else f"its files could not be written: {error.strerror or error}."
            )
            return TrialEnded(number, "failed", why, from_ns, self.run.clock.now_ns())
        said = self._timed or not self._pace  # each window of a meter goes at a pace of its own
        pace_notes = tuple(self._changed_pace(monitor.pace))
        for note in pace_notes if said else ():
            self.progress.say(note)
        too_late, late_notes = self._too_late(slot, monitor.late)
        for note in (*unsteady, *done.notes, *pace_notes, *late_notes, *self._shared_processors(done)):
            self.run.event(EventKind.TRIAL_NOTE, trial=number, note=note)
        why = done.why or monitor.violation or self._why_invalid(done) or too_late
        state: TrialState = "invalid" if why else "valid"
        answer = done.answer_right, done.figures, done.loop_ns
        return TrialEnded(number, state, why, done.begun_ns, done.ended_ns, *answer)

    @property
    def _timed(self) -> bool:
        """Trials time frames or ranks; windows of meters do not."""
        return self.experiment.measure.window is None

    @contextmanager
    def _looped(self, slot: Slot, number: int) -> Iterator[tuple[str, ...]]:
        """A context in which a closed loop regulates the lab, if the slot has one; yields notes on it.

        Trials of the loop follow runs in which it settled. So in its experiment the program runs once before any other
        trial, too, unrecorded: no trial is colder than another.
        """
        folder = self.run.folder / "settling" / f"{number:04d}"

        def run_once(count: int) -> Measured:
            return measure(self.experiment, self.lab, slot, folder / f"{count:04d}", self.run.clock)

        level = loop_at(self.experiment, slot.levels)
        if level is None:
            if self.loops is not None:
                run_once(0)
            yield ()
            return
        if self.loops is None:
            raise AssertionError("a level is a closed loop, and nothing was given that runs it")
        self.guard_sink.lab_changing()
        self.lab_controller.hand_over()
        self._settled = False
        try:
            with self.loops.beside(level, self.lab_controller, self.collector, self.signals, run_once) as unsteady:
                yield (unsteady,) if unsteady else ()
        finally:
            self.lab_controller.stop = Stop()

    def _note_eee(self, slot: Slot, folder: Path) -> None:
        """Record, and say, whether EEE is in force on the path of a probe: without it, nothing on it can sleep."""
        shown = self.lab_controller.eee_shown()
        note_eee(folder, shown)
        first, second = hosts_of(self.experiment, self.lab, slot)
        if sentence := eee_sentence(probed_path(self.lab, (first.name, second.name), shown)):
            self.progress.say(sentence)

    def _changed_pace(self, pace: str) -> Iterator[str]:
        """The pace of the lab's time, where it is not that of the trial before; the first is the wall's."""
        if pace != self._pace:
            self._pace = pace
            shown = pace or "the wall's pace"
            yield f"from this trial on, lab time runs at {shown}."

    def _too_late(self, slot: Slot, late: str) -> tuple[str, tuple[str, ...]]:
        """Why a trial is invalid after which a lab slows its time down; without retries, a note that it counts."""
        if late and not self._queue.may_repeat(slot):
            return "", (f"{late} It counts: its slot has no retries left.",)
        return late, ()

    def _wall(self) -> dict[str, float]:
        """The wall's time, for views: the run's own clock may be a virtual lab's. Empty on a real lab."""
        return {} if self.lateness_monitor is None else {"wall_s": self.lateness_monitor.wall_s()}

    def _on_shared_processors(self) -> bool:
        """The last trial was in a virtual lab at the wall's pace: ranks share this machine's processors there."""
        return self.lateness_monitor is not None and not self._pace

    def _guards(self) -> Guards:
        """Those in force. Hosts of a virtual lab share processors at every pace: ranks that spin wait for each other.

        Such a wait costs nothing unless the rank had something to do; iterations with a second mode would show it.
        """
        guards = self.experiment.guards
        return guards if self.lateness_monitor is None else guards.model_copy(update={"processor_wait_share": math.inf})

    def _shared_processors(self, done: Measured) -> Iterator[str]:
        """What would make this trial invalid on nodes of their own."""
        why = contamination(self.experiment.guards, done.figures)
        if why and self.lateness_monitor is not None and not self._why_invalid(done):
            yield f"{why} It counts: hosts of a virtual lab share one machine."

    def _why_invalid(self, done: Measured) -> str:
        guards = self.experiment.guards
        why = "" if self._on_shared_processors() else contamination(self._guards(), done.figures)
        why = why or why_invalid(guards, self.guard_sink.violations(), done.begun_ns, done.ended_ns)
        metered = guards.meters and self.lab.strips and self.experiment.measure.what == "power"
        if not why and metered and not self.guard_sink.has_watts(done.begun_ns, done.ended_ns):
            return "no meter delivered a sample in its window: check the power strips."
        return why

    def _record_end(self, slot: Slot, ended: TrialEnded) -> None:
        self._ended[ended.trial] = (slot, ended)
        self.run.event(EventKind.TRIAL_ENDED, **ended.plain(), **self._wall())
        if ended.state == "valid":
            self._queue.succeeded(slot)
        elif ended.state == "failed" and not self.experiment.guards.retry_failed:
            self._queue.gave_up(slot)
            self.progress.say(f"trial {ended.trial} failed and is not repeated: {ended.why}")
        elif not self._queue.failed(slot):
            self.progress.say(f"trial {ended.trial} is {ended.state} and its slot has no retries left: {ended.why}")
        self._flush()

    def _recheck(self) -> None:
        """Invalidate valid trials for which later samples show a violation."""
        violations = self.guard_sink.violations()
        for slot, ended in list(self._ended.values()):
            why = why_invalid(self.experiment.guards, violations, ended.begun_ns, ended.ended_ns)
            if ended.state == "valid" and why:
                self._record_end(slot, replace(ended, state="invalid", why=why))

    def _await_last_samples(self) -> None:
        """Wait for the samples that follow the last trial, then recheck all trials."""
        tick_ns = round(self.experiment.sampling.period_s * 1.5 * _NS)
        if self.collector.states:
            with untimed(self.lateness_monitor):
                self.run.clock.wait_until(self.run.clock.now_ns() + tick_ns, self.collector.ending)
            self._recheck()

    # -- preparing a trial

    def _set_levels(self, slot: Slot) -> None:
        changed = False
        if self.lab_controller.changes_lab and not self.lab_controller.has(slot.levels):
            self.guard_sink.lab_changing()
            with self.signals.asking(self.lab_controller.stop):
                changed = self.lab_controller.set_levels(slot.levels)
        if changed or not self._settled:
            self.guard_sink.lab_settled(self.run.clock.now_ns())
        hosts = hosts_of(self.experiment, self.lab, slot)
        if len(hosts) > 1 and (changed or not self._settled):
            await_reach(hosts)
        self._settled = True

    def _warm_up(self) -> None:
        slot = next(iter(self._queue.missing()), None)
        for number in range(self.experiment.warm_up if slot else 0):
            if slot is not None:
                self.progress.trial(f"warming up, {number + 1} of {self.experiment.warm_up}")
                self._set_levels(slot)
                measure(self.experiment, self.lab, slot, self.run.folder / "warm-up" / f"{number:04d}", self.run.clock)
                self.run.event(EventKind.WARMED_UP, number=number)

    def _flush(self) -> None:
        if not self.run.flush(2.0):
            self._await_disk()

    def _await_disk(self) -> None:
        """Wait until the run's folder can be written again: nothing is measured that cannot be recorded."""
        if not self.run.trouble:
            return
        self.progress.say(f"the run's folder cannot be written ({self.run.trouble}): waiting for room")
        end_ns = self.run.clock.now_ns() + round(_DISK_PATIENCE_S * _NS)
        while self.run.trouble:
            if self.run.clock.now_ns() > end_ns:
                raise RunFolderFailed(str(self.run.folder), self.run.trouble)
            self.run.flush(2.0)
