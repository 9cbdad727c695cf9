"""Miwa's synthetic application (2013, section 5.2.1, Fig. 5): MPI_Alltoall and a sleep, repeated.

The array is the whole one that a rank hands to MPI_Alltoall, so that each rank gets an equal part of it; the paper does
not say which, but 128 KB to each of three others would take 3.1 ms on its links, where it measured 1.8 ms. The array
is cut to whole integers for every rank.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from eee_testbed.benchmarks.program import Answer, Figure, Launch, Parameters, Placement, Unfit

_SCRIPT: Final = "alltoall_ranks.py"
_MARK: Final = "alltoall "
_INT_BYTE: Final = 4
_CALL_US: Final = 20.0
_GIGABIT_BYTE_US: Final = 0.008
_TIMES: Final = {"time_ns", "begun_ns", "ended_ns", "processor_wait_ns", "iteration_ns", "call_ns", "mean_call_ns"}
_CLEAN: Final = {"steady_ns", "slow_ns", "slow_beyond_ns", "processor_wait_share", "steal_share"}
_KEYS: Final = {*_CLEAN, "ranks", "iterations", "array_byte", "wrong", "shares", *_TIMES}


class AlltoallParameters(Parameters):
    """Array, sleep and number of iterations; 100,000 iterations are the paper's.

    `sleep_by`: "usleep" as in the paper, which takes about 55 us longer than asked for unless the kernel's timer slack
    is smaller, 0 us included; "spin" looks at the clock, exactly and at the cost of a busy processor.
    """

    array_byte: int = Field(
        4096,
        ge=4,
        le=1 << 30,
        description="whole array that a rank hands to MPI_Alltoall; each rank gets an equal part",
    )
    sleep_us: int = Field(100, ge=0, le=1_000_000, description="sleep after each call; 0: the shortest that there is")
    sleep_by: Literal["usleep", "spin"] = Field(
        "usleep", description="usleep: the kernel's, about 55 us longer; spin: exact, keeps a processor busy"
    )
    iterations: int = Field(10_000, ge=1, le=10_000_000, description="measured calls; 100,000 in the paper")
    warm_up_iterations: int = Field(100, ge=0, le=1_000_000, description="calls before the measured ones; 0: none")
    least_s: float = Field(
        0.0,
        ge=0,
        le=3_600,
        description="as many more iterations as pauses, 20 us a call and its bytes at 1 Gb/s need for so long; 0: none",
    )

    @property
    def measured_iterations(self) -> int:
        """How many there are: a function of the parameters alone, so that runs with and without EEE have as many."""
        round_us = self.sleep_us + _CALL_US + self.array_byte * _GIGABIT_BYTE_US
        return max(self.iterations, math.ceil(self.least_s * 1e6 / round_us))


@dataclass(frozen=True, slots=True)
class Alltoall:
    """The program. Its figures: `time`, that of an iteration and of a call by quantiles, and Miwa's n and S.

    `communications` is n, calls of MPI_Alltoall by the ranks of a node in the measured loop, as the paper's profiler
    counts them; `communication_size` is S, what one call sends to other nodes. What Open MPI makes of a call, messages
    and bytes by pair, is in the traffic matrix. `processor_wait` is the longest time that a rank was ready to run in
    the loop and had no processor: where that is a large share of `time`, processors limit the figures, not the network.
    `processor_wait_share` is that share by the kernel's clock, and `steal_share` the share of a node's processors that
    its hypervisor gave to others. `slow_iterations` is the time that
    iterations took beyond the median, of those that took over 2 ms more: more than any waking link. `time_steady` is
    `time` without that, and what run times are compared by; unlike a median it keeps every wait for a link.
    """

    name: str = "alltoall"
    about: str = "Miwa's MPI_Alltoall and sleep, repeated"
    parameters: type[AlltoallParameters] = AlltoallParameters

    def launch(self, parameters: AlltoallParameters, placement: Placement) -> Launch:
        """Python with mpi4py on every node."""
        if parameters.array_byte < _INT_BYTE * placement.ranks:
            least_byte = _INT_BYTE * placement.ranks
            raise Unfit(f"{placement.ranks} ranks need an array of at least {least_byte} byte: set array_byte.")
        text = (Path(__file__).parent / "on_nodes" / _SCRIPT).read_bytes()
        given = parameters.model_dump() | {"iterations": parameters.measured_iterations}
        argv = ("python3", _SCRIPT, json.dumps(given))
        return Launch(argv, files={_SCRIPT: text}, modules=("mpi4py",), says_ready=True)

    def read(self, parameters: AlltoallParameters, placement: Placement, output_text: str) -> Answer:
        """Right if every integer of every rank was what the others had to send."""
        result = _result(output_text)
        if result is None:
            return Answer(right=False, why="it ended without a result line.")
        figures = (
            Figure("time", result["time_ns"] / 1e9, "s"),
            Figure("time_steady", result["steady_ns"] / 1e9, "s"),
            *_quantiles("iteration", result["shares"], result["iteration_ns"]),
            *_quantiles("call", result["shares"], result["call_ns"]),
            Figure("call_mean", result["mean_call_ns"] / 1e3, "us"),
            Figure("slow_iterations", result["slow_ns"] / 1e9, "s"),
            Figure("processor_wait", result["processor_wait_ns"] / 1e9, "s"),
            Figure("processor_wait_share", result["processor_wait_share"], "1"),
            Figure("steal_share", result["steal_share"], "1"),
            Figure("communications", parameters.measured_iterations * placement.ranks_per_host, "call"),
            Figure("communication_size", _sent_byte(result, placement), "byte"),
        )
        if result["wrong"]:
            return Answer(False, f"{result['wrong']} integers arrived that were not sent.", figures)
        if (result["ranks"], result["iterations"]) != (placement.ranks, parameters.measured_iterations):
            ran = f"it ran {result['iterations']} iterations on {result['ranks']} ranks"
            return Answer(False, f"{ran}, not {parameters.measured_iterations} on {placement.ranks}.", figures)
        return Answer(True, "", figures, (result["begun_ns"], result["ended_ns"]))


def _result(output_text: str) -> dict[str, Any] | None:
    lines = [line for line in output_text.splitlines() if line.startswith(_MARK)]
    if len(lines) != 1:
        return None
    try:
        result = json.loads(lines[0].removeprefix(_MARK))
    except ValueError:
        return None
    return result if isinstance(result, dict) and result.keys() >= _KEYS else None


def _quantiles(what: str, shares: list[float], values_ns: list[int]) -> list[Figure]:
    """`iteration_p50` and so on; the smallest and largest are `_min` and `_max`."""
    names = {0.0: "min", 1.0: "max"}
    return [
        Figure(f"{what}_{names.get(share, f'p{round(100 * share):02d}')}", value_ns / 1e3, "us")
        for share, value_ns in zip(shares, values_ns, strict=True)
    ]


def _sent_byte(result: dict[str, Any], placement: Placement) -> float:
    """What a rank's call sends to ranks of other nodes."""
    return float(result["array_byte"] / result["ranks"] * (placement.ranks - placement.ranks_per_host))
