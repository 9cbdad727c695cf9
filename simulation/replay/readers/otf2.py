"""OTF2 archives, as Score-P records MPI programs: from records to calls.

Computing is the time between leaving an MPI function and entering the next one; a program's own regions are
transparent. Time in functions of MPI is none, also where they carry no message, nor is that between MeasurementOff and
On. Peers are ranks of the communicator. A receive that was begun with MPI_Irecv is recorded without its message:
the record of its completion has it, found by the number of the request. Requests that are found complete in one
function are waited for there: so MPI_Waitany and MPI_Test become waits for those that completed.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from eee_testbed.lab.plain_text import one_line
from eee_testbed.simulation.replay.calls import ANY, NO_REQUEST, Call
from eee_testbed.simulation.replay.checks import MOST_BYTES, MOST_RANKS
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter, RankCalls
from eee_testbed.simulation.replay.readers.otf2_events import Archive, Kind, events_of
from eee_testbed.simulation.replay.readers.otf2_sentences import sentences
from eee_testbed.simulation.replay.readers.otf2_sizes import OPERATIONS, Disagree, Doubts, Share, recovered
from eee_testbed.simulation.replay.readers.reading import Options, Place

_MAGIC: Final = b"OTF2"
_MOST_TAG: Final = (1 << 31) - 1
_SENDS: Final[Mapping[str, Call]] = {
    "mpi_ssend": Call.SSEND,
    "mpi_bsend": Call.BSEND,
    "mpi_issend": Call.ISSEND,
    "mpi_ibsend": Call.IBSEND,
    "mpi_ssend_init": Call.ISSEND,
}
_STARTING: Final = ("mpi_isend", "mpi_irsend", "mpi_issend", "mpi_ibsend")
_SEND_RECEIVES: Final = ("mpi_sendrecv", "mpi_sendrecv_replace")
_NONBLOCKING: Final = frozenset(f"mpi_i{call.name.lower()}" for call in Call if Call.BARRIER <= call <= Call.EXSCAN) | {
    "mpi_ialltoallw"
}
_FIRST_CALLS: Final = ("mpi_init", "mpi_init_thread")
_LAST_CALL: Final = "mpi_finalize"


def looks_like_otf2(head: bytes) -> bool:
    """Whether a file is an anchor file."""
    return head[2:6] == _MAGIC


def read_otf2(files: Sequence[Path], options: Options) -> Program:
    """The program of an archive, by its anchor file; UnreadableFile says what cannot be replayed."""
    if len(files) != 1:
        Place(files[0]).refuse("is one of several files", "name the anchor file alone (traces.otf2)")
    if not files[0].is_file():
        Place(files[0]).refuse("is no file", "name the anchor file (traces.otf2)")
    return program_of(events_of(files[0]), files[0], options.name)


def program_of(archive: Archive, anchor: Path, name: str) -> Program:
    """The program of records."""
    return _Import(archive, Place(anchor), name).program()


@dataclass(slots=True)
class _Collective:
    """A call of all ranks of a communicator, as far as records were met."""

    operation: int
    root: int
    sent: dict[int, int] = field(default_factory=dict)
    received: dict[int, int] = field(default_factory=dict)


class _Import:
    def __init__(self, archive: Archive, place: Place, name: str) -> None:
        self.archive, self.place = archive, place
        if not 1 <= archive.ranks <= MOST_RANKS:
            place.refuse(f"has {archive.ranks} ranks")
        self.writer = ProgramWriter(name, archive.ranks, f"OTF2 archive of {archive.ranks} ranks")
        self.counts: Counter[str] = Counter()
        """What has to be said at the end."""

        self.doubts = Doubts()
        self.collectives: defaultdict[int, list[_Collective]] = defaultdict(list)
        self.shares: dict[tuple[int, int], list[Share]] = {}
        self.positions: dict[int, dict[int, int]] = {}
        self.numbers: dict[int, int] = {}
        self.begins: list[int] = []
        self.ends: list[int] = []
        everybody = list(range(archive.ranks))
        self.world = next((at for at, one in enumerate(archive.communicators) if one == everybody), -1)

    def program(self) -> Program:
        """Read the records of all ranks twice: to match requests and collective calls, then to write calls."""
        rows = self.archive.rows
        starts = np.searchsorted(rows["rank"], np.arange(self.archive.ranks + 1)).tolist()
        ranks = [_Rank(self, rank, rows[starts[rank] : starts[rank + 1]]) for rank in range(self.archive.ranks)]
        for rank in ranks:
            rank.match()
        self._recover()
        for rank in ranks:
            rank.write()
        begin, end = min(self.begins, default=0), max(self.ends, default=0)
        if end > begin:
            self.writer.recorded(round((end - begin) * 1e9 / self.archive.ticks_per_s))
        for sentence in sentences(self.counts, self.doubts):
            self.writer.assume(sentence)
        return self.writer.program()

    def members(self, number: int) -> Sequence[int]:
        """The world ranks of a communicator that can be replayed and is not one rank's own."""
        communicator = self.archive.communicators[number]
        if communicator is None or len(communicator) == 0:
            name = one_line(self.archive.names[number])
            self.place.refuse(f"has calls on {name!r}, an inter-communicator, which is not replayed")
        return communicator

    def position(self, number: int, rank: int) -> int:
        """The rank of a world rank in a communicator."""
        if number not in self.positions:
            self.positions[number] = {member: at for at, member in enumerate(self.members(number))}
        at = self.positions[number].get(rank)
        if at is None:
            self.place.refuse(f"has calls of rank {rank} on a communicator that it is not in")
        return at

    def communicator(self, number: int) -> int:
        """The number of a communicator in the replay file."""
        if number not in self.numbers:
            members = self.members(number)
            context = None if number == self.world else number
            self.numbers[number] = self.writer.communicator(members, context)
        return self.numbers[number]

    def join(self, rank: int, number: int, at: int, record: Any) -> None:
        """A rank's record of its call number `at` on a communicator."""
        calls = self.collectives[number]
        if at == len(calls):
            calls.append(_Collective(int(record["a"]), int(record["c"])))
        call, position = calls[at], self.position(number, rank)
        if call.operation != int(record["a"]) or call.root != int(record["c"]):
            self._refuse_collective(number, at)
        call.sent[position], call.received[position] = int(record["d"]), int(record["e"])

    def _refuse_collective(self, number: int, at: int) -> None:
        name = one_line(self.archive.names[number])
        self.place.refuse(f"has records of collective call {at} on {name!r} that do not belong together")

    def _recover(self) -> None:
        """Bytes of all collective calls."""
        for number, calls in self.collectives.items():
            size = len(self.members(number))
            for at, one in enumerate(calls):
                if len(one.sent) != size:
                    self._refuse_collective(number, at)
                sent, received = ([side[rank] for rank in range(size)] for side in (one.sent, one.received))
                call = OPERATIONS[one.operation]
                # The sum of what the root of an MPI_Bcast sends is not used: Score-P long counted it in 32 bits.
                used = received if call is Call.BCAST else [*sent, *received]
                if min(used) < 0 or max(used) > MOST_BYTES * size:
                    self._refuse_collective(number, at)
                root = one.root if 0 <= one.root < size else 0
                try:
                    self.shares[number, at] = recovered(call, root, sent, received, self.doubts)
                except Disagree:
                    self._refuse_collective(number, at)


class _Rank:
    """One rank's records, in order."""

    def __init__(self, whole: _Import, rank: int, rows: Any) -> None:
        self._whole, self._rank, self._rows = whole, rank, rows
        self._message: dict[int, int] = {}
        """By the row of a posting, the row with its message."""

        self._done: dict[int, int] = {}
        """By the row of a completion, the row where its request began."""

        self._call: dict[int, tuple[int, int]] = {}
        """By the row where a collective call began, its communicator and number there."""

    # -- first reading

    def match(self) -> None:
        """Which completion belongs to which begin, and which collective call is which."""
        begun: dict[int, int] = {}
        joined: Counter[int] = Counter()
        nonblocking: dict[int, int] = {}
        for at, row in self._of_kinds(
            Kind.ISEND,
            Kind.IRECV_REQUEST,
            Kind.ISEND_COMPLETE,
            Kind.IRECV,
            Kind.CANCELLED,
            Kind.COLLECTIVE_REQUEST,
            Kind.COLLECTIVE_COMPLETE,
            Kind.COLLECTIVE,
        ):
            kind = int(row["kind"])
            if kind in (Kind.ISEND, Kind.IRECV_REQUEST, Kind.COLLECTIVE_REQUEST):
                begun[_request(row)] = at
                if kind == Kind.COLLECTIVE_REQUEST:
                    nonblocking[at] = at
            elif kind == Kind.CANCELLED:
                posted = begun.pop(_request(row), None)
                if posted is not None:
                    self._message[posted] = NO_REQUEST
            elif kind != Kind.COLLECTIVE:
                posted = begun.pop(_request(row), None)
                if posted is not None:
                    self._done[at], self._message[posted] = posted, at
        for at, row in self._of_kinds(Kind.COLLECTIVE, Kind.COLLECTIVE_REQUEST):
            record = row if int(row["kind"]) == Kind.COLLECTIVE else self._completed(at)
            if record is None or not self._is_replayed(record):
                continue
            number = int(record["b"])
            self._call[at] = (number, joined[number])
            self._whole.join(self._rank, number, joined[number], record)
            joined[number] += 1

    def _of_kinds(self, *kinds: Kind) -> Any:
        wanted = np.flatnonzero(np.isin(self._rows["kind"], [int(kind) for kind in kinds]))
        return ((at, self._rows[at]) for at in wanted.tolist())

    def _completed(self, at: int) -> Any:
        request = self._message.get(at, NO_REQUEST)
        return None if request == NO_REQUEST else self._rows[request]

    def _is_replayed(self, record: Any) -> bool:
        """Whether a collective call carries messages; on one rank it does not."""
        counts, members = self._whole.counts, self._whole.archive.communicators[int(record["b"])]
        operation = int(record["a"])
        if operation >= len(OPERATIONS):
            counts["handles"] += 1
            return False
        if operation < 0:
            self._whole.place.refuse("has a collective call of an unknown operation")
        if members is None:
            counts["alone"] += 1
            return False
        return True

    # -- second reading

    def write(self) -> None:  # noqa: C901, PLR0912 - a case for each kind of record, as in a table
        """Write the rank's calls."""
        writing = _Writing(self._whole, self._whole.writer.rank(self._rank), self._rank)
        for at, row in enumerate(self._rows.tolist()):
            _, kind, time, *numbers = row
            match kind:
                case Kind.ENTER:
                    writing.enter(time, numbers[0])
                case Kind.LEAVE:
                    writing.leave(time, numbers[0])
                case Kind.OFF:
                    writing.off(time)
                case Kind.ON:
                    writing.on(time)
                case Kind.FLUSH:
                    writing.flushed(time, numbers[0])
                case Kind.ONE_SIDED:
                    self._whole.place.refuse("has one-sided communication, which is not replayed")
                case Kind.TEST:
                    self._whole.counts["tests"] += 1
                case Kind.CANCELLED:
                    self._whole.counts["cancelled"] += 1
                case Kind.SEND:
                    writing.at(time).send(numbers)
                case Kind.RECV:
                    writing.at(time).receive(numbers)
                case Kind.ISEND:
                    if self._message.get(at) != NO_REQUEST:
                        writing.at(time).isend(numbers, at)
                case Kind.IRECV_REQUEST:
                    self._posted(writing, at, time)
                case Kind.COLLECTIVE | Kind.COLLECTIVE_REQUEST if at in self._call:
                    writing.at(time).collective(*self._call[at], at if kind == Kind.COLLECTIVE_REQUEST else NO_REQUEST)
                case Kind.IRECV if at not in self._done:
                    self._whole.counts["late"] += 1
                    writing.at(time).receive(numbers)
                case Kind.IRECV | Kind.ISEND_COMPLETE | Kind.COLLECTIVE_COMPLETE if at in self._done:
                    writing.at(time).complete(self._done[at])
        writing.finish()

    def _posted(self, writing: "_Writing", at: int, time: int) -> None:
        request = self._message.get(at)
        if request is None:
            self._whole.counts["unfinished"] += 1
        elif request != NO_REQUEST:
            writing.at(time).irecv(self._rows[request].tolist()[3:], at)


class _Writing:
    """Where a rank is: in which functions, since when it computes, and what this function found complete."""

    def __init__(self, whole: _Import, calls: RankCalls, rank: int) -> None:
        self._whole, self._calls, self._rank = whole, calls, rank
        self._ns = 1e9 / whole.archive.ticks_per_s
        self._inside: list[int] = []
        self._free_since: int | None = None
        self._begin: int | None = None
        self._end: int | None = None
        self._measured = True
        self._unrecorded = False
        self._requests: dict[int, int] = {}
        self._complete: list[int] = []
        self._loose: list[int] = []
        """Sends that are begun, whose end is not recorded."""

        self._both: deque[tuple[bool, Sequence[int]]] = deque()

    # -- time

    def enter(self, time: int, region: int) -> None:
        """Enter a function of MPI."""
        if not self._inside:
            self._until(time)
        self._inside.append(region)
        self._unrecorded = self._function() in _NONBLOCKING
        if self._function() == _LAST_CALL:
            self._end = time

    def leave(self, time: int, region: int) -> None:
        """Leave it; what was entered later and never left is left, too."""
        if self._function() in _FIRST_CALLS:
            self._begin = time
        self._whole.counts["unrecorded"] += self._unrecorded
        self._unrecorded = False
        if self._loose and self._function().startswith("mpi_wait"):
            self._complete += self._loose
            self._loose = []
        if region in self._inside:
            while self._inside.pop() != region:
                pass
        self._flush()
        if not self._inside:
            self._free_since = time

    def at(self, time: int) -> "_Writing":
        """A record at a time; outside of all functions, it is a function of its own."""
        if not self._inside:
            self._flush()
            self._until(time)
        if self._begin is None:
            self._begin = time
        if self._function() != _LAST_CALL:
            self._end = time
        return self

    def off(self, time: int) -> None:
        """What follows is not measured."""
        if not self._inside:
            self._until(time)
        self._measured = False

    def on(self, time: int) -> None:
        """Measure again."""
        self._measured = True
        self._free_since = time

    def flushed(self, time: int, until: int) -> None:
        """The recording was written in between."""
        self._whole.counts["flushes"] += 1
        if self._measured and self._free_since is not None and not self._inside:
            self._until(time)
            self._free_since = max(time, until)

    def _until(self, time: int) -> None:
        """Compute since the last function."""
        if self._measured and self._free_since is not None:
            self._calls.compute(max(time - self._free_since, 0) * self._ns)
        self._free_since = time

    # -- calls

    def send(self, numbers: Sequence[int]) -> None:
        """MPI_Send and its kin, or the half of MPI_Sendrecv."""
        if self._function() in _SEND_RECEIVES:
            self._both.append((True, numbers))
            return
        self._settle()
        if self._function() in _STARTING:
            self._whole.counts["loose"] += 1
            self._loose.append(self._point(_SENDS.get(self._function(), Call.ISEND), numbers, begins=True))
        else:
            self._point(_SENDS.get(self._function(), Call.SEND), numbers)

    def receive(self, numbers: Sequence[int]) -> None:
        """MPI_Recv, or the half of MPI_Sendrecv."""
        self._whole.counts["receives"] += 1
        if self._function() in _SEND_RECEIVES:
            self._both.append((False, numbers))
            return
        self._settle()
        self._point(Call.RECV, numbers)

    def isend(self, numbers: Sequence[int], at: int) -> None:
        """MPI_Isend and its kin."""
        self._settle()
        call = _SENDS.get(self._function(), Call.ISEND)
        if call in (Call.SSEND, Call.BSEND):
            call = Call.ISEND
        self._requests[at] = self._point(call, numbers, begins=True)

    def irecv(self, numbers: Sequence[int], at: int) -> None:
        """MPI_Irecv, with what its completion says."""
        self._whole.counts["receives"] += 1
        self._settle()
        self._requests[at] = self._point(Call.IRECV, numbers, begins=True)

    def collective(self, number: int, which: int, begins_at: int) -> None:
        """A collective call; it begins a request if `begins_at` is the row of one."""
        self._settle()
        self._unrecorded = False
        one = self._whole.collectives[number][which]
        position = self._whole.position(number, self._rank)
        share = self._whole.shares[number, which][position]
        call = OPERATIONS[one.operation]
        rooted = call in (Call.BCAST, Call.REDUCE, Call.GATHER, Call.GATHERV, Call.SCATTER, Call.SCATTERV)
        if rooted and not 0 <= one.root < len(self._whole.members(number)):
            self._whole.place.refuse("has a collective call without its root")
        request = self._calls.request() if begins_at != NO_REQUEST else NO_REQUEST
        self._calls.call(
            call,
            communicator=self._whole.communicator(number),
            peer=one.root if rooted else ANY,
            size=share.bytes,
            request=request,
            flags=share.flags,
            sizes=share.sizes,
        )
        if begins_at != NO_REQUEST:
            self._requests[begins_at] = request

    def complete(self, began_at: int) -> None:
        """A request is found complete."""
        request = self._requests.pop(began_at, None)
        if request is not None:
            self._complete.append(request)

    def finish(self) -> None:
        """The end of the records."""
        self._complete += self._loose
        self._flush()
        self._calls.finish()
        if self._begin is not None and self._end is not None:
            self._whole.begins.append(self._begin)
            self._whole.ends.append(self._end)

    def _function(self) -> str:
        return self._whole.archive.regions.get(self._inside[-1], "").lower() if self._inside else ""

    def _flush(self) -> None:
        """What the function that ends has found complete, and both halves of MPI_Sendrecv."""
        both, self._both = self._both, deque()
        begun = [
            self._point(Call.ISEND if sends else Call.IRECV, numbers, begins=True)
            for sends, numbers in sorted(both, key=lambda half: half[0])
        ]
        self._complete += begun
        self._settle()

    def _settle(self) -> None:
        if self._complete:
            self._calls.wait(*self._complete)
            self._complete = []

    def _point(self, call: Call, numbers: Sequence[int], *, begins: bool = False) -> int:
        peer, number, tag, size = numbers[:4]
        place, members = self._whole.place, self._whole.archive.communicators[number]
        if members is None:
            communicator, ranks = self._whole.writer.communicator([self._rank]), 1
        else:
            communicator, ranks = self._whole.communicator(number), len(self._whole.members(number))
            self._whole.position(number, self._rank)
        if not 0 <= peer < ranks or not 0 <= tag <= _MOST_TAG or not 0 <= size <= MOST_BYTES:
            place.refuse(f"has a message of rank {self._rank} with a peer, tag or size that cannot be")
        request = self._calls.request() if begins else NO_REQUEST
        self._calls.call(call, communicator=communicator, peer=peer, tag=tag, size=size, request=request)
        return request


def _request(row: Any) -> int:
    """The number of a request in a row."""
    match int(row["kind"]):
        case Kind.ISEND | Kind.IRECV:
            return int(row["e"])
        case Kind.COLLECTIVE_COMPLETE:
            return int(row["f"])
    return int(row["a"])
