"""HPL, the Linpack benchmark: LU factorization on a grid of ranks with partial pivoting.

For each panel of `block` columns, the ranks of one column factor it, with a swap of pivot rows for each column (log2 P
steps of about 2·block + 4 doubles). It is broadcast along the rows of ranks in one of six ways. The rows of U are
swapped and broadcast along the columns of ranks (spread, then roll). The rest of the matrix is updated. Panels and
pivots are sent in communicators of a row or a column.

All traffic is about 4·n²·(Q - 1 + P - 1 + log2(P) / 2) bytes, and each panel brings block² doubles more for each rank.
(2.4, the factor K of U in HPL's own formula, is one of time.)

Source: icl-utk-edu/hpl (HPL_pdgesv0.c, HPL_bcast.c and its six kinds, HPL_pdmxswp.c, HPL_pdpanel_init.c,
HPL_spreadT.c, HPL_rollT.c).

Left out: look-ahead, which overlaps a panel with the update before; ranks wait for a broadcast instead of polling.
Rows of U are shared equally among the rows of ranks, where HPL's follow the pivots. Binary exchange of U,
equilibration, the triangular solve, the check.
"""

from functools import partial
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from eee_testbed.simulation.programs.grid import Grid
from eee_testbed.simulation.programs.hpl_broadcast import BroadcastName, Row, broadcast
from eee_testbed.simulation.programs.hpl_swap import Column, share_rows, swap_pivot
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import MOST_RANKS, Generated, Grain, Passes, writer_for
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter, RankCalls

_MILLION: Final = 1e6


class Hpl(Generated):
    """HPL.dat: order, block, grid of ranks, broadcast."""

    kind: Literal["hpl"] = "hpl"
    grain_ns: Grain = 100_000
    """Compute time of a million floating-point operations; 100 us are 10 Gflop/s."""

    order: Annotated[int, Field(ge=1, le=10_000_000)] = 9_600
    """N, of the matrix. 9,600 in blocks of 192 send what Table 5 of Andújar et al. 2023 has, within 1.1 %, on 8 by 16,
    16 by 16 and 16 by 32 ranks. The paper does not say what it ran."""

    block: Annotated[int, Field(ge=1, le=10_000)] = 192
    """NB, columns of a panel."""

    rows: Annotated[int, Field(ge=1, le=1024)] = 8
    """P, of the grid of ranks."""

    columns: Annotated[int, Field(ge=1, le=1024)] = 16
    """Q, of the grid of ranks."""

    panels: Passes | None = None
    """Only so many, from the first on; else all. Their messages are as long as in the whole run."""

    mapping: Literal["row", "column"] = "row"
    """Whether ranks are numbered along rows or along columns."""

    broadcast: BroadcastName = "1ring"
    """BCAST; M is modified: the next panel's ranks only receive."""

    @model_validator(mode="after")
    def _are_few(self) -> "Hpl":
        if self.rows * self.columns > MOST_RANKS:
            raise ValueError(f"{self.rows * self.columns} ranks are too many: use {MOST_RANKS} at most")
        return self


def generate(parameters: Hpl) -> Program:
    """The program."""
    sizes = (parameters.rows, parameters.columns)
    grid = Grid.last_fastest(sizes) if parameters.mapping == "row" else Grid.first_fastest(sizes)
    writer = writer_for(parameters, len(grid.places))
    for rank, (row, column) in enumerate(grid.places):
        _Rank(writer, parameters, grid, rank, row, column).write()
    return writer.program()


def owned(begin: int, end: int, block: int, index: int, parts: int) -> int:
    """Of rows or columns `begin` to `end` of the matrix, those of one of `parts`: blocks are dealt out in turn."""
    return _first(end, block, index, parts) - _first(begin, block, index, parts)


def _first(number: int, block: int, index: int, parts: int) -> int:
    blocks, rest = divmod(number, block)
    whole, extra = divmod(blocks, parts)
    return whole * block + (block if index < extra else rest if index == extra else 0)


class _Rank:
    """A rank's panels."""

    def __init__(self, writer: ProgramWriter, parameters: Hpl, grid: Grid, rank: int, row: int, column: int) -> None:
        self._calls: RankCalls = writer.rank(rank)
        self._parameters, self._row, self._column = parameters, row, column
        self._in_row = writer.communicator(_line(grid, 0, row))
        self._in_column = writer.communicator(_line(grid, 1, column))

    def write(self) -> None:
        """All panels."""
        for begin in range(0, self._parameters.order, self._parameters.block)[: self._parameters.panels]:
            self._panel(begin)
        self._calls.finish()

    def _panel(self, begin: int) -> None:
        order, rows, columns = self._parameters.order, self._parameters.rows, self._parameters.columns
        block, number = min(self._parameters.block, order - begin), begin // self._parameters.block
        root_row, root_column = number % rows, number % columns
        tall = owned(begin, order, self._parameters.block, self._row, rows)
        below = tall - (block if self._row == root_row else 0)
        wide = owned(begin, order + 1, self._parameters.block, self._column, columns)
        right = wide - (block if self._column == root_column else 0)
        column = Column(self._calls, self._in_column, self._row, root_row, rows)
        if self._column == root_column:
            repeat(self._calls, block, partial(self._factor, column, tall, block))
        row = Row(self._calls, self._in_row, self._column, root_column, columns, number)
        broadcast(row, self._parameters.broadcast, below * block + block * block + block + 1)
        if rows > 1:
            share_rows(column, block * right // rows)
        self._compute(2.0 * block * below * right + block * block * right)

    def _factor(self, column: Column, tall: int, block: int) -> None:
        self._compute(tall * block)
        if self._parameters.rows > 1:
            swap_pivot(column, block)

    def _compute(self, operations: float) -> None:
        self._calls.compute(operations / _MILLION * self._parameters.grain_ns)


def _line(grid: Grid, axis: int, at: int) -> list[int]:
    """Ranks of a row or column of the grid, in order."""
    ranks = sorted((place[1 - axis], rank) for rank, place in enumerate(grid.places) if place[axis] == at)
    return [rank for _, rank in ranks]
