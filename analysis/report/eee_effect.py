"""What EEE changed for each configuration of a program: run time and joules, measured and predicted.

Configurations with fewer than six trials get their intervals of run time from the scatter of all configurations of the
program together (`slower_percents`). A single block shows nothing of what differs from block to block, so it has no
interval however often it repeats; and neither has what scatters less freely than three blocks of one configuration.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from eee_testbed.analysis.configurations import Configuration
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.energies import energy_of_trial, meters_of, ratio, repeated
from eee_testbed.analysis.report.estimates import estimated
from eee_testbed.analysis.report.report_data import (
    FEW,
    Pair,
    ReportData,
    RunData,
    Spread,
    bars_text,
    file_name,
    natural,
    slower_percents,
    spread_of,
)

_LEAST_GAPS: Final = 3
_LEAST_FREE: Final = 4
"""Degrees of freedom of three blocks of one configuration, with EEE off and on."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One configuration. `idle_us`: mean gap between communications. Percentages are of the values without EEE.

    `slower_percent`: without width unless `has_interval`. `saved_percent`: of the joules of `meter_count` metered
    devices of the network, None if they were not measured; `predicted_...`: of our model, None if it was not fitted.
    """

    pair: Pair
    slower_percent: Spread
    saved_percent: Interval | None
    meter_count: int
    predicted_slower_percent: Interval | None
    predicted_saved_percent: Interval | None
    has_interval: bool = False

    @property
    def idle_us(self) -> float:
        """Mean gap between communications without EEE."""
        return self.pair.profile.idle_us

    @property
    def file(self) -> str:
        """Program and placement, as part of a figure's name."""
        return file_name(self.pair.configuration.placement)


@lru_cache(maxsize=1)
def effects_of(data: ReportData) -> Mapping[str, Sequence[Effect]]:
    """By program and placement, configurations with EEE off and on, in their natural order."""
    saved = {run.name: _saved(run) for run in data.runs}
    groups: dict[str, list[Effect]] = {}
    for estimate in estimated(data):
        pair, ours = estimate.pair, estimate.ours
        joule = saved[estimate.run.name].get(pair.configuration)
        effect = Effect(
            pair,
            _of_medians(pair),
            joule,
            sum(meter.feeds not in estimate.run.hosts for meter in meters_of(estimate.run)),
            None if ours is None else ours.slowdown_percent,
            None if ours is None else ours.saved_percent,
        )
        groups.setdefault(pair.configuration.placement, []).append(effect)
    return {
        name: sorted(_pooled(group), key=lambda effect: natural(effect.pair.configuration))
        for name, group in groups.items()
    }


def over_gaps(data: ReportData) -> Mapping[str, Sequence[Effect]]:
    """The programs that ran with enough mean gaps to be drawn over them; others are shown by configuration."""
    return {name: group for name, group in effects_of(data).items() if len(group) >= _LEAST_GAPS}


def effect_bars_text(effects: Sequence[Effect]) -> str:
    """The sentence of a caption that explains the bars of run time."""
    counts = [effect.slower_percent.count for effect in effects]
    if not any(effect.has_interval for effect in effects):
        return "No bars: fewer than three blocks, so nothing is known about their spread."
    if min(counts) >= FEW:
        return bars_text(counts)
    n = f"n = {min(counts)}" if min(counts) == max(counts) else f"n = {min(counts)} to {max(counts)}"
    return f"Medians of {n} trials; bars are 95 % intervals from the scatter of all configurations together."


def _pooled(group: Sequence[Effect]) -> Sequence[Effect]:
    """With intervals, as far as enough was repeated."""
    slower = slower_percents([_of_calls(effect.pair) for effect in group])
    free = sum(len(side) - 1 for effect in group for side in (effect.pair.off_s, effect.pair.on_s))
    return [_with_interval(effect, pooled, free) for effect, pooled in zip(group, slower, strict=True)]


def _with_interval(effect: Effect, pooled: Spread | None, free: int) -> Effect:
    if effect.pair.blocks < 2 or free < _LEAST_FREE:
        value = effect.slower_percent.interval.value
        return replace(effect, slower_percent=Spread(Interval(value, value, value), effect.slower_percent.count))
    percent = effect.slower_percent if pooled is None or effect.slower_percent.count >= FEW else pooled
    return replace(effect, slower_percent=percent, has_interval=True)


def _of_calls(pair: Pair) -> tuple[Sequence[float], Sequence[float]]:
    """Times of a call without EEE and with it, s."""
    count = pair.profile.call_count
    return [time_s / count for time_s in pair.off_s], [time_s / count for time_s in pair.on_s]


def _of_medians(pair: Pair) -> Spread:
    off, on = spread_of(pair.off_s), spread_of(pair.on_s)
    times = ratio(on.interval, off.interval)
    percent = Interval(100 * (times.value - 1), 100 * (times.low - 1), 100 * (times.high - 1))
    return Spread(percent, min(off.count, on.count))


def _saved(run: RunData) -> dict[Configuration, Interval]:
    """Share of the network's joules that EEE saved, in percent, where all trials have joules."""
    joules: dict[Configuration, tuple[list[Interval | None], list[Interval | None]]] = {}
    meters = meters_of(run)
    for trial in run.programs():
        eee = run.factors.with_eee(run.factors.state_of(trial))
        if eee is not None:
            sides = joules.setdefault(run.factors.configuration_of(trial), ([], []))
            sides[eee].append(energy_of_trial(run, trial, meters).network_joule)
    saved = {}
    for configuration, (off, on) in joules.items():
        known_off, known_on = ([joule for joule in side if joule is not None] for side in (off, on))
        if known_off and known_on and len(known_off) + len(known_on) == len(off) + len(on):
            left = ratio(repeated(known_on).interval, repeated(known_off).interval)
            saved[configuration] = Interval(100 * (1 - left.value), 100 * (1 - left.high), 100 * (1 - left.low))
    return saved
