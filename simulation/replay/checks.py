"""What holds of every program: each reference leads somewhere, loops are balanced, requests are begun before they end.

All checks work on whole columns, so a million calls take a fraction of a second.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from eee_testbed.simulation.replay.calls import (
    ANY,
    CALLS,
    COLLECTIVES,
    IN_PLACE,
    NO_REQUEST,
    NOBODY,
    NOT_COMMUTATIVE,
    RECEIVES,
    SENDS,
    STARTS,
    Call,
)
from eee_testbed.simulation.replay.loops import innermost_loops

MOST_RANKS: Final = 1 << 20
MOST_MEMBERS: Final = 1 << 24
"""Of all communicators together."""

MOST_BYTES: Final = 1 << 42
"""Of a message or block, and passes of a loop: sums over all ranks fit 64 bits."""

MOST_NS: Final = 1 << 53
"""Between two calls: 104 days."""

_ROOTED_CALLS: Final = frozenset(call for call, uses in CALLS.items() if uses.peer == "root")
_AT_ROOT: Final = frozenset({Call.GATHERV, Call.SCATTERV})
_LISTED_CALLS: Final[Mapping[Call, int]] = {
    Call.GATHERV: 1,
    Call.SCATTERV: 1,
    Call.ALLGATHERV: 1,
    Call.ALLTOALLV: 2,
    Call.REDUCE_SCATTER: 1,
}
"""Length of `sizes`, in ranks of the communicator."""


class BadProgram(ValueError):
    """A program that cannot be replayed; the text goes on after the name of its file."""


def check_program(calls: pl.DataFrame, ranks: int, communicators: Sequence[Sequence[int]]) -> None:
    """BadProgram says what is wrong with calls that have the columns and types of a replay file, and where."""
    if not 1 <= ranks <= MOST_RANKS:
        raise BadProgram(f"is for {ranks} ranks, not 1 to {MOST_RANKS}")
    _check_communicators(ranks, communicators)
    if calls.height:
        _Checks(calls, ranks, communicators).run()


def _check_communicators(ranks: int, communicators: Sequence[Sequence[int]]) -> None:
    if not communicators or len(communicators[0]) != ranks or list(communicators[0]) != list(range(ranks)):
        raise BadProgram(f"has a communicator 0 that is not the world of ranks 0 to {ranks - 1}")
    if sum(map(len, communicators)) > MOST_MEMBERS:
        raise BadProgram(f"has communicators of more than {MOST_MEMBERS} ranks together")
    for number, members in enumerate(communicators):
        if not len(members):
            raise BadProgram(f"has a communicator {number} without ranks")
        if min(members) < 0 or max(members) >= ranks:
            raise BadProgram(f"has a communicator {number} with ranks outside 0 to {ranks - 1}")
        if not isinstance(members, range) and len(set(members)) != len(members):
            raise BadProgram(f"has a communicator {number} with a rank twice")


class _Checks:
    """The columns as arrays."""

    def __init__(self, calls: pl.DataFrame, ranks: int, communicators: Sequence[Sequence[int]]) -> None:
        def column(name: str) -> Any:
            return calls[name].to_numpy().astype(np.int64)

        self._ranks, self._communicators = ranks, communicators
        self._rank, self._call, self._communicator = column("rank"), column("call"), column("communicator")
        self._peer, self._tag, self._bytes = column("peer"), column("tag"), column("bytes")
        self._request, self._flags = column("request"), column("flags")
        self._compute_ns = calls["compute_ns"].to_numpy()
        self._lengths, self._listed = lists_of(calls["sizes"])
        self._row_of_listed = np.repeat(np.arange(calls.height), self._lengths)

    def run(self) -> None:
        """Every check; those that come first make sure that the others can look things up."""
        self._values()
        self._members()
        self._peers()
        self._sizes()
        self._loops()
        self._requests()

    def _refuse(self, bad: Any, sentence: str, *columns: str) -> None:
        """Refuse the first row that is bad; `{}` in the sentence stand for values of columns there."""
        if not bad.any():
            return
        row = int(np.argmax(bad))
        values = [int(getattr(self, f"_{name}")[row]) for name in columns]
        raise BadProgram(f"has in row {row} (rank {int(self._rank[row])}) {sentence.format(*values)}")

    def _is(self, calls: frozenset[Call]) -> Any:
        known = np.zeros(256, dtype=bool)
        known[[int(call) for call in calls]] = True
        return known[self._call]

    def _values(self) -> None:
        self._refuse(self._rank >= self._ranks, f"a rank that is not one of 0 to {self._ranks - 1}")
        self._refuse(np.diff(self._rank, prepend=0) < 0, "a rank below that of the row before")
        self._refuse(~self._is(frozenset(Call)), "the call {}, which does not exist", "call")
        self._refuse(self._compute_ns > MOST_NS, f"more than {MOST_NS} ns of computing before the call")
        self._refuse((self._bytes < 0) | (self._bytes > MOST_BYTES), "{} bytes, which cannot be", "bytes")
        self._refuse(self._flags > (IN_PLACE | NOT_COMMUTATIVE), "the flags {}, which do not exist", "flags")
        several = self._communicator >= len(self._communicators)
        self._refuse(several, "the communicator {}, which does not exist", "communicator")
        self._refuse((self._bytes == 0) & (self._call == Call.LOOP), "a loop of no pass")

    def _members(self) -> None:
        """Who uses a communicator is one of its ranks."""
        talks = self._is(SENDS | RECEIVES | COLLECTIVES) & (self._communicator > 0)
        if not talks.any():
            return
        pairs = self._communicator * self._ranks + self._rank
        known = np.concatenate(
            [
                number * self._ranks + np.asarray(self._communicators[number], dtype=np.int64)
                for number in np.unique(self._communicator[talks])
            ]
        )
        strange = np.zeros_like(talks)
        strange[talks] = ~np.isin(pairs[talks], known)
        self._refuse(strange, "a call on the communicator {}, which the rank is not in", "communicator")

    def _peers(self) -> None:
        size = np.asarray([len(members) for members in self._communicators], dtype=np.int64)[self._communicator]
        sends, receives, rooted = self._is(SENDS), self._is(RECEIVES), self._is(_ROOTED_CALLS)
        beyond = (self._peer >= size) & (sends | receives | rooted)
        self._refuse(beyond, "the peer {}, which the communicator {} does not have", "peer", "communicator")
        self._refuse(sends & (self._peer < 0) & (self._peer != NOBODY), "the destination {}", "peer")
        self._refuse(receives & (self._peer < NOBODY), "the source {}", "peer")
        self._refuse(rooted & (self._peer < 0), "the root {}", "peer")
        self._refuse(sends & (self._tag < 0), "a message with the tag {}", "tag")
        self._refuse(receives & (self._tag < ANY), "a receive with the tag {}", "tag")
        self._size = size

    def _sizes(self) -> None:
        negative = np.zeros(len(self._call), dtype=bool)
        np.logical_or.at(negative, self._row_of_listed, (self._listed < 0) | (self._listed > MOST_BYTES))
        self._refuse(negative, "a number in sizes that cannot be")
        needed = np.zeros(256, dtype=np.int64)
        for call, several in _LISTED_CALLS.items():
            needed[call] = several
        wanted = needed[self._call] * self._size
        elsewhere = self._is(_AT_ROOT) & (self._lengths == 0)
        elsewhere &= self._member_number() != self._peer
        wrong = (self._lengths != wanted) & ~elsewhere & (self._call != Call.WAIT)
        self._refuse(wrong, "{} sizes, where its call and communicator need another number", "lengths")

    def _member_number(self) -> Any:
        """Of the calls whose sizes only the root has: the rank in the communicator; elsewhere the rank in the world."""
        numbers = self._rank.copy()
        rows = np.flatnonzero(self._is(_AT_ROOT) & (self._communicator > 0))
        for number in np.unique(self._communicator[rows]):
            position = np.zeros(self._ranks, dtype=np.int64)
            members = np.asarray(self._communicators[number], dtype=np.int64)
            position[members] = np.arange(len(members))
            own = rows[self._communicator[rows] == number]
            numbers[own] = position[self._rank[own]]
        return numbers

    def _loops(self) -> None:
        """Balanced in every rank; also finds the loop that each row is in."""
        opens = (self._call == Call.LOOP).astype(np.int64)
        depth = np.cumsum(opens - (self._call == Call.END))
        starts = np.flatnonzero(np.diff(self._rank, prepend=-1))
        before = np.concatenate([[0], depth])[:-1]
        self._refuse(depth < 0, "the end of a loop that is not begun")
        unbalanced = np.zeros(len(depth), dtype=bool)
        unbalanced[starts] = before[starts] != 0
        if unbalanced.any():
            last = int(np.argmax(unbalanced)) - 1
            raise BadProgram(f"has in rank {int(self._rank[last])} a loop without an end")
        if depth[-1] != 0:
            raise BadProgram(f"has in rank {int(self._rank[-1])} a loop without an end")
        self._loop = innermost_loops(self._call)

    def _requests(self) -> None:
        """A request is begun, waited for or cancelled, and may begin anew; a pass of a loop leaves it as it was."""
        starts = self._is(STARTS)
        plain = ~starts & ~self._is(COLLECTIVES) & (self._call != Call.CANCEL)
        self._refuse((starts | (self._call == Call.CANCEL)) & (self._request < 0), "a call without its request")
        self._refuse(self._request < NO_REQUEST, "the request {}", "request")
        self._refuse(plain & (self._request != NO_REQUEST), "the request {} of a call that begins none", "request")
        own = np.bincount(self._rank, minlength=self._ranks)[self._rank]
        self._refuse(self._request >= own, "the request {}: count requests from 0, and use numbers again", "request")
        waits = self._call[self._row_of_listed] == Call.WAIT
        single = np.flatnonzero(self._request >= 0)
        row = np.concatenate([single, self._row_of_listed[waits]])
        request = np.concatenate([self._request[single], self._listed[waits]])
        begins = np.concatenate([self._call[single] != Call.CANCEL, np.zeros(int(waits.sum()), dtype=bool)])
        order = np.lexsort((row, request, self._rank[row]))
        row, request, begins = row[order], request[order], begins[order]
        if len(row):
            self._turns(row, request, begins)

    def _turns(self, row: Any, request: Any, begins: Any) -> None:
        """Requests' events, sorted by rank, request and row."""
        rank = self._rank[row]
        first = np.concatenate([[True], (np.diff(rank) != 0) | (np.diff(request) != 0)])
        before = np.concatenate([[False], begins[:-1]]) & ~first
        for wrong, problem in (
            (begins & before, "begins the request {}, which is not over yet"),
            (~begins & ~before, "ends the request {}, which is not begun"),
        ):
            if wrong.any():
                at = int(np.flatnonzero(wrong)[np.argmin(row[wrong])])
                said = problem.format(int(request[at]))
                raise BadProgram(f"has in row {int(row[at])} (rank {int(rank[at])}) a call that {said}")
        loop = self._loop[row]
        within = loop >= 0
        if not within.any():
            return
        keys = pl.DataFrame({"loop": loop[within], "request": request[within]})
        odd = keys.group_by("loop", "request").len().filter(pl.col("len") % 2 == 1).sort("loop", "request")
        if odd.height:
            at, number = odd.row(0)[:2]
            raise BadProgram(
                f"has in row {at} (rank {int(self._rank[at])}) a loop whose pass begins the request {number} and "
                "does not end it, or the other way round"
            )


def lists_of(sizes: pl.Series) -> tuple[Any, Any]:
    """The length of each list, and the numbers of all lists one after the other; no list holds an empty cell."""
    lists = pl.LazyFrame({"sizes": sizes})
    lengths, numbers = pl.collect_all(
        [
            lists.select(pl.col("sizes").list.len().fill_null(0).cast(pl.Int64)),
            lists.select(pl.col("sizes").explode().drop_nulls()),
        ]
    )
    return lengths["sizes"].to_numpy(), numbers["sizes"].to_numpy()
