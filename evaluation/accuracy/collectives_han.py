"""HAN beside Open MPI 4.1 or 5.0: what each rank sends in collective calls where nodes hold several ranks.

``python -m evaluation.accuracy.collectives_han`` runs mpirun on this machine, with HAN before `tuned` and with pml
monitoring, as `collectives_ompi.py` does. Nodes are host names of their own (`unshare --uts`, so it must be root). It
compares the messages of each rank (destination and bytes) with those of `engine/replay`. Prints Markdown and the first
differences; exit status 1 if there are any.

Not compared: the order of a rank's sends, as HAN begins the next segment before this one is done; and an allreduce that
ends with a part of a segment, which HAN of 4.1.4 broadcasts as a whole one, behind the end of the vector. Where nodes
have unequal numbers of ranks, HAN of 5.0.7 exchanges 8 bytes within nodes and 12 between them before it leaves a call
to others; those calls are not compared with 5.0.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from evaluation import recording
from evaluation.accuracy.collectives_ompi import Call, Comparison, built, library, open_mpi, ours

_SEGMENT: Final = 65_536
"""HAN's, of bcast, reduce and allreduce."""

_SIZES: Final = (8, 16, 24, 32, 1000, _SEGMENT - 8, _SEGMENT, 2 * _SEGMENT, 140_000)
"""Bytes; beside few elements and the segment's end, where libnbc takes another algorithm."""

_EVEN: Final = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather")
_UNEVEN: Final = ("barrier", "allreduce")
_ROOTED: Final = ("bcast", "reduce", "gather", "scatter")

_PLACES: Final = (
    (0, 0, 1, 1),
    (0, 1, 0, 1),
    (0, 0, 0, 0, 1, 1, 1, 1),
    (0, 0, 1, 1, 2, 2),
    (0, 1, 2, 3, 0, 1, 2, 3),
    (0, 0, 1, 1, 2, 2, 3, 3, 4, 4),
    (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5),
    (0, 0, 0, 1),
    (0, 0, 1, 1, 1),
)
"""The node of each rank; the last have unequal numbers."""

_AGENT: Final = """#!/bin/sh
host=$1
shift
exec unshare --uts sh -c "hostname $host && $*"
"""
"""In place of ssh: a command on a node that is this machine by another name."""


def calls(nodes: tuple[int, ...], version: str) -> Iterator[Call]:
    """Calls that HAN takes, and where nodes have unequal numbers those that it leaves to others (4.1)."""
    ranks = len(nodes)
    uneven = len({nodes.count(node) for node in nodes}) > 1
    for kind in _UNEVEN if uneven and version != "ompi-4.1" else _EVEN:
        for size in (0,) if kind == "barrier" else _SIZES:
            if kind == "allreduce" and size > _SEGMENT and size % _SEGMENT:
                continue
            call = Call(kind, ranks, size, element=8, nodes=nodes, library="ompi-5.0")
            yield call
            if kind in _ROOTED:
                yield replace(call, root=ranks - 1)
                yield replace(call, root=ranks // 2)


def placed(nodes: Sequence[int], agent: Path) -> list[str]:
    """Of mpirun's command line: rank by rank on these nodes."""
    counts = [nodes.count(node) for node in range(max(nodes) + 1)]
    hosts = ",".join(f"node{node}:{count}" for node, count in enumerate(counts))
    return [
        "--host", hosts, "--map-by", "slot" if list(nodes) == sorted(nodes) else "node",
        "--mca", "plm_rsh_agent", str(agent), "--mca", "plm_ssh_agent", str(agent),
        "--mca", "btl_tcp_if_include", "lo", "--mca", "coll_han_priority", "100",
    ]  # fmt: skip


def sorted_sends(answers: Sequence[Sequence[str]]) -> list[list[str]]:
    """Each rank's messages, without their order.

    >>> sorted_sends([["2:8 1:8", ""]])
    [['1:8 2:8', '']]
    """
    return [[" ".join(sorted(rank.split())) for rank in call] for call in answers]


def main() -> int:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most-ranks", type=int, default=12, help="placements of at most so many ranks")
    recording.add_argument(parser)
    asked = parser.parse_args()
    version = library()
    if not version:
        return 1
    if subprocess.run(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("host names of one's own need root: run this as root, or in a container that is.", file=sys.stderr)
        return 1
    records, comparison = recording.begin(asked), Comparison()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs, own = built(folder)
        agent = folder / "agent"
        agent.write_text(_AGENT, encoding="utf-8")
        agent.chmod(0o755)
        for nodes in (nodes for nodes in _PLACES if len(nodes) <= asked.most_ranks):
            given = list(calls(nodes, version))
            # HAN makes its communicators in the first call of each operation.
            first = [Call(kind, len(nodes), 0 if kind == "barrier" else 8, element=8) for kind in _EVEN]
            sent = open_mpi(theirs, folder, [*first, *given], placed(nodes, agent), "self,vader,tcp")[len(first) :]
            found = ours(own, given)
            sorted_own = sorted_sends([sends for _, sends in found])
            both = [(algorithm, sends) for (algorithm, _), sends in zip(found, sorted_own, strict=True)]
            comparison.add(given, sorted_sends(sent), both)
            print(f"{nodes}: {comparison.calls} calls so far", file=sys.stderr, flush=True)
    return comparison.end(records)


if __name__ == "__main__":
    sys.exit(main())
