"""Alltoall along the lines of a three-dimensional grid, as in an FFT.

In each step MPI_Alltoall is called by the ranks of a line along x, then along y, then along z; rank = x + nx·(y +
ny·z).

Source: subcom3d-a2a.C of LLNL/chatterbug (subcom-a2a in LLNL's multi-job scripts: 8 by 8 by 4 ranks, 1 MiB, 12 ms).

Left out: nothing but the program's start.
"""

from functools import partial
from typing import Literal

from eee_testbed.simulation.programs.grid import Grid
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import Byte, Generated, Grain, Passes, RankGrid, writer_for
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls


class SubcomA2a(Generated):
    """Grid of ranks, blocks of each dimension, steps."""

    kind: Literal["subcom_a2a"] = "subcom_a2a"
    grain_ns: Grain = 12_000_000
    """Compute time before each MPI_Alltoall."""

    procs: RankGrid = (8, 8, 4)
    """Ranks in x, y and z."""

    block_byte: tuple[Byte, Byte, Byte] = (1 << 20, 1 << 20, 1 << 20)
    """From one rank to one other along x, y and z; a dimension of 0 is left out."""

    steps: Passes = 10


def generate(parameters: SubcomA2a) -> Program:
    """The program."""
    grid = Grid.first_fastest(parameters.procs)
    writer = writer_for(parameters, len(grid.places))
    lines: list[dict[tuple[int, ...], list[int]]] = [{}, {}, {}]
    for axis, line in enumerate(lines):
        for rank, place in enumerate(grid.places):
            line.setdefault(_across(place, axis), []).append(rank)
    for rank, place in enumerate(grid.places):
        calls = writer.rank(rank)
        numbers = [writer.communicator(line[_across(place, axis)]) for axis, line in enumerate(lines)]
        repeat(calls, parameters.steps, partial(_step, calls, parameters, numbers))
    return writer.program()


def _across(place: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The coordinates that a line along an axis shares."""
    return place[:axis] + place[axis + 1 :]


def _step(calls: RankCalls, parameters: SubcomA2a, lines: list[int]) -> None:
    for communicator, size in zip(lines, parameters.block_byte, strict=True):
        if size:
            calls.compute(parameters.grain_ns)
            calls.call(Call.ALLTOALL, communicator=communicator, size=size)
