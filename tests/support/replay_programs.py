"""Small random MPI programs for laws of replay files: what is sent is received, and no rank waits for ever."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from eee_testbed.simulation.replay.calls import (
    ANY,
    COLLECTIVES,
    IN_PLACE,
    NO_REQUEST,
    NOBODY,
    NOT_COMMUTATIVE,
    SENDS,
    STARTS,
    Call,
)
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter, RankCalls

SIZES = st.sampled_from((0, 1, 7, 8, 4096, 5 << 30))
_TIMES = st.integers(0, 3_000_000)
_SENDS = sorted(SENDS)
_COLLECTIVES = sorted(COLLECTIVES)
_ROOTED = (Call.BCAST, Call.REDUCE, Call.GATHER, Call.GATHERV, Call.SCATTER, Call.SCATTERV)
_REDUCING = (Call.REDUCE, Call.ALLREDUCE, Call.REDUCE_SCATTER, Call.REDUCE_SCATTER_BLOCK, Call.SCAN, Call.EXSCAN)
_NEVER_IN_PLACE = (Call.BARRIER, Call.BCAST)


class _Drawing:
    """A program that grows by actions of all ranks that take part; requests are open until they are waited for."""

    def __init__(self, draw: Callable[[Any], Any], ranks: int, *, wildcards: bool, in_place: bool) -> None:
        self.draw, self.wildcards, self.in_place = draw, wildcards, in_place
        self.writer = ProgramWriter("drawn", ranks, "a test")
        self.ranks: list[RankCalls] = [self.writer.rank(rank) for rank in range(ranks)]
        self.open: list[list[int]] = [[] for _ in range(ranks)]
        self.next = [0] * ranks
        self.spare: list[list[int]] = [[] for _ in range(ranks)]
        groups = draw(st.lists(st.sets(st.integers(0, ranks - 1), min_size=1), max_size=2))
        chosen = [draw(st.permutations(sorted(group))) for group in groups]
        self.communicators = [(0, list(range(ranks))), *((self.writer.communicator(one), one) for one in chosen)]

    def request(self, rank: int) -> int:
        if self.spare[rank]:
            return self.spare[rank].pop()
        self.next[rank] += 1
        return self.next[rank] - 1

    def begin(self, rank: int, call: Call, **rest: Any) -> None:
        request = self.request(rank)
        self.ranks[rank].call(call, request=request, **rest)
        self.open[rank].append(request)

    def wait(self, rank: int, count: int) -> None:
        done, self.open[rank] = self.open[rank][:count], self.open[rank][count:]
        self.ranks[rank].call(Call.WAIT, sizes=done)
        self.spare[rank] += done

    def wait_all(self) -> None:
        for rank, pending in enumerate(self.open):
            if pending:
                self.wait(rank, len(pending))

    def message(self) -> None:
        number, members = self.draw(st.sampled_from(self.communicators))
        source, target = (self.draw(st.integers(0, len(members) - 1)) for _ in range(2))
        sends = self.draw(st.sampled_from([one for one in _SENDS if source != target or one in STARTS]))
        receives = self.draw(st.sampled_from((Call.RECV, Call.IRECV)))
        tag, size = self.draw(st.integers(0, 2)), self.draw(SIZES)
        seen, sought = (source, tag)
        if self.wildcards and self.draw(st.booleans()):
            seen, sought = ANY, ANY
        self.point(members[source], sends, communicator=number, peer=target, tag=tag, size=size)
        self.point(members[target], receives, communicator=number, peer=seen, tag=sought, size=size)

    def nobody(self) -> None:
        rank = self.draw(st.integers(0, len(self.ranks) - 1))
        self.point(rank, self.draw(st.sampled_from([*_SENDS, Call.RECV, Call.IRECV])), peer=NOBODY)

    def point(self, rank: int, call: Call, **rest: Any) -> None:
        if call in STARTS:
            self.begin(rank, call, **rest)
        else:
            self.ranks[rank].call(call, **rest)

    def compute(self) -> None:
        self.ranks[self.draw(st.integers(0, len(self.ranks) - 1))].compute(self.draw(_TIMES))

    def some_waits(self) -> None:
        rank = self.draw(st.integers(0, len(self.ranks) - 1))
        if self.open[rank]:
            self.wait(rank, self.draw(st.integers(1, len(self.open[rank]))))

    def collective(self) -> None:
        call = self.draw(st.sampled_from(_COLLECTIVES))
        number, members = self.draw(st.sampled_from(self.communicators))
        root = self.draw(st.integers(0, len(members) - 1)) if call in _ROOTED else ANY
        blocks = self.draw(st.lists(SIZES, min_size=len(members), max_size=len(members)))
        starts = self.draw(st.booleans())
        flags = NOT_COMMUTATIVE if call in _REDUCING and self.draw(st.booleans()) else 0
        if self.in_place and call not in _NEVER_IN_PLACE and self.draw(st.booleans()):
            flags |= IN_PLACE
        if call is Call.ALLTOALLV:
            matrix = [blocks[at:] + blocks[:at] for at in range(len(members))]
        for at, rank in enumerate(members):
            size, sizes = blocks[0], None
            if call in (Call.GATHERV, Call.SCATTERV):
                size, sizes = blocks[at], blocks if at == root else None
            elif call is Call.ALLGATHERV:
                size, sizes = blocks[at], blocks
            elif call is Call.REDUCE_SCATTER:
                size, sizes = sum(blocks), blocks
            elif call is Call.ALLTOALLV:
                size, sizes = sum(matrix[at]), matrix[at] + [row[at] for row in matrix]
            elif call is Call.BARRIER:
                size = 0
            own = flags if root in (ANY, at) else flags & ~IN_PLACE
            rest = {"communicator": number, "peer": root, "size": size, "sizes": sizes, "flags": own}
            if starts:
                self.begin(rank, call, **rest)
            else:
                self.ranks[rank].call(call, **rest, request=NO_REQUEST)

    def loop(self) -> None:
        self.wait_all()
        passes = self.draw(st.integers(1, 3))
        for rank in self.ranks:
            rank.loop(passes)
        self.actions(self.draw(st.integers(0, 3)), loops=False)
        self.wait_all()
        for rank in self.ranks:
            rank.end()

    def actions(self, count: int, *, loops: bool) -> None:
        kinds = [self.message, self.message, self.collective, self.compute, self.some_waits, self.nobody]
        for _ in range(count):
            self.draw(st.sampled_from([*kinds, self.loop] if loops else kinds))()


@st.composite
def programs(
    draw: Callable[[Any], Any],
    *,
    most_ranks: int = 4,
    most_actions: int = 8,
    loops: bool = True,
    wildcards: bool = True,
    in_place: bool = True,
    settled: bool = False,
) -> Program:
    """A program; `wildcards` for receives of any source, `settled` if all requests are waited for."""
    drawing = _Drawing(draw, draw(st.integers(1, most_ranks)), wildcards=wildcards, in_place=in_place)
    drawing.actions(draw(st.integers(0, most_actions)), loops=loops)
    if settled or draw(st.booleans()):
        drawing.wait_all()
    for rank in drawing.ranks:
        rank.finish()
    return drawing.writer.program()


def ring(ranks: int = 4, size: int = 1000, passes: int = 10, name: str = "ring") -> Program:
    """Ranks in a ring that exchange messages with both neighbours in a loop, then add a number up."""
    writer = ProgramWriter(name, ranks, "a test")
    for rank in range(ranks):
        calls = writer.rank(rank)
        calls.loop(passes)
        calls.compute(500.0)
        calls.sendrecv((rank + 1) % ranks, size, (rank - 1) % ranks, size)
        calls.end()
        calls.call(Call.ALLREDUCE, size=8)
        calls.compute(100.0)
        calls.finish()
    return writer.program()


def of_calls(ranks: int, *rows: dict[str, Any], communicators: Sequence[Sequence[int]] = ()) -> Program:
    """A program of calls as they are, which need not be one that runs; `rank` is 0 where a row does not say."""
    writer = ProgramWriter("made", ranks, "a test")
    for members in communicators:
        writer.communicator(members)
    for row in rows:
        writer.rank(row.pop("rank", 0)).call(**row)
    return writer.program()
