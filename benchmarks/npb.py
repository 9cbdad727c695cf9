"""NAS Parallel Benchmarks (MPI versions 3.3 and 3.4), from binaries that you built: Debian has none.

Built in NPB's own way (`make cg CLASS=B`), 3.4 gives `bin/cg.B.x` for any number of ranks, and 3.3 `bin/cg.B.4` for
four. The folder has to be the same on all nodes.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from eee_testbed.benchmarks.program import Answer, Figure, Launch, Parameters, Placement, Unfit

_PAIR: Final = re.compile(r"^ ([A-Z][\w/ ]*?) *= +(\S.*?) *$", re.MULTILINE)
_MEGA: Final = 1e6
_SQUARES: Final = ("bt", "sp")
_POWERS: Final = ("cg", "ft", "is", "mg")


def _text(given: object) -> object:
    """A version as it is written: command lines and YAML read 3.3 as a number."""
    return str(given) if isinstance(given, float) else given


class NpbParameters(Parameters):
    """Which benchmark, of which class, in which folder on the nodes."""

    folder: str = Field(min_length=1, description="folder of the binaries on the nodes")
    benchmark: Literal["bt", "cg", "ep", "ft", "is", "lu", "mg", "sp"] = Field(
        description="which one; bt and sp need a square number of ranks, cg, ft, is and mg a power of two, lu "
        "a grid of ranks that is at most twice as long as wide"
    )
    problem_class: Literal["S", "W", "A", "B", "C", "D", "E", "F"] = Field(
        "A", description="size of its problem, from S, the smallest, to F"
    )
    version: Annotated[Literal["3.3", "3.4"], BeforeValidator(_text)] = Field(
        "3.4", description="of NPB; 3.3 has the number of ranks in a binary's name"
    )


@dataclass(frozen=True, slots=True)
class Npb:
    """The program. Figures: `time`, `operations` a second in all, and of each rank."""

    name: str = "npb"
    about: str = "NAS Parallel Benchmarks, from a folder of binaries on the nodes"
    parameters: type[NpbParameters] = NpbParameters

    def launch(self, parameters: NpbParameters, placement: Placement) -> Launch:
        """The binary of this name, if it runs on so many ranks (NPB 3.3.1, sys/setparams.c; 3.4 is the same)."""
        ranks = placement.ranks
        if parameters.benchmark in _SQUARES and int(ranks**0.5) ** 2 != ranks:
            raise Unfit(f"{parameters.benchmark} runs on a square number of ranks, not on {ranks}: choose other hosts.")
        if parameters.benchmark in _POWERS and ranks & (ranks - 1):
            raise Unfit(f"{parameters.benchmark} runs on a power of two of ranks, not on {ranks}: choose other hosts.")
        if parameters.benchmark == "lu" and not _has_grid(ranks):
            raise Unfit(
                f"lu runs on a grid of ranks that is at most twice as long as wide, which {ranks} ranks have not: "
                "choose other hosts."
            )
        ending = "x" if parameters.version == "3.4" else str(ranks)
        return Launch((f"{parameters.folder}/{parameters.benchmark}.{parameters.problem_class}.{ending}",))

    def read(self, parameters: NpbParameters, placement: Placement, output_text: str) -> Answer:
        """Right if it says Verification = SUCCESSFUL, for the class and number of ranks that were asked for."""
        printed = dict(_PAIR.findall(output_text))
        ranks = printed.get("Total processes", printed.get("Total number of processes", ""))
        try:
            figures = (
                Figure("time", float(printed["Time in seconds"]), "s"),
                Figure("operations", float(printed["Mop/s total"]) * _MEGA, "op/s"),
                Figure("operations_each", float(printed["Mop/s/process"]) * _MEGA, "op/s"),
            )
            verified, solved = printed["Verification"], printed["Class"]
        except (KeyError, ValueError):
            return Answer(right=False, why="it ended before its results.")
        if verified != "SUCCESSFUL":
            return Answer(False, f"its verification says {verified}.", figures)
        if solved != parameters.problem_class or (ranks and int(ranks) != placement.ranks):
            return Answer(False, f"it solved class {solved} on {ranks or '?'} ranks: look at the binary.", figures)
        return Answer(True, "", figures)


def _has_grid(ranks: int) -> bool:
    return any(ranks % wide == 0 and wide <= ranks // wide <= 2 * wide for wide in range(1, int(ranks**0.5) + 1))
