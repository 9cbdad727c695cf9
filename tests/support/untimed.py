"""Runs a program's calls without time: messages meet in queues, collectives in order, loops pass by pass.

What MPI would not forgive is an AssertionError: ranks that wait for ever, messages that nobody takes, receives that
nothing fills, other sizes at both ends, collectives that members call differently.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from eee_testbed.simulation.replay.calls import (
    ANY,
    COLLECTIVES,
    NO_REQUEST,
    NOBODY,
    NOT_COMMUTATIVE,
    RECEIVES,
    SENDS,
    STARTS,
    Call,
)
from eee_testbed.simulation.replay.loops import unrolled
from eee_testbed.simulation.replay.program import Program

_SYNCHRONOUS: Final = frozenset({Call.SSEND, Call.ISSEND})
_OWN_SIZES: Final = frozenset({Call.ALLGATHERV, Call.ALLTOALLV, Call.GATHERV, Call.SCATTERV})
"""Collectives whose members may give other bytes."""


@dataclass
class _End:
    """One end of a message: a send or a receive."""

    rank: int
    peer: int
    tag: int
    size: int
    done: bool = False


@dataclass
class _Meeting:
    """A collective of a communicator: what was called, and by whom so far."""

    called: tuple[Any, ...]
    members: frozenset[int]
    here: set[int] = field(default_factory=set)

    @property
    def done(self) -> bool:
        return self.here == self.members


def run(program: Program, *, buffered: bool = True) -> None:
    """Run all ranks to their end. Not `buffered`: every send waits for its receive, as large messages do."""
    _Run(program, buffered=buffered).to_the_end()


class _Run:
    def __init__(self, program: Program, *, buffered: bool) -> None:
        self._program, self._buffered = program, buffered
        self._posted: dict[tuple[int, int], list[_End]] = defaultdict(list)
        self._unexpected: dict[tuple[int, int], list[_End]] = defaultdict(list)
        self._requests: dict[tuple[int, int], _End | _Meeting] = {}
        self._meetings: dict[tuple[int, int], _Meeting] = {}
        self._met: dict[tuple[int, int], int] = defaultdict(int)

    def to_the_end(self) -> None:
        by_rank = self._program.calls.partition_by("rank", as_dict=True, maintain_order=True)
        left = {rank: self._blocks(rank, unrolled(by_rank[rank,].to_dicts())) for (rank,) in by_rank}
        waiting = {rank: next(calls, None) for rank, calls in left.items()}
        while any(waiting.values()):
            ready = [rank for rank, block in waiting.items() if block is not None and block()]
            assert ready, f"ranks {[rank for rank, block in waiting.items() if block][:8]} wait for ever"
            for rank in ready:
                waiting[rank] = next(left[rank], None)
        assert not any(self._posted.values()), "receives that nothing filled"
        assert not any(self._unexpected.values()), "messages that nobody took"
        assert not self._requests, "requests that nobody waited for"
        assert all(one.done for one in self._meetings.values()), "collectives without a member"

    def _blocks(self, rank: int, calls: Iterator[dict[str, Any]]) -> Iterator[Callable[[], bool]]:
        """Make a rank's calls; yields what it waits for."""
        for row in calls:
            call = Call(row["call"])
            if call in SENDS or call in RECEIVES:
                end = self._begin(rank, call, row)
                if call in STARTS:
                    assert (rank, row["request"]) not in self._requests, "a request is begun twice"
                    self._requests[rank, row["request"]] = end
                else:
                    yield lambda end=end: end.done  # type: ignore[misc]
            elif call is Call.WAIT:
                ends = [self._requests.pop((rank, request)) for request in row["sizes"]]
                yield lambda ends=ends: all(end.done for end in ends)  # type: ignore[misc]
            elif call is Call.CANCEL:
                cancelled = self._requests.pop((rank, row["request"]))
                assert isinstance(cancelled, _End)
                self._posted[row["communicator"], rank].remove(cancelled)
            elif call in COLLECTIVES:
                meeting = self._meet(rank, call, row)
                if row["request"] == NO_REQUEST:
                    yield lambda meeting=meeting: meeting.done  # type: ignore[misc]
                else:
                    assert (rank, row["request"]) not in self._requests, "a request is begun twice"
                    self._requests[rank, row["request"]] = meeting

    def _begin(self, rank: int, call: Call, row: dict[str, Any]) -> _End:
        communicator = row["communicator"]
        if row["peer"] == NOBODY:
            return _End(rank, NOBODY, row["tag"], 0, done=True)
        members = self._program.communicators[communicator]
        peer = ANY if row["peer"] == ANY else members[row["peer"]]
        own = _End(rank, peer, row["tag"], row["bytes"])
        if call in SENDS:
            own.done = self._buffered and call not in _SYNCHRONOUS
            queue, others = self._unexpected[communicator, peer], self._posted[communicator, peer]
            pairs = [(own, other) for other in others]
        else:
            queue, others = self._posted[communicator, rank], self._unexpected[communicator, rank]
            pairs = [(other, own) for other in others]
        for sent, received in pairs:
            if received.peer in (ANY, sent.rank) and received.tag in (ANY, sent.tag):
                fits = sent.size <= received.size if received.peer == ANY else sent.size == received.size
                assert fits, f"{sent.size} bytes from {sent.rank} meet {received.size} at {received.rank}"
                sent.done = received.done = True
                others.remove(received if call in SENDS else sent)
                return own
        queue.append(own)
        return own

    def _meet(self, rank: int, call: Call, row: dict[str, Any]) -> _Meeting:
        communicator = row["communicator"]
        number = self._met[communicator, rank]
        self._met[communicator, rank] += 1
        called = (call, row["peer"], row["flags"] & NOT_COMMUTATIVE, 0 if call in _OWN_SIZES else row["bytes"])
        members = frozenset(self._program.communicators[communicator])
        meeting = self._meetings.setdefault((communicator, number), _Meeting(called, members))
        assert meeting.called == called, f"rank {rank} calls {called} where others call {meeting.called}"
        assert rank in members
        meeting.here.add(rank)
        return meeting
