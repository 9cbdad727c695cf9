"""Which network for these jobs: the choices of a study that no other choice beats.

A choice is a value of every axis that says on what programs run; all workloads of the study run on each, one after the
other, so that run times and energies are sums over them, seed by seed.

Energy is by the papers' watts, or by those of a calibration (`measured.energy_with`). Errors of watts are the same in
all points of a choice, so that they add up. Between choices they are taken for independent, though they are not: fewer
choices are struck out than could be.

Draws of a choice's link times (`measured.draws_of`) widen its intervals by what each draw changes against the values,
with the same seed. The spread of draws and that of seeds are taken for independent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, isnan, sqrt
from statistics import fmean
from typing import Final

from scipy.special import stdtrit

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies.pairs import Pair, by

FIGURES: Final = ("run_time_s", "network_joule", "cluster_joule")
"""What a choice is judged by; less is better."""

EnergyOf = Callable[[Pair], tuple[Interval, Interval]]
"""Of a point: energy of the network and of the cluster in J, with the errors of the watts."""


def by_papers(pair: Pair) -> tuple[Interval, Interval]:
    """Andújar et al. (2023), Eq. 6 and 7: watts without errors."""
    return _exactly(pair.network_joule), _exactly(pair.cluster_joule)


@dataclass(frozen=True, slots=True)
class Choice:
    """Means over seeds, with 95 % intervals of seeds, watts and links' times.

    `beaten_by` names a choice that is better, and is empty on the front.
    """

    labels: Mapping[str, str]
    run_time_s: Interval
    network_joule: Interval
    cluster_joule: Interval
    seeds: int
    beaten_by: str = ""

    @property
    def name(self) -> str:
        """Its values of axes."""
        return " ".join(self.labels.values())


def advised(
    pairs: Sequence[Pair],
    workloads: Sequence[str],
    energy: EnergyOf = by_papers,
    draws: Sequence[Sequence[Pair]] = (),
) -> list[Choice]:
    """All choices that ran everything, those on the front first, then by run time.

    `draws` has, for each draw of links' times, points with the labels of those that have the values.
    """
    axes = [axis for axis in pairs[0].labels if axis not in workloads] if pairs else []
    every = {_of(one, workloads) for one in pairs}
    found = []
    for key, own in by(pairs, *axes).items():
        runs = _whole(own, workloads, len(every))
        drawn = [_whole([one for one in draw if _of(one, axes) == key], workloads, len(every)) for draw in draws]
        if runs:
            found.append(_choice(dict(zip(axes, key, strict=True)), runs, drawn, energy))
    marked = [replace(one, beaten_by=_beater(one, found)) for one in found]
    return sorted(marked, key=lambda one: (one.beaten_by != "", one.run_time_s.value))


_Runs = Mapping[int, Sequence[Pair]]
"""By seed: a point of every workload."""


def _of(pair: Pair, axes: Sequence[str]) -> tuple[str, ...]:
    return tuple(pair.labels[axis] for axis in axes)


def _whole(own: Sequence[Pair], workloads: Sequence[str], count: int) -> _Runs:
    """The seeds that have all workloads."""
    seeds: dict[int, dict[tuple[str, ...], Pair]] = {}
    for one in own:
        seeds.setdefault(one.seed, {})[_of(one, workloads)] = one
    return {seed: list(each.values()) for seed, each in seeds.items() if len(each) == count}


def _choice(labels: Mapping[str, str], runs: _Runs, draws: Sequence[_Runs], energy: EnergyOf) -> Choice:
    figures = {seed: _figures(own, energy) for seed, own in runs.items()}
    changes = [
        [now.value - before.value for now, before in zip(_figures(own, energy), figures[seed], strict=True)]
        for draw in draws
        for seed, own in draw.items()
        if seed in figures
    ]
    means = [_mean(values) for values in zip(*figures.values(), strict=True)]
    of_times = [_half(values) for values in zip(*changes, strict=True)] or [0.0] * len(means)
    time, network, cluster = (_wider(mean, half) for mean, half in zip(means, of_times, strict=True))
    return Choice(labels, time, network, cluster, len(runs))


def _figures(own: Sequence[Pair], energy: EnergyOf) -> list[Interval]:
    """`FIGURES` of all workloads together."""
    network, cluster = (_sum(part) for part in zip(*map(energy, own), strict=True))
    return [_exactly(sum(one.run_time_s for one in own)), network, cluster]


def _half(changes: Sequence[float]) -> float:
    """Half of the 95 % interval about no change."""
    return float(stdtrit(len(changes), 0.975)) * sqrt(fmean(one**2 for one in changes))


def _wider(one: Interval, half: float) -> Interval:
    """By another, independent error; that of seeds may not be known."""
    if not half:
        return one
    low, high = one.ends
    return Interval(one.value, one.value - hypot(one.value - low, half), one.value + hypot(high - one.value, half))


def _sum(values: Sequence[Interval]) -> Interval:
    """Of values whose errors are the same."""
    return Interval(*(sum(getattr(one, end) for one in values) for end in ("value", "low", "high")))


def _mean(values: Sequence[Interval]) -> Interval:
    """Over seeds, as wide as these scatter and as the values' own errors, which are the same for all, together."""
    found = over_seeds([one.value for one in values])
    below, above = fmean(one.value - one.low for one in values), fmean(one.high - one.value for one in values)
    if not below and not above:
        return found
    value, own = found.value, 0.0 if isnan(found.low) else found.value - found.low
    return Interval(value, value - hypot(below, own), value + hypot(above, own))


def _exactly(value: float) -> Interval:
    return Interval(value, value, value)


def _beater(one: Choice, every: Sequence[Choice]) -> str:
    return next((other.name for other in every if other is not one and beats(other, one)), "")


def beats(one: Choice, other: Choice) -> bool:
    """Not worse in any mean, and better in one beyond both intervals."""
    both = [(getattr(one, name), getattr(other, name)) for name in FIGURES]
    return all(mine.value <= theirs.value for mine, theirs in both) and any(_below(*pair) for pair in both)


def _below(mine: Interval, theirs: Interval) -> bool:
    """With a value in place of an end that is not known."""
    return mine.ends[1] < theirs.ends[0]
