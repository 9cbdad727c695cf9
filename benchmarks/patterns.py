"""Synthetic traffic patterns of Koibuchi et al. (2011), section V.B: each rank sends to one other.

Bit reversal: rank (a0 a1 ... an-1) sends to (an-1 ... a1 a0). Matrix transpose: rank (x, y) of a k x k square sends to
(k-1-y, k-1-x), or to (k-1-x, k-1-y) where that would be itself (x + y = k-1). Who would send to itself is idle.

The paper gives 1,470 byte as the frame and as the largest UDP datagram, and labels its figures with TCP. Here
`frame_byte` is the Ethernet frame from its first address to the end of its data, without the check sequence: 1,470 by
default; a datagram with 1,470 byte of data, as iperf sends it, is a frame of 1,512.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from eee_testbed.benchmarks.program import Answer, Figure, Launch, Parameters, Placement, Unfit

_SCRIPT: Final = "pattern_ranks.py"
_MARK: Final = "pattern "

Partners = Callable[[int], tuple[int, ...]]
"""From the number of ranks, the destination of each, the rank itself if it sends nothing.

Unfit for numbers that the pattern does not support.
"""


class PatternParameters(Parameters):
    """How long frames are and for how long they are sent. `rate_mbps` 0: as fast as each rank can, as in the paper."""

    transport: Literal["udp", "tcp"] = Field("udp", description="what carries the frames")
    frame_byte: int = Field(
        1470, ge=128, le=9014, description="length of a frame with its Ethernet header, without its check sequence"
    )
    duration_s: float = Field(5.0, gt=0, le=86_400, description="how long each rank sends")
    rate_mbps: float = Field(0.0, ge=0, description="rate of each rank; 0: as fast as it can, as in the paper")


def bit_reversal(ranks: int) -> tuple[int, ...]:
    """Partners by reversed bits; Unfit unless there is a power of two of ranks, at least four."""
    width = ranks.bit_length() - 1
    if ranks != 1 << width or ranks < 4:
        raise Unfit(f"bit reversal is of 4, 8, 16, ... ranks, not of {ranks}: choose other hosts.")
    return tuple(int(f"{rank:0{width}b}"[::-1], 2) for rank in range(ranks))


def matrix_transpose(ranks: int) -> tuple[int, ...]:
    """Partners in a square whose rank x + k y is (x, y); Unfit unless the number is a square, at least four."""
    side = round(ranks**0.5)
    if side * side != ranks or ranks < 4:
        raise Unfit(f"a matrix transpose is of 4, 9, 16, ... ranks, not of {ranks}: choose other hosts.")
    found = []
    for rank in range(ranks):
        y, x = divmod(rank, side)
        other_x, other_y = (side - 1 - y, side - 1 - x) if x + y != side - 1 else (side - 1 - x, side - 1 - y)
        found.append(other_x + side * other_y)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One of the patterns. Figures: `throughput`, the mean over all pairs of what arrived, and its least and most.

    Throughput is of the data in datagrams or segments, as iperf gives it. `lost` is the share of datagrams that did not
    arrive, which full queues and slow receivers make; it is a figure and no fault.
    """

    name: str
    about: str
    partners: Partners
    parameters: type[PatternParameters] = PatternParameters

    def launch(self, parameters: PatternParameters, placement: Placement) -> Launch:
        """Python with mpi4py on every node, between their addresses on the data network, or their names."""
        places = placement.addresses or placement.hosts
        addresses = [places[rank // placement.ranks_per_host] for rank in range(placement.ranks)]
        given = {"partners": self.partners(placement.ranks), "addresses": addresses, **parameters.model_dump()}
        text = (Path(__file__).parent / "on_nodes" / _SCRIPT).read_bytes()
        argv = ("python3", _SCRIPT, json.dumps(given))
        # The ranks' own frames are no MPI messages: the matrix would show their meeting alone.
        return Launch(argv, files={_SCRIPT: text}, modules=("mpi4py",), monitored=False)

    def read(self, parameters: PatternParameters, placement: Placement, output_text: str) -> Answer:
        """Right if every rank got what its partner sent and nothing else, at least something of it, and TCP all."""
        ranks = _result(output_text)
        if ranks is None or len(ranks) != placement.ranks:
            return Answer(right=False, why="it ended without a result line.")
        by_rank = {one["rank"]: one for one in ranks}
        pairs = [(by_rank[one["source"]], one) for one in ranks if one["source"] != one["rank"]]
        faults = [fault for source, one in pairs if (fault := _fault(source, one, parameters))]
        figures = tuple(_figures(pairs, parameters))
        return Answer(not faults, faults[0] if faults else "", figures)


def _result(output_text: str) -> list[dict[str, Any]] | None:
    lines = [line for line in output_text.splitlines() if line.startswith(_MARK)]
    if len(lines) != 1:
        return None
    try:
        return list(json.loads(lines[0].removeprefix(_MARK))["ranks"])
    except (ValueError, KeyError, TypeError):
        return None


def _fault(source: dict[str, Any], one: dict[str, Any], parameters: PatternParameters) -> str:
    where = f"from rank {source['rank']} to {one['rank']}"
    if source["sent"] < 0:
        return f"the sender {where} failed."
    if one["wrong"]:
        return f"{where} came {one['wrong']} that were not what was sent."
    if not one["byte"]:
        return f"nothing came {where}."
    if parameters.transport == "tcp" and one["byte"] != source["sent"]:
        return f"{one['byte']} of {source['sent']} byte came {where}."
    if parameters.transport == "udp" and one["frames"] > source["sent"]:
        return f"{where} came {one['frames']} datagrams of {source['sent']}: some came twice."
    return ""


def _figures(pairs: list[tuple[dict[str, Any], dict[str, Any]]], parameters: PatternParameters) -> list[Figure]:
    rates_bps = [one["byte"] * 8 / parameters.duration_s for _, one in pairs]
    found = [
        Figure("throughput", sum(rates_bps) / len(rates_bps), "bit/s"),
        Figure("throughput_min", min(rates_bps), "bit/s"),
        Figure("throughput_max", max(rates_bps), "bit/s"),
        Figure("pairs", len(pairs), "1"),
    ]
    if parameters.transport == "udp":
        sent = sum(max(source["sent"], 0) for source, _ in pairs)
        came = sum(one["frames"] for _, one in pairs)
        found.append(Figure("lost", 1 - came / sent if sent else 0.0, "1"))
        found.append(Figure("sent", sent, "frame"))
        found.append(Figure("disordered", sum(one["disordered"] for _, one in pairs), "frame"))
    return found
