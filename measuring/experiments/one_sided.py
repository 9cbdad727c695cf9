"""What a program moved over windows (MPI_Put, MPI_Get) and Open MPI's counts of messages lack. Pure.

Open MPI has two ways to do it. osc/pt2pt makes windows of messages, which the count of messages has already: one of
about 48 bytes for each operation, and the data. osc/rdma and others move the data apart from messages. Which one a
program took stands in no file, so it is read off the bytes: with the first way, what a rank sent to another is what it
put there and what the other fetched, and the messages of the operations.

Measured with Open MPI 4.1.4: ten puts of 1,000,000 bytes over osc/pt2pt are 10,000,480 bytes in 20 messages.
Simplification: all windows of a program are of one way.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from eee_testbed.lab.errors import LabError

_LEAST_HEADER_BYTE: Final = 40
_MOST_HEADER_BYTE: Final = 200
_NEGLIGIBLE: Final = 0.01
"""Share of a pair's bytes up to which it does not matter whether they are counted twice."""


@dataclass(frozen=True, slots=True)
class Count:
    """Messages and their bytes."""

    messages: int = 0
    byte: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.messages + other.messages, self.byte + other.byte)


Pair = tuple[int, int]
"""Source and target, as ranks."""

Counts = Mapping[Pair, Count]


class UnclearWindows(LabError):
    """Whether messages have what a program moved over windows cannot be known; `byte` is how much that is."""

    def __init__(self, byte: int) -> None:
        self.byte = byte
        super().__init__(
            f"the program moved {byte:,} bytes over windows (MPI_Put, MPI_Get), and Open MPI's counts do not show "
            "whether its messages have them already: count with --traffic counters, or set `osc = pt2pt` in the nodes' "
            "openmpi-mca-params.conf."
        )


def apart(*, own: Counts, inner: Counts, put: Counts, fetched: Counts) -> Counts:
    """What to add to the messages, by who sent it to whom; UnclearWindows if that cannot be known.

    `own` are the program's messages, `inner` those of collectives; `put` by the rank that puts and its target,
    `fetched` by the rank that fetches and the one that it fetches from. Of a program without windows nothing is added.
    """
    moved = _moved(put, fetched)
    pairs = {(source, target) for source, target in {*moved, *put} if source != target}
    excess = {pair: own.get(pair, Count()).byte - moved.get(pair, Count()).byte for pair in pairs}
    operations = {pair: put.get(pair, Count()).messages for pair in excess}
    if any(excess[pair] < _LEAST_HEADER_BYTE * operations[pair] for pair in excess):
        return moved
    if all(excess[pair] <= _MOST_HEADER_BYTE * operations[pair] for pair in excess):
        return {}
    if all(_negligible(pair, moved, (own, inner)) for pair in excess):
        return {}
    raise UnclearWindows(sum(count.byte for (source, target), count in moved.items() if source != target))


def _moved(put: Counts, fetched: Counts) -> Counts:
    """By who sent it to whom. Open MPI counts a fetch as an operation without bytes among the puts, too."""
    moved: dict[Pair, Count] = {}
    for (rank, target), count in put.items():
        puts = count.messages - fetched.get((rank, target), Count()).messages
        moved[rank, target] = moved.get((rank, target), Count()) + Count(max(puts, 0), count.byte)
    for (rank, target), count in fetched.items():
        moved[target, rank] = moved.get((target, rank), Count()) + count
    return {pair: count for pair, count in moved.items() if count.byte or count.messages}


def _negligible(pair: Pair, moved: Counts, messages: Iterable[Counts]) -> bool:
    total = sum(counts.get(pair, Count()).byte for counts in messages)
    return moved.get(pair, Count()).byte <= _NEGLIGIBLE * total
