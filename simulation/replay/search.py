"""Which low-power mode and hold save the most energy, if programs may be slowed down by so much.

Each mode is replayed with holds from nothing to a long one; the times of the modes are those of the description's
links. The best is the one with which links between routers need the least energy, by Georgakoudis' model, which tells
deep sleep (0.1 of active) from fast wake (0.6), among those whose mean slowdown over the seeds is within the bound. A
hold between two that were tried may be better still.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from simulation.description import Description, Links
from simulation.pool import Pool, finished
from simulation.power_models import georgakoudis
from simulation.replay.replayed import Replayed, ReplayTask

_HOLDS: Final = (0, 1, 4, 16, 64)
"""Holds to try, in wakes of deep sleep."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A policy: means over the seeds, against links always on."""

    mode: str
    hold: int
    slowdown_percent: float
    energy_percent: float
    """Change of the links' energy."""

    low_power_percent: float
    """Of links' time."""


def candidates(links: Links) -> list[Links]:
    """Each mode that the links' times describe, with each hold."""
    modes = [mode for mode, is_there in (("deep", links.wake), ("fast", links.fast_wake)) if is_there]
    if links.wake and links.fast_wake and links.deep_after:
        modes.append("hybrid")
    longest = max(links.wake, links.fast_wake)
    return [links.model_copy(update={"mode": mode, "hold": times * longest}) for mode in modes for times in _HOLDS]


def search(description: Description, pool: Pool) -> list[Tried]:
    """Replay every candidate with every seed; the one that saves the most comes first."""
    seeds = list(dict.fromkeys(description.seeds))
    policies = candidates(description.links)
    described = [description.model_copy(update={"links": links}) for links in policies]
    tasks = [ReplayTask(description, seed, sleeping=False) for seed in seeds]
    tasks += [ReplayTask(one, seed, sleeping=True) for one in described for seed in seeds]
    found = _all(tasks, pool)
    awake, asleep = found[: len(seeds)], found[len(seeds) :]
    tried = [
        _tried(links, asleep[index * len(seeds) : (index + 1) * len(seeds)], awake)
        for index, links in enumerate(policies)
    ]
    return sorted(tried, key=lambda one: one.energy_percent)


def _all(tasks: Sequence[ReplayTask], pool: Pool) -> list[Replayed]:
    by_number = dict(finished(pool, list(enumerate(tasks))))
    return [by_number[number].result for number in range(len(tasks))]


def _tried(links: Links, asleep: Sequence[Replayed], awake: Sequence[Replayed]) -> Tried:
    pairs = list(zip(asleep, awake, strict=True))
    energies = [one.run_time_s * georgakoudis(one.shares).ratio.value / other.run_time_s for one, other in pairs]
    return Tried(
        mode=links.mode,
        hold=links.hold,
        slowdown_percent=100 * (fmean(one.run_time_s / other.run_time_s for one, other in pairs) - 1),
        energy_percent=100 * (fmean(energies) - 1),
        low_power_percent=100 * fmean(one.shares.low_power for one in asleep),
    )


def best(tried: Sequence[Tried], bound_percent: float) -> Tried | None:
    """The first within the bound."""
    return next((one for one in tried if one.slowdown_percent <= bound_percent), None)
