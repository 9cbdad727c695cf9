"""Like ExaMiniMD: molecular dynamics whose halo goes round in six phases, one after the other.

The grid of ranks has the least surface; rank = x + px·(y + py·z), periodic. Phases +x, -x, +y, -y, +z, -z: MPI_Irecv,
MPI_Send, wait each; what came in earlier phases is passed on. A step sends positions of atoms near a face (24 bytes).
Every 20th step builds a new halo instead: migration, counts of 4 bytes, atoms of 72 bytes. Every 10th ends with three
MPI_Allreduce of 8 bytes in place.

Source: ECP-copa/ExaMiniMD (comm_mpi.cpp, examinimd.cpp, property_*.cpp), in.lj with the box of Georgakoudis et al.
2019, Table VIII.

Left out: atoms near a face are the density times the volume, for both sides and all ranks alike; on the start lattice
the two sides differ. How many atoms migrate is a parameter; without any, only their count is sent. Halo, list and
forces before the first step.
"""

import math
from functools import partial
from typing import Final, Literal

from eee_testbed.simulation.programs.grid import Grid, unit
from eee_testbed.simulation.programs.halo import Message, exchange
from eee_testbed.simulation.programs.loops import repeat, run_cycles
from eee_testbed.simulation.programs.part import (
    DOUBLE_BYTE,
    Count,
    Extent,
    Generated,
    Grain,
    Length,
    Passes,
    Ranks,
    Triple,
    writer_for,
)
from eee_testbed.simulation.replay.calls import IN_PLACE, Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_ATOMS_OF_CELL: Final = 4
"""Face-centred cubic."""

_COUNT_BYTE: Final = 4
_POSITION_BYTE: Final = 24
_ATOM_BYTE: Final = 72
COUNT_TAG: Final = 100_001
ATOM_TAG: Final = 100_002
MIGRATION_TAG: Final = 100_003
"""ExaMiniMD's is that of atoms; its own here, so that a matrix of traffic can tell them apart."""

_SUMS: Final = 3


class ExaMiniMd(Generated):
    """Box, density, distances in Lennard-Jones units, steps."""

    kind: Literal["examinimd"] = "examinimd"
    grain_ns: Grain = 1170
    """Compute time of an atom in a step. 1.17 us give the 1.83 s of Table VIII for 100 steps."""

    ranks: Ranks = 256
    cells: Triple = (100, 100, 100)
    """Of the lattice in x, y and z; 4 atoms each."""

    density: Length = 0.8442
    """Atoms a unit of volume."""

    reach: Length = 2.8
    """Cut-off 2.5 and skin 0.3."""

    steps: Passes = 100
    halo_every: Extent = 20
    """Steps until a new halo."""

    sums_every: Extent = 10
    """Steps until the next output."""

    migrating: Count = 0
    """Atoms that leave a rank through each face in `halo_every` steps."""

    @property
    def box(self) -> list[float]:
        """Lengths in x, y and z."""
        cell = (_ATOMS_OF_CELL / self.density) ** (1 / 3)
        return [number * cell for number in self.cells]

    @property
    def procs(self) -> tuple[int, int, int]:
        """The grid of ranks with the least surface; the first of equals."""
        x, y, z = self.box
        procs, least = (1, 1, 1), math.inf
        for px in _divisors(self.ranks):
            for py in _divisors(self.ranks // px):
                pz = self.ranks // px // py
                surface = x * y / (px * py) + x * z / (px * pz) + y * z / (py * pz)
                if surface < least:
                    procs, least = (px, py, pz), surface
        return procs

    @property
    def atoms_near_faces(self) -> list[int]:
        """Atoms that a phase along x, y and z sends: ghosts of earlier phases are passed on."""
        sides = [length / procs for length, procs in zip(self.box, self.procs, strict=True)]
        atoms = []
        for axis in range(3):
            across = [
                side + 2 * self.reach if other < axis else side for other, side in enumerate(sides) if other != axis
            ]
            atoms.append(round(self.density * self.reach * math.prod(across)))
        return atoms


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def generate(parameters: ExaMiniMd) -> Program:
    """The program."""
    grid = Grid.first_fastest(parameters.procs, periodic=True)
    writer = writer_for(parameters, parameters.ranks)
    near = parameters.atoms_near_faces
    for rank in range(parameters.ranks):
        halo = _Halo(writer.rank(rank), parameters, grid, rank, near)
        periods = (parameters.halo_every, parameters.sums_every)
        run_cycles(halo.calls, parameters.steps, periods, partial(_step, halo, parameters))
    return writer.program()


def _step(halo: "_Halo", parameters: ExaMiniMd, due: tuple[bool, ...]) -> None:
    new_halo, sums = due
    if new_halo:
        halo.migrate()
        halo.build()
    else:
        halo.update()
    atoms = _ATOMS_OF_CELL * math.prod(parameters.cells) / parameters.ranks
    halo.calls.compute(atoms * parameters.grain_ns)
    if sums:
        repeat(halo.calls, _SUMS, partial(halo.calls.call, Call.ALLREDUCE, size=DOUBLE_BYTE, flags=IN_PLACE))


class _Halo:
    """The phases of a rank."""

    def __init__(self, calls: RankCalls, parameters: ExaMiniMd, grid: Grid, rank: int, near: list[int]) -> None:
        self.calls = calls
        self._migrating = parameters.migrating
        self._phases = [
            (to, source, near[axis])
            for axis in range(3)
            for by in (1, -1)
            if grid.sizes[axis] > 1
            and (to := grid.beside(rank, unit(axis, 3, by))) is not None
            and (source := grid.beside(rank, unit(axis, 3, -by))) is not None
        ]

    def update(self) -> None:
        """Positions of the ghosts."""
        for to, source, atoms in self._phases:
            self._pass_on(to, source, atoms * _POSITION_BYTE, ATOM_TAG)

    def build(self) -> None:
        """New ghosts: their number, then the atoms."""
        for to, source, atoms in self._phases:
            self._pass_on(to, source, _COUNT_BYTE, COUNT_TAG)
            self._pass_on(to, source, atoms * _ATOM_BYTE, ATOM_TAG)

    def migrate(self) -> None:
        """Atoms that left: their number, then, if there are any, the atoms."""
        for to, source, _ in self._phases:
            self._pass_on(to, source, _COUNT_BYTE, MIGRATION_TAG)
            if self._migrating:
                self._pass_on(to, source, self._migrating * _ATOM_BYTE, MIGRATION_TAG)

    def _pass_on(self, to: int, source: int, size: int, tag: int) -> None:
        exchange(self.calls, [Message(to, size, tag)], [Message(source, size, tag)], blocking=True)
