"""Stencil in two, three or four dimensions: an exchange of faces on a periodic grid, step after step.

Each rank receives from its two neighbours in each dimension and sends to them, the lower one first; rank = x + nx·(y +
ny·(z + …)). Variant `chatterbug`: MPI_Isend, wait for all, compute. Variant `tracer`: MPI_Send, wait for the receives,
MPI_Barrier; its public traces have faces of 131,072 bytes.

Source: stencil3d.C and stencil4d.C of LLNL/chatterbug, examples/stencil4d-otf/stencil4d.C of LLNL/tracer. Two
dimensions are the same with fewer faces.

Left out: computing before and during the exchange is written as one time before it.
"""

import math
from functools import partial
from typing import Annotated, Literal

from pydantic import Field, model_validator

from eee_testbed.simulation.programs.grid import Grid, unit
from eee_testbed.simulation.programs.halo import Message, exchange
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import (
    DOUBLE_BYTE,
    Byte,
    Extent,
    Generated,
    Grain,
    Passes,
    RankGrids,
    writer_for,
)
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls


class Stencil(Generated):
    """Grid of ranks, faces, steps."""

    kind: Literal["stencil"] = "stencil"
    grain_ns: Grain = 1_000_000
    """Compute time of a step."""

    procs: RankGrids = Field(default=[4, 4, 4, 4], min_length=2, max_length=4)
    """Ranks in each dimension."""

    face_byte: Byte = 131_072
    """Of every face, unless `points` are given."""

    points: Annotated[list[Extent], Field(min_length=2, max_length=4)] | None = None
    """Of a rank in each dimension: a face has those of the other dimensions, 8 bytes for each variable."""

    variables: Annotated[int, Field(ge=1, le=1024)] = 1
    """Of a point."""

    steps: Passes = 10
    variant: Literal["chatterbug", "tracer"] = "chatterbug"
    """Isend and no barrier, or Send and a barrier."""

    @model_validator(mode="after")
    def _agrees(self) -> "Stencil":
        if self.points is not None and len(self.points) != len(self.procs):
            raise ValueError(f"{len(self.procs)} dimensions have {len(self.points)} numbers of points: write as many")
        return self

    def face_of(self, axis: int) -> int:
        """Bytes of a face across an axis."""
        if self.points is None:
            return self.face_byte
        return math.prod(self.points) // self.points[axis] * self.variables * DOUBLE_BYTE


def generate(parameters: Stencil) -> Program:
    """The program."""
    grid = Grid.first_fastest(parameters.procs, periodic=True)
    writer = writer_for(parameters, len(grid.places))
    for rank in range(len(grid.places)):
        calls = writer.rank(rank)
        received, sent = _faces(parameters, grid, rank)
        repeat(calls, parameters.steps, partial(_step, calls, parameters, sent, received))
    return writer.program()


def _faces(parameters: Stencil, grid: Grid, rank: int) -> tuple[list[Message], list[Message]]:
    """What a rank receives and sends in a step; a tag is a face of the receiver."""
    received, sent = list[Message](), list[Message]()
    for axis in range(len(grid.sizes)):
        size, upper, lower = parameters.face_of(axis), 2 * axis + 1, 2 * axis + 2
        above = grid.beside(rank, unit(axis, len(grid.sizes)))
        below = grid.beside(rank, unit(axis, len(grid.sizes), -1))
        if above is not None and below is not None:
            received += Message(above, size, upper), Message(below, size, lower)
            sent += Message(below, size, upper), Message(above, size, lower)
    return received, sent


def _step(calls: RankCalls, parameters: Stencil, sent: list[Message], received: list[Message]) -> None:
    calls.compute(parameters.grain_ns)
    tracer = parameters.variant == "tracer"
    exchange(calls, sent, received, blocking=tracer)
    if tracer:
        calls.call(Call.BARRIER)
