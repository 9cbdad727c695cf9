"""Like GROMACS without PME: domain decomposition, positions go down each dimension and forces back.

Rank = (x·py + y)·pz + z, periodic. In a step, for x, y and z: MPI_Sendrecv of positions to the lower neighbour, from
the upper one; after computing the forces go the other way, z first. Each is repeated while the cut-off reaches further
than the neighbour (pulses). What came along x is passed on along y and z. Every few steps an MPI_Allreduce of
energies.

Source: GROMACS v4.6.7 (domdec.c, domdec_network.c, network.c), benchmark d.poly-ch2 of Andújar et al. 2023.

Left out: the box and the cut-off of that input are not public: those here are assumed. Atoms are the density times the
volume; messages of virtual sites, new decompositions every `nstlist` steps, dynamic load balancing.
"""

import math
from functools import partial
from typing import Annotated, Final, Literal

from pydantic import Field

from eee_testbed.simulation.programs.grid import Grid, unit
from eee_testbed.simulation.programs.loops import run_cycles
from eee_testbed.simulation.programs.part import (
    DOUBLE_BYTE,
    Extent,
    Generated,
    Grain,
    Length,
    Passes,
    RankGrid,
    writer_for,
)
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_VECTOR_BYTE: Final = 12


class Gromacs(Generated):
    """Grid of ranks, box, atoms, steps; lengths in nanometres."""

    kind: Literal["gromacs"] = "gromacs"
    grain_ns: Grain = 1000
    """Compute time of an atom in a step; 1 us is assumed."""

    procs: RankGrid = (4, 4, 8)
    """Ranks in x, y and z."""

    atoms: Annotated[int, Field(ge=1, le=1 << 32)] = 12_000
    """Virtual sites included."""

    box: tuple[Length, Length, Length] = (5.0, 5.0, 5.0)
    """Lengths in x, y and z; assumed."""

    reach: Length = 0.9
    """Cut-off; assumed."""

    steps: Passes = 5000
    energies_every: Extent = 10
    """Steps until energies are summed."""

    energies: Annotated[int, Field(ge=1, le=100_000)] = 64
    """Numbers in that sum, 8 bytes each; assumed."""

    def pulses_of(self, axis: int) -> list[int]:
        """Atoms that each pulse along an axis sends; zones of earlier axes are passed on."""
        sides = [length / procs for length, procs in zip(self.box, self.procs, strict=True)]
        across = [
            side + self.reach if other < axis and self.procs[other] > 1 else side
            for other, side in enumerate(sides)
            if other != axis
        ]
        number = math.ceil(self.reach / sides[axis])
        thick = [min(sides[axis], self.reach - pulse * sides[axis]) for pulse in range(number)]
        density = self.atoms / math.prod(self.box)
        return [round(density * slab * math.prod(across)) for slab in thick]


def generate(parameters: Gromacs) -> Program:
    """The program."""
    grid = Grid.last_fastest(parameters.procs, periodic=True)
    writer = writer_for(parameters, len(grid.places))
    writer.assume("Box and cut-off of the input are not public; those here are assumed.")
    pulses = [(axis, atoms) for axis in range(3) if parameters.procs[axis] > 1 for atoms in parameters.pulses_of(axis)]
    for rank in range(len(grid.places)):
        calls = writer.rank(rank)
        step = partial(_step, calls, parameters, grid, rank, pulses)
        run_cycles(calls, parameters.steps, (parameters.energies_every,), step)
    return writer.program()


def _step(
    calls: RankCalls,
    parameters: Gromacs,
    grid: Grid,
    rank: int,
    pulses: list[tuple[int, int]],
    due: tuple[bool, ...],
) -> None:
    for axis, atoms in pulses:
        _shift(calls, grid, rank, axis, -1, atoms)
    calls.compute(parameters.atoms / len(grid.places) * parameters.grain_ns)
    for axis, atoms in reversed(pulses):
        _shift(calls, grid, rank, axis, 1, atoms)
    if due[0]:
        calls.call(Call.ALLREDUCE, size=parameters.energies * DOUBLE_BYTE)


def _shift(calls: RankCalls, grid: Grid, rank: int, axis: int, by: int, atoms: int) -> None:
    to, source = (grid.beside(rank, unit(axis, 3, way)) for way in (by, -by))
    if to is not None and source is not None:
        calls.sendrecv(to, atoms * _VECTOR_BYTE, source, atoms * _VECTOR_BYTE)
