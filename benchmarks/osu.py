"""OSU micro-benchmarks (5.x to 7.x), from binaries that you built: Debian has none.

`make install` puts them into `libexec/osu-micro-benchmarks/mpi/{pt2pt,collective,startup,one-sided}`; the folder has to
be the same on all nodes.
"""

import re
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from eee_testbed.benchmarks.program import Answer, Figure, Launch, Parameters, Placement, Unfit

_TITLE: Final = re.compile(r"^# OSU MPI(?P<what>.*?) Test v?(?P<version>\S+)", re.MULTILINE)
_ROW: Final = re.compile(r"^ *(\d+) +(\d+(?:\.\d+)?)(?: +(.*?))? *$", re.MULTILINE)
_ALONE: Final = re.compile(r"^ *(\d+\.\d+)(?: .*)?$", re.MULTILINE)
_PAIRWISE: Final = re.compile(r"osu_(latency|bw|bibw|latency_mt|(put|get|acc|cas_|fop_|get_acc_)\w*)")
_MBYTE: Final = 1e6


class OsuParameters(Parameters):
    """Which benchmark (`osu_latency`, `osu_bw`, `osu_alltoall`, ...) in which folder, and up to which size.

    `iterations` 0: its own choice. `validate_contents` (OSU 6.0 and newer) has it check what arrived.
    """

    folder: str = Field(min_length=1, description="folder of the binaries on the nodes")
    benchmark: str = Field(
        pattern=r"osu_[a-z0-9_]+", description="which one, such as osu_latency, osu_bw, osu_alltoall"
    )
    most_byte: int = Field(1 << 20, ge=1, description="largest message; without effect where it has no sizes")
    iterations: int = Field(0, ge=0, description="of each size; 0: the benchmark's own choice")
    validate_contents: bool = Field(default=True, description="check what arrives; OSU 6.0 and newer")


@dataclass(frozen=True, slots=True)
class Osu:
    """The program. Figures by size: `latency_N` in us, or `throughput_N` where it measures bandwidth."""

    name: str = "osu"
    about: str = "OSU micro-benchmarks, from a folder of binaries on the nodes"
    parameters: type[OsuParameters] = OsuParameters

    def launch(self, parameters: OsuParameters, placement: Placement) -> Launch:
        """The binary of this name."""
        if _PAIRWISE.fullmatch(parameters.benchmark) and placement.ranks != 2:
            raise Unfit(f"{parameters.benchmark} runs on two ranks, not on {placement.ranks}: name two hosts.")
        argv = [f"{parameters.folder}/{parameters.benchmark}"]
        if not _sizeless(parameters):
            argv += ["-m", f":{parameters.most_byte}"]
        argv += ["-i", str(parameters.iterations)] if parameters.iterations else []
        argv += ["-c"] if parameters.validate_contents and not _sizeless(parameters) else []
        return Launch(tuple(argv))

    def read(self, parameters: OsuParameters, placement: Placement, output_text: str) -> Answer:  # noqa: ARG002 - it does not say
        """Right if it validated all sizes; None if it was not asked to, or cannot."""
        title = _TITLE.search(output_text)
        if title is None:
            return Answer(right=False, why="it ended before its first line.")
        bandwidth = "Bandwidth" in title["what"]
        name, scale, unit = ("throughput", 8 * _MBYTE, "bit/s") if bandwidth else ("latency", 1.0, "us")
        if _sizeless(parameters):
            found = _ALONE.search(output_text)
            one = (Figure(name, float(found[1]) * scale, unit),) if found else ()
            return Answer(None if found else False, "" if found else "it ended before its result.", one)
        rows = _ROW.findall(output_text)
        figures = tuple(Figure(f"{name}_{size}", float(value) * scale, unit) for size, value, _ in rows)
        if not rows or not _reaches(int(rows[-1][0]), parameters.most_byte):
            return Answer(False, f"it ended before {parameters.most_byte} byte.", figures)
        if not parameters.validate_contents:
            return Answer(None, "", figures)
        failed = [size for size, _, more in rows if more.split()[-1:] != ["Pass"]]
        why = f"its validation did not pass for {', '.join(failed)} byte." if failed else ""
        return Answer(not failed, why, figures)


def _sizeless(parameters: OsuParameters) -> bool:
    return parameters.benchmark in {"osu_barrier", "osu_ibarrier", "osu_init", "osu_hello"}


def _reaches(last_byte: int, most_byte: int) -> bool:
    """Sizes double, so the last is above half of the most."""
    return 2 * last_byte > most_byte
