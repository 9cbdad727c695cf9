"""Energy of trials by what they feed: the network, the nodes, all of it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import polars as pl

from analysis.energy import Energy, MeterTraits, energy_of
from analysis.interval import Interval
from analysis.report.material import RunMaterial, Spread, spread_of
from analysis.trials import Trial


@dataclass(frozen=True, slots=True)
class TrialEnergy:
    """Energy in a trial's window with its 95 % interval; None where no meter was read.

    Simplification: the meter's lag is taken as none. It shifts the window, which tells little where the load is even.
    """

    network_joule: Interval | None
    all_joule: Interval | None
    window_s: float

    @property
    def network_watt(self) -> Interval | None:
        """Mean power of the network."""
        return None if self.network_joule is None else scaled(self.network_joule, 1 / self.window_s)


def scaled(interval: Interval, factor: float) -> Interval:
    """Times a positive number."""
    return Interval(interval.value * factor, interval.low * factor, interval.high * factor)


def added(intervals: Iterable[Interval]) -> Interval | None:
    """The sum of independent values: their half widths add in squares. None of none."""
    kept = list(intervals)
    if not kept:
        return None
    value = sum(one.value for one in kept)
    half = math.sqrt(sum(one.half_width**2 for one in kept))
    return Interval(value, value - half, value + half)


def ratio(above: Interval, below: Interval) -> Interval:
    """Of two independent positive values: their relative errors add in squares, each side for itself."""
    value = above.value / below.value
    up = math.hypot((above.high - above.value) / above.value, (below.value - below.low) / below.value)
    down = math.hypot((above.value - above.low) / above.value, (below.high - below.value) / below.value)
    return Interval(value, value * (1 - down), value * (1 + up))


def repeated(values: Sequence[Interval]) -> Spread:
    """Median of repeated measurements, with the bar of their scatter, or of what they are known to if that is wider."""
    scatter = spread_of([one.value for one in values])
    half = median(one.half_width for one in values) / math.sqrt(len(values))
    middle = scatter.interval
    low, high = min(middle.low, middle.value - half), max(middle.high, middle.value + half)
    return Spread(Interval(middle.value, low, high), scatter.count)


def hosts_of(run: RunMaterial) -> frozenset[str]:
    """Every host that took part in a trial: what feeds another device feeds the network."""
    return frozenset(host for trial in run.trials for host in trial.hosts)


def feeders(run: RunMaterial) -> dict[tuple[str, int], str]:
    """Outlets with readings, and what they feed; strips' totals are left out where their outlets are read."""
    rows = (
        run.watts.filter(pl.col("power_watt").is_not_null())
        .select("strip", "outlet", "feeds")
        .unique(maintain_order=True)
    )
    found = {(strip, outlet): feeds or f"{strip}:{outlet}" for strip, outlet, feeds in rows.iter_rows()}
    metered = {strip for strip, outlet in found if outlet}
    return {key: feeds for key, feeds in found.items() if key[1] or key[0] not in metered}


def energy_of_trial(run: RunMaterial, trial: Trial, outlets: Mapping[tuple[str, int], str]) -> TrialEnergy:
    """From the run's meters; an outlet without readings around the window is left out of both sums."""
    hosts = hosts_of(run)
    network, every = [], []
    for (strip, outlet), feeds in outlets.items():
        found = _energy(run, trial, strip, outlet)
        if found is not None:
            every.append(found.energy_joule)
            if feeds not in hosts:
                network.append(found.energy_joule)
    return TrialEnergy(added(network), added(every), trial.window_s)


def _energy(run: RunMaterial, trial: Trial, strip: str, outlet: int) -> Energy | None:
    try:
        series = run.samples.power(strip, outlet).fresh()
        return energy_of(series, trial.begun_ns, trial.ended_ns, MeterTraits(), _bound_ns(run, strip))
    except ValueError:
        return None


def _bound_ns(run: RunMaterial, strip: str) -> int:
    return max((int(told["bound_ns"]) for told in run.facts.get("clocks", ()) if told["source"] == strip), default=0)
