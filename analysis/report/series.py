"""Run times and energies of every configuration in every state of the lab, from the trials of runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import median

from eee_testbed.analysis.compare import Comparison, compare
from eee_testbed.analysis.configurations import Configuration, State
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.programs.profile_reading import time_of
from eee_testbed.analysis.report.energies import TrialEnergy, energy_of_trial, meters_of, ratio, repeated
from eee_testbed.analysis.report.report_data import ReportData, RunData, Spread, natural, natural_state, spread_of

_Value = tuple[int, float, TrialEnergy]
"""Block, run time in seconds, energy."""


@dataclass(frozen=True, slots=True)
class StatePoint:
    """One configuration in one state of the lab: run times of its trials; energies in joules, None without readings.

    `by_block`: the run times by the number of their block.
    """

    state: State
    by_block: Mapping[int, tuple[float, ...]]
    time_s: Spread
    network_watt: Spread | None
    network_joule: Spread | None
    all_joule: Spread | None
    joules_by_block: Mapping[int, tuple[Interval, ...]] = field(default_factory=dict)
    """Of the network's metered devices; empty unless known of every trial."""

    @property
    def times_s(self) -> tuple[float, ...]:
        """All run times."""
        return tuple(time_s for times in self.by_block.values() for time_s in times)

    @property
    def joules(self) -> tuple[Interval, ...]:
        """All joules of the network; empty unless known of every trial."""
        return tuple(joule for block_joules in self.joules_by_block.values() for joule in block_joules)


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A configuration in several states; the others are compared with the first, which saves nothing.

    Of `series_of(..., least=True)` the first may be the state that saves least, or the only one.
    """

    run: RunData
    configuration: Configuration
    points: tuple[StatePoint, ...]


@lru_cache(maxsize=4)
def series_of(data: ReportData, *, least: bool = False) -> tuple[Series, ...]:
    """Configurations that ran in a state that saves nothing, and in others; both in their natural order.

    `least`: every configuration that ran, beginning with the state that saves least.
    """
    series = []
    for run in data.runs:
        factors = run.factors
        groups: dict[Configuration, dict[State, list[_Value]]] = {}
        meters = meters_of(run)
        for trial in run.programs():
            states = groups.setdefault(factors.configuration_of(trial), {})
            value = trial.block, time_of(trial), energy_of_trial(run, trial, meters)
            states.setdefault(factors.state_of(trial), []).append(value)
        for configuration, states in groups.items():
            base = next((state for state in states if factors.saves_nothing(state)), None)
            if base is None and least:
                base = min(states, key=lambda state: (factors.saving_count(state), natural_state(state)))
            if base is None or (len(states) < 2 and not least):
                continue
            order = [base, *sorted((state for state in states if state != base), key=natural_state)]
            series.append(Series(run, configuration, _alike([_point(state, states[state]) for state in order])))
    return tuple(sorted(series, key=lambda program: natural(program.configuration)))


def compared(base: StatePoint, point: StatePoint) -> Comparison | None:
    """Run times in a state against those in another, block by block, as `eeectl compare` has it.

    None if the two have no block in common.
    """
    try:
        return compare(base.by_block, point.by_block, "time", "s")
    except ValueError:
        return None


def _alike(points: Sequence[StatePoint]) -> tuple[StatePoint, ...]:
    """Without what is not known of every state: a state with watts cannot be compared with one without."""
    network = all(point.network_joule is not None for point in points)
    every = all(point.all_joule is not None for point in points)
    return tuple(
        replace(
            point,
            network_watt=point.network_watt if network else None,
            network_joule=point.network_joule if network else None,
            joules_by_block=point.joules_by_block if network else {},
            all_joule=point.all_joule if every else None,
        )
        for point in points
    )


def joules_compared(base: StatePoint, point: StatePoint) -> Interval | None:
    """Ratio of the network's joules to those in another state, block by block; None if they are not known of both.

    The interval is at least as wide as the meters' own errors; NaN are its ends where fewer than three blocks say
    nothing of chance.
    """
    if not base.joules_by_block or not point.joules_by_block:
        return None
    sides = [
        {block: [joule.value for joule in block_joules] for block, block_joules in side.joules_by_block.items()}
        for side in (base, point)
    ]
    try:
        comparison = compare(sides[0], sides[1], "energy", "J")
    except ValueError:
        return None
    return with_meter_errors(comparison, base.joules, point.joules)


def with_meter_errors(comparison: Comparison, *sides: Sequence[Interval]) -> Interval:
    """The ratio of two sides' joules, at least as wide as the meters' own errors; NaN as ends without an interval."""
    ratio_ = comparison.ratio
    if not comparison.has_interval:
        return Interval(ratio_.value, math.nan, math.nan)
    half = ratio_.value * math.hypot(*(_relative_error(side) for side in sides))
    low, high = min(ratio_.low, ratio_.value - half), max(ratio_.high, ratio_.value + half)
    return Interval(ratio_.value, low, high)


def _relative_error(every: Sequence[Interval]) -> float:
    """Of the mean of some trials' joules, from the meters alone."""
    return median(joule.half_width / joule.value for joule in every) / math.sqrt(len(every))


def _point(state: State, values: Sequence[_Value]) -> StatePoint:
    by_block: dict[int, tuple[float, ...]] = {}
    joules: dict[int, tuple[Interval, ...]] = {}
    for block, time_s, energy in values:
        by_block[block] = (*by_block.get(block, ()), time_s)
        if energy.network_joule is not None:
            joules[block] = (*joules.get(block, ()), energy.network_joule)
    return StatePoint(
        state,
        by_block,
        spread_of([time_s for _, time_s, _ in values]),
        _spread([energy.network_watt for _, _, energy in values]),
        _spread([energy.network_joule for _, _, energy in values]),
        _spread([energy.all_joule for _, _, energy in values]),
        joules if all(energy.network_joule is not None for _, _, energy in values) else {},
    )


def _spread(values: Sequence[Interval | None]) -> Spread | None:
    measured = [value for value in values if value is not None]
    return repeated(measured) if measured and len(measured) == len(values) else None


def saved_percent(program: Series, point: StatePoint) -> Interval:
    """In percent, the saved share of the network's mean power; 0 by definition for the first point."""
    base, now = program.points[0].network_watt, point.network_watt
    if base is None or now is None or point is program.points[0]:
        return Interval(0.0, 0.0, 0.0)
    return ratio(now.interval, base.interval).below_percent


def slower_percent(program: Series, point: StatePoint) -> Spread:
    """By how much the program is slower in a state; of fewer than three blocks, without width."""
    time = compared(program.points[0], point)
    count = min(program.points[0].time_s.count, point.time_s.count)
    if time is None:
        value = 100 * (point.time_s.interval.value / program.points[0].time_s.interval.value - 1)
        return Spread(Interval(value, value, value), count)
    ends = (time.ratio.low, time.ratio.high) if time.has_interval else (time.ratio.value, time.ratio.value)
    return Spread(Interval(time.ratio.value, *ends).above_percent, count)


def performance(program: Series, point: StatePoint) -> Interval:
    """Run time without saving by that in a state; 1 by definition for the first point."""
    if point is program.points[0]:
        return Interval(1.0, 1.0, 1.0)
    return ratio(program.points[0].time_s.interval, point.time_s.interval)
