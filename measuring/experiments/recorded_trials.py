"""The trials of a run in its folder: which slots still need one, and how each that began has ended.

A trial's events are on disk before the next one begins, so a run that was killed repeats at most the one in progress.
"""

from typing import Final

from eee_testbed.lab.errors import RunFolderFailed
from eee_testbed.measuring.experiments.blocks import Slot, SlotQueue
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.guards import LatenessMonitor
from eee_testbed.measuring.experiments.measuring import begun_of
from eee_testbed.measuring.experiments.run_progress import RunProgress
from eee_testbed.measuring.experiments.validation import order_for
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.store import Run, read_events
from eee_testbed.record.trial_events import TrialEnded

_DISK_PATIENCE_S: Final = 60.0
_NS: Final = 1_000_000_000


class RecordedTrials:
    """Those of one run. `lateness_monitor` has the wall's time, for views: the run's clock may be a virtual lab's."""

    def __init__(
        self, experiment: Experiment, run: Run, progress: RunProgress, lateness_monitor: LatenessMonitor | None
    ) -> None:
        self.experiment = experiment
        self.run = run
        self.progress = progress
        self.lateness_monitor = lateness_monitor
        events = read_events(run.folder)
        ended = (event for event in events if event["kind"] == EventKind.TRIAL_ENDED)
        states: dict[int, str] = {event["trial"]: event["state"] for event in ended}
        slots = {event["trial"]: event["slot"] for event in events if event["kind"] == EventKind.TRIAL_BEGUN}
        done = {slot for trial, slot in slots.items() if states.get(trial) == "valid"}
        order = order_for(experiment)
        self.slot_count = len(order)
        self.tried = max(slots, default=-1) + 1
        """Trials so far, and so the number of the next one."""
        self._queue = SlotQueue(order, done, experiment.guards.retries)
        self._ended: dict[int, tuple[Slot, TrialEnded]] = {}

    @property
    def done(self) -> int:
        """How many slots have a valid trial."""
        return self._queue.done

    @property
    def ended(self) -> tuple[tuple[Slot, TrialEnded], ...]:
        """The trials since the run was begun or resumed."""
        return tuple(self._ended.values())

    def missing(self) -> tuple[Slot, ...]:
        """Slots without a valid trial."""
        return self._queue.missing()

    def next(self) -> Slot | None:
        """The slot to run now; None if none is left."""
        return self._queue.next()

    def may_repeat(self, slot: Slot) -> bool:
        """Whether a slot has a try left."""
        return self._queue.may_repeat(slot)

    def begin(self, slot: Slot) -> int:
        """Record that a trial of a slot begins; its number."""
        number, self.tried = self.tried, self.tried + 1
        begun = begun_of(self.experiment, slot, number)
        self.run.event(EventKind.TRIAL_BEGUN, **begun.plain(), **self._wall())
        self._flush()
        return number

    def end(self, slot: Slot, ended: TrialEnded) -> None:
        """Record how a trial ended, or that it does not count after all."""
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

    def await_disk(self) -> None:
        """Wait until the run's folder can be written again: nothing is measured that cannot be recorded."""
        if not self.run.trouble:
            return
        self.progress.say(f"the run's folder cannot be written ({self.run.trouble}): waiting for room")
        end_ns = self.run.clock.now_ns() + round(_DISK_PATIENCE_S * _NS)
        while self.run.trouble:
            if self.run.clock.now_ns() > end_ns:
                raise RunFolderFailed(str(self.run.folder), self.run.trouble)
            self.run.flush(2.0)

    def _flush(self) -> None:
        if not self.run.flush(2.0):
            self.await_disk()

    def _wall(self) -> dict[str, float]:
        return {} if self.lateness_monitor is None else {"wall_s": self.lateness_monitor.wall_s()}
