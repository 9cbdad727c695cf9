"""Like Laghos: conjugate gradients on a finite-element mesh; the lowest rank that has a node owns it.

Rank = x + px·(y + py·z), not periodic. A product is: owners send their shared nodes to the up to 7 ranks above them
(Bcast, not the collective), element work, and the sums in the other direction (Reduce). A rank posts MPI_Isend and
MPI_Irecv neighbour by neighbour, then waits for all. A solve has k iterations with two MPI_Allreduce of 8 bytes each,
one before, and two Reduces and two Bcasts more; a time step has four solves and one MPI_Allreduce for its length.

Source: CEED/Laghos v2.0 and mfem/mfem laghos-v2.0 (laghos.cpp, laghos_solver.cpp, communication.cpp, solvers.cpp,
operator.cpp), input of Georgakoudis et al. 2019, Table VIII.

Left out: the order of MPI_Isend and MPI_Irecv among neighbours (receives come first here), solves that converge before
k iterations, time steps that are repeated, set-up. Element work is the same in each product and none elsewhere.
"""

import itertools
import math
from functools import partial
from typing import Annotated, Final, Literal

from pydantic import Field

from eee_testbed.simulation.programs.grid import Grid, Place
from eee_testbed.simulation.programs.halo import Message, exchange
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import DOUBLE_BYTE, Generated, Grain, Passes, RankGrid, Triple, writer_for
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_SOLVES: Final = 4
"""Of a time step: RK4."""

_ABOVE: Final = [offset[::-1] for offset in itertools.product((0, 1), repeat=3) if any(offset)]
_BELOW: Final = [tuple(-by for by in offset) for offset in _ABOVE]


class Laghos(Generated):
    """Grid of ranks, mesh of a rank, order, iterations of a solve, time steps."""

    kind: Literal["laghos"] = "laghos"
    grain_ns: Grain = 5800
    """Compute time of an element in a product. 5.8 us give about the 6.35 s of Table VIII."""

    procs: RankGrid = (8, 8, 4)
    """Ranks in x, y and z."""

    elements: Triple = (8, 8, 16)
    """Of a rank in x, y and z."""

    order: Annotated[int, Field(ge=1, le=16)] = 2
    """`-ok`: nodes of an element along an edge, less one."""

    components: Annotated[int, Field(ge=1, le=16)] = 3
    """Of a node, 8 bytes each."""

    iterations: Passes = 50
    """k, `-cgm`: the most of a solve."""

    time_steps: Passes = 5
    """`-ms 4` makes 5."""


def generate(parameters: Laghos) -> Program:
    """The program."""
    grid = Grid.first_fastest(parameters.procs)
    writer = writer_for(parameters, len(grid.places))
    for rank in range(len(grid.places)):
        rounds = _Rounds(writer.rank(rank), parameters, grid, rank)
        repeat(rounds.calls, parameters.time_steps, partial(_time_step, rounds, parameters))
    return writer.program()


class _Rounds:
    """The Bcast and Reduce rounds of a rank."""

    def __init__(self, calls: RankCalls, parameters: Laghos, grid: Grid, rank: int) -> None:
        self.calls = calls
        self._parameters, self._grid = parameters, grid
        above = ((grid.beside(rank, offset), offset) for offset in _ABOVE)
        below = ((grid.beside(rank, offset), offset) for offset in _BELOW)
        self._owned = [Message(peer, self._nodes(rank, offset)) for peer, offset in above if peer is not None]
        self._copied = [Message(peer, self._nodes(peer, offset)) for peer, offset in below if peer is not None]

    def _nodes(self, owner: int, offset: Place) -> int:
        """Bytes of an owner's nodes that the rank at an offset has, too."""
        place = self._grid.places[owner]
        along = [
            self._parameters.order * elements + (at == 0)
            for elements, at in zip(self._parameters.elements, place, strict=True)
        ]
        shared = math.prod(size for size, by in zip(along, offset, strict=True) if not by)
        return shared * self._parameters.components * DOUBLE_BYTE

    def bcast(self) -> None:
        """From owners to copies."""
        exchange(self.calls, self._owned, self._copied)

    def reduce(self) -> None:
        """From copies to owners."""
        exchange(self.calls, self._copied, self._owned)

    def product(self) -> None:
        """One application of the operator."""
        self.bcast()
        self.calls.compute(math.prod(self._parameters.elements) * self._parameters.grain_ns)
        self.reduce()

    def dot(self) -> None:
        """A sum over all ranks."""
        self.calls.call(Call.ALLREDUCE, size=DOUBLE_BYTE)


def _time_step(rounds: _Rounds, parameters: Laghos) -> None:
    repeat(rounds.calls, _SOLVES, partial(_solve, rounds, parameters))
    rounds.dot()


def _solve(rounds: _Rounds, parameters: Laghos) -> None:
    rounds.reduce()
    rounds.product()
    rounds.dot()
    repeat(rounds.calls, parameters.iterations, partial(_iteration, rounds))
    rounds.bcast()


def _iteration(rounds: _Rounds) -> None:
    rounds.product()
    rounds.dot()
    rounds.dot()
