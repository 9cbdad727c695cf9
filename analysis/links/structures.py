"""Which of a path's transmitters may sleep alike: the candidates that echoes choose from.

A *group* are transmitters with one policy. Candidates are: one group (the ports, a single one; with fast wake before
deep sleep or with coalescing, all), or two (ports and cards, ports and one card, the ports of either direction). Ports
and cards that sleep alike are two groups with the same times. Ports alone and cards alone are two each on the path
between hosts of one switch, and which of both sleep shows in no echo: one candidate stands for both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.sleep_path import SleepPath

Timing = Literal["deep", "hybrid", "coalescing"]

TIMES: Final[Mapping[Timing, tuple[str, ...]]] = {
    "deep": ("hold_us", "sleep_us", "wake_us"),
    "hybrid": ("hold_us", "sleep_us", "wake_us", "fast_wake_us", "deep_after_us"),
    "coalescing": ("hold_us", "sleep_us", "wake_us", "wait_us", "wait_byte"),
}
"""The parameters of each way to sleep. Fast wake is `deep` with a Ts of 0."""


@dataclass(frozen=True, slots=True)
class Group:
    """Transmitters that sleep alike, by their places on the path."""

    timing: Timing
    members: tuple[int, ...]


@cache
def _names(groups: tuple[Group, ...]) -> tuple[tuple[int, str], ...]:
    return tuple((number, name) for number, group in enumerate(groups) for name in TIMES[group.timing])


@dataclass(frozen=True, slots=True)
class Structure:
    """Groups of a path; no group: nothing sleeps."""

    groups: tuple[Group, ...]

    @property
    def names(self) -> tuple[tuple[int, str], ...]:
        """(number of the group, parameter) of each column of parameters."""
        return _names(self.groups)

    def split(self, columns: Floats) -> list[dict[str, Floats]]:
        """Parameters of each group by name, shape (candidates, 1), from (candidates, parameters)."""
        times: list[dict[str, Floats]] = [{} for _ in self.groups]
        for place, (number, name) in enumerate(self.names):
            times[number][name] = columns[:, place, None]
        return times

    def path_wake_us(self, columns: Floats) -> Floats:
        """The sum of all wakes of a round trip that found everything asleep, shape (candidates,)."""
        total = np.zeros(len(columns))
        for group, times in zip(self.groups, self.split(columns), strict=True):
            total += len(group.members) * times["wake_us"][:, 0]
        return total


NOTHING: Final = Structure(())


def candidates(path: SleepPath, *, bursts: bool) -> Iterator[Structure]:
    """The structures that a path may have; `bursts`: echoes of several sizes, without which coalescing is invisible."""
    free = [place for place, transmitter in enumerate(path) if transmitter.may_sleep is not False]
    known = {place for place, transmitter in enumerate(path) if transmitter.may_sleep}
    ports = tuple(place for place in free if not path[place].card)
    cards = tuple(place for place in free if path[place].card)
    alone = _distinct(known, ports, cards, *((place,) for place in free))
    for members in alone:
        yield Structure((Group("deep", members),))
    for members in _distinct(known, ports or cards, tuple(free)):
        yield Structure((Group("hybrid", members),))
        if bursts:
            yield Structure((Group("coalescing", members),))
    for first, second in _pairs(path, ports, cards):
        if known <= {*first, *second}:
            yield Structure((Group("deep", first), Group("deep", second)))


def is_even(path: SleepPath, structure: Structure) -> bool:
    """Whether each group has all or none of the ports that may sleep, and of the cards."""
    for card in (False, True):
        may = {
            place
            for place, transmitter in enumerate(path)
            if transmitter.card == card and transmitter.may_sleep is not False
        }
        if any(0 < len(may & set(group.members)) < len(may) for group in structure.groups):
            return False
    return True


def splits_switch(path: SleepPath, structure: Structure) -> bool:
    """Whether of one switch's ports that may sleep some are in no group: ports of one switch are mostly alike."""
    asleep = {place for group in structure.groups for place in group.members}
    ports: dict[str, list[bool]] = {}
    for place, transmitter in enumerate(path):
        if not transmitter.card and transmitter.may_sleep is not False:
            ports.setdefault(transmitter.end.split(":")[0], []).append(place in asleep)
    return any(any(sleeps) and not all(sleeps) for sleeps in ports.values())


def _distinct(known: set[int], *sets: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Sets that have all the known members, one of each size: places hardly matter to a single group."""
    sizes: set[int] = set()
    for members in sets:
        if members and known <= set(members) and len(members) not in sizes:
            sizes.add(len(members))
            yield members


def _pairs(
    path: SleepPath, ports: tuple[int, ...], cards: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    if ports and cards:
        yield ports, cards
        if len(cards) > 1:
            yield from ((ports, (card,)) for card in cards)
    if len(ports) > 1:
        half = len([place for place in ports if place < len(path) // 2])
        if 0 < half < len(ports):
            yield ports[:half], ports[half:]
