"""The lab of a run between its trials: opened, put to a slot's levels, handed to a closed loop, restored."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from eee_testbed.analysis.links.probed_path import probed_path
from eee_testbed.controller.applying.rounds import Stop
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.collecting.collect import Collector
from eee_testbed.measuring.experiments.blocks import Slot
from eee_testbed.measuring.experiments.experiment import Experiment, LoopLevel
from eee_testbed.measuring.experiments.guards import GuardSink
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.experiments.level_wishes import loop_at
from eee_testbed.measuring.experiments.measuring import Measured, await_reach, hosts_of
from eee_testbed.measuring.experiments.probing import eee_sentence, note_eee
from eee_testbed.measuring.experiments.signal_handling import SignalHandling
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch


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
class PreparedLab:
    """The lab of one run, through its controller; `signals` can stop what changes it."""

    lab: Lab
    experiment: Experiment
    controller: LabController
    guard_sink: GuardSink
    signals: SignalHandling
    clock: RunClock
    loops: TrialLoops | None = None
    """Needed if a level is a closed loop."""

    _settled: bool = field(default=False, init=False)

    def open(self) -> None:
        """Begin to change the lab."""
        with self.signals.asking(self.controller.stop):
            self.controller.open()

    def restore(self) -> str:
        """Restore the lab to its state before the run; a sentence on that."""
        self.guard_sink.lab_changing()
        self.controller.stop = Stop()
        with self.signals.asking(self.controller.stop):
            return self.controller.restore()

    def set_levels(self, slot: Slot) -> None:
        """Put the lab to a slot's levels, and wait until the slot's hosts reach each other."""
        changed = False
        if self.controller.changes_lab and not self.controller.has(slot.levels):
            self.guard_sink.lab_changing()
            with self.signals.asking(self.controller.stop):
                changed = self.controller.set_levels(slot.levels)
        if changed or not self._settled:
            self.guard_sink.lab_settled(self.clock.now_ns())
        hosts = hosts_of(self.experiment, self.lab, slot)
        if len(hosts) > 1 and (changed or not self._settled):
            await_reach(hosts)
        self._settled = True

    @contextmanager
    def looped(
        self, slot: Slot, collector: Collector, run_once: Callable[[int], Measured]
    ) -> Iterator[tuple[str, ...]]:
        """A context in which a closed loop regulates the lab, if the slot has one; yields notes on it.

        Trials of the loop follow runs in which it settled. So in its experiment the program runs once before any other
        trial, too, unrecorded: no trial is colder than another.
        """
        level = loop_at(self.experiment, slot.levels)
        if level is None:
            if self.loops is not None:
                run_once(0)
            yield ()
            return
        if self.loops is None:
            raise AssertionError("a level is a closed loop, and nothing was given that runs it")
        self.guard_sink.lab_changing()
        self.controller.hand_over()
        self._settled = False
        try:
            with self.loops.beside(level, self.controller, collector, self.signals, run_once) as unsteady:
                yield (unsteady,) if unsteady else ()
        finally:
            self.controller.stop = Stop()

    def note_eee(self, slot: Slot, folder: Path) -> str:
        """Record whether EEE is in force on the path of a probe; a sentence if it is not, as nothing sleeps then."""
        shown = self.controller.eee_shown()
        note_eee(folder, shown)
        first, second = hosts_of(self.experiment, self.lab, slot)
        return eee_sentence(probed_path(self.lab, (first.name, second.name), shown))
