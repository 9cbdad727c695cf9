"""Energy of trials: of the network, and of all metered devices."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import polars as pl

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.power.trial_energy import mean_watt_of, run_time_s
from eee_testbed.analysis.report.report_data import RunData, Spread, spread_of
from eee_testbed.record.samples import PowerSeries
from eee_testbed.record.trials import Trial


@dataclass(frozen=True, slots=True)
class TrialEnergy:
    """Mean power in a trial's window with its 95 % interval, None where a meter knows nothing of it; and the run time.

    A window may include the program's start and end, so energy is its mean power times the program's own run time.
    Simplification: the meter's lag is assumed to be 0. It shifts the window, which matters little under an even load.
    """

    network_watt: Interval | None
    all_watt: Interval | None
    run_s: float

    @property
    def network_joule(self) -> Interval | None:
        """Energy of the network over the run time."""
        return None if self.network_watt is None else scaled(self.network_watt, self.run_s)

    @property
    def all_joule(self) -> Interval | None:
        """Energy of all metered devices over the run time."""
        return None if self.all_watt is None else scaled(self.all_watt, self.run_s)


def scaled(interval: Interval, factor: float) -> Interval:
    """The interval times a positive number."""
    return Interval(interval.value * factor, interval.low * factor, interval.high * factor)


def added(intervals: Iterable[Interval]) -> Interval | None:
    """The sum of independent values: their half widths add in squares. None without values."""
    kept = list(intervals)
    if not kept:
        return None
    value = sum(interval.value for interval in kept)
    half = math.sqrt(sum(interval.half_width**2 for interval in kept))
    return Interval.plus_minus(value, half)


def product(first: Interval, second: Interval) -> Interval:
    """Product of two independent values: their relative errors add in squares; ValueError if one is 0."""
    if not first.value or not second.value:
        raise ValueError("relative errors of 0 are not defined")
    value = first.value * second.value
    half = abs(value) * math.hypot(first.half_width / first.value, second.half_width / second.value)
    return Interval.plus_minus(value, half)


def ratio(above: Interval, below: Interval) -> Interval:
    """Ratio of two independent positive values: their relative errors add in squares, separately for each side."""
    value = above.value / below.value
    up = math.hypot((above.high - above.value) / above.value, (below.value - below.low) / below.value)
    down = math.hypot((above.value - above.low) / above.value, (below.high - below.value) / below.value)
    return Interval(value, value * max(1 - down, 0.0), value * (1 + up))


def repeated(values: Sequence[Interval]) -> Spread:
    """Median of repeated measurements, with the bar of their scatter, or of their own errors if that is wider."""
    scatter = spread_of([interval.value for interval in values])
    half = median(interval.half_width for interval in values) / math.sqrt(len(values))
    middle = scatter.interval
    low, high = min(middle.low, middle.value - half), max(middle.high, middle.value + half)
    return Spread(Interval(middle.value, low, high), scatter.count)


@dataclass(frozen=True, slots=True)
class Meter:
    """An outlet with readings, or a strip's total if its outlets have none; `feeds` is empty if unknown."""

    strip: str
    outlet: int
    feeds: str
    series: PowerSeries

    @property
    def name(self) -> str:
        """The device that it feeds, else the outlet."""
        return self.feeds or f"{self.strip}:{self.outlet}"


def meters_of(run: RunData) -> tuple[Meter, ...]:
    """All meters of a run, without stale readings."""
    rows = run.watts.filter(pl.col("power_watt").is_not_null() & (pl.col("mark").fill_null("") != "stale"))
    groups = rows.partition_by("strip", "outlet", "feeds", maintain_order=True)
    meters = [_meter(group) for group in groups]
    fed = {meter.strip for meter in meters if meter.feeds}
    # If the inventory says what a strip's outlets feed, an outlet that feeds nothing draws nothing.
    meters = [meter for meter in meters if meter.feeds or not meter.outlet or meter.strip not in fed]
    metered = {meter.strip for meter in meters if meter.outlet}
    return tuple(meter for meter in meters if meter.outlet or meter.strip not in metered)


def _meter(rows: pl.DataFrame) -> Meter:
    strip, outlet, feeds = rows.select("strip", "outlet", "feeds").row(0)
    return Meter(strip, outlet, feeds or "", PowerSeries.of(rows))


def energy_of_trial(run: RunData, trial: Trial, meters: Iterable[Meter]) -> TrialEnergy:
    """From the run's meters. A sum that lacks a meter is unknown: sums of other trials would have it.

    A meter that shows a new value less often than once in the trial knows nothing of it, and neither does one without
    readings around it.
    """
    network: list[Interval | None] = []
    every: list[Interval | None] = []
    for meter in meters:
        mean_watt = mean_watt_of(meter.series, trial, run.facts, meter.strip)
        every.append(mean_watt)
        if meter.feeds not in run.hosts:
            network.append(mean_watt)
    return TrialEnergy(_whole(network), _whole(every), run_time_s(trial))


def _whole(parts: Sequence[Interval | None]) -> Interval | None:
    measured = [part for part in parts if part is not None]
    return added(measured) if len(measured) == len(parts) else None
