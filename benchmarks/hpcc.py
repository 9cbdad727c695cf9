"""HPC Challenge (HPCC 1.5, Debian's `hpcc`): HPL, RandomAccess, PTRANS and FFT over all ranks, in one run.

HPCC has no way to run one of its parts alone. Sizes of all follow from HPL's: RandomAccess and FFT fill a power of two
below its matrix, PTRANS transposes a matrix of half its order. What it prints at the end, name=value, is what is read.
"""

import re
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from benchmarks.program import Answer, Figure, Launch, Parameters, Placement, Unfit

_INPUT: Final = "hpccinf.txt"
_OUTPUT: Final = "hpccoutf.txt"
_SUMMARY: Final = re.compile(
    r"^Begin of Summary section\.$(?P<lines>.*)^End of Summary section\.$", re.MULTILINE | re.DOTALL
)
_PAIR: Final = re.compile(r"^(\w+)=(\S+)$", re.MULTILINE)
_HPL_PASSED: Final = re.compile(r"^\|\|Ax-b\|\|.*\.\.\.\.\.\. PASSED$", re.MULTILINE)
_PTRANS_FAILED: Final = re.compile(r"^ *(\d+) tests completed and failed residual checks\.$", re.MULTILINE)
_MOST_WRONG_UPDATES: Final = 0.01
"""RandomAccess need not lock, so one update in a hundred may be lost: HPCC's own rule."""
_MOST_FFT_ERROR: Final = 1e-10
"""Far above rounding (1e-15), far below anything that went wrong."""
_GIGA: Final = 1e9
_TERA: Final = 1e12

_FIGURES: Final = (
    ("hpl", "HPL_Tflops", _TERA, "flop/s"),
    ("hpl_time", "HPL_time", 1.0, "s"),
    ("random_access", "MPIRandomAccess_GUPs", _GIGA, "update/s"),
    ("random_access_time", "MPIRandomAccess_time", 1.0, "s"),
    ("ptrans", "PTRANS_GBs", _GIGA, "byte/s"),
    ("ptrans_time", "PTRANS_time", 1.0, "s"),
    ("fft", "MPIFFT_Gflops", _GIGA, "flop/s"),
    ("dgemm_each", "StarDGEMM_Gflops", _GIGA, "flop/s"),
    ("stream_triad_each", "StarSTREAM_Triad", _GIGA, "byte/s"),
    ("ping_pong_latency", "AvgPingPongLatency_usec", 1.0, "us"),
    ("ping_pong_bandwidth", "AvgPingPongBandwidth_GBytes", _GIGA, "byte/s"),
    ("random_ring_latency", "RandomlyOrderedRingLatency_usec", 1.0, "us"),
    ("random_ring_bandwidth", "RandomlyOrderedRingBandwidth_GBytes", _GIGA, "byte/s"),
)


class HpccParameters(Parameters):
    """HPL's problem: `order` of the matrix (N), `block` (NB), and the grid of ranks.

    `grid_rows` 0: the divisor of the number of ranks that makes the grid nearest to a square, with fewer rows.
    A rank needs 8 order^2 / ranks byte for HPL and about as much for the others.
    """

    order: int = Field(
        1000, ge=10, le=10_000_000, description="order N of HPL's matrix; takes 8 N^2 / ranks byte a rank"
    )
    block: int = Field(80, ge=1, le=10_000, description="order NB of the blocks that HPL works on")
    grid_rows: int = Field(0, ge=0, description="rows of the grid of ranks; 0: as near to a square as the ranks allow")


@dataclass(frozen=True, slots=True)
class Hpcc:
    """The program. Figures: those of HPL, RandomAccess, PTRANS and FFT, and of its latency and bandwidth tests."""

    name: str = "hpcc"
    about: str = "HPC Challenge: HPL, RandomAccess, PTRANS and FFT"
    parameters: type[HpccParameters] = HpccParameters

    def launch(self, parameters: HpccParameters, placement: Placement) -> Launch:
        """The program of that name on every node; its input is made from the parameters."""
        rows, columns = _grid(parameters, placement)
        text = _INPUT_TEXT.format(order=parameters.order, block=parameters.block, rows=rows, columns=columns)
        return Launch(("hpcc",), files={_INPUT: text.encode()}, result=_OUTPUT)

    def read(self, parameters: HpccParameters, placement: Placement, output_text: str) -> Answer:
        """Right if HPCC says so, and each of its four checks does."""
        summary = _SUMMARY.search(output_text)
        if summary is None:
            return Answer(right=False, why="it ended before its summary: a part failed or ran out of memory.")
        printed = dict(_PAIR.findall(summary["lines"]))
        try:
            figures = tuple(Figure(name, float(printed[key]) * scale, unit) for name, key, scale, unit in _FIGURES)
            faults = _faults(printed, output_text)
            size = (int(printed["HPL_N"]), int(printed["CommWorldProcs"]))
        except (KeyError, ValueError) as error:
            return Answer(right=False, why=f"its summary cannot be read ({error}): this is not HPCC 1.5.")
        if size != (parameters.order, placement.ranks):
            faults.append(f"it solved order {size[0]} on {size[1]} ranks")
        return Answer(not faults, "; ".join(faults) + "." if faults else "", figures)


def _grid(parameters: HpccParameters, placement: Placement) -> tuple[int, int]:
    ranks, rows = placement.ranks, parameters.grid_rows
    if not rows:
        rows = max(number for number in range(1, int(ranks**0.5) + 1) if ranks % number == 0)
    if ranks % rows:
        raise Unfit(f"{ranks} ranks do not make {rows} equal rows: choose a divisor for grid_rows, or 0.")
    return rows, ranks // rows


def _faults(printed: dict[str, str], output_text: str) -> list[str]:
    faults = []
    if not _HPL_PASSED.search(output_text):
        faults.append("HPL's residual did not pass")
    failed = _PTRANS_FAILED.search(output_text)
    if failed is None or int(failed[1]):
        faults.append("PTRANS' residual did not pass")
    wrong = float(printed["MPIRandomAccess_ErrorsFraction"])
    if not 0 <= wrong <= _MOST_WRONG_UPDATES:
        faults.append(f"RandomAccess lost {wrong:.2%} of its updates")
    error = float(printed["MPIFFT_maxErr"])
    if not 0 <= error <= _MOST_FFT_ERROR or float(printed["MPIFFT_Gflops"]) <= 0:
        faults.append(f"FFT's error is {error:g}")
    if printed["Success"] != "1":
        faults.append("HPCC says that it did not succeed")
    return faults


_INPUT_TEXT: Final = """\
HPLinpack benchmark input file
written by eeectl
HPL.out      output file name
8            device out
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
##### this line is ignored
0            additional sizes for PTRANS
1200         values of N
0            additional blocks for PTRANS
40           values of NB
"""
"""HPL's file, in the order that HPCC reads: a value and what it is.

All that is not filled in is HPCC's example's, but for the broadcast: 1ring, number 0, as in Koibuchi's Table 3 (2011),
whose print says "lring"; the example has 1ringM.
"""
