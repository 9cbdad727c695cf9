"""A node's power: idle, under load, and what its card saves in low-power idle.

What the card saves is fitted to the windows without a program in which its link was up at its usual speed,

    P = idle - saved * (share of time in LPI) + drift

the share as the port at the link's other end has it, mean of both directions. The drift is fitted as a switch's
(`analysis.power.drift_fit`), so that windows with EEE on and off have to alternate. A card with a link and one without
are not told apart: links to hosts are never shut, as that would cut the host off.

Simplification: the supply's efficiency is constant over the range, as for switches: the saving is that at the outlet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from eee_testbed.analysis.calibration import Estimate, NodePower
from eee_testbed.analysis.interval import Interval, NotEnoughData, of_samples
from eee_testbed.analysis.power.plausible import lost, most_port_watt
from eee_testbed.analysis.power.port_states import PortReader
from eee_testbed.analysis.power.power_windows import QUIET, Meter, mean_power, stage_window
from eee_testbed.analysis.power.screening import far_off
from eee_testbed.analysis.power.stage_columns import Columns, Name
from eee_testbed.analysis.power.stage_fit import fit_stages
from eee_testbed.analysis.power.stage_window import PortCounts, StageWindow
from eee_testbed.record.trials import Trial


@dataclass(frozen=True, slots=True)
class CardLink:
    """A node's link: the port at its other end, and that switch's counters."""

    ports: PortReader
    port: str

    def state(self, trial: Trial) -> tuple[int, float] | None:
        """Speed in Mb/s and share of time in LPI; None if either is unknown, the link was down, or carried traffic."""
        seen = self.ports.during(trial)
        state = None if seen is None else seen.states.get(self.port)
        if seen is None or seen.asleep is None or state is None or state.carries or state.up_share < 1.0:
            return None
        return state.mbps, min(seen.asleep.get(self.port, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class NodeRun:
    """A run's readings of a node, its trials, and the node's link; without that, what its card saves is unknown."""

    meter: Meter
    trials: Sequence[Trial]
    card: CardLink | None = None

    @property
    def quiet(self) -> Sequence[Trial]:
        """Valid trials without a program."""
        return [trial for trial in self.trials if trial.valid and trial.what in QUIET]


def node_power(runs: Sequence[NodeRun], step_watt: float = 0.0, accuracy_share: float = 0.0) -> NodePower:
    """A node's idle power from its idle windows, and its loaded power from the program that draws most.

    `step_watt`, `accuracy_share`: of its meter. Idle power is that with the card awake, if what that saves is known.
    Without loaded power if no program draws more than idle. NotEnoughData with fewer than two idle windows.
    """
    warnings: list[str] = []
    saved = _card_saved(runs, step_watt, accuracy_share)
    windows = [(watt, asleep) for run in runs for watt, asleep in _idle(run, saved)]
    saved_watt = Interval(0.0, 0.0, 0.0) if saved.watt is None else saved.watt
    idle = _believed([watt + asleep * saved_watt.value for watt, asleep in windows], "idle", warnings)
    if len(idle) < 2:
        raise NotEnoughData(
            "a node's idle power takes two windows without a program: measure some with `measure: idle`."
        )
    by_program: dict[str, list[float]] = {}
    for run in runs:
        for trial in run.trials:
            if trial.valid and trial.what == "program" and run.meter.device in trial.hosts:
                by_program.setdefault(trial.program, []).extend(_means(run.meter, [trial]))
    believed = [_believed(values, program, warnings) for program, values in by_program.items()]
    means = [_mean(values, accuracy_share) for values in believed if len(values) > 1]
    loaded = max(means, key=lambda mean: mean.value, default=None)
    if loaded is not None and loaded.value <= float(np.mean(idle)):
        loaded = None
    shared_watt = saved_watt.half_width * float(np.mean([asleep for _, asleep in windows]))
    return NodePower(
        idle_watt=Estimate.of(_widened(_mean(idle, accuracy_share), shared_watt)),
        loaded_watt=None if loaded is None else Estimate.of(loaded),
        card_mbps=saved.mbps if saved.watt is not None else None,
        card_saved_watt=None if saved.watt is None else Estimate.of(saved.watt),
        unknown=saved.unknown,
        warnings=(*warnings, *saved.warnings),
    )


@dataclass(frozen=True, slots=True)
class _Saved:
    """What a card saves at a speed, or sentences about why that is unknown; and what to doubt."""

    mbps: int = 0
    watt: Interval | None = None
    unknown: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def _card_saved(runs: Sequence[NodeRun], step_watt: float, accuracy_share: float) -> _Saved:
    windows = [window for run in runs if run.card is not None for window in _windows(run.meter, run.quiet, run.card)]
    speeds = [mbps for mbps, _ in windows]
    mbps = max(speeds, key=speeds.count, default=0)
    usual = [window for at, window in windows if at == mbps]
    name = Name("lpi", "", mbps)

    def columns_of(windows: Sequence[StageWindow]) -> Columns:
        columns = Columns(windows)
        if not columns.add(name, [window.ports[""].lpi_by_mbps[mbps] for window in windows]):
            raise NotEnoughData("no windows differ in it: measure with EEE on and off at the node's link.")
        return columns

    what = "What the card saves in low-power idle"
    if not usual:
        return _Saved(unknown=(f"{what}: no window shows its link up and without traffic.",))
    try:
        fit = fit_stages(usual, columns_of, step_watt)
    except NotEnoughData as error:
        return _Saved(unknown=(f"{what}: {error}",))
    place = list(fit.columns.values).index(name)
    saved = _with_class(of_samples(-fit.fit.draws[:, place]), accuracy_share)
    most_watt = most_port_watt(mbps)
    if lost(saved, most_watt):
        sentence = (
            f"{what} is lost in the meter's noise: {saved.value:.2g} W, 95 % from {saved.low:.2g} to {saved.high:.2g}, "
            f"where at most {most_watt:g} W is plausible at {mbps} Mb/s. Measure for longer, in more blocks, "
            "or with a finer meter."
        )
        return _Saved(unknown=(sentence,), warnings=fit.warnings)
    return _Saved(mbps, saved, warnings=fit.warnings)


def _idle(run: NodeRun, saved: _Saved) -> Iterator[tuple[float, float]]:
    """Means of windows without a program, with the share of time that the card slept; 0 if what it saves is unknown."""
    for trial in run.quiet:
        state = None if saved.watt is None or run.card is None else run.card.state(trial)
        yield from ((watt, 0.0 if state is None else state[1]) for watt in _means(run.meter, [trial]))


def _windows(meter: Meter, trials: Sequence[Trial], card: CardLink) -> list[tuple[int, StageWindow]]:
    """With the link's speed, in the order of time."""
    windows = []
    for trial in sorted(trials, key=lambda trial: trial.begun_ns):
        state = card.state(trial)
        try:
            power = mean_power(meter.series, trial.begun_ns, trial.ended_ns)
        except ValueError:
            continue
        if state is None:
            continue
        mbps, asleep = state
        ports = {"": PortCounts(cabled=1.0, up_by_mbps={mbps: 1.0}, lpi_by_mbps={mbps: asleep})}
        windows.append((mbps, stage_window(trial, power, ports)))
    return windows


def _believed(values: Sequence[float], what: str, warnings: list[str]) -> list[float]:
    """Windows that others of their kind confirm."""
    far = far_off(values)
    others = f"{np.median(values):.4g} W" if values else ""
    warnings += [f"A window ({what}) of {values[number]:.4g} W was left out: others have {others}." for number in far]
    return [value for number, value in enumerate(values) if number not in far]


def _means(meter: Meter, trials: Sequence[Trial]) -> list[float]:
    means = []
    for trial in trials:
        try:
            means.append(mean_power(meter.series, trial.begun_ns, trial.ended_ns).power_watt)
        except ValueError:
            continue
    return means


def _mean(values: Sequence[float], accuracy_share: float) -> Interval:
    """Mean of windows at different times, whose scatter includes the drift (Student), with the meter's class."""
    value = float(np.mean(values))
    spread = float(stdtrit(len(values) - 1, 0.975)) * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    return _with_class(Interval.plus_minus(value, spread), accuracy_share)


def _with_class(interval: Interval, accuracy_share: float) -> Interval:
    """With the meter's class beside its own error."""
    return _widened(interval, interval.value * accuracy_share)


def _widened(interval: Interval, half: float) -> Interval:
    """With an independent error of this half width."""
    low, high = (float(np.hypot(abs(interval.value - end), half)) for end in (interval.low, interval.high))
    return Interval(interval.value, interval.value - low, interval.value + high)
