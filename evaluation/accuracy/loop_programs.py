"""The programs of the closed loop: what of `benchmarks` runs, on how many hosts, with which parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

RANKS: Final = Path(__file__).parent / "on_nodes" / "loop_ranks.py"
"""The small programs, which hosts find in their shared folder."""

HPL: Final = "xhpl"
"""Name of HPL's binary."""

_TIME: Final = r"time=Time = ([\d.]+) s"


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """`figure` is the run time of the part that is timed; `hosts` is the most that it runs on."""

    name: str
    parameters: Mapping[str, Any]
    hosts: int
    figure: str = "time"
    figures: tuple[str, ...] = ()

    def measure(self, hosts: list[str]) -> dict[str, Any]:
        """For `measure.program` of an experiment, on the first of these hosts."""
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "hosts": hosts[: self.hosts],
            "figures": list(self.figures),
            "timeout_s": 600,
        }


def alltoall(array_byte: int, sleep_us: int, iterations: int) -> LoopProgram:
    """Miwa's Alltoall and pause, in which ranks compute."""
    parameters = {
        "array_byte": array_byte, "sleep_us": sleep_us, "iterations": iterations,
        "warm_up_iterations": _WARM_UP, "least_s": 0, "sleep_by": "spin",
    }  # fmt: skip
    return LoopProgram("alltoall", parameters, 12)


_WARM_UP: Final = 10
"""Iterations before those that are timed."""


def _ranks(*words: object, hosts: int) -> LoopProgram:
    command = " ".join(map(str, ("python3", f"/shared/{RANKS.name}", *words)))
    return LoopProgram("command", {"words": command}, hosts, figures=(_TIME,))


PROGRAMS: Final[Mapping[str, LoopProgram]] = {
    "alltoall": alltoall(65_536, 2500, 40),
    "alltoallv": _ranks("alltoallv", 40, 20_000, 2500, hosts=12),
    "bit_reversal": _ranks("bit_reversal", 60, 100_000, 2500, hosts=8),
    "cg": _ranks("cg", 400, 64, hosts=12),
    "ft": _ranks("ft", 60, 128, hosts=8),
    "hpl": LoopProgram("hpl", {"order": 2000, "binary": f"/shared/{HPL}"}, 12),
}
"""By name. `cg` and `ft` have the messages of such solvers and are not NPB's, whose archive is the user's; `hpl` is a
binary that you built, given with `--share`."""
