"""HPL alone, from a binary that you built: Debian has it only as a part of HPCC.

Any of netlib's versions from 2.0 on, and those of vendors that keep its input (`HPL.dat`) and its output. The binary
has to be at the same place on all nodes, or in their PATH.
"""

import re
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from eee_testbed.benchmarks.program import Answer, Figure, Launch, Parameters, Placement, Unfit

_GIGA: Final = 1e9
_PASSED: Final = re.compile(r"^\|\|Ax-b\|\|.*\.\.\.\.\.\. +PASSED$", re.MULTILINE)
_SOLVED: Final = re.compile(
    r"^W\w+ +(?P<order>\d+) +(?P<block>\d+) +(?P<rows>\d+) +(?P<columns>\d+) +[\d.]+ +(?P<gflops>[\d.]+e[+-]\d+)",
    re.MULTILINE,
)


class HplProblem(Parameters):
    """HPL's problem: `order` of the matrix (N), `block` (NB), and the grid of ranks.

    `grid_rows` 0: the divisor of the number of ranks that makes the grid nearest to a square, with fewer rows.
    """

    order: int = Field(
        1000, ge=10, le=10_000_000, description="order N of HPL's matrix; takes 8 N^2 / ranks byte a rank"
    )
    block: int = Field(80, ge=1, le=10_000, description="order NB of the blocks that HPL works on")
    grid_rows: int = Field(0, ge=0, description="rows of the grid of ranks; 0: as near to a square as the ranks allow")


class HplParameters(HplProblem):
    """The problem, and the binary that solves it."""

    binary: str = Field("xhpl", min_length=1, description="the binary on the nodes: its path, or a name in their PATH")


@dataclass(frozen=True, slots=True)
class Hpl:
    """The program. Figures: `time`, and `hpl` in flop/s.

    The time is that of the printed rate, which has four or five digits, as the printed time ends at 10 ms.
    """

    name: str = "hpl"
    about: str = "High-Performance Linpack, from a binary on the nodes"
    parameters: type[HplParameters] = HplParameters

    def launch(self, parameters: HplParameters, placement: Placement) -> Launch:
        """The binary; its input is made from the parameters."""
        return Launch((parameters.binary,), files={"HPL.dat": hpl_input(parameters, placement).encode()})

    def read(self, parameters: HplParameters, placement: Placement, output_text: str) -> Answer:
        """Right if the residual of the problem that was asked for passed."""
        solved = _SOLVED.search(output_text)
        if solved is None:
            return Answer(right=False, why="it ended before its result.")
        rate = float(solved["gflops"]) * _GIGA
        if not rate:
            return Answer(right=False, why="it was too short for a rate: choose a larger order.")
        figures = (Figure("time", _flop(parameters.order) / rate, "s"), Figure("hpl", rate, "flop/s"))
        order, rows, columns = (int(solved[name]) for name in ("order", "rows", "columns"))
        if (order, rows * columns) != (parameters.order, placement.ranks):
            return Answer(False, f"it solved order {order} on {rows * columns} ranks: look at the binary.")
        if not residual_passed(output_text):
            return Answer(False, "its residual did not pass.", figures)
        return Answer(True, "", figures)


def residual_passed(output_text: str) -> bool:
    """Whether the residual of a problem is small enough by HPL's own check."""
    return _PASSED.search(output_text) is not None


def hpl_input(problem: HplProblem, placement: Placement) -> str:
    """HPL's file for one problem; Unfit if the ranks do not make such a grid."""
    rows, columns = _grid(problem, placement)
    return _INPUT.format(order=problem.order, block=problem.block, rows=rows, columns=columns)


def _grid(problem: HplProblem, placement: Placement) -> tuple[int, int]:
    ranks, rows = placement.ranks, problem.grid_rows
    if not rows:
        rows = max(number for number in range(1, int(ranks**0.5) + 1) if ranks % number == 0)
    if ranks % rows:
        raise Unfit(f"{ranks} ranks do not make {rows} equal rows: choose a divisor for grid_rows, or 0.")
    return rows, ranks // rows


def _flop(order: int) -> float:
    """Operations that HPL counts: 2/3 N^3 + 3/2 N^2 (HPL_pdtest)."""
    return 2 / 3 * order**3 + 3 / 2 * order**2


_INPUT: Final = """\
HPLinpack benchmark input file
written by eeectl
HPL.out      output file name
6            device out
1            # of problem sizes
{order}      Ns
1            # of NBs
{block}      NBs
0            PMAP
1            # of process grids
{rows}       Ps
{columns}    Qs
16.0         threshold
1            # of panel fact
2            PFACTs
1            # of recursive stopping criteria
4            NBMINs
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs
1            # of broadcasts
0            BCASTs
1            # of lookahead depths
1            DEPTHs
2            SWAP
64           swapping threshold
0            L1
0            U
1            equilibration
8            memory alignment
"""
"""A value, and what it is, in HPL's order. HPCC reads the same lines, and writes to its own file whatever the device.

All that is not filled in is HPCC's example's, but for the broadcast: 1ring, number 0, as in Koibuchi's Table 3 (2011),
whose print says "lring"; the example has 1ringM.
"""
