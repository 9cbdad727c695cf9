"""A closed loop beside a trial of an experiment: it is steady when the trial begins, and goes on until it has ended.

So what the loop chooses is measured in the same run, and in the same random order, as other choices and the baseline.
The loop begins anew in every trial, from the lab as it was before the run: trials do not depend on each other, at the
price of the time in which it settles each time.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from eee_testbed.controller.applying.rounds import Stopped
from eee_testbed.controller.planning.plan import Place
from eee_testbed.lab.errors import LabError, RollbackFailed
from eee_testbed.measuring.collecting.collect import Collector
from eee_testbed.measuring.experiments.experiment import LoopLevel
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.experiments.measuring import Measured
from eee_testbed.measuring.experiments.signal_handling import SignalHandling
from eee_testbed.measuring.regulating.epoch_counters import EpochCounters
from eee_testbed.measuring.regulating.loop import ClosedLoop
from eee_testbed.measuring.regulating.looped_network import LoopedNetwork
from eee_testbed.measuring.regulating.slowdown import RunTimes, time_of
from eee_testbed.record.sample_tables import Batch
from eee_testbed.regulation.closed_loop import Settings

_NS: Final = 1_000_000_000
_STEADY_PERIODS: Final = 2
_FAILURES_IN_A_ROW: Final = 3

RunOnce = Callable[[int], Measured]


class LoopsInTrials:
    """Closed loops beside trials, one at a time: `measuring.experiments.running.TrialLoops`.

    `make_counters` makes what counts a loop's epochs, of the places of its links.
    """

    def __init__(self, make_counters: Callable[[Iterable[Place]], EpochCounters] = EpochCounters) -> None:
        self._make_counters = make_counters
        self._counters: EpochCounters | None = None

    def take(self, batch: Batch) -> None:
        """Pass samples on to the loop that is running, if one is."""
        counters = self._counters
        if counters is not None:
            counters.take(batch)

    @contextmanager
    def beside(
        self,
        level: LoopLevel,
        controller: LabController,
        collector: Collector,
        signals: SignalHandling,
        run_once: RunOnce,
    ) -> Iterator[str]:
        """A loop that regulates within the context; entered when it is steady, or after `level.settle_s`.

        Yields why it is not steady, in a sentence, or "". At the end the controller's `stop` was asked. LabError if the
        loop failed, or the program did three times in a row; RollbackFailed if a person left it in the middle of a
        change.
        """
        network = LoopedNetwork.of(controller.lab, controller.home, level.hub)
        network.require_counters([state.name for state in collector.states])
        self._counters = counters = self._make_counters(network.places())
        settings = Settings(level.high_water_mark, level.deactivation_epochs, level.max_slowdown)
        loop = ClosedLoop(network, controller, counters, settings, level.epoch_s, collector.check)
        thread = threading.Thread(target=loop.run, name="closed loop")
        thread.start()
        try:
            yield _settle(loop, level, run_once)
        finally:
            with signals.asking(controller.stop):
                _end(thread, controller)
            self._counters = None
        if loop.failure is not None:
            raise loop.failure


def _end(thread: threading.Thread, controller: LabController) -> None:
    controller.stop.ask()
    try:
        thread.join()
    except KeyboardInterrupt as interrupt:
        raise RollbackFailed(
            f"stopped in the middle of a change: `eeectl run {controller.run.folder} --put-back` restores the lab."
        ) from interrupt


def _settle(loop: ClosedLoop, level: LoopLevel, run_once: RunOnce) -> str:
    """Run the program until the loop is steady; why it is not, if that takes too long."""
    clock = loop.lab_controller.run.clock
    end_ns = clock.now_ns() + round(level.settle_s * _NS)
    times = RunTimes(level.baseline_runs)
    number = failures = 0
    while loop.steady_epochs < _STEADY_PERIODS * level.deactivation_epochs:
        if loop.ended.is_set():
            raise loop.failure or Stopped("stopped while the loop settled.")
        if clock.now_ns() >= end_ns:
            return f"the loop was not steady after {level.settle_s:g} s: give it longer (settle_s)."
        done = run_once(number)
        number += 1
        failures = failures + 1 if done.why else 0
        if failures >= _FAILURES_IN_A_ROW:
            raise LabError(f"the program failed {failures} times in a row while the loop settled: {done.why}")
        time_s = time_of({name: value for name, value, _ in done.figures})
        if not done.why and time_s is not None:
            slowdown = times.add(time_s)
            if slowdown is not None:
                loop.tell_slowdown(slowdown)
            elif times.has_baseline:
                loop.decides.set()
    return ""
