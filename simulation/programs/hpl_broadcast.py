"""HPL's six ways to broadcast a panel along a row of ranks. Positions count from the panel's column."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Literal

from eee_testbed.simulation.programs.hpl_spread import roll, spread
from eee_testbed.simulation.programs.part import DOUBLE_BYTE
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.rank_calls import RankCalls

BroadcastName = Literal["1ring", "1ringM", "2ring", "2ringM", "blong", "blongM"]


class Row:
    """A rank in the row of a broadcast: its calls, by position."""

    def __init__(self, calls: RankCalls, communicator: int, column: int, root: int, columns: int, tag: int) -> None:
        self.columns = columns
        self.position = (column - root) % columns
        self._calls, self._communicator, self._root, self._tag = calls, communicator, root, tag

    def _column(self, position: int) -> int:
        return (position + self._root) % self.columns

    def send(self, position: int, doubles: int, call: Call = Call.SEND) -> None:
        """MPI_Send, or MPI_Ssend, to a position."""
        self._calls.call(
            call,
            communicator=self._communicator,
            peer=self._column(position),
            tag=self._tag,
            size=doubles * DOUBLE_BYTE,
        )

    def receive(self, position: int, doubles: int) -> None:
        """MPI_Recv from a position."""
        self._calls.receive(self._column(position), doubles * DOUBLE_BYTE, self._tag, self._communicator)

    def swap(self, position: int, sent: int, received: int) -> None:
        """MPI_Issend to a position, MPI_Recv from it, MPI_Wait."""
        request = self._calls.issend(self._column(position), sent * DOUBLE_BYTE, self._tag, self._communicator)
        self.receive(position, received)
        self._calls.wait(request)


def broadcast(row: Row, kind: BroadcastName, doubles: int) -> None:
    """A rank's calls of a broadcast."""
    if row.columns == 1:
        return
    if kind == "blong":
        _long(row, list(range(row.columns)), doubles)
    elif kind == "blongM":
        _modified_long(row, doubles)
    else:
        children = ring_children(kind, row.columns)
        for parent, sent_to in children.items():
            if row.position in sent_to:
                row.receive(parent, doubles)
        for child in children[row.position]:
            row.send(child, doubles)


@lru_cache(maxsize=64)
def ring_children(kind: BroadcastName, columns: int) -> Mapping[int, tuple[int, ...]]:
    """Whom each position sends to, in order.

    The second ring begins in the middle. Modified (M): the position beside the root, which has to factor the next
    panel, only receives; the root sends to the one behind it, too.
    """
    heads = {1, (columns + 1) // 2} if kind.startswith("2") and columns > 2 else {1}
    if kind.endswith("M") and columns > 2:
        heads.add(2)
    rest = {
        position: () if position + 1 in heads or position + 1 == columns else (position + 1,)
        for position in range(1, columns)
    }
    return {0: tuple(sorted(heads)), **rest}


def _modified_long(row: Row, doubles: int) -> None:
    """All of it to the position beside the root, then `_long` among the others."""
    if row.position == 0:
        row.send(1, doubles, Call.SSEND)
    elif row.position == 1:
        row.receive(0, doubles)
    if row.columns > 2 and row.position != 1:
        _long(row, [position for position in range(row.columns) if position != 1], doubles)


def _long(row: Row, members: list[int], doubles: int) -> None:
    """Spread in equal pieces, the last one with what is left, then roll; empty pieces are sent, too."""
    number = len(members)
    at = members.index(row.position)
    piece = max(doubles // number, 1)
    of = partial(_doubles_between, doubles, piece, number)
    for message in spread(at, number):
        size = of(message.begin, message.end)
        if message.sends:
            row.send(members[message.partner], size, Call.SSEND)
        else:
            row.receive(members[message.partner], size)
    for step in roll(at, number):
        row.swap(members[step.partner], of(step.sent, step.sent + 1), of(step.received, step.received + 1))


def _doubles_between(doubles: int, piece: int, number: int, begin: int, end: int) -> int:
    first, last = min(begin * piece, doubles), doubles if end == number else min(end * piece, doubles)
    return last - first
