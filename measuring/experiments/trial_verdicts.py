"""Whether a trial counts: what it showed itself, what the collector saw meanwhile, and how late a virtual lab was."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from eee_testbed.measuring.experiments.blocks import Slot
from eee_testbed.measuring.experiments.experiment import Experiment, Guards
from eee_testbed.measuring.experiments.guards import (
    GuardSink,
    LatenessMonitor,
    TrialMonitor,
    contamination,
    why_invalid,
)
from eee_testbed.measuring.experiments.measuring import Measured
from eee_testbed.measuring.experiments.recorded_trials import RecordedTrials
from eee_testbed.record.trial_events import TrialEnded, TrialState

_SURE_PERIODS: Final = 4
"""Of the meters: so long a window has three readings wherever it begins."""


@dataclass
class TrialVerdicts:
    """Judges the trials of a run. `has_strips`: windows need the watts of a meter."""

    experiment: Experiment
    guard_sink: GuardSink
    lateness_monitor: LatenessMonitor | None
    has_strips: bool
    pace: str = field(default="", init=False)
    """Of the lab's time in the trial before; "": the wall's."""

    @property
    def timed(self) -> bool:
        """Trials time frames or ranks; windows of meters do not."""
        return self.experiment.measure.window is None

    def new_pace(self, pace: str) -> tuple[tuple[str, ...], bool]:
        """A note if lab time changed its pace, which is real time at first, and whether people want to read it."""
        said = self.timed or not self.pace  # each window of a meter goes at a pace of its own
        if pace == self.pace:
            return (), said
        self.pace = pace
        shown = f"at {pace}" if pace else "in real time"
        return (f"from this trial on, lab time runs {shown}.",), said

    def of(
        self, slot: Slot, number: int, done: Measured, monitor: TrialMonitor, trials: RecordedTrials
    ) -> tuple[TrialEnded, tuple[str, ...]]:
        """How a trial ended, and notes on it. One that was late counts if its slot has no retries left."""
        late, few_notes = self._few_samples(done)
        late = monitor.late or late
        late_notes: tuple[str, ...] = ()
        if late and not trials.may_repeat(slot):
            late, late_notes = "", (f"{late} It counts: its slot has no retries left.",)
        why = done.why or monitor.violation or self.why_invalid(done) or late
        state: TrialState = "invalid" if why else "valid"
        answer = done.answer_right, done.figures, done.loop_ns
        ended = TrialEnded(number, state, why, done.begun_ns, done.ended_ns, *answer)
        return ended, (*late_notes, *few_notes, *self.shared_processors(done))

    def why_invalid(self, done: Measured) -> str:
        """Why a trial does not count, by its figures and by what the collector saw; "" if it does."""
        guards = self.experiment.guards
        why = "" if self._on_shared_processors() else contamination(self._guards(), done.figures)
        why = why or why_invalid(guards, self.guard_sink.violations(), done.begun_ns, done.ended_ns)
        if not why and self._metered and not self.guard_sink.has_watts(done.begun_ns, done.ended_ns):
            return "no meter delivered a sample in its window: check the power strips."
        return why

    @property
    def _metered(self) -> bool:
        return self.experiment.guards.meters and self.has_strips and self.experiment.measure.what == "power"

    @property
    def _promised(self) -> bool:
        """A window is so long that it has the samples it needs, unless some are missed."""
        window = self.experiment.measure.window
        return window is not None and window.window_s >= _SURE_PERIODS * self.experiment.sampling.period_s

    def _few_samples(self, done: Measured) -> tuple[str, tuple[str, ...]]:
        """Why a window of meters should be tried again in a virtual lab, which then runs it slower, and notes on it."""
        few = self.guard_sink.undersampled(done.begun_ns, done.ended_ns) if self._metered else ""
        if not few:
            return "", ()
        if self.lateness_monitor is None or not self._promised:
            return "", (f"{few}: use longer windows.",)
        self.lateness_monitor.read_slower()
        return f"{few}: lab time runs slower in later windows.", ()

    def shared_processors(self, done: Measured) -> Iterator[str]:
        """What would make this trial invalid on nodes of their own."""
        why = contamination(self.experiment.guards, done.figures)
        if why and self.lateness_monitor is not None and not self.why_invalid(done):
            yield f"{why} It counts: hosts of a virtual lab share one machine."

    def recheck(self, trials: RecordedTrials) -> None:
        """Invalidate valid trials for which later samples show a violation."""
        violations = self.guard_sink.violations()
        for slot, ended in trials.ended:
            why = why_invalid(self.experiment.guards, violations, ended.begun_ns, ended.ended_ns)
            if ended.state == "valid" and why:
                trials.end(slot, replace(ended, state="invalid", why=why))

    def _on_shared_processors(self) -> bool:
        """The last trial was in a virtual lab in real time: ranks share this machine's processors there."""
        return self.lateness_monitor is not None and not self.pace

    def _guards(self) -> Guards:
        """Those in force. Hosts of a virtual lab share processors at every pace: ranks that spin wait for each other.

        Such a wait costs nothing unless the rank had something to do; iterations with a second mode would show it.
        """
        guards = self.experiment.guards
        return guards if self.lateness_monitor is None else guards.model_copy(update={"processor_wait_share": math.inf})
