"""Which slot is next: blocks in order, those that failed again at the end of their block, each so often. Pure."""

from collections import deque
from collections.abc import Iterable, Sequence

from controller.experiments.blocks import Slot


class SlotQueue:
    """The slots of an experiment that have no valid trial yet."""

    def __init__(self, slots: Sequence[Slot], done: Iterable[int], retries: int) -> None:
        self._slots = {slot.number: slot for slot in slots}
        self._done = set(done) & self._slots.keys()
        self._retries = retries
        self._tries: dict[int, int] = {}
        self._waiting = deque(slot for slot in slots if slot.number not in self._done)
        self._again: list[Slot] = []
        self._block: int | None = self._waiting[0].block if self._waiting else None

    @property
    def done(self) -> int:
        """How many slots have a valid trial."""
        return len(self._done)

    def next(self) -> Slot | None:
        """The slot to try now; None when nothing is left to be tried."""
        if self._waiting and self._waiting[0].block == self._block:
            return self._take(self._waiting.popleft())
        if self._again:
            return self._take(self._again.pop(0))
        if not self._waiting:
            return None
        self._block = self._waiting[0].block
        return self._take(self._waiting.popleft())

    def succeeded(self, slot: Slot) -> None:
        """Its trial counts."""
        self._done.add(slot.number)

    def failed(self, slot: Slot) -> bool:
        """Its trial does not count, or does no more; whether it will be tried again."""
        self._done.discard(slot.number)
        if self._tries.get(slot.number, 0) > self._retries:
            return False
        if slot not in self._again:
            self._again.append(slot)
        return True

    def missing(self) -> tuple[Slot, ...]:
        """Slots without a valid trial."""
        return tuple(slot for number, slot in self._slots.items() if number not in self._done)

    def _take(self, slot: Slot) -> Slot:
        self._tries[slot.number] = self._tries.get(slot.number, 0) + 1
        return slot
