"""Kripke: transport sweeps of all octants over a grid of ranks.

Rank = (x·py + y)·pz + z. All receives are posted first. A rank has a subdomain for each set of groups and of
directions; it computes one when the faces from the ranks upwind have come, and sends its faces downwind in x, y and z.
The grid is not periodic. Then the population: an MPI_Allreduce of 8 bytes in place.

Source: LLNL/Kripke v1.2.7 (ParallelComm.cpp, SweepSolver.cpp, PartitionSpace.cpp, Population.cpp), input of
Georgakoudis et al. 2019, Table VIII.

Left out: Kripke takes whichever subdomain is ready; here a rank takes them by their distance from the corner where
their octant begins, in which order they become ready if all compute alike. How computing is shared between the sweep
and moments and scattering is a parameter; it was not measured.
"""

import math
from functools import partial
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from eee_testbed.simulation.programs.grid import Grid, unit
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
from eee_testbed.simulation.replay.calls import IN_PLACE, Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_OCTANTS: Final = 8


class Kripke(Generated):
    """The command line: `--procs`, `--zones`, `--quad`, `--groups`, `--dset`, `--gset`, `--niter`."""

    kind: Literal["kripke"] = "kripke"
    grain_ns: Grain = 330
    """Compute time of an unknown: a zone, direction and group. 330 ns give the 5.54 s of Table VIII."""

    procs: RankGrid = (8, 8, 4)
    """Ranks in x, y and z."""

    zones: Triple = (256, 256, 128)
    """Of all ranks in x, y and z: multiples of the ranks there."""

    directions: Extent = 16
    """A multiple of `direction_sets`."""

    groups: Extent = 32
    """A multiple of `group_sets`."""

    direction_sets: Annotated[int, Field(ge=8, le=1 << 20, multiple_of=8)] = 8
    """A multiple of 8: each is of one octant."""

    group_sets: Extent = 2
    iterations: Passes = 1
    sweep_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Of the compute time; the rest is before the sweep."""

    @model_validator(mode="after")
    def _divides(self) -> "Kripke":
        for name, whole, parts in (
            *(("zones", zones, procs) for zones, procs in zip(self.zones, self.procs, strict=True)),
            ("directions", self.directions, self.direction_sets),
            ("groups", self.groups, self.group_sets),
        ):
            if whole % parts:
                raise ValueError(f"{whole} {name} cannot be divided into {parts} parts: write a multiple of {parts}")
        return self

    @property
    def unknowns(self) -> int:
        """Of a subdomain."""
        zones = math.prod(self.zones) // math.prod(self.procs)
        return zones * (self.directions // self.direction_sets) * (self.groups // self.group_sets)

    def face_of(self, axis: int) -> int:
        """Bytes of a subdomain's face across an axis."""
        return self.unknowns // (self.zones[axis] // self.procs[axis]) * DOUBLE_BYTE


def generate(parameters: Kripke) -> Program:
    """The program."""
    grid = Grid.last_fastest(parameters.procs)
    writer = writer_for(parameters, len(grid.places))
    for rank in range(len(grid.places)):
        calls = writer.rank(rank)
        repeat(calls, parameters.iterations, partial(_iteration, calls, parameters, grid, rank))
    return writer.program()


def _iteration(calls: RankCalls, parameters: Kripke, grid: Grid, rank: int) -> None:
    sets = parameters.direction_sets * parameters.group_sets
    whole_ns = sets * parameters.unknowns * parameters.grain_ns
    calls.compute((1 - parameters.sweep_share) * whole_ns)
    order = sorted(range(sets), key=lambda number: (_distance(grid, rank, number % _OCTANTS), number))
    awaited = {
        number: [
            calls.irecv(peer, parameters.face_of(axis), number)
            for axis, peer in _faces(grid, rank, number % _OCTANTS, -1)
        ]
        for number in range(sets)
    }
    sent = []
    for number in order:
        if awaited[number]:
            calls.wait(*awaited[number])
        calls.compute(parameters.sweep_share * whole_ns / sets)
        sent += [
            calls.isend(peer, parameters.face_of(axis), number)
            for axis, peer in _faces(grid, rank, number % _OCTANTS, 1)
        ]
    if sent:
        calls.wait(*sent)
    calls.call(Call.ALLREDUCE, size=DOUBLE_BYTE, flags=IN_PLACE)


def _sign(octant: int, axis: int) -> int:
    """Whether an octant's sweep goes up or down an axis."""
    return -1 if octant >> axis & 1 else 1


def _faces(grid: Grid, rank: int, octant: int, way: int) -> list[tuple[int, int]]:
    """Axis and rank of the faces downwind (way 1) or upwind (-1)."""
    peers = ((axis, grid.beside(rank, unit(axis, 3, way * _sign(octant, axis)))) for axis in range(3))
    return [(axis, peer) for axis, peer in peers if peer is not None]


def _distance(grid: Grid, rank: int, octant: int) -> int:
    """Ranks from the corner where an octant's sweep begins."""
    steps = zip(grid.places[rank], grid.sizes, strict=True)
    return sum(at if _sign(octant, axis) > 0 else size - 1 - at for axis, (at, size) in enumerate(steps))
