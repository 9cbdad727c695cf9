"""Like miniAMR without refinement: faces of blocks, stage after stage, and sums of every variable.

One block a rank. Ranks are divided again and again in the dimension with most ranks left; the grid is not periodic. A
stage exchanges faces in x, then y, then z (MPI_Irecv, MPI_Isend, wait) and then updates every variable; in every fifth
stage each variable's sum follows its update: an MPI_Allreduce of 8 bytes.

Source: Mantevo/miniAMR, ref/ (init.c, rcb.c, comm.c, driver.c, check_sum.c), input of Georgakoudis et al. 2019, Table
VIII.

Left out: refine(), which every fifth time step adds Allreduces of 4 to 48 bytes and face messages of 4 bytes, and
changes nothing without objects. Time steps of the paper's "iteration" are not known.
"""

import math
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from eee_testbed.simulation.programs.grid import Grid, unit
from eee_testbed.simulation.programs.halo import Message, exchange
from eee_testbed.simulation.programs.loops import repeat, run_steps
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


class MiniAmr(Generated):
    """The command line: `--npx` …, `--nx` …, `--num_vars`, `--stages_per_ts`, `--num_tsteps`, `--checksum_freq`."""

    kind: Literal["miniamr"] = "miniamr"
    grain_ns: Grain = 2
    """Compute time of a cell and variable in a stage; 2 ns are assumed."""

    procs: RankGrid = (8, 8, 4)
    """Ranks in x, y and z."""

    cells: Triple = (8, 8, 8)
    """Of a block in x, y and z."""

    variables: Annotated[int, Field(ge=1, le=10_000)] = 40
    stages: Passes = 20
    """Of a time step."""

    checksum_every: Extent = 5
    """Stages 0, 5, 10, … sum every variable."""

    time_steps: Passes = 20

    def face_of(self, axis: int) -> int:
        """Bytes of a message across an axis."""
        return math.prod(self.cells) // self.cells[axis] * self.variables * DOUBLE_BYTE


def generate(parameters: MiniAmr) -> Program:
    """The program."""
    grid = Grid.split(_splits(parameters.procs), 3)
    writer = writer_for(parameters, len(grid.places))
    for rank in range(len(grid.places)):
        calls = writer.rank(rank)
        faces = [_faces(parameters, grid, rank, axis) for axis in range(3)]
        repeat(calls, parameters.time_steps, partial(_time_step, calls, parameters, faces))
    return writer.program()


def _splits(procs: tuple[int, int, int]) -> list[tuple[int, int]]:
    """Greatest factor first, in the dimension with most ranks left that it divides."""
    left = list(procs)
    splits = []
    for factor in reversed(_factors(math.prod(procs))):
        axis = max((axis for axis in range(3) if left[axis] % factor == 0), key=lambda axis: (left[axis], -axis))
        left[axis] //= factor
        splits.append((axis, factor))
    return splits


def _factors(number: int) -> list[int]:
    """Prime factors in rising order."""
    factors, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return factors


def _faces(parameters: MiniAmr, grid: Grid, rank: int, axis: int) -> list[Message]:
    peers = (grid.beside(rank, unit(axis, 3, by)) for by in (-1, 1))
    return sorted(Message(peer, parameters.face_of(axis), axis) for peer in peers if peer is not None)


def _time_step(calls: RankCalls, parameters: MiniAmr, faces: list[list[Message]]) -> None:
    sums = [
        stage % parameters.checksum_every == 0 for stage in range(min(parameters.checksum_every, parameters.stages))
    ]
    cycles, rest = divmod(parameters.stages, len(sums))
    stage = partial(_stage, calls, parameters, faces)
    repeat(calls, cycles, partial(run_steps, calls, sums, stage))
    run_steps(calls, sums[:rest], stage)


def _stage(calls: RankCalls, parameters: MiniAmr, faces: list[list[Message]], sums: bool) -> None:  # noqa: FBT001
    for messages in faces:
        exchange(calls, messages, messages)
    cells_ns = math.prod(parameters.cells) * parameters.grain_ns
    if sums:
        repeat(calls, parameters.variables, partial(_variable, calls, cells_ns))
    else:
        calls.compute(parameters.variables * cells_ns)


def _variable(calls: RankCalls, cells_ns: float) -> None:
    calls.compute(cells_ns)
    calls.call(Call.ALLREDUCE, size=DOUBLE_BYTE)
