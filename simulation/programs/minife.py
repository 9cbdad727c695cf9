"""Conjugate gradients as in miniFE: an exchange with up to 26 neighbours and two dots of 8 bytes an iteration.

Elements are halved again and again, along z, y, x, z, … until each rank has a box; the last rank of a dimension has
one node more. An exchange: MPI_Irecv from all neighbours, MPI_Send of the nodes that each needs, in the order in which
they appear in the rows, then waits. One product comes before the iterations; the first has one dot, all others two.

Source: Mantevo/miniFE, ref/ (BoxPartition.cpp, exchange_externals.hpp, make_local_matrix.hpp, cg_solve.hpp), input of
Georgakoudis et al. 2019, Table VIII.

Left out: assembly and set-up of the exchange; updates of vectors are part of the product's compute time; the waits for
one receive after the other are one.
"""

import itertools
import math
from functools import partial
from typing import Annotated, Literal

from pydantic import Field, model_validator

from eee_testbed.simulation.programs.grid import Grid, Place, offsets
from eee_testbed.simulation.programs.halo import Message, exchange
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import DOUBLE_BYTE, MOST_RANKS, Generated, Grain, Passes, Triple, writer_for
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls


class MiniFe(Generated):
    """Elements of all ranks (`-nx -ny -nz`), number of ranks, iterations."""

    kind: Literal["minife"] = "minife"
    grain_ns: Grain = 38.5
    """Compute time of a row in a product. 38.5 ns give the 2.03 s of Table VIII for 200 iterations."""

    ranks: Annotated[int, Field(ge=1, le=MOST_RANKS)] = 256
    """A power of two."""

    elements: Triple = (512, 512, 256)
    """Of all ranks in x, y and z."""

    iterations: Passes = 200

    @model_validator(mode="after")
    def _halves(self) -> "MiniFe":
        if self.ranks & (self.ranks - 1):
            raise ValueError(f"boxes are halved: write a power of two of ranks, not {self.ranks}")
        if any(min(_parts(size, axis, self)) < 1 for axis, size in enumerate(self.elements)):
            raise ValueError(f"some of {self.ranks} ranks would have no elements: write more elements or fewer ranks")
        return self

    @property
    def splits(self) -> list[tuple[int, int]]:
        """Axis and parts of each halving: z, y, x, z and so on."""
        return [((2, 1, 0)[number % 3], 2) for number in range(self.ranks.bit_length() - 1)]


def _parts(size: int, axis: int, parameters: MiniFe) -> list[int]:
    """Elements of the boxes along an axis; the upper half is the smaller one."""
    parts = [size]
    for split, _ in parameters.splits:
        if split == axis:
            parts = list(itertools.chain.from_iterable((part - part // 2, part // 2) for part in parts))
    return parts


def generate(parameters: MiniFe) -> Program:
    """The program."""
    grid = Grid.split(parameters.splits, 3)
    writer = writer_for(parameters, parameters.ranks)
    nodes = [_parts(size, axis, parameters) for axis, size in enumerate(parameters.elements)]
    for along in nodes:
        along[-1] += 1
    for rank in range(parameters.ranks):
        calls = writer.rank(rank)
        product = partial(_product, calls, parameters, nodes, grid, rank)
        product()
        _dot(calls)
        product()
        _dot(calls)
        repeat(calls, parameters.iterations - 1, partial(_iteration, calls, product))
    return writer.program()


def _iteration(calls: RankCalls, product: partial[None]) -> None:
    _dot(calls)
    product()
    _dot(calls)


def _dot(calls: RankCalls) -> None:
    calls.call(Call.ALLREDUCE, size=DOUBLE_BYTE)


def _product(calls: RankCalls, parameters: MiniFe, nodes: list[list[int]], grid: Grid, rank: int) -> None:
    block = [along[at] for along, at in zip(nodes, grid.places[rank], strict=True)]
    sent, received = list[Message](), list[Message]()
    for offset in sorted(offsets(3), key=_first_appearance):
        peer = grid.beside(rank, offset)
        if peer is not None:
            theirs = [along[at] for along, at in zip(nodes, grid.places[peer], strict=True)]
            sent.append(Message(peer, _shared(block, offset)))
            received.append(Message(peer, _shared(theirs, offset)))
    exchange(calls, sent, received, blocking=True)
    calls.compute(math.prod(block) * parameters.grain_ns)


def _first_appearance(offset: Place) -> tuple[Place, Place]:
    """Rows go through a box with x fastest: what is above in an axis appears at the end of that axis."""
    return tuple(int(by > 0) for by in reversed(offset)), offset[::-1]


def _shared(nodes: list[int], offset: Place) -> int:
    """Bytes of a box's nodes that touch the neighbour at an offset."""
    return math.prod(size for size, by in zip(nodes, offset, strict=True) if not by) * DOUBLE_BYTE
