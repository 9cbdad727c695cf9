"""Writes the calls of a program rank by rank: what generators and readers use."""

from collections.abc import Hashable, Sequence

import polars as pl

from eee_testbed.simulation.replay.calls import ANY, NO_REQUEST, Call
from eee_testbed.simulation.replay.program import SCHEMA, Program


class ProgramWriter:
    """Collects the calls of all ranks; `rank(r)` gives the writer of a rank, `program()` what was written.

    Columns grow as plain lists: a million calls take a second.
    """

    def __init__(self, name: str, ranks: int, source: str) -> None:
        self._name, self._ranks, self._source = name, ranks, source
        self._communicators: dict[tuple[Hashable, tuple[int, ...]], int] = {(None, tuple(range(ranks))): 0}
        self._columns: dict[int, dict[str, list[object]]] = {}
        self._calls: dict[int, RankCalls] = {}
        self._assumed: dict[str, None] = {}
        self._recorded_ns: int | None = None

    def communicator(self, ranks: Sequence[int], context: Hashable = None) -> int:
        """The number of a communicator of these world ranks, in this order; equal ones of one context share a number.

        A duplicate has a context of its own: messages on it match receives on it alone.
        """
        return self._communicators.setdefault((context, tuple(ranks)), len(self._communicators))

    @property
    def communicators(self) -> Sequence[Sequence[int]]:
        """World ranks of each communicator so far."""
        return tuple(ranks for _, ranks in self._communicators)

    def assume(self, sentence: str) -> None:
        """Say what the source did not hold."""
        self._assumed[sentence] = None

    def recorded(self, ns: int) -> None:
        """Say how long the program ran where it was recorded."""
        self._recorded_ns = ns

    def rank(self, rank: int) -> "RankCalls":
        """The calls of a rank; the same each time."""
        if rank not in self._calls:
            self._calls[rank] = RankCalls(self._columns.setdefault(rank, {name: [] for name in SCHEMA}), rank)
        return self._calls[rank]

    def program(self) -> Program:
        """All calls, ranks in order."""
        columns: dict[str, list[object]] = {name: [] for name in SCHEMA}
        for rank in sorted(self._columns):
            for name, values in self._columns[rank].items():
                columns[name] += values
        calls = pl.DataFrame(columns, schema=SCHEMA, strict=False)
        communicators, assumed = self.communicators, tuple(self._assumed)
        return Program(self._name, self._ranks, calls, communicators, self._source, assumed, self._recorded_ns)


class RankCalls:
    """The calls of one rank, in order. Computing adds up until the next call."""

    def __init__(self, columns: dict[str, list[object]], rank: int) -> None:
        self._columns, self._rank = columns, rank
        self._compute_ns = 0
        self._open: list[int] = []
        self._next = 0

    def compute(self, ns: float) -> None:
        """Compute for so long before the next call."""
        self._compute_ns += round(ns)

    def call(
        self,
        call: Call,
        *,
        communicator: int = 0,
        peer: int = ANY,
        tag: int = 0,
        size: int = 0,
        request: int = NO_REQUEST,
        flags: int = 0,
        sizes: Sequence[int] | None = None,
    ) -> None:
        """Any call; `size` is its `bytes`."""
        row = (self._rank, int(call), self._compute_ns, communicator, peer, tag, size, request, flags, sizes)
        for values, value in zip(self._columns.values(), row, strict=True):
            values.append(value)
        self._compute_ns = 0

    def send(self, to: int, size: int, tag: int = 0, communicator: int = 0) -> None:
        """MPI_Send."""
        self.call(Call.SEND, communicator=communicator, peer=to, tag=tag, size=size)

    def receive(self, source: int, size: int, tag: int = 0, communicator: int = 0) -> None:
        """MPI_Recv."""
        self.call(Call.RECV, communicator=communicator, peer=source, tag=tag, size=size)

    def isend(self, to: int, size: int, tag: int = 0, communicator: int = 0) -> int:
        """MPI_Isend; the request."""
        return self._begin(Call.ISEND, to, size, tag, communicator)

    def issend(self, to: int, size: int, tag: int = 0, communicator: int = 0) -> int:
        """MPI_Issend; the request."""
        return self._begin(Call.ISSEND, to, size, tag, communicator)

    def irecv(self, source: int, size: int, tag: int = 0, communicator: int = 0) -> int:
        """MPI_Irecv; the request."""
        return self._begin(Call.IRECV, source, size, tag, communicator)

    def _begin(self, call: Call, peer: int, size: int, tag: int, communicator: int) -> int:
        request = self.request()
        self.call(call, communicator=communicator, peer=peer, tag=tag, size=size, request=request)
        return request

    def request(self) -> int:
        """A number for a request that is to begin; `wait` gives it free."""
        if self._open:
            return self._open.pop()
        self._next += 1
        return self._next - 1

    def wait(self, *requests: int) -> None:
        """MPI_Wait, MPI_Waitall; their numbers are used again afterwards."""
        self.call(Call.WAIT, sizes=requests)
        self._open += reversed(requests)

    def sendrecv(self, to: int, size: int, source: int, received: int, tag: int = 0) -> None:
        """MPI_Sendrecv: both at once, then wait for both."""
        receive = self.irecv(source, received, tag)
        self.wait(self.isend(to, size, tag), receive)

    def loop(self, passes: int) -> None:
        """Begin a loop; what was computed before comes before it."""
        if self._compute_ns:
            self.call(Call.COMPUTE)
        self.call(Call.LOOP, size=passes)

    def end(self) -> None:
        """End the innermost loop; what was computed last is in it."""
        if self._compute_ns:
            self.call(Call.COMPUTE)
        self.call(Call.END)

    def finish(self) -> None:
        """The rank's last computing."""
        if self._compute_ns:
            self.call(Call.COMPUTE)
