"""The traffic matrix of a program, messages and bytes from rank to rank, counted by Open MPI's monitoring component.

Its pml component counts every message that a rank passes to the point-to-point layer, including those that make up
collectives ("I" lines; "E" lines are the program's own). So an all-to-all counts as the messages that the chosen
algorithm sends. Not counted: segmentation of a message into frames, the rendezvous requests that precede a long
message, TCP acknowledgements. Messages between ranks of one node are counted but never reach a link.

Its osc component counts what a rank does to windows: "S" lines what it puts, which goes to the target, and "R" lines
what it fetches, which comes from the target. `one_sided.py` decides whether messages have it already.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from eee_testbed.benchmarks.program import Placement
from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.lab.untrusted_files import read_object
from eee_testbed.measuring.experiments.one_sided import Count, apart

PREFIX: Final = "monitor"
"""Each rank writes its counts to PREFIX.RANK.prof."""

_LINE: Final = re.compile(
    r"(?P<kind>[EISR])\t(?P<source>\d+)\t(?P<target>\d+)\t(?P<byte>\d+) bytes\t(?P<count>\d+) msgs"
)

Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Traffic:
    """`messages[a][b]` and `size_byte[a][b]`: what rank a sent to rank b, including the start of the program."""

    messages: Matrix
    size_byte: Matrix

    def plain(self) -> dict[str, Any]:
        """For traffic.json."""
        return {"messages": [list(row) for row in self.messages], "bytes": [list(row) for row in self.size_byte]}


@dataclass(frozen=True, slots=True)
class NodeTraffic:
    """Traffic of a node's link: `count` messages sent by its ranks to other nodes, and their mean `size_byte`.

    `size_byte` is S of Miwa's Eq. 2 and 4. `count` is n only where no calls of MPI functions were counted, as the paper
    counts them (`mpi_calls`): one call of a collective is several messages.
    """

    host: str
    count: int
    size_byte: float


def monitored(placement_ranks: int, texts: Iterable[str]) -> Traffic:
    """The matrix of a program from the files of its ranks; LabError if a rank's file is missing or unreadable.

    UnclearWindows if what went over windows cannot be told from its messages.
    """
    counted: dict[str, dict[tuple[int, int], Count]] = {kind: {} for kind in "EISR"}
    written = 0
    for text in texts:
        if not text.startswith("# POINT TO POINT"):
            raise LabError(
                "the output of Open MPI's monitoring has an unknown format: use Open MPI 4.1 or 5.0, which were tested."
            )
        written += 1
        for found in _LINE.finditer(text):
            pair = int(found["source"]), int(found["target"])
            if max(pair) >= placement_ranks:
                raise LabError(f"Open MPI's monitoring names rank {max(pair)} of {placement_ranks}: run it again.")
            counts = counted[found["kind"]]
            counts[pair] = counts.get(pair, Count()) + Count(int(found["count"]), int(found["byte"]))
    if written != placement_ranks:
        raise LabError(
            f"Open MPI's monitoring wrote files for {written} of {placement_ranks} ranks: install its component on all "
            "nodes (`ompi_info | grep monitoring`), and make the program call MPI_Finalize."
        )
    moved = apart(own=counted["E"], inner=counted["I"], put=counted["S"], fetched=counted["R"])
    totals: dict[tuple[int, int], Count] = {}
    for part in (counted["E"], counted["I"], moved):
        for pair, count in part.items():
            totals[pair] = totals.get(pair, Count()) + count
    ranks = range(placement_ranks)
    rows = [[totals.get((source, target), Count()) for target in ranks] for source in ranks]
    return Traffic(
        tuple(tuple(count.messages for count in row) for row in rows),
        tuple(tuple(count.byte for count in row) for row in rows),
    )


def node_traffic(traffic: Traffic, placement: Placement) -> tuple[NodeTraffic, ...]:
    """Messages from each node to other nodes: number and mean size, which is 0 without messages."""
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


_REMEDY: Final = "run the program with --traffic"
_Counts = Annotated[int, Field(ge=0, lt=1 << 62)]


class _Stored(BaseModel):
    """What `Traffic.plain` writes."""

    messages: tuple[tuple[_Counts, ...], ...]
    size_byte: tuple[tuple[_Counts, ...], ...] = Field(alias="bytes")

    @model_validator(mode="after")
    def _is_square(self) -> Self:
        if any(len(row) != len(self.messages) for row in (*self.messages, *self.size_byte, self.size_byte)):
            raise ValueError("the matrices are not square, or not of one size")
        return self

    @property
    def traffic(self) -> Traffic:
        """The matrix."""
        return Traffic(self.messages, self.size_byte)


def read_traffic(path: Path) -> Traffic:
    """Read `traffic.json` of a trial; LabError if it is missing or malformed."""
    try:
        return _Stored.model_validate(read_object(path, _REMEDY)).traffic
    except ValidationError as error:
        said = error.errors()[0]["msg"]
        raise UnreadableFile(str(path), 0, f"is not a traffic matrix ({said})", _REMEDY) from error
