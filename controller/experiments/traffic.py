"""Who sent how many messages of how many bytes to whom, as Open MPI's monitoring component counted them.

Its pml component counts every message that a rank gives to the point-to-point layer, those of which collectives consist
too ("I" lines, where "E" are the program's own), and puts to windows ("S" lines). So an all-to-all counts as the
messages that the chosen algorithm sends. What it does not see: how a message is cut into frames, the requests of the
rendezvous protocol that go before a long one, TCP's acknowledgements. Messages between ranks of one node are counted,
and never reach a link.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.program import Placement
from lab.errors import LabError

PREFIX: Final = "monitor"
"""Each rank writes its counts to PREFIX.RANK.prof."""

_LINE: Final = re.compile(
    r"(?P<kind>[EIS])\t(?P<source>\d+)\t(?P<target>\d+)\t(?P<byte>\d+) bytes\t(?P<count>\d+) msgs"
)

Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Traffic:
    """`messages[a][b]` and `size_byte[a][b]`: what rank a sent to rank b over the whole program, its start included."""

    messages: Matrix
    size_byte: Matrix

    def plain(self) -> dict[str, Any]:
        """For traffic.json."""
        return {"messages": [list(row) for row in self.messages], "bytes": [list(row) for row in self.size_byte]}


@dataclass(frozen=True, slots=True)
class NodeTraffic:
    """What a node's link carried: `count` messages sent by its ranks to other nodes and their mean `size_byte`.

    These are n and S of Miwa's Eq. 2 and 4, of one node: `count` is communications a node, `size_byte` the mean size of
    one. The paper counts calls of MPI functions (TAU); a call of a collective is several messages.
    """

    host: str
    count: int
    size_byte: float


def monitored(placement_ranks: int, texts: Iterable[str]) -> Traffic:
    """The matrix of a program from the files of its ranks; LabError if a rank's is missing or cannot be read."""
    messages = [[0] * placement_ranks for _ in range(placement_ranks)]
    sizes = [[0] * placement_ranks for _ in range(placement_ranks)]
    written = 0
    for text in texts:
        if not text.startswith("# POINT TO POINT"):
            raise LabError("Open MPI's monitoring wrote what is unreadable here: it was tried with Open MPI 4.1.")
        written += 1
        for found in _LINE.finditer(text):
            source, target = int(found["source"]), int(found["target"])
            if max(source, target) >= placement_ranks:
                raise LabError(f"Open MPI's monitoring names rank {max(source, target)} of {placement_ranks}.")
            messages[source][target] += int(found["count"])
            sizes[source][target] += int(found["byte"])
    if written != placement_ranks:
        raise LabError(
            f"Open MPI's monitoring wrote down {written} of {placement_ranks} ranks: its component has to be on all "
            "nodes (`ompi_info | grep monitoring`), and the program has to call MPI_Finalize."
        )
    return Traffic(tuple(map(tuple, messages)), tuple(map(tuple, sizes)))


def node_traffic(traffic: Traffic, placement: Placement) -> tuple[NodeTraffic, ...]:
    """N and S of each node, of messages to other nodes alone; a mean size of nothing is 0."""
    found = []
    for host in placement.hosts:
        pairs = [
            (source, target)
            for source in range(placement.ranks)
            for target in range(placement.ranks)
            if placement.host_of(source) == host != placement.host_of(target)
        ]
        count = sum(traffic.messages[source][target] for source, target in pairs)
        size_byte = sum(traffic.size_byte[source][target] for source, target in pairs)
        found.append(NodeTraffic(host, count, size_byte / count if count else 0.0))
    return tuple(found)


def read_traffic(path: Path) -> Traffic:
    """`traffic.json` of a trial; LabError if it is none."""
    try:
        told: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Traffic(tuple(map(tuple, told["messages"])), tuple(map(tuple, told["bytes"])))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{path} holds no traffic matrix ({error}): run the program with --traffic.") from error
