"""Graph500's breadth-first search with replicated queues: collectives only.

A level is an MPI_Allreduce of 8 bytes in place, an MPI_Allgather of each rank's bitmap of reached vertices, and one of
its summary, a 64th of that. The last level finds nothing and has the MPI_Allreduce alone.

Source: graph500/graph500 2.1, mpi/bfs_replicated.c and bfs_replicated_csc.c, settings of Andújar et al. 2023, section
3.3.

Left out: generation, construction and validation, which are most of the bytes of that paper's traces. Computing is the
same on every level and rank.
"""

from functools import partial
from typing import Annotated, Final, Literal

from pydantic import Field

from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import DOUBLE_BYTE, Extent, Generated, Grain, Passes, Ranks, writer_for
from eee_testbed.simulation.replay.calls import IN_PLACE, Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_WORD_BITS: Final = 64
_LEAST_VERTICES: Final = _WORD_BITS * _WORD_BITS
"""Of a rank: a word of the summary stands for so many."""


class Graph500(Generated):
    """Size of the graph, searches, levels of a search."""

    kind: Literal["graph500"] = "graph500"
    grain_ns: Grain = 1
    """Compute time of an edge in a search, in each direction; 1 ns is assumed."""

    ranks: Ranks = 128
    scale: Annotated[int, Field(ge=1, le=42)] = 20
    """2 to the power of it are the vertices."""

    edge_factor: Extent = 16
    """Edges of a vertex."""

    roots: Passes = 64
    """Searches."""

    levels: Passes = 7
    """Of a search, the last included; 6 to 8 for such graphs."""

    @property
    def bitmap_byte(self) -> int:
        """Of a rank: its vertices, rounded up to whole words of the summary and to a power of two."""
        vertices = max(-(-(1 << self.scale) // self.ranks), _LEAST_VERTICES)
        return (1 << (vertices - 1).bit_length()) // 8


def generate(parameters: Graph500) -> Program:
    """The program."""
    writer = writer_for(parameters, parameters.ranks)
    for rank in range(parameters.ranks):
        calls = writer.rank(rank)
        repeat(calls, parameters.roots, partial(_search, calls, parameters))
    return writer.program()


def _search(calls: RankCalls, parameters: Graph500) -> None:
    repeat(calls, parameters.levels - 1, partial(_level, calls, parameters))
    _reached(calls, parameters)


def _level(calls: RankCalls, parameters: Graph500) -> None:
    _reached(calls, parameters)
    calls.call(Call.ALLGATHER, size=parameters.bitmap_byte)
    calls.call(Call.ALLGATHER, size=parameters.bitmap_byte // _WORD_BITS)


def _reached(calls: RankCalls, parameters: Graph500) -> None:
    edges = 2 * parameters.edge_factor * (1 << parameters.scale) / parameters.ranks
    calls.compute(edges / parameters.levels * parameters.grain_ns)
    calls.call(Call.ALLREDUCE, size=DOUBLE_BYTE, flags=IN_PLACE)
