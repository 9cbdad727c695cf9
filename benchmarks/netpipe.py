"""NetPIPE 3.7 (Debian's `netpipe-openmpi`): messages of growing size back and forth between two ranks.

It measures or it checks contents, one of the two. To know both, run it once with `integrity` and once without.
"""

import re
from dataclasses import dataclass
from typing import Final

from pydantic import Field, model_validator

from eee_testbed.benchmarks.program import Answer, Figure, Launch, Parameters, Placement, Unfit

_PROGRAM: Final = "NPopenmpi"
_RESULT: Final = "np.out"
_LINE: Final = re.compile(r"^ *(\d+) +(\d+\.\d+) +(\d+\.\d+) *$", re.MULTILINE)
_CHECKED: Final = re.compile(r"^ *\d+: *\d+ bytes +\d+ times --> +Integrity check (.*?)\s*$", re.MULTILINE)
_MBIT: Final = 1e6


class NetpipeParameters(Parameters):
    """Sizes from `least_byte` to a little over `most_byte`; `repeats` 0 lets it take half a second for each.

    Sizes lie 3 byte above and below each of its steps as well, where buffers' ends show.
    """

    least_byte: int = Field(1, ge=1, description="size of the first message")
    most_byte: int = Field(1 << 20, ge=1, le=1 << 30, description="size at which it stops")
    repeats: int = Field(0, ge=0, description="round trips of each size; 0: as many as take half a second")
    integrity: bool = Field(default=False, description="check what arrives; then nothing is measured")

    @model_validator(mode="after")
    def _ordered(self) -> "NetpipeParameters":
        if self.least_byte > self.most_byte:
            raise ValueError("least_byte is above most_byte")
        return self


@dataclass(frozen=True, slots=True)
class Netpipe:
    """The program. Figures by size: `latency_N`, half a round trip, and `throughput_N`; `throughput` is the best."""

    name: str = "netpipe"
    about: str = "NetPIPE: ping-pong of growing messages between two ranks"
    parameters: type[NetpipeParameters] = NetpipeParameters

    def launch(self, parameters: NetpipeParameters, placement: Placement) -> Launch:
        """Debian's program on both nodes."""
        if placement.ranks != 2:
            raise Unfit(f"it runs on two ranks, not on {placement.ranks}: name two hosts.")
        argv = [_PROGRAM, "-l", str(parameters.least_byte), "-u", str(parameters.most_byte), "-o", _RESULT]
        argv += ["-n", str(parameters.repeats)] if parameters.repeats else []
        if parameters.integrity:  # it reports that on standard error
            return Launch(("sh", "-c", 'exec "$@" 2>&1', "sh", *argv, "-i"), commands=(_PROGRAM,), result=_RESULT)
        return Launch(tuple(argv), result=_RESULT)

    def read(self, parameters: NetpipeParameters, placement: Placement, output_text: str) -> Answer:  # noqa: ARG002 - always two
        """Measuring, it has no check of its own: `right` is None. Checking, it is right if every size passed."""
        if parameters.integrity:
            said = _CHECKED.findall(output_text)
            failed = [words for words in said if words != "passed"]
            if failed or not said:
                return Answer(right=False, why=f"{len(failed)} of {len(said)} sizes failed its integrity check.")
            return Answer(right=True, figures=(Figure("sizes", len(said), "1"),))
        rows = [(int(size), float(mbps), float(took_s)) for size, mbps, took_s in _LINE.findall(output_text)]
        if not rows or rows[-1][0] < parameters.most_byte:
            return Answer(right=False, why=f"it ended before {parameters.most_byte} byte.")
        figures = [Figure("throughput", max(mbps for _, mbps, _ in rows) * _MBIT, "bit/s")]
        for size_byte, mbps, took_s in rows:
            figures.append(Figure(f"latency_{size_byte}", took_s * 1e6, "us"))
            figures.append(Figure(f"throughput_{size_byte}", mbps * _MBIT, "bit/s"))
        return Answer(None, "", tuple(figures))
