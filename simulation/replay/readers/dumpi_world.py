"""What the ranks of a DUMPI trace share: the program, and which ranks each communicator has."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, NamedTuple

from eee_testbed.simulation.replay.rank_calls import ProgramWriter


class Making(NamedTuple):
    """A call that makes a communicator, of all ranks of an old one."""

    old: int
    name: str
    what: Any


@dataclass(slots=True)
class Communicator:
    """World ranks in order; `dims` of a Cartesian one. `made` counts by rank the calls that made others of it."""

    members: tuple[int, ...]
    dims: tuple[int, ...] = ()
    made: Counter[int] = field(default_factory=Counter)
    positions: dict[int, int] = field(default_factory=dict)


_Parts = tuple[Sequence[Sequence[int]], Sequence[int]]
"""World ranks of new communicators, and the dimensions of each if it is Cartesian."""


def _same(old: Communicator, _asked: Mapping[int, Any]) -> _Parts:
    return [old.members], old.dims


def _chosen(_old: Communicator, asked: Mapping[int, Any]) -> _Parts:
    """Each rank names a group; those that are in it share a communicator."""
    groups = dict.fromkeys(group for rank, group in asked.items() if group and rank in group)
    return list(groups), ()


def _split(old: Communicator, asked: Mapping[int, Any]) -> _Parts:
    colors: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for at, rank in enumerate(old.members):
        color, key = asked[rank]
        if color >= 0:
            colors[color].append((key, at, rank))
    return [[rank for _, _, rank in sorted(part)] for part in colors.values()], ()


def _cartesian(old: Communicator, asked: Mapping[int, Any]) -> _Parts:
    dims = asked[old.members[0]]
    return [old.members[: prod(dims)]], dims


def _slices(old: Communicator, asked: Mapping[int, Any]) -> _Parts:
    """Ranks with equal coordinates in the dimensions that are dropped."""
    kept = asked[old.members[0]]
    parts: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for at, rank in enumerate(old.members):
        coordinates, rest = [], at
        for size in reversed(old.dims):
            coordinates.append(rest % size)
            rest //= size
        pairs = zip(reversed(coordinates), kept, strict=False)
        parts[tuple(coordinate for coordinate, keep in pairs if not keep)].append(rank)
    return list(parts.values()), [size for size, keep in zip(old.dims, kept, strict=False) if keep]


_PARTS: Final[Mapping[str, Callable[[Communicator, Mapping[int, Any]], _Parts]]] = {
    "Comm_dup": _same,
    "Comm_create": _chosen,
    "Comm_split": _split,
    "Cart_create": _cartesian,
    "Cart_sub": _slices,
}


class World:
    """What all ranks share: the program that is written, and the communicators."""

    def __init__(self, ranks: int, name: str) -> None:
        self.ranks = ranks
        self.writer = ProgramWriter(name, self.ranks, f"DUMPI trace of {self.ranks} ranks")
        self.communicators: list[Communicator] = []
        self.counts: Counter[str] = Counter()
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.add(tuple(range(self.ranks)))

    def add(self, members: tuple[int, ...], dims: tuple[int, ...] = ()) -> int:
        """A new communicator's number here."""
        positions = {rank: at for at, rank in enumerate(members)}
        self.communicators.append(Communicator(members, dims, positions=positions))
        return len(self.communicators) - 1

    def made(self, name: str, old: int, asked: Mapping[int, Making]) -> dict[int, int | None]:
        """The new communicator of each rank, by a call of that name which all of them made."""
        parts, dims = _PARTS[name](self.communicators[old], {rank: making.what for rank, making in asked.items()})
        numbers: dict[int, int | None] = dict.fromkeys(asked)
        for members in parts:
            number = self.add(tuple(members), tuple(dims))
            numbers |= {rank: number for rank in members if rank in numbers}
        return numbers

    def number(self, which: int) -> int:
        """The number of a communicator in the replay file."""
        return self.writer.communicator(self.communicators[which].members, which or None)

    def say(self) -> None:
        """Say what the program assumes."""
        say, counts = self.writer.assume, self.counts
        if counts["matched"]:
            say(f"{counts['matched']} receives from any rank or of any tag are replayed as what they received.")
        if counts["posted"]:
            say(f"{counts['posted']} receives have no status: their bytes are those of their buffers.")
        if counts["nobody"]:
            say(f"{counts['nobody']} messages with a negative rank are taken as those of MPI_PROC_NULL.")
        if counts["collective"]:
            say("No collective call is MPI_IN_PLACE: the trace does not say.")
        if counts["cancelled"]:
            say(f"{counts['cancelled']} requests that were cancelled are left out.")
        if counts["reordered"]:
            say("Ranks of Cartesian communicators keep their order, also where the program allowed another one.")
        if counts["tests"]:
            say("Time between tests of requests counts as computing.")
