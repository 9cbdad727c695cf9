"""Alltoall and a pause, repeated: Miwa's synthetic application.

Each rank hands an array to MPI_Alltoall, of which every rank gets an equal part, and then pauses.

Source: Miwa et al. 2013, section 5.2.1, Fig. 5, as `benchmarks/alltoall.py` runs it.

Left out: what a pause takes longer than asked for.
"""

from functools import partial
from typing import Annotated, Final, Literal

from pydantic import Field

from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import Generated, Grain, Passes, Ranks, writer_for
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

_INT_BYTE: Final = 4


class AlltoallPause(Generated):
    """Array, pause and number of iterations; the paper has 100,000."""

    kind: Literal["alltoall"] = "alltoall"
    grain_ns: Grain = 100_000
    """The pause after each call."""

    ranks: Ranks = 4
    array_byte: Annotated[int, Field(ge=0, le=1 << 30)] = 4096
    """The whole array of a rank; it is cut to whole integers for every rank."""

    iterations: Passes = 10_000

    @property
    def block_byte(self) -> int:
        """From one rank to one other."""
        return self.array_byte // _INT_BYTE // self.ranks * _INT_BYTE


def generate(parameters: AlltoallPause) -> Program:
    """The program."""
    writer = writer_for(parameters, parameters.ranks)
    for rank in range(parameters.ranks):
        calls = writer.rank(rank)
        repeat(calls, parameters.iterations, partial(_iteration, calls, parameters))
        calls.finish()
    return writer.program()


def _iteration(calls: RankCalls, parameters: AlltoallPause) -> None:
    calls.call(Call.ALLTOALL, size=parameters.block_byte)
    calls.compute(parameters.grain_ns)
