"""Like SW4lite: seismic waves on a two-dimensional grid of ranks, large faces by MPI_Sendrecv.

Rank = x·py + y (MPI_Cart_create), not periodic. A time step has a predictor and a corrector; after each: MPI_Sendrecv
to +x, -x, +y, -y in turn, of two planes of points with three components. Faces at the border send to MPI_PROC_NULL.

Source: geodynamics/sw4lite 06b888c, src/EW.C (proc_decompose_2d, decomp1d, communicate_array), grid of Georgakoudis et
al. 2019, Table VIII.

Left out: start, output, sources and boundary conditions that need messages: none in a step.
"""

import math
from functools import partial
from typing import Final, Literal

from pydantic import model_validator

from eee_testbed.simulation.programs.grid import Grid, unit
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import DOUBLE_BYTE, Generated, Grain, Length, Passes, Ranks, writer_for
from eee_testbed.simulation.replay.calls import NOBODY
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_COMPONENTS: Final = 3
_PADDING: Final = 2
_GHOSTS: Final = 2
_FIRST_TAG: Final = 345
_EXCHANGES: Final = 2
"""Of a time step."""


class Sw4lite(Generated):
    """Size of the ground, spacing of points, time steps."""

    kind: Literal["sw4lite"] = "sw4lite"
    grain_ns: Grain = 1200
    """Compute time of a point in a time step. 1.2 us give about the 0.62 s of Table VIII for one."""

    ranks: Ranks = 256
    size: tuple[Length, Length, Length] = (1.0, 1.0, 1.5)
    """In x, y and z."""

    spacing: Length = 0.00226
    """Of points: `h`."""

    time_steps: Passes = 1

    @model_validator(mode="after")
    def _is_divided(self) -> "Sw4lite":
        if not self._grids:
            raise ValueError(f"{self.ranks} ranks are too many for {self.points[0]} by {self.points[1]} points")
        return self

    @property
    def points(self) -> tuple[int, int, int]:
        """With ghost points, in x, y and z."""
        x, y, z = (round(length / self.spacing + 1) + 2 * _GHOSTS for length in self.size)
        return x, y, z

    @property
    def _grids(self) -> list[tuple[int, int]]:
        pairs = ((px, self.ranks // px) for px in range(1, self.ranks + 1) if self.ranks % px == 0)
        x, y, _ = self.points
        return [(px, py) for px, py in pairs if px <= x // _PADDING and py <= y // _PADDING]

    @property
    def procs(self) -> tuple[int, int]:
        """The grid of ranks with the squarest parts; the first of equals."""
        x, y, _ = self.points
        return min(self._grids, key=lambda grid: abs(x / grid[0] - y / grid[1]))

    def points_of(self, axis: int, at: int) -> int:
        """Of a rank along an axis, overlap included."""
        overlap, procs = 2 * _PADDING, self.procs[axis]
        size, more = divmod(self.points[axis] + (procs - 1) * overlap, procs)
        return size + (at < more)


def generate(parameters: Sw4lite) -> Program:
    """The program."""
    grid = Grid.last_fastest(parameters.procs)
    writer = writer_for(parameters, parameters.ranks)
    for rank, place in enumerate(grid.places):
        calls = writer.rank(rank)
        points = [parameters.points_of(axis, at) for axis, at in enumerate(place)]
        passes = parameters.time_steps * _EXCHANGES
        repeat(calls, passes, partial(_half_step, calls, parameters, points, grid, rank))
    return writer.program()


def _half_step(calls: RankCalls, parameters: Sw4lite, points: list[int], grid: Grid, rank: int) -> None:
    depth = parameters.points[2]
    inner_points = math.prod(along - 2 * _PADDING for along in (*points, depth))
    calls.compute(inner_points * parameters.grain_ns / _EXCHANGES)
    tag = _FIRST_TAG
    for axis in range(2):
        size = _COMPONENTS * _PADDING * points[1 - axis] * depth * DOUBLE_BYTE
        for by in (1, -1):
            to, source = (grid.beside(rank, unit(axis, 2, way)) for way in (by, -by))
            calls.sendrecv(
                NOBODY if to is None else to, size if to is not None else 0,
                NOBODY if source is None else source, size if source is not None else 0, tag,
            )  # fmt: skip
            tag += 1
