"""A closed loop from beginning to end: lock the lab, collect, regulate beside a program or alone, restore the lab.

Its run has the experiment that it is beside: a program that runs again and again, or an idle window. So what shows runs
shows this one. The loop has a thread of its own; a program, a wait and signals are the main thread's.
"""

import statistics
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from eee_testbed.controller.applying.backend import measured_backend
from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.rounds import Stop, Stopped
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.lab.errors import LabError, RollbackFailed, RunFolderFailed
from eee_testbed.lab.model import Host, Lab
from eee_testbed.lab.yaml_source import YamlSource
from eee_testbed.measuring.collecting.collect import Collector
from eee_testbed.measuring.collecting.lab_sources import note_clocks, sources_of
from eee_testbed.measuring.experiments.blocks import Slot
from eee_testbed.measuring.experiments.experiment import LOOP_SAMPLES, Experiment
from eee_testbed.measuring.experiments.lab_controller import LabController
from eee_testbed.measuring.experiments.measuring import Measured, await_reach, begun_of, hosts_of, measure
from eee_testbed.measuring.experiments.run_progress import RunProgress
from eee_testbed.measuring.experiments.session import (
    CLOSED_LOOP,
    RunOptions,
    create_run,
    validated_lab,
    warn_of_another,
)
from eee_testbed.measuring.experiments.signal_handling import SignalHandling
from eee_testbed.measuring.live.export.attach import attach
from eee_testbed.measuring.regulating.epoch_counters import EpochCounters
from eee_testbed.measuring.regulating.loop import ClosedLoop
from eee_testbed.measuring.regulating.looped_network import LoopedNetwork
from eee_testbed.measuring.regulating.slowdown import RunTimes, time_of
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.store import Run
from eee_testbed.record.trial_events import TrialEnded, TrialState, trial_folder
from eee_testbed.regulation.closed_loop import LinkState, Settings

_NS: Final = 1_000_000_000
_LEAST_EPOCH_S: Final = 1.0
_MOST_EPOCH_S: Final = 600.0  # a loop that decides less often follows no program
_FAILURES_IN_A_ROW: Final = 3


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """How to regulate. `for_s` None: until Ctrl-C, or the loop fails.

    `baseline_runs`: number of runs of the program with all links on, before the loop decides anything. As many of its
    last runs are compared with them, median with median.
    """

    settings: Settings = Settings()  # noqa: RUF009 - frozen
    epoch_s: float = 5.0
    for_s: float | None = None
    baseline_runs: int = 3
    hub: str = ""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if not _LEAST_EPOCH_S <= self.epoch_s <= _MOST_EPOCH_S or self.baseline_runs < 1:
            raise LabError(
                f"the loop needs epochs of {_LEAST_EPOCH_S:g} s, as counters are read {LOOP_SAMPLES} times in "
                f"each, to {_MOST_EPOCH_S:g} s, and a baseline of 1 run or more: correct it."
            )


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How a loop ended: its epochs, how many links got each state, the program's median times, and what went wrong."""

    folder: Path
    epochs: int
    changes: Mapping[LinkState, int]
    baseline_s: float | None
    last_s: float | None
    runs: int
    restored: str
    interrupted: bool
    cause: LabError | None = None


def run_loop(experiment: Experiment, source: YamlSource, options: LoopOptions, run_options: RunOptions) -> LoopResult:
    """Regulate a lab beside an experiment without factors, in a new run folder. LabError if it could not begin."""
    lab = validated_lab(experiment, source)
    facts = {"slot_count": 0, CLOSED_LOOP: {"epoch_s": options.epoch_s, **asdict(options.settings)}}
    with (
        RunProgress(0, quiet=run_options.quiet) as progress,
        Lock(StateFolder.of(lab), f"regulate {experiment.name}", warn=progress.say) as lock,
    ):
        run = create_run(lab, experiment, run_options.root, progress, facts)
        backend = measured_backend(lab, progress.say)
        controller = LabController(lab, experiment, run, backend, lock, progress, in_loop=True)
        try:
            warn_of_another(controller.folder, run, progress)
            controller.begin()
            with SignalHandling() as signals:
                result = LoopSession(
                    lab, experiment, run, controller, progress, signals, options, run_options
                ).execute()
            run.close("interrupted" if result.interrupted or result.cause else "finished")
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(controller.left_words) from error
        finally:
            controller.end()
            with suppress(RunFolderFailed):  # already reported, or less important than the error that is being raised
                run.close("interrupted")
    return result


@dataclass(frozen=True, slots=True)
class Nodes:
    """How a session uses the nodes: it waits until they reach each other, and runs the program once in a trial."""

    await_reach: Callable[[Sequence[Host]], None] = await_reach
    measure: Callable[[Experiment, Lab, Slot, Path, RunClock], Measured] = measure


@dataclass
class LoopSession:
    """One loop in progress, in the main thread."""

    lab: Lab
    experiment: Experiment
    run: Run
    controller: LabController
    progress: RunProgress
    signals: SignalHandling
    options: LoopOptions
    run_options: RunOptions
    nodes: Nodes = Nodes()
    loop: ClosedLoop | None = None
    thread: threading.Thread | None = None
    interrupted: bool = False
    cause: LabError | None = None

    def __post_init__(self) -> None:
        self.times = RunTimes(self.options.baseline_runs)

    def execute(self) -> LoopResult:
        """Regulate, then restore the lab; errors that end the loop are in the result."""
        restored = ""
        try:
            with self.signals.asking(self.controller.stop):
                self.controller.open()
            self._regulate()
        except (KeyboardInterrupt, Stopped):
            self.interrupted = True
            self.progress.say("stopped: the lab is restored now")
        except LabError as error:
            self.cause = self.cause or error
        if self.loop is not None:
            self.cause = self.cause or self.loop.failure
        if self.cause is not None:
            self.progress.say(str(self.cause))
        if self.thread is not None and self.thread.is_alive():
            self.cause = LabError("stopped in the middle of a change.")
            restored = f"the lab was NOT restored: run `eeectl run {self.run.folder} --put-back` to restore it."
        elif not isinstance(self.cause, RollbackFailed):
            restored = self._restore()
        times = self.times
        return LoopResult(
            self.run.folder,
            0 if self.loop is None else self.loop.state.epoch,
            {} if self.loop is None else self.loop.changes,
            statistics.median(times.baseline_s) if times.baseline_s else None,
            times.last_s() if times.looped_s else None,
            len(times.looped_s),
            restored,
            self.interrupted,
            self.cause,
        )

    def _restore(self) -> str:
        self.controller.stop = Stop()
        try:
            with self.signals.asking(self.controller.stop):
                return self.controller.restore()
        except LabError as error:
            self.cause = self.cause or error
            retry = f"Run `eeectl run {self.run.folder} --put-back` to restore it."
            return f"the lab could NOT be restored: {error} {retry}"

    def _regulate(self) -> None:
        lab, options = self.lab, self.options
        network = LoopedNetwork.of(lab, self.controller.home, options.hub)
        counters = EpochCounters(network.places())
        sampling = self.experiment.sampling
        period_s = min(sampling.period_s, options.epoch_s / LOOP_SAMPLES)
        sources = sources_of(lab, period_s=period_s, lpi_period_s=sampling.lpi_period_s)
        network.require_counters({timed.source.name for timed in sources})
        with (
            attach(self.run.folder, lab, self.run_options.views, self.progress.say),
            Collector(sources, self.run, (counters,)) as collector,
        ):
            hosts = [lab.host(name) for name in self.experiment.measure.hosts]
            note_clocks(self.run, hosts)
            loop = ClosedLoop(network, self.controller, counters, options.settings, options.epoch_s, collector.check)
            self.loop = loop
            self.thread = thread = threading.Thread(target=loop.run, name="closed loop")
            thread.start()
            try:
                self.beside(loop)
            finally:
                with self.signals.asking(self.controller.stop):
                    self.controller.stop.ask()
                    thread.join()

    # -- beside the loop

    def beside(self, loop: ClosedLoop) -> None:
        """Run the program again and again, or wait, until the time is over or the loop has ended."""
        clock, for_s = self.run.clock, self.options.for_s
        end_ns = None if for_s is None else clock.now_ns() + round(for_s * _NS)
        if self.experiment.measure.program is None:
            loop.decides.set()
            self.progress.say("the loop regulates the lab; Ctrl-C ends it")
            loop.ended.wait(for_s)
            return
        self.nodes.await_reach(hosts_of(self.experiment, self.lab, Slot(0, 0, 0, {})))
        number = failures = 0
        while not loop.ended.is_set() and (end_ns is None or clock.now_ns() < end_ns):
            ended = self._trial(number)
            failures = 0 if ended.state == "valid" else failures + 1
            if failures >= _FAILURES_IN_A_ROW:
                raise LabError(f"the program failed {failures} times in a row, the last with: {ended.why}")
            self._judge(loop, ended)
            number += 1

    def _judge(self, loop: ClosedLoop, ended: TrialEnded) -> None:
        """Tell the loop how slow the program is; it begins when the baseline is measured."""
        time_s = time_of({name: value for name, value, _ in ended.figures})
        if ended.state != "valid" or time_s is None:
            return
        slowdown = self.times.add(time_s)
        if slowdown is not None:
            loop.tell_slowdown(slowdown)
        elif self.times.has_baseline:
            median_s = statistics.median(self.times.baseline_s)
            self.progress.say(f"with all links on the program takes {median_s:.3g} s; the loop regulates from now on")
            loop.decides.set()

    def _trial(self, number: int) -> TrialEnded:
        slot = Slot(number, number, 0, {})
        self.run.event(EventKind.TRIAL_BEGUN, **begun_of(self.experiment, slot, number).plain())
        from_ns = self.run.clock.now_ns()
        ended = TrialEnded(number, "failed", "it was cut short", from_ns, from_ns)
        try:
            folder = trial_folder(self.run.folder, number)
            done = self.nodes.measure(self.experiment, self.lab, slot, folder, self.run.clock)
            state: TrialState = "invalid" if done.why else "valid"
            answer = done.answer_right, done.figures, done.loop_ns
            ended = TrialEnded(number, state, done.why, done.begun_ns, done.ended_ns, *answer)
        except LabError as error:
            ended = TrialEnded(number, "failed", str(error), from_ns, self.run.clock.now_ns())
        finally:
            self.run.event(EventKind.TRIAL_ENDED, **ended.plain())
        return ended
