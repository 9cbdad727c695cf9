"""Links that sleep and are turned off, against either alone: energy of links between switches.

A value `A+B` of the axis `links` is both policies together; `A` and `B` are values of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from eee_testbed.simulation.studies.pairs import Pair, by

AXIS: Final = "links"
_AND: Final = "+"


@dataclass(frozen=True, slots=True)
class Together:
    """Two policies on one workload. Energies are of links between switches, to links always on, means over seeds."""

    policy: str
    workload: str
    energy_percent: float
    alone_percent: tuple[float, ...]
    """Of each policy alone, in the order of the name."""

    slowdown_percent: float
    alone_slowdown_percent: tuple[float, ...]

    @property
    def gain_percent(self) -> float:
        """Of the energy that the better policy alone would leave; negative if both together take more."""
        best = min(self.alone_percent)
        return 100 * (1 - self.energy_percent / best) if best else 0.0


def parts_of(policy: str) -> list[str]:
    """The policies of a value.

    >>> parts_of("tcep+deep-10")
    ['tcep', 'deep-10']
    """
    return policy.split(_AND)


def energy_percent(pair: Pair) -> float:
    """Of links between switches, to links always on: power by Georgakoudis et al. (2019), IV.B, over the run time."""
    return (100 - pair.saving_percent) * (1 + pair.slowdown_percent / 100)


def workload_of(pair: Pair) -> str:
    """What a pair simulates, but for its links."""
    return " ".join(value for axis, value in pair.labels.items() if axis != AXIS)


def together(pairs: Sequence[Pair]) -> list[Together]:
    """Every value that joins policies, by workload; one that is not simulated yet, or lacks a part, is left out."""
    means = {
        (policy, workload_of(own[0])): (fmean(map(energy_percent, own)), fmean(one.slowdown_percent for one in own))
        for (policy, *_), own in by(pairs, AXIS, *_others(pairs)).items()
    }
    found = []
    for (policy, workload), (energy, slowdown) in means.items():
        parts = [means.get((part, workload)) for part in parts_of(policy)]
        alone = [part for part in parts if part is not None]
        if len(parts) > 1 and len(alone) == len(parts):
            energies, slowdowns = zip(*alone, strict=True)
            found.append(Together(policy, workload, energy, energies, slowdown, slowdowns))
    return found


def _others(pairs: Sequence[Pair]) -> list[str]:
    return [axis for axis in pairs[0].labels if axis != AXIS] if pairs else []
