"""Which low-power mode and hold save the most energy, if programs may be slowed down by so much.

Each mode is replayed with holds from nothing to a long one; the times of the modes are those of the description's
links. The best is the one with which links between routers need the least energy, by Georgakoudis' model, which tells
deep sleep (0.1 of active) from fast wake (0.6), among those whose mean slowdown over the seeds is within the bound. A
hold between two that were tried may be better still.

Each replay is kept as soon as it is known, as in a sweep: always-on ones in the description's own folder, those of a
policy in a folder of its own within it. The same search goes on with what is there.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from eee_testbed.simulation.description import Description, Links
from eee_testbed.simulation.pool import Pool, finished
from eee_testbed.simulation.power_models import georgakoudis
from eee_testbed.simulation.replay.replayed import Replayed, ReplayTask
from eee_testbed.simulation.replay.results import ReplayResults
from eee_testbed.simulation.worker import Simulated

_HOLDS: Final = (0, 1, 4, 16, 64)
"""Holds to try, in wakes of deep sleep."""

_POLICIES: Final = "policies"

Done = Callable[["Asked", Simulated[Replayed]], None]
"""Called with each replay when it is on the disk."""


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


def policy_folder(folder: Path, links: Links) -> Path:
    """Where the replays of a policy are kept, in the folder of their description."""
    return folder / _POLICIES / f"{links.mode}-{links.hold}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A replay that a search needs, and where it is kept."""

    results: ReplayResults
    task: ReplayTask

    def find(self) -> Replayed | None:
        """Its result, if that is there."""
        return self.results.find(self.task.seed, sleeping=self.task.sleeping)

    def __str__(self) -> str:
        links = self.task.description.links
        policy = f"{links.mode}, hold {links.hold}" if self.task.sleeping else "always on"
        return f"seed {self.task.seed}, links {policy}"


class Search:
    """Every candidate with every seed of a description. WrongFolder if `folder` is another simulation's.

    With `nodes_too` links to nodes have each candidate's policy, else always that of the description.
    """

    def __init__(self, description: Description, folder: Path, *, nodes_too: bool = False) -> None:
        seeds = list(dict.fromkeys(description.seeds))
        awake = ReplayResults(folder, description)
        self._awake = [Asked(awake, ReplayTask(description, seed, sleeping=False)) for seed in seeds]
        self._policies: list[tuple[Links, list[Asked]]] = []
        for links in candidates(description.links):
            asleep = description.model_copy(update={"links": links} | ({"node_links": links} if nodes_too else {}))
            results = ReplayResults(policy_folder(folder, links), asleep)
            self._policies.append((links, [Asked(results, ReplayTask(asleep, seed, sleeping=True)) for seed in seeds]))

    @property
    def asked(self) -> list[Asked]:
        """All replays that it needs."""
        return [*self._awake, *(one for _, own in self._policies for one in own)]

    @property
    def kept(self) -> int:
        """How many of them are on the disk."""
        return sum(one.find() is not None for one in self.asked)

    def run(self, pool: Pool, done: Done) -> list[Tried]:
        """Replay what is missing; the policy that saves the most comes first."""
        with ExitStack() as held:
            for results in dict.fromkeys(one.results for one in self.asked):
                held.enter_context(results.alone())
            missing = [(one, one.task) for one in self.asked if one.find() is None]
            for one, simulated in finished(pool, missing):
                one.results.add(simulated.result)
                done(one, simulated)
        awake = _found(self._awake)
        tried = [_tried(links, _found(own), awake) for links, own in self._policies]
        return sorted(tried, key=lambda one: one.energy_percent)


def _found(asked: Sequence[Asked]) -> list[Replayed]:
    return [found for replay in asked if (found := replay.find()) is not None]


def _tried(links: Links, asleep: Sequence[Replayed], awake: Sequence[Replayed]) -> Tried:
    pairs = list(zip(asleep, awake, strict=True))
    ratios = [one.time_ratio(other) for one, other in pairs]
    energies = [georgakoudis(one.shares).ratio.value * ratio for one, ratio in zip(asleep, ratios, strict=True)]
    return Tried(
        mode=links.mode,
        hold=links.hold,
        slowdown_percent=100 * (fmean(ratios) - 1),
        energy_percent=100 * (fmean(energies) - 1),
        low_power_percent=100 * fmean(one.shares.low_power for one in asleep),
    )


def best(tried: Sequence[Tried], bound_percent: float) -> Tried | None:
    """The first within the bound."""
    return next((policy for policy in tried if policy.slowdown_percent <= bound_percent), None)
