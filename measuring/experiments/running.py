"""Run an experiment: measure trial after trial, validate each, record it, and repeat the invalid ones.

The collector samples from the first trial to the last. Events record each trial when it begins and when it ends, and
are on disk before the next trial begins. So a run that was killed can be resumed, and repeats at most the trial that
was in progress. However the run ends, the lab is restored.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.controller.applying.rounds import Stopped
from eee_testbed.lab.errors import JournalFailed, LabError, RollbackFailed, RunFolderFailed
from eee_testbed.measuring.collecting.collect import Collector
from eee_testbed.measuring.experiments.blocks import Slot
from eee_testbed.measuring.experiments.expressions import Expressions
from eee_testbed.measuring.experiments.guards import TrialMonitor, untimed
from eee_testbed.measuring.experiments.measuring import Measured, measure
from eee_testbed.measuring.experiments.prepared_lab import PreparedLab
from eee_testbed.measuring.experiments.recorded_trials import RecordedTrials
from eee_testbed.measuring.experiments.trial_verdicts import TrialVerdicts
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.trial_events import TrialEnded, trial_folder

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


class Runner:
    """One run in progress, in the main thread. The caller holds the lab's lock, and closes the run."""

    def __init__(
        self, prepared: PreparedLab, trials: RecordedTrials, verdicts: TrialVerdicts, collector: Collector
    ) -> None:
        self.prepared, self.trials, self.verdicts, self.collector = prepared, trials, verdicts, collector
        self.lab, self.experiment = prepared.lab, trials.experiment
        self.run, self.progress = trials.run, trials.progress
        self.lateness_monitor = verdicts.lateness_monitor
        self.expressions = Expressions(matched=trials.done > 0)

    def execute(self) -> Outcome:
        """Run every slot that has no valid trial, then restore the lab; errors that end the run are in the outcome."""
        trials, interrupted, cause, restored = self.trials, False, None, ""
        self.progress.resumed(trials.done)
        try:
            self.prepared.open()
            self._run_slots()
        except (KeyboardInterrupt, Stopped):
            interrupted = True
            self.progress.say("stopped: all measurements so far are kept")
        except LabError as error:
            cause = error
            self.progress.say(str(error))
        finally:
            if not isinstance(cause, RollbackFailed):
                try:
                    restored = self.prepared.restore()
                except LabError as error:
                    cause = cause or error
                    retry = f"Run `eeectl run {self.run.folder} --put-back` to restore it."
                    restored = f"the lab could NOT be restored: {error} {retry}"
        return Outcome(trials.slot_count, trials.done, trials.tried, trials.missing(), interrupted, restored, cause)

    def _run_slots(self) -> None:
        self._warm_up()
        in_a_row = 0
        while (slot := self._next()) is not None:
            self.prepared.controller.lock.renew()
            self.collector.check()
            self.trials.await_disk()
            ended = self._trial(slot)
            self.verdicts.recheck(self.trials)
            self.expressions.require_hope()
            in_a_row = 0 if ended.state != "failed" else in_a_row + 1
            if in_a_row >= self.experiment.guards.failures_in_a_row:
                raise LabError(
                    f"{in_a_row} trials failed in a row, the last with: {ended.why} Check the lab, then resume the run."
                )

    def _next(self) -> Slot | None:
        """The slot to run now; the last samples may invalidate trials, which are then repeated."""
        slot = self.trials.next()
        if slot is None:
            self._await_last_samples()
            slot = self.trials.next()
        return slot

    def _trial(self, slot: Slot) -> TrialEnded:
        words = ", ".join(f"{name} {level}" for name, level in slot.levels.items()) or self.experiment.measure.what
        self.progress.trial(f"block {slot.block + 1} of {self.experiment.blocks}: {words}")
        number = self.trials.begin(slot)
        from_ns = self.run.clock.now_ns()
        try:
            ended = self._attempt(slot, number, from_ns)
        except BaseException:
            self.trials.end(slot, TrialEnded(number, "failed", "it was cut short", from_ns, self.run.clock.now_ns()))
            raise
        self.trials.end(slot, ended)
        self.progress.ended(
            words if ended.state == "valid" else f"{words} {ended.state}: {ended.why}", self.trials.done
        )
        return ended

    def _attempt(self, slot: Slot, number: int, from_ns: int) -> TrialEnded:
        try:
            self.prepared.set_levels(slot)
            done, monitor, notes = self._measure(slot, number)
        except (Stopped, RollbackFailed, JournalFailed, RunFolderFailed):
            raise
        except LabError as error:
            why = str(error)
        except OSError as error:
            why = f"its files could not be written: {error.strerror or error}."
        else:
            pace_notes, said = self.verdicts.new_pace(monitor.pace)
            for note in pace_notes if said else ():
                self.progress.say(note)
            ended, more = self.verdicts.of(slot, number, done, monitor, self.trials)
            for note in (*notes, *pace_notes, *more):
                self.run.event(EventKind.TRIAL_NOTE, trial=number, note=note)
            return ended
        return TrialEnded(number, "failed", why, from_ns, self.run.clock.now_ns())

    def _measure(self, slot: Slot, number: int) -> tuple[Measured, TrialMonitor, tuple[str, ...]]:
        """What was measured, what was observed meanwhile, and notes on both."""
        settling = self.run.folder / "settling" / f"{number:04d}"

        def run_once(count: int) -> Measured:
            return self._once(slot, settling / f"{count:04d}")

        with self.prepared.looped(slot, self.collector, run_once) as unsteady:
            folder = trial_folder(self.run.folder, number)
            if self.experiment.measure.probe is not None and (said := self.prepared.note_eee(slot, folder)):
                self.progress.say(said)
            clock, late = self.run.clock, self.lateness_monitor
            monitor = TrialMonitor(self.experiment.guards, clock, late, timed=self.verdicts.timed)
            done = measure(self.experiment, self.lab, slot, folder, clock, monitor)
            self.expressions.tried(done, folder)
        return done, monitor, (*unsteady, *done.notes)

    def _once(self, slot: Slot, folder: Path) -> Measured:
        """Measure without observing whether it counts."""
        return measure(self.experiment, self.lab, slot, folder, self.run.clock)

    def _await_last_samples(self) -> None:
        """Wait for the samples that follow the last trial, then recheck all trials."""
        tick_ns = round(self.experiment.sampling.period_s * 1.5 * _NS)
        if self.collector.states:
            with untimed(self.lateness_monitor):
                self.run.clock.wait_until(self.run.clock.now_ns() + tick_ns, self.collector.ending)
            self.verdicts.recheck(self.trials)

    def _warm_up(self) -> None:
        slot = next(iter(self.trials.missing()), None)
        for number in range(self.experiment.warm_up if slot else 0):
            if slot is not None:
                self.progress.trial(f"warming up, {number + 1} of {self.experiment.warm_up}")
                self.prepared.set_levels(slot)
                self._once(slot, self.run.folder / "warm-up" / f"{number:04d}")
                self.run.event(EventKind.WARMED_UP, number=number)
