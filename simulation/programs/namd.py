"""Like NAMD, a shape: patches of atoms send positions to the homes of their pairs and get forces back.

The cell is cut into patches at least as long as cut-off and margin; with fewer patches than ranks they are halved in
x, then y, then z. A pair of patches is computed at the home of its lower corner. So a patch sends positions (32 bytes
an atom) to the patches below it in x, y, z and combinations, and gets forces (24 bytes) from there. That is 7 patches,
11 or 17 if halved in one or two dimensions. Every few steps particle-mesh Ewald: charges to slabs of the grid, two
transposes, potentials back.

Source: NAMD dce4177 (SimParameters.C, WorkDistrib.C, PatchMap.h, NamdTypes.h, ProxyMgr.C), input apoa1 of Andújar et
al. 2023.

Left out: Charm++ decides order and overlap, and its load balancer moves pairs. Patches go to ranks by their number,
again from rank 0 when ranks run out; a flag byte of each message, reductions of energies and atoms that move on are
not sent. Slabs are spread evenly over the ranks.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from eee_testbed.simulation.programs.grid import Grid
from eee_testbed.simulation.programs.halo import Message, exchange
from eee_testbed.simulation.programs.loops import run_cycles
from eee_testbed.simulation.programs.part import Extent, Generated, Grain, Length, Passes, Ranks, Triple, writer_for
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_POSITION_BYTE: Final = 32
_FORCE_BYTE: Final = 24
_CHARGE_BYTE: Final = 4
_COMPLEX_BYTE: Final = 8
_TRANSPOSES: Final = 2
POSITION_TAG: Final = 1
FORCE_TAG: Final = 2
CHARGE_TAG: Final = 3
POTENTIAL_TAG: Final = 4


class Namd(Generated):
    """Ranks, atoms, cell, steps; lengths in ångström. Defaults are apoa1."""

    kind: Literal["namd"] = "namd"
    grain_ns: Grain = 5000
    """Compute time of an atom in a step; 5 us are assumed."""

    ranks: Ranks = 256
    atoms: Annotated[int, Field(ge=1, le=1 << 32)] = 92_224
    cell: tuple[Length, Length, Length] = (108.86, 108.86, 77.76)
    """Its lengths in x, y and z."""

    patch_side: Length = 16.0
    """The least length of a patch: pair list 13.5 and margin 2.5."""

    steps: Passes = 500
    pme_every: Extent = 4
    """Steps until the next particle-mesh Ewald."""

    pme_grid: Triple = (108, 108, 80)
    """Its points in x, y and z."""

    pme_order: Annotated[int, Field(ge=1, le=16)] = 4
    """Of interpolation: an atom's charge spreads over as many points in each dimension."""

    @property
    def halved(self) -> tuple[bool, bool, bool]:
        """Whether patches are halved in x, y and z."""
        for number in range(3):
            halved = (number > 0, number > 1, False)
            if math.prod(self._patches(halved)) >= self.ranks:
                return halved
        return (True, True, True)

    @property
    def patches(self) -> tuple[int, int, int]:
        """In x, y and z."""
        return self._patches(self.halved)

    def _patches(self, halved: tuple[bool, bool, bool]) -> tuple[int, int, int]:
        x, y, z = (
            max(1, int(length / (self.patch_side / (2 if half else 1))))
            for length, half in zip(self.cell, halved, strict=True)
        )
        return x, y, z

    def atoms_of(self, patch: int) -> int:
        """Atoms are shared evenly."""
        patches = math.prod(self.patches)
        return self.atoms * (patch + 1) // patches - self.atoms * patch // patches


class _Flow(NamedTuple):
    """What goes from one rank to another, and back: so many atoms or points."""

    source: int
    to: int
    number: int


def generate(parameters: Namd) -> Program:
    """The program."""
    writer = writer_for(parameters, parameters.ranks)
    writer.assume("Patches go to ranks by their number; order and overlap are those of a shape, not of Charm++.")
    patches = Grid.first_fastest(parameters.patches, periodic=True)
    slabs = _slabs(parameters)
    flows = _by_rank(_positions(parameters, patches)), _by_rank(_charges(parameters, patches, slabs))
    hosts = list(dict.fromkeys(slabs))
    transposing = writer.communicator(hosts)
    atoms = Counter[int]()
    for patch in range(len(patches.places)):
        atoms[patch % parameters.ranks] += parameters.atoms_of(patch)
    for rank in range(parameters.ranks):
        positions, charges = (by_rank[rank] for by_rank in flows)
        step = _Step(
            writer.rank(rank),
            rank,
            positions,
            charges,
            transposing if rank in hosts else None,
            _transposed_byte(parameters) // len(hosts) ** 2,
            atoms[rank] * parameters.grain_ns,
        )
        run_cycles(step.calls, parameters.steps, (parameters.pme_every,), step.write)
    return writer.program()


def _by_rank(flows: Iterable[_Flow]) -> dict[int, list[_Flow]]:
    """The flows from and to each rank, in one order for both."""
    found = defaultdict[int, list[_Flow]](list)
    for flow in flows:
        found[flow.source].append(flow)
        found[flow.to].append(flow)
    return found


def _positions(parameters: Namd, patches: Grid) -> Iterator[_Flow]:
    """Each patch to the homes of its pairs."""
    reach = [range(0, -3, -1) if half else range(0, -2, -1) for half in parameters.halved]
    for patch in range(len(patches.places)):
        homes = {patches.beside(patch, offset) for offset in itertools.product(*reach)} - {patch, None}
        for home in sorted(home for home in homes if home is not None):
            flow = _Flow(patch % parameters.ranks, home % parameters.ranks, parameters.atoms_of(patch))
            if flow.source != flow.to:
                yield flow


def _slabs(parameters: Namd) -> list[int]:
    """The rank of each plane of the grid across x."""
    planes = parameters.pme_grid[0]
    slabs = min(planes, parameters.ranks)
    return [plane * slabs // planes * parameters.ranks // slabs for plane in range(planes)]


def _charges(parameters: Namd, patches: Grid, slabs: list[int]) -> Iterator[_Flow]:
    """Each patch to the ranks of the planes over which its charges spread."""
    spread = parameters.pme_order - 1
    points = math.prod(
        min(grid, -(-grid // number) + spread)
        for grid, number in zip(parameters.pme_grid[1:], parameters.patches[1:], strict=True)
    )
    planes = len(slabs)
    for patch, (x, *_) in enumerate(patches.places):
        begin, end = (planes * at // parameters.patches[0] for at in (x, x + 1))
        covered = {plane % planes for plane in range(begin, end + spread)}
        for rank, number in sorted(Counter(slabs[plane] for plane in covered).items()):
            if rank != patch % parameters.ranks:
                yield _Flow(patch % parameters.ranks, rank, number * points)


def _transposed_byte(parameters: Namd) -> int:
    """Of the whole grid after a real transform along z: half the points there and one more, complex."""
    x, y, z = parameters.pme_grid
    return x * y * (z // 2 + 1) * _COMPLEX_BYTE


class _Step:
    """A rank's steps."""

    def __init__(
        self,
        calls: RankCalls,
        rank: int,
        positions: list[_Flow],
        charges: list[_Flow],
        transposing: int | None,
        block_byte: int,
        compute_ns: float,
    ) -> None:
        self.calls = calls
        self._rank, self._positions, self._charges = rank, positions, charges
        self._transposing, self._block_byte, self._compute_ns = transposing, block_byte, compute_ns

    def write(self, due: tuple[bool, ...]) -> None:
        """A step; with particle-mesh Ewald if that is due."""
        self._out(self._positions, _POSITION_BYTE, POSITION_TAG)
        if due[0]:
            self._out(self._charges, _CHARGE_BYTE, CHARGE_TAG)
            if self._transposing is not None:
                for _ in range(_TRANSPOSES):
                    self.calls.call(Call.ALLTOALL, communicator=self._transposing, size=self._block_byte)
            self._back(self._charges, _CHARGE_BYTE, POTENTIAL_TAG)
        self.calls.compute(self._compute_ns)
        self._back(self._positions, _FORCE_BYTE, FORCE_TAG)

    def _out(self, flows: list[_Flow], unit_byte: int, tag: int) -> None:
        sent = [Message(flow.to, flow.number * unit_byte, tag) for flow in flows if flow.source == self._rank]
        received = [Message(flow.source, flow.number * unit_byte, tag) for flow in flows if flow.to == self._rank]
        exchange(self.calls, sent, received)

    def _back(self, flows: list[_Flow], unit_byte: int, tag: int) -> None:
        self._out([_Flow(flow.to, flow.source, flow.number) for flow in flows], unit_byte, tag)
