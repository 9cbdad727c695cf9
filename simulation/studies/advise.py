"""Which network for these jobs: the choices of a study that no other choice beats.

A choice is a value of every axis that says on what programs run; all workloads of the study run on each, one after the
other, so that run times and energies are sums over them, seed by seed.

Energy is by the papers' watts, or by those of a calibration (`measured.energy_with`). Errors of watts are the same in
all points of a choice, so that they add up. Between choices they are taken for independent, though they are not: fewer
choices are struck out than could be.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, isnan
from statistics import fmean
from typing import Final

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
    """Means over seeds, with 95 % intervals; `beaten_by` names a choice that is better, and is empty on the front."""

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


def advised(pairs: Sequence[Pair], workloads: Sequence[str], energy: EnergyOf = by_papers) -> list[Choice]:
    """All choices that ran everything, those on the front first, then by run time."""
    axes = [axis for axis in pairs[0].labels if axis not in workloads] if pairs else []
    groups = by(pairs, *axes)
    every = {tuple(one.labels[axis] for axis in workloads) for one in pairs}
    found = [
        choice for own in groups.values() if (choice := _choice(own, axes, workloads, len(every), energy)) is not None
    ]
    marked = [
        Choice(one.labels, one.run_time_s, one.network_joule, one.cluster_joule, one.seeds, _beater(one, found))
        for one in found
    ]
    return sorted(marked, key=lambda one: (one.beaten_by != "", one.run_time_s.value))


def _choice(
    own: Sequence[Pair], axes: Sequence[str], workloads: Sequence[str], count: int, energy: EnergyOf
) -> Choice | None:
    """None if no seed has all workloads."""
    seeds: dict[int, dict[tuple[str, ...], Pair]] = {}
    for one in own:
        seeds.setdefault(one.seed, {})[tuple(one.labels[axis] for axis in workloads)] = one
    whole = [each for each in seeds.values() if len(each) == count]
    if not whole:
        return None
    times = over_seeds([sum(one.run_time_s for one in each.values()) for each in whole])
    joules = [[_sum(part) for part in zip(*map(energy, each.values()), strict=True)] for each in whole]
    network, cluster = (_mean(part) for part in zip(*joules, strict=True))
    return Choice({axis: own[0].labels[axis] for axis in axes}, times, network, cluster, len(whole))


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
    if isnan(mine.low) or isnan(theirs.low):
        return mine.value < theirs.value
    return mine.high < theirs.low
