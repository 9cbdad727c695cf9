"""What HPL's columns of ranks exchange: pivot rows while a panel is factored, and rows of U before an update."""

from typing import Final

from eee_testbed.simulation.programs.hpl_spread import Spread, roll, spread
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import DOUBLE_BYTE
from eee_testbed.simulation.replay.rank_calls import RankCalls

_HEAD: Final = 4
"""Numbers before a row: largest value, where it is, whose."""


class Column:
    """A rank in a column of ranks: its calls, by position from the row that has the panel's diagonal block."""

    def __init__(self, calls: RankCalls, communicator: int, row: int, root: int, rows: int) -> None:
        self.calls, self.rows = calls, rows
        self.position = (row - root) % rows
        self._communicator, self._root = communicator, root

    def _row(self, position: int) -> int:
        return (position + self._root) % self.rows

    def send(self, position: int, doubles: int) -> None:
        """MPI_Send to a position."""
        self.calls.send(self._row(position), doubles * DOUBLE_BYTE, communicator=self._communicator)

    def receive(self, position: int, doubles: int) -> None:
        """MPI_Recv from a position."""
        self.calls.receive(self._row(position), doubles * DOUBLE_BYTE, communicator=self._communicator)

    def swap(self, position: int, sent: int, received: int) -> None:
        """MPI_Irecv from a position, MPI_Send to it, MPI_Wait."""
        row = self._row(position)
        request = self.calls.irecv(row, received * DOUBLE_BYTE, communicator=self._communicator)
        self.send(position, sent)
        self.calls.wait(request)


def swap_pivot(column: Column, block: int) -> None:
    """One column of a panel of `block`: the row with the largest value goes to all, the current row to where that was.

    Pairs exchange in log2 steps; ranks beyond the power of two hand theirs in before and get the result after.
    """
    power = 1 << (column.rows.bit_length() - 1)
    position, best, both = column.position, block + _HEAD, 2 * block + _HEAD
    partner = position ^ power
    if position >= power:
        _hand_in(column, partner, best, block, first=position == power)
        if column.rows - power > 1:
            _pass_on(column, power, block)
        column.receive(partner, best)
        return
    if partner < column.rows:
        _take_in(column, partner, best, block)
    for step in range(power.bit_length() - 1):
        own, theirs = best, best
        if position >> (step + 1) == 0:
            own, theirs = (both, best) if position >> step == 0 else (best, both)
        column.swap(position ^ (1 << step), own, theirs)
    if partner < column.rows:
        column.send(partner, best)


def _hand_in(column: Column, partner: int, best: int, block: int, *, first: bool) -> None:
    if first:
        column.swap(partner, best, block)
    else:
        column.send(partner, best)


def _take_in(column: Column, partner: int, best: int, block: int) -> None:
    if column.position == 0:
        column.swap(partner, block, best)
    else:
        column.receive(partner, best)


def _pass_on(column: Column, power: int, block: int) -> None:
    """The first position beyond the power of two gives the current row to the others there."""
    for message in spread(column.position - power, column.rows - power):
        if message.sends:
            column.send(power + message.partner, block)
        else:
            column.receive(power + message.partner, block)


def share_rows(column: Column, doubles: int) -> None:
    """All rows of U to every rank of a column: spread, then roll, in equal pieces of `doubles`."""
    if not doubles:
        return
    for message in spread(column.position, column.rows):
        _spread(column, message, doubles)
    steps = roll(column.position, column.rows)
    rounds, rest = divmod(len(steps), 2)
    repeat(column.calls, rounds, lambda: _roll(column, [step.partner for step in steps[:2]], doubles))
    _roll(column, [step.partner for step in steps[:rest]], doubles)


def _spread(column: Column, message: Spread, doubles: int) -> None:
    size = (message.end - message.begin) * doubles
    if message.sends:
        column.send(message.partner, size)
    else:
        column.receive(message.partner, size)


def _roll(column: Column, partners: list[int], doubles: int) -> None:
    for partner in partners:
        column.swap(partner, doubles, doubles)
