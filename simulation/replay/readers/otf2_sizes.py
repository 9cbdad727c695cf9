"""Bytes of collective calls: what Score-P records for each rank, and what a program's calls say.

Score-P counts what a rank sends and receives as if every rank sent to every other one, itself included. `recorded` is
that rule, `recovered` its inverse. With MPI_IN_PLACE a rank's own block is not counted, and nothing else says so: where
both readings are possible, the call is taken not to be in place, and that is said. Reductions of what would else be no
whole number of elements are taken to be in place.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eee_testbed.simulation.replay.calls import IN_PLACE, Call

OPERATIONS: Final[tuple[Call, ...]] = (
    Call.BARRIER,
    Call.BCAST,
    Call.GATHER,
    Call.GATHERV,
    Call.SCATTER,
    Call.SCATTERV,
    Call.ALLGATHER,
    Call.ALLGATHERV,
    Call.ALLTOALL,
    Call.ALLTOALLV,
    Call.ALLTOALLV,  # MPI_Alltoallw
    Call.ALLREDUCE,
    Call.REDUCE,
    Call.REDUCE_SCATTER,
    Call.SCAN,
    Call.EXSCAN,
    Call.REDUCE_SCATTER_BLOCK,
)
"""By the number of the operation in OTF2; those above make and free communicators and windows."""

_SIGN: Final = 1 << 63
_ELEMENT: Final = 4
"""Bytes of the smallest number that is commonly reduced."""


class Disagree(ValueError):
    """Records of one call that cannot belong together."""


@dataclass(frozen=True, slots=True)
class Share:
    """A rank's part of a collective call, as a replay file has it."""

    bytes: int
    sizes: tuple[int, ...] | None = None
    flags: int = 0


@dataclass(slots=True)
class Doubts:
    """How often something had to be assumed."""

    in_place: int = 0
    guessed: int = 0
    filled: int = 0


def recorded(  # noqa: C901, PLR0911 - a case for each call, as in a table
    call: Call, rank: int, root: int, share: Share, ranks: int
) -> tuple[int, int]:
    """What a rank's record has: bytes sent and received. `rank` and `root` are ranks of the communicator."""
    x, p, less = share.bytes, ranks, bool(share.flags & IN_PLACE)
    sizes = share.sizes or ()
    match call:
        case Call.BARRIER:
            return 0, 0
        case Call.BCAST:
            return (p * x if rank == root else 0), x
        case Call.SCATTER:
            return ((p - less) * x if rank == root else 0), (0 if rank == root and less else x)
        case Call.SCATTERV:
            own = 0 if rank == root and less else x
            return (sum(sizes) - (sizes[rank] if less else 0) if rank == root else 0), own
        case Call.GATHER | Call.REDUCE:
            return (0 if rank == root and less else x), ((p - less) * x if rank == root else 0)
        case Call.GATHERV:
            own = 0 if rank == root and less else x
            return own, (sum(sizes) - (sizes[rank] if less else 0) if rank == root else 0)
        case Call.ALLGATHERV:
            return (p - less) * sizes[rank], sum(sizes) - (sizes[rank] if less else 0)
        case Call.ALLTOALLV:
            sent, received = sum(sizes[:p]), sum(sizes[p:])
            return (received if less else sent), received
        case Call.REDUCE_SCATTER:
            return sum(sizes) - (sizes[rank] if less else 0), (p - less) * sizes[rank]
        case Call.SCAN:
            return (p - rank - less) * x, (rank + 1) * x
        case Call.EXSCAN:
            return (p - rank - 1) * x, rank * x
        case _:
            return (p - less) * x, (p - less) * x


def recovered(  # noqa: C901, PLR0911, PLR0912 - a case for each call, as in a table
    call: Call, root: int, sent: Sequence[int], received: Sequence[int], doubts: Doubts
) -> list[Share]:
    """Each rank's part of a call, from what all ranks of the communicator recorded; Disagree if that fits no call."""
    p = len(sent)
    match call:
        case Call.BARRIER:
            return [Share(0)] * p
        case Call.BCAST:
            return [Share(max(received))] * p
        case Call.SCATTER:
            return _rooted(root, received, sent)
        case Call.GATHER | Call.REDUCE:
            return _rooted(root, sent, received)
        case Call.SCATTERV:
            return _blocks_at_root(root, received, sent)
        case Call.GATHERV:
            return _blocks_at_root(root, sent, received)
        case Call.ALLGATHERV:
            return _each_own(sent, received, doubts)
        case Call.REDUCE_SCATTER:
            shares = _each_own(received, sent, doubts)
            whole = sum(share.bytes for share in shares)
            return [Share(whole, share.sizes, share.flags) for share in shares]
        case Call.ALLTOALLV:
            return _matrix(sent, received, doubts)
        case Call.SCAN:
            return _scan(sent, received)
        case Call.EXSCAN:
            x = sent[0] // (p - 1) if p > 1 else 0
            _require(all(one == (p - rank - 1) * x for rank, one in enumerate(sent)))
            return [Share(x)] * p
        case Call.ALLREDUCE | Call.REDUCE_SCATTER_BLOCK if _is_in_place(sent):
            doubts.guessed += 1
            return [Share(sent[0] // (p - 1), None, IN_PLACE)] * p
        case _:
            return _alike(sent, doubts)


def _require(fits: bool) -> None:  # noqa: FBT001 - reads as an assertion
    if not fits:
        raise Disagree


def _rooted(root: int, own: Sequence[int], whole: Sequence[int]) -> list[Share]:
    """Calls in which all have a block of the same size, and the root has all: x each, at the root 0 if in place."""
    p = len(own)
    others = {one for rank, one in enumerate(own) if rank != root}
    _require(len(others) <= 1)
    x = others.pop() if others else own[root] or whole[root]
    in_place = p > 1 and own[root] == 0 and whole[root] == (p - 1) * x and x > 0
    _require(in_place or (own[root] == x and whole[root] == p * x) or p == 1)
    return [Share(x, None, IN_PLACE if in_place and rank == root else 0) for rank in range(p)]


def _blocks_at_root(root: int, own: Sequence[int], whole: Sequence[int]) -> list[Share]:
    """Calls in which each has a block of its own size; the root's own is unknown, and stays there, if in place."""
    _require(whole[root] in (sum(own), sum(own) - own[root]))
    flags = IN_PLACE if whole[root] != sum(own) else 0
    return [
        Share(one, tuple(own) if rank == root else None, flags if rank == root else 0) for rank, one in enumerate(own)
    ]


def _is_in_place(values: Sequence[int]) -> bool:
    """Whether a reduction can be in place or not, and would have a part of an element if it were not."""
    p, value = len(values), values[0]
    either = p > 1 and len(set(values)) == 1 and value % (p * (p - 1)) == 0
    return either and value // p % _ELEMENT != 0 and value // (p - 1) % _ELEMENT == 0


def _alike(values: Sequence[int], doubts: Doubts) -> list[Share]:
    """Blocks of the same size from all to all: p of them, or one less."""
    p, most = len(values), max(values)
    for x, less in ((most // p, 0), (most // (p - 1) if p > 1 else 0, 1)):
        if x * (p - less) == most and all(one in (p * x, (p - 1) * x) for one in values):
            if not less and most and p > 1 and most % (p - 1) == 0 and len(set(values)) == 1:
                doubts.in_place += 1
            return [Share(x, None, IN_PLACE if one != p * x else 0) for one in values]
    raise Disagree


def _each_own(multiplied: Sequence[int], whole: Sequence[int], doubts: Doubts) -> list[Share]:
    """Blocks of each rank's own size, counted once for each rank, and the sum of all."""
    p = len(multiplied)
    found = None
    for less in (0, 1):
        if p == less or any(one % (p - less) for one in multiplied):
            continue
        sizes = [one // (p - less) for one in multiplied]
        if all(one == sum(sizes) - less * sizes[rank] for rank, one in enumerate(whole)):
            if found is not None:
                doubts.in_place += any(sizes)
                break
            found = [Share(one, tuple(sizes), IN_PLACE if less else 0) for one in sizes]
    if found is None:
        _require(p == 1 and not any(multiplied))
        return [Share(0, (0,), 0)]
    return found


def _matrix(sent: Sequence[int], received: Sequence[int], doubts: Doubts) -> list[Share]:
    """Blocks from each to each, of which only the sums are known: in proportion to both, in whole bytes."""
    p = len(sent)
    out, into = np.asarray(sent, dtype=np.int64), np.asarray(received, dtype=np.int64)
    _require(int(out.sum()) == int(into.sum()))
    total = int(out.sum())
    doubts.filled += bool(total and p > 1)
    blocks = _proportional(out, into, total)
    rows, columns = blocks.tolist(), blocks.T.tolist()
    return [Share(sent[rank], (*rows[rank], *columns[rank])) for rank in range(p)]


def _proportional(out: Any, into: Any, total: int) -> Any:
    """A matrix of whole numbers with these sums of rows and columns."""
    if not total:
        return np.zeros((len(out), len(into)), dtype=np.int64)
    common = math.gcd(*out.tolist(), *into.tolist())
    out, into, total = out // common, into // common, total // common
    wide = int(out.max()) * int(into.max()) >= _SIGN
    kind = object if wide else np.int64
    blocks = (out.astype(kind)[:, None] * into.astype(kind)[None, :] // total).astype(np.int64)
    rows, columns = out - blocks.sum(axis=1), into - blocks.sum(axis=0)
    row = column = 0
    while row < len(out) and column < len(into):
        rest = min(rows[row], columns[column])
        blocks[row, column] += rest
        rows[row] -= rest
        columns[column] -= rest
        row, column = (row + 1, column) if rows[row] == 0 else (row, column + 1)
    return blocks * common


def _scan(sent: Sequence[int], received: Sequence[int]) -> list[Share]:
    """The rank's number in the communicator shows in what it sends; the last one sends nothing if in place."""
    p = len(sent)
    if p == 1:
        return [Share(received[0], None, IN_PLACE if received[0] and not sent[0] else 0)]
    for less in (0, 1):
        x = sent[0] // (p - less)
        if all(one == (p - rank - less) * x for rank, one in enumerate(sent)):
            return [Share(x, None, IN_PLACE if less else 0)] * p
    raise Disagree
