"""Which network for these jobs: the choices of a study that no other choice beats.

A choice is a value of every axis that says on what programs run; all workloads of the study run on each, one after the
other, so that run times and energies are sums over them, seed by seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies.pairs import Pair, by

FIGURES: Final = ("run_time_s", "network_joule", "cluster_joule")
"""What a choice is judged by; less is better."""


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


def advised(pairs: Sequence[Pair], workloads: Sequence[str]) -> list[Choice]:
    """All choices that ran everything, those on the front first, then by run time."""
    axes = [axis for axis in pairs[0].labels if axis not in workloads] if pairs else []
    groups = by(pairs, *axes)
    every = {tuple(one.labels[axis] for axis in workloads) for one in pairs}
    found = [choice for own in groups.values() if (choice := _choice(own, axes, workloads, len(every))) is not None]
    marked = [
        Choice(one.labels, one.run_time_s, one.network_joule, one.cluster_joule, one.seeds, _beater(one, found))
        for one in found
    ]
    return sorted(marked, key=lambda one: (one.beaten_by != "", one.run_time_s.value))


def _choice(own: Sequence[Pair], axes: Sequence[str], workloads: Sequence[str], count: int) -> Choice | None:
    """None if no seed has all workloads."""
    seeds: dict[int, dict[tuple[str, ...], Pair]] = {}
    for one in own:
        seeds.setdefault(one.seed, {})[tuple(one.labels[axis] for axis in workloads)] = one
    whole = [each for each in seeds.values() if len(each) == count]
    if not whole:
        return None
    times, network, cluster = (
        over_seeds([sum(getattr(one, name) for one in each.values()) for each in whole]) for name in FIGURES
    )
    return Choice({axis: own[0].labels[axis] for axis in axes}, times, network, cluster, len(whole))


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
