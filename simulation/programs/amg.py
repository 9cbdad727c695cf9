"""Like AMG: GMRES with algebraic multigrid on a 27-point problem, many small exchanges.

Rank = x + px·(y + py·z), not periodic. Each sparse product: MPI_Irecv from all neighbours, MPI_Isend to all,
MPI_Waitall. A V-cycle has on each level two sweeps and a residual down, restriction, interpolation, two sweeps up; a
GMRES iteration i one cycle, one product and i + 1 MPI_Allreduce of 8 bytes. A time step is a solve from the start,
then solves of 6, 5, 4 and 3 iterations. Messages have the number of their level as a tag.

Source: LLNL/AMG 3ada8a1 (amg.c, par_csr_communication.c, par_csr_matvec.c, gmres.c, par_cycle.c), input of
Georgakoudis et al. 2019, Table VIII. Level 0 is as there.

Left out: the set-up of each time step. Coarser levels follow from the matrix and cannot be written down: here each has
half the points of the one above in each dimension, and the same 26 neighbours; in AMG rows get fewer and messages more
and smaller. The coarsest level is swept like the others. MPI_Allreduces of a solve are as many as in AMG, but spread
evenly over its iterations.
"""

import math
from functools import partial
from typing import Annotated, Final, Literal

from pydantic import Field

from eee_testbed.simulation.programs.grid import Grid, offsets
from eee_testbed.simulation.programs.halo import Message, exchange
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import (
    DOUBLE_BYTE,
    Extent,
    Generated,
    Grain,
    Passes,
    RankGrid,
    Triple,
    writer_for,
)
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_RESTART: Final = 20
_SWEEPS: Final = 2
_START_DOTS: Final = 2


class Amg(Generated):
    """The command line (`-P`, `-n`), levels, iterations."""

    kind: Literal["amg"] = "amg"
    grain_ns: Grain = 25
    """Compute time of a row in a product or sweep; 25 ns are assumed."""

    procs: RankGrid = (8, 8, 4)
    """Ranks in x, y and z."""

    points: Triple = (32, 32, 32)
    """Of a rank in x, y and z."""

    levels: Annotated[int, Field(ge=1, le=20)] = 4
    """Of the V-cycle, the finest included; assumed."""

    solves: list[Annotated[int, Field(ge=1, le=1000)]] = Field(default=[10, 6, 5, 4, 3], max_length=64)
    """GMRES iterations of each solve of a time step. The first ends at a residual; 10 are assumed."""

    time_steps: Passes = 6

    def points_of(self, level: int) -> list[Extent]:
        """Of a rank on a level."""
        return [max(1, size >> level) for size in self.points]


def generate(parameters: Amg) -> Program:
    """The program."""
    grid = Grid.first_fastest(parameters.procs)
    writer = writer_for(parameters, len(grid.places))
    writer.assume("Coarser levels have half the points in each dimension and the neighbours of the finest.")
    for rank in range(len(grid.places)):
        calls = writer.rank(rank)
        halos = [_messages(parameters, grid, rank, level) for level in range(parameters.levels)]
        repeat(calls, parameters.time_steps, partial(_time_step, calls, parameters, halos))
    return writer.program()


def _messages(parameters: Amg, grid: Grid, rank: int, level: int) -> list[Message]:
    """To each neighbour on a level, and as much from it."""
    points = parameters.points_of(level)
    beside = ((grid.beside(rank, offset), offset) for offset in offsets(3))
    return sorted(
        Message(peer, DOUBLE_BYTE * math.prod(size for size, by in zip(points, offset, strict=True) if not by), level)
        for peer, offset in beside
        if peer is not None
    )


def _time_step(calls: RankCalls, parameters: Amg, halos: list[list[Message]]) -> None:
    for iterations in parameters.solves:
        repeat(calls, _START_DOTS, partial(_dot, calls))
        for number, dots in iterations_with_dots(iterations):
            repeat(calls, number, partial(_iteration, calls, parameters, halos, dots))


def iterations_with_dots(iterations: int) -> list[tuple[int, int]]:
    """Blocks of iterations and the dots of each of their iterations.

    Iteration i of a restart has i + 1. A block has their mean, which is whole for an odd number of iterations.
    """
    blocks = []
    begin = 0
    while begin < iterations:
        number = min(_RESTART - begin % _RESTART, iterations - begin)
        number -= number > 1 and number % 2 == 0
        first = begin % _RESTART + 1
        blocks.append((number, first + (number - 1) // 2 + 1))
        begin += number
    return blocks


def _iteration(calls: RankCalls, parameters: Amg, halos: list[list[Message]], dots: int) -> None:
    down, up = _SWEEPS + 1, _SWEEPS + 1
    last = len(halos) - 1
    for level in range(len(halos)):
        repeat(calls, down + (level > 0), partial(_product, calls, parameters, halos, level))  # restriction
    for level in range(last, -1, -1):
        repeat(calls, up, partial(_product, calls, parameters, halos, level))  # interpolation; on level 0 GMRES
    repeat(calls, dots, partial(_dot, calls))


def _product(calls: RankCalls, parameters: Amg, halos: list[list[Message]], level: int) -> None:
    exchange(calls, halos[level], halos[level])
    calls.compute(math.prod(parameters.points_of(level)) * parameters.grain_ns)


def _dot(calls: RankCalls) -> None:
    calls.call(Call.ALLREDUCE, size=DOUBLE_BYTE)
