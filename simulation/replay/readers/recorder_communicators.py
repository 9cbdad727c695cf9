"""Communicators in a rank's file: their world ranks, their place among those of the same ranks, their neighbours."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from eee_testbed.benchmarks.recorder.table import BY_NUMBER
from eee_testbed.simulation.replay.calls import ANY, NOBODY
from eee_testbed.simulation.replay.checks import MOST_MEMBERS


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator as a rank knows it.

    `here` is the rank's own number there; `nth` is its place among those of the same members, which all of them make in
    one order. `refused` says why calls on it cannot be replayed.
    """

    members: tuple[int, ...] = ()
    here: int = 0
    nth: int = 0
    cartesian: bool = False
    sources: Sequence[int] = ()
    targets: Sequence[int] = ()
    refused: str = ""


class Communicators:
    """Those of one rank, by their number there."""

    def __init__(self, rank: int, ranks: int, refuse: Callable[[str], NoReturn]) -> None:
        self._rank, self._ranks, self._refuse = rank, ranks, refuse
        self._known: dict[int, Communicator] = {}
        self._made: Counter[tuple[int, ...]] = Counter()

    def __getitem__(self, number: int) -> Communicator:
        """A communicator that is used; refused if it is unknown or cannot be replayed."""
        communicator = self._known.get(number)
        if communicator is None:
            self._refuse(f"the communicator {number}, which no record made")
        if communicator.refused:
            self._refuse(f"a call on {communicator.refused}")
        return communicator

    def add(self, fields: Sequence[int]) -> None:
        """A record of a communicator."""
        if len(fields) < 5:
            self._refuse("a communicator without its ranks")
        number, made_by, inter, topology = fields[:4]
        function = BY_NUMBER.get(made_by)
        maker = function.mpi_name if function is not None else "a call that was not recorded"
        members, rest = self._group(fields[4:])
        if inter:
            self._known[number] = Communicator(refused=f"an intercommunicator ({maker}), which cannot be replayed")
            return
        if -1 in members:
            self._known[number] = Communicator(refused=f"a communicator ({maker}) with ranks outside MPI_COMM_WORLD")
            return
        if max(members, default=self._ranks) >= self._ranks or len({*members, self._rank}) != len(members):
            self._refuse("a communicator of ranks that cannot be")
        sources, rest = self._neighbours(rest, len(members))
        targets, _ = self._neighbours(rest, len(members))
        nth = self._made[members]
        self._made[members] += 1
        self._known[number] = Communicator(members, members.index(self._rank), nth, topology == 1, sources, targets)

    def _group(self, fields: Sequence[int]) -> tuple[tuple[int, ...], Sequence[int]]:
        """World ranks, -1 of one outside, and the fields behind them."""
        count, regular = divmod(fields[0], 2)
        if count > MOST_MEMBERS or len(fields) < 1 + (2 if regular else count):
            self._refuse("a communicator without its ranks")
        if not regular:
            return tuple(rank - 1 for rank in fields[1 : 1 + count]), fields[1 + count :]
        first, step = fields[1] - 1, fields[2]
        if count > self._ranks or first < 0 or step < 1:
            self._refuse("a communicator of ranks that cannot be")
        return tuple(range(first, first + count * step, step)), fields[3:]

    def _neighbours(self, fields: Sequence[int], members: int) -> tuple[Sequence[int], Sequence[int]]:
        if not fields or len(fields) < 1 + fields[0]:
            self._refuse("a topology without its neighbours")
        return [peer_of(one, members, self._refuse) for one in fields[1 : 1 + fields[0]]], fields[1 + fields[0] :]


def peer_of(field: int, members: int, refuse: Callable[[str], NoReturn]) -> int:
    """A rank of a communicator with so many members, ANY or NOBODY."""
    if field > members + 1:
        refuse(f"the rank {field - 2} of a communicator of {members}")
    return {0: NOBODY, 1: ANY}.get(field, field - 2)
