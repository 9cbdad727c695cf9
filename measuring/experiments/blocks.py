"""The order of an experiment's trials: interleaved randomized blocks, and which slot is next. Pure.

The same seed gives the same order. Meters drift by watts while effects are tenths of a watt. So every block has every
combination of levels, and comparisons are made within a block. Within a block the order is random, so that drift
favours no level on average. Slow factors are drawn first and the rest within them (a split plot: Fisher 1925; the
effect of a slow factor then rests on as many changes as there are blocks, not on as many trials).
"""

import random
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from eee_testbed.measuring.experiments.experiment import Level

Levels = Mapping[str, Level]

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Slot:
    """A position in the order: its block, its levels, and which repetition of that combination it is in the block."""

    number: int
    block: int
    repetition: int
    levels: Levels


def order_of(
    factors: Mapping[str, Sequence[Level]],
    *,
    blocks: int,
    repetitions: int = 1,
    seed: int = 1,
    slow: Sequence[str] = (),
    skip: Sequence[Levels] = (),
) -> tuple[Slot, ...]:
    """Every slot of every block, in the order in which they run."""
    generator = random.Random(seed)  # noqa: S311 - a reproducible order, not a secret
    quick = [name for name in factors if name not in slow]
    slots: list[Slot] = []
    for block in range(blocks):
        for outer in _shuffled(_combinations(factors, [name for name in factors if name in slow]), generator):
            inner = [{**outer, **levels} for levels in _combinations(factors, quick)]
            kept = [levels for levels in inner if not any(_matches(levels, partial) for partial in skip)]
            cells = [(levels, repetition) for levels in kept for repetition in range(repetitions)]
            for levels, repetition in _shuffled(cells, generator):
                own = {name: levels[name] for name in factors}
                slots.append(Slot(len(slots), block, repetition, own))
    return tuple(slots)


def _combinations(factors: Mapping[str, Sequence[Level]], names: Sequence[str]) -> list[dict[str, Level]]:
    return [dict(zip(names, levels, strict=True)) for levels in product(*(factors[name] for name in names))]


def _matches(levels: Levels, partial: Levels) -> bool:
    return all(levels[name] == level for name, level in partial.items())


def _shuffled(items: Sequence[_Item], generator: random.Random) -> list[_Item]:
    return generator.sample(list(items), len(items))


class SlotQueue:
    """The slots of an experiment that have no valid trial yet.

    Blocks come in order. A slot whose trial failed is repeated at the end of its block, up to `retries` times.
    """

    def __init__(self, slots: Sequence[Slot], done: Iterable[int], retries: int) -> None:
        self._slots = {slot.number: slot for slot in slots}
        self._done = set(done) & self._slots.keys()
        self._retries = retries
        self._tries: dict[int, int] = {}
        self._waiting = deque(slot for slot in slots if slot.number not in self._done)
        self._repeats: list[Slot] = []
        self._block: int | None = self._waiting[0].block if self._waiting else None

    @property
    def done(self) -> int:
        """How many slots have a valid trial."""
        return len(self._done)

    def next(self) -> Slot | None:
        """The slot to run now; None if none is left."""
        if self._waiting and self._waiting[0].block == self._block:
            return self._take(self._waiting.popleft())
        if self._repeats:
            return self._take(self._repeats.pop(0))
        if not self._waiting:
            return None
        self._block = self._waiting[0].block
        return self._take(self._waiting.popleft())

    def succeeded(self, slot: Slot) -> None:
        """Record that the slot has a valid trial."""
        self._done.add(slot.number)

    def failed(self, slot: Slot) -> bool:
        """Record that the slot's trial is not valid, or no longer; whether the slot will be repeated."""
        self._done.discard(slot.number)
        if not self.may_repeat(slot):
            return False
        if slot not in self._repeats:
            self._repeats.append(slot)
        return True

    def may_repeat(self, slot: Slot) -> bool:
        """Whether the slot has a try left."""
        return self._tries.get(slot.number, 0) <= self._retries

    def gave_up(self, slot: Slot) -> None:
        """Record that the slot's trial is not valid, and that it will not be repeated."""
        self._done.discard(slot.number)
        self._repeats = [one for one in self._repeats if one.number != slot.number]

    def missing(self) -> tuple[Slot, ...]:
        """Slots without a valid trial."""
        return tuple(slot for number, slot in self._slots.items() if number not in self._done)

    def _take(self, slot: Slot) -> Slot:
        self._tries[slot.number] = self._tries.get(slot.number, 0) + 1
        return slot
