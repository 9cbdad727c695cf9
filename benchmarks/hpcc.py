"""HPC Challenge (HPCC 1.5, Debian's `hpcc`): HPL, RandomAccess, PTRANS and FFT over all ranks, in one run.

HPCC has no way to run one of its parts alone. Sizes of all follow from HPL's: RandomAccess and FFT fill a power of two
below its matrix, PTRANS transposes a matrix of half its order. What it prints at the end, name=value, is what is read.
"""

import re
from dataclasses import dataclass
from typing import Final

from eee_testbed.benchmarks.hpl import HplProblem, hpl_input, residual_passed
from eee_testbed.benchmarks.program import Answer, Figure, Launch, Placement

_INPUT: Final = "hpccinf.txt"
_OUTPUT: Final = "hpccoutf.txt"
_SUMMARY: Final = re.compile(
    r"^Begin of Summary section\.$(?P<lines>.*)^End of Summary section\.$", re.MULTILINE | re.DOTALL
)
_PAIR: Final = re.compile(r"^(\w+)=(\S+)$", re.MULTILINE)
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


class HpccParameters(HplProblem):
    """HPL's problem; a rank needs about as much memory again for the others."""


@dataclass(frozen=True, slots=True)
class Hpcc:
    """The program. Figures: those of HPL, RandomAccess, PTRANS and FFT, and of its latency and bandwidth tests."""

    name: str = "hpcc"
    about: str = "HPC Challenge: HPL, RandomAccess, PTRANS and FFT"
    parameters: type[HpccParameters] = HpccParameters

    def launch(self, parameters: HpccParameters, placement: Placement) -> Launch:
        """The program of that name on every node; its input is made from the parameters."""
        text = hpl_input(parameters, placement) + _PTRANS_INPUT
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


def _faults(printed: dict[str, str], output_text: str) -> list[str]:
    faults = []
    if not residual_passed(output_text):
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


_PTRANS_INPUT: Final = """\
##### this line is ignored
0            additional sizes for PTRANS
1200         values of N
0            additional blocks for PTRANS
40           values of NB
"""
"""What HPCC reads after HPL's own lines: no matrices of PTRANS beside those that follow from HPL's."""
