"""One rank of a DUMPI trace: its calls, with their arguments, to calls of the program."""

from collections.abc import Callable, Generator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from eee_testbed.simulation.replay.calls import ANY, NO_REQUEST, NOBODY, NOT_COMMUTATIVE, Call
from eee_testbed.simulation.replay.checks import MOST_BYTES
from eee_testbed.simulation.replay.readers.dumpi_file import Called, RankFile, Status
from eee_testbed.simulation.replay.readers.dumpi_requests import completed_by, only_status, started_by
from eee_testbed.simulation.replay.readers.dumpi_world import Making, World
from eee_testbed.simulation.replay.readers.reading import Place

if TYPE_CHECKING:
    from eee_testbed.simulation.replay.rank_calls import RankCalls

WORLD, SELF = 2, 3
"""Communicators that exist from the start; 1 is none."""

_EMPTY_GROUP: Final = 2
_SENDS: Final[Mapping[str, Call]] = {
    "Send": Call.SEND,
    "Rsend": Call.SEND,
    "Bsend": Call.BSEND,
    "Ssend": Call.SSEND,
}
_STARTS: Final[Mapping[str, Call]] = {
    "Isend": Call.ISEND,
    "Irsend": Call.ISEND,
    "Ibsend": Call.IBSEND,
    "Issend": Call.ISSEND,
    "Irecv": Call.IRECV,
}
_PERSISTENT: Final[Mapping[str, Call]] = {
    "Send_init": Call.ISEND,
    "Rsend_init": Call.ISEND,
    "Bsend_init": Call.IBSEND,
    "Ssend_init": Call.ISSEND,
    "Recv_init": Call.IRECV,
}
_ONE_SIDED: Final = frozenset({"Put", "Get", "Accumulate"})
_MAKES_OTHERS: Final[Mapping[str, int]] = {"Intercomm_create": 5, "Intercomm_merge": 2, "Graph_create": 5}
"""Calls that make communicators whose ranks are not found out, and where their number is."""

Started = tuple[int, int]
"""Where a request began: the number of a call, and which of those that it started."""


class _Rank:
    """One rank's calls, in order."""

    def __init__(self, whole: World, rank: int, path: Path, file: RankFile) -> None:
        self._whole, self._rank, self._place = whole, rank, Place(path)
        self._called, self._type_bytes = file.calls, file.type_bytes
        self._calls: RankCalls = whole.writer.rank(rank)
        self._communicators: dict[int, int | None] = {WORLD: 0}
        self._groups: dict[int, tuple[int, ...] | None] = {_EMPTY_GROUP: ()}
        self._types: dict[int, int | None] = {}
        self._odd_operations: set[int] = set()
        self._open: dict[int, int] = {}
        """By request that is begun, its number in the replay file, NO_REQUEST if it is left out."""

        self._persistent: dict[int, Called] = {}
        self._outcome: dict[Started, Status | None] = {}
        self._cancelled: set[Started] = set()
        self._at = 0

    # -- what requests came to, before any of them is written

    def _look_ahead(self) -> None:
        begun: dict[int, Started] = {}
        cancelled: set[int] = set()
        for at, call in enumerate(self._called):
            if call.name in _STARTS:
                begun[call.arguments[5]] = (at, 0)
            elif call.name in ("Start", "Startall"):
                begun |= {request: (at, place) for place, request in enumerate(started_by(call))}
            elif call.name == "Cancel":
                cancelled.add(call.arguments[0])
            elif call.name == "Request_free":
                begun.pop(call.arguments[0], None)
            else:
                for request, status in completed_by(call):
                    started = begun.pop(request, None)
                    if started is None:
                        continue
                    self._outcome[started] = status
                    if request in cancelled and (status is None or status.cancelled):
                        self._cancelled.add(started)
                    cancelled.discard(request)

    # -- the calls

    def walk(self) -> Generator[Making, int | None, None]:
        """Write the calls; gives out each call that makes a communicator, and is told which one it was."""
        self._look_ahead()
        stopped: int | None = None
        for at, call in enumerate(self._called):
            self._at = at
            if call.name in ("Function_enter", "Function_exit"):
                continue
            if stopped is not None:
                self._calls.compute(max(call.start - stopped, 0))
            stopped = max(call.stop, call.start)
            if call.name in ("Init", "Init_thread"):
                self._whole.begins.append(stopped)
            elif call.name == "Finalize":
                self._whole.ends.append(call.start)
                stopped = None  # what follows is not the program's
            making = self._makes(call)
            if making is None:
                self._write(call)
            elif making.old == NO_REQUEST:
                alone = SELF in call.arguments[:2] and making.name in ("Comm_dup", "Comm_split")
                self._communicators[int(call.arguments[-1])] = self._whole.add((self._rank,)) if alone else None
            else:
                told = yield making
                if told is not None:
                    self._communicators[int(call.arguments[-1])] = told
        self._calls.finish()

    def _makes(self, call: Called) -> Making | None:
        arguments = call.arguments
        if call.name in _MAKES_OTHERS:
            return Making(NO_REQUEST, call.name, None)
        what: Any = None
        match call.name:
            case "Comm_dup":
                old = arguments[0]
            case "Comm_create":
                old, what = arguments[0], self._groups.get(arguments[1])
            case "Comm_split":
                old, what = arguments[0], (arguments[1], arguments[2])
            case "Cart_create":
                old, what = arguments[0], arguments[2]
                self._whole.counts["reordered"] += bool(arguments[4])
            case "Cart_sub":
                old, what = arguments[1], arguments[2]
            case _:
                return None
        known = self._communicators.get(old)
        return Making(NO_REQUEST if known is None else known, call.name, what)

    def _write(self, call: Called) -> None:  # noqa: C901, PLR0912 - a case for each kind of call
        arguments = call.arguments
        if call.name in _SENDS:
            self._point(_SENDS[call.name], arguments[:5], None)
        elif call.name == "Recv":
            self._point(Call.RECV, arguments[:5], only_status(arguments[5]))
        elif call.name in _STARTS:
            self._start(_STARTS[call.name], arguments[:5], arguments[5], 0)
        elif call.name in _PERSISTENT:
            self._persistent[arguments[5]] = call
        elif call.name in ("Start", "Startall"):
            for place, request in enumerate(started_by(call)):
                made = self._persistent.get(request)
                if made is None:
                    self._refuse("starts a request that is not persistent")
                self._start(_PERSISTENT[made.name], made.arguments[:5], request, place)
        elif call.name in ("Sendrecv", "Sendrecv_replace"):
            self._both(call)
        elif call.name == "Request_free":
            self._open.pop(arguments[0], None)
        elif call.name in _COLLECTIVES:
            self._whole.counts["collective"] += 1
            _COLLECTIVES[call.name](self, arguments)
        elif call.name in _ONE_SIDED:
            self._refuse("has one-sided communication, which is not replayed")
        elif call.name in _GROUPS:
            self._groups[int(arguments[-1])] = _GROUPS[call.name](self, arguments)
        elif call.name in _TYPES:
            self._types[int(arguments[-1])] = _TYPES[call.name](self, arguments)
        elif call.name == "Op_create" and not arguments[0]:
            self._odd_operations.add(arguments[1])
        elif call.name == "Op_free":
            self._odd_operations.discard(arguments[0])
        elif call.name == "Comm_free":
            self._communicators.pop(arguments[0], None)
        else:
            self._whole.counts["tests"] += call.name.startswith("Test") and call.name != "Test_cancelled"
            ended = [self._open.pop(request) for request, _ in completed_by(call) if request in self._open]
            if numbers := [number for number in ended if number != NO_REQUEST]:
                self._calls.wait(*numbers)

    # -- messages

    def _start(self, call: Call, arguments: Sequence[Any], request: int, place: int) -> None:
        started = (self._at, place)
        if started in self._cancelled:
            self._whole.counts["cancelled"] += 1
            self._open[request] = NO_REQUEST
            return
        self._open[request] = self._point(call, arguments, self._outcome.get(started), begins=True)

    def _both(self, call: Called) -> None:
        arguments = call.arguments
        if call.name == "Sendrecv":
            out, into = [*arguments[:4], arguments[8]], [*arguments[4:8], arguments[8]]
        else:
            out, into = [*arguments[:4], arguments[6]], [*arguments[:2], *arguments[4:7]]
        receive = self._point(Call.IRECV, into, only_status(arguments[-1]), begins=True)
        self._calls.wait(self._point(Call.ISEND, out, None, begins=True), receive)

    def _point(self, call: Call, arguments: Sequence[Any], status: Status | None, *, begins: bool = False) -> int:
        count, datatype, peer, tag, communicator = arguments
        size = self._bytes(count, datatype)
        if communicator == SELF:
            number, ranks = self._whole.writer.communicator((self._rank,), "self"), 1
        else:
            which = self._communicator(communicator)
            number, ranks = self._whole.number(which), len(self._whole.communicators[which].members)
        if call in (Call.RECV, Call.IRECV):
            peer, tag, size = self._received(peer, tag, size, status, ranks)
        elif peer < 0:
            peer = NOBODY
        self._whole.counts["nobody"] += peer == NOBODY
        if peer >= ranks:
            self._refuse(f"has a message with rank {peer} of a communicator of {ranks} ranks")
        request = self._calls.request() if begins else NO_REQUEST
        self._calls.call(call, communicator=number, peer=peer, tag=max(tag, ANY), size=size, request=request)
        return request

    def _received(self, peer: int, tag: int, size: int, status: Status | None, ranks: int) -> tuple[int, int, int]:
        """Who sent what, if the status can be that of this receive."""
        if peer < ANY:
            return NOBODY, tag, size
        if status is not None and 0 <= status.source < ranks and status.tag >= 0 and 0 <= status.bytes <= size:
            if ANY in (peer, tag):
                self._whole.counts["matched"] += 1
            return (status.source if peer == ANY else peer), (status.tag if tag == ANY else tag), status.bytes
        self._whole.counts["posted"] += 1
        return peer, tag, size

    # -- collective calls

    def barrier(self, arguments: Sequence[Any]) -> None:
        self._collective(Call.BARRIER, arguments[0], 0)

    def bcast(self, arguments: Sequence[Any]) -> None:
        count, datatype, root, communicator = arguments
        self._collective(Call.BCAST, communicator, self._bytes(count, datatype), root)

    def gather(self, arguments: Sequence[Any]) -> None:
        own, count, datatype, root, communicator, received, into = arguments
        size = self._bytes(received, into) if own == root else self._bytes(count, datatype)
        self._collective(Call.GATHER, communicator, size, root)

    def gatherv(self, arguments: Sequence[Any]) -> None:
        own, _, count, datatype, root, communicator, counts, _, into = arguments
        sizes = self._sizes(counts, into, communicator) if own == root else None
        size = sizes[own] if sizes else self._bytes(count, datatype)
        self._collective(Call.GATHERV, communicator, size, root, sizes)

    def scatter(self, arguments: Sequence[Any]) -> None:
        own, count, datatype, root, communicator, sent, out = arguments
        size = self._bytes(sent, out) if own == root else self._bytes(count, datatype)
        self._collective(Call.SCATTER, communicator, size, root)

    def scatterv(self, arguments: Sequence[Any]) -> None:
        own, _, out, count, datatype, root, communicator, counts, _ = arguments
        sizes = self._sizes(counts, out, communicator) if own == root else None
        size = sizes[own] if sizes else self._bytes(count, datatype)
        self._collective(Call.SCATTERV, communicator, size, root, sizes)

    def allgather(self, arguments: Sequence[Any]) -> None:
        self._collective(Call.ALLGATHER, arguments[4], self._bytes(arguments[2], arguments[3]))

    def allgatherv(self, arguments: Sequence[Any]) -> None:
        _, _, _, counts, _, into, communicator = arguments
        sizes = self._sizes(counts, into, communicator)
        self._collective(Call.ALLGATHERV, communicator, sizes[self._position(communicator)], sizes=sizes)

    def alltoall(self, arguments: Sequence[Any]) -> None:
        self._collective(Call.ALLTOALL, arguments[4], self._bytes(arguments[2], arguments[3]))

    def alltoallv(self, arguments: Sequence[Any]) -> None:
        _, sent, _, out, received, _, into, communicator = arguments
        sizes = self._sizes(sent, out, communicator)
        self._collective(
            Call.ALLTOALLV, communicator, sum(sizes), sizes=sizes + self._sizes(received, into, communicator)
        )

    def alltoallw(self, arguments: Sequence[Any]) -> None:
        _, sent, _, out, received, _, into, communicator = arguments
        sizes = self._sizes(sent, out, communicator)
        self._collective(
            Call.ALLTOALLV, communicator, sum(sizes), sizes=sizes + self._sizes(received, into, communicator)
        )

    def reduce(self, arguments: Sequence[Any]) -> None:
        count, datatype, operation, root, communicator = arguments
        self._collective(Call.REDUCE, communicator, self._bytes(count, datatype), root, operation=operation)

    def allreduce(self, arguments: Sequence[Any]) -> None:
        self._vector(Call.ALLREDUCE, arguments)

    def scan(self, arguments: Sequence[Any]) -> None:
        self._vector(Call.SCAN, arguments)

    def exscan(self, arguments: Sequence[Any]) -> None:
        self._vector(Call.EXSCAN, arguments)

    def reduce_scatter(self, arguments: Sequence[Any]) -> None:
        _, counts, datatype, operation, communicator = arguments
        sizes = self._sizes(counts, datatype, communicator)
        self._collective(Call.REDUCE_SCATTER, communicator, sum(sizes), sizes=sizes, operation=operation)

    def _vector(self, call: Call, arguments: Sequence[Any]) -> None:
        count, datatype, operation, communicator = arguments
        self._collective(call, communicator, self._bytes(count, datatype), operation=operation)

    def _collective(
        self,
        call: Call,
        communicator: int,
        size: int,
        root: int = ANY,
        sizes: Sequence[int] | None = None,
        operation: int = 0,
    ) -> None:
        if communicator == SELF:
            return
        which = self._communicator(communicator)
        if root >= len(self._whole.communicators[which].members) or root < ANY:
            self._refuse(f"has a collective call with the root {root}")
        flags = NOT_COMMUTATIVE if operation in self._odd_operations else 0
        number = self._whole.number(which)
        self._calls.call(call, communicator=number, peer=root, size=size, sizes=sizes, flags=flags)

    def _communicator(self, local: int) -> int:
        if local not in self._communicators:
            self._refuse(f"has a call on communicator {local}, which is not made before")
        communicator = self._communicators[local]
        if communicator is None:
            self._refuse(f"has a call on communicator {local}, whose ranks the trace does not show")
        if self._rank not in self._whole.communicators[communicator].positions:
            self._refuse(f"has a call on communicator {local}, which the rank is not in")
        return communicator

    def _position(self, local: int) -> int:
        return 0 if local == SELF else self._whole.communicators[self._communicator(local)].positions[self._rank]

    def _sizes(self, counts: Sequence[int] | None, datatype: Any, local: int) -> list[int]:
        ranks = 1 if local == SELF else len(self._whole.communicators[self._communicator(local)].members)
        if counts is None or len(counts) != ranks:
            self._refuse(f"has a call with {len(counts or ())} counts for {ranks} ranks")
        types = datatype if isinstance(datatype, Sequence) else [datatype] * ranks
        if len(types) != ranks:
            self._refuse(f"has a call with {len(types)} datatypes for {ranks} ranks")
        return [self._bytes(count, one) for count, one in zip(counts, types, strict=True)]

    # -- datatypes and groups

    def _bytes(self, count: int, datatype: int) -> int:
        each = self._of_type(datatype)
        if each is None:
            self._refuse(f"has a message of datatype {datatype}, whose size the trace does not show")
        size = count * each
        if not 0 <= size <= MOST_BYTES:
            self._refuse(f"has {count} elements of {each} bytes")
        return size

    def _of_type(self, datatype: int) -> int | None:
        if datatype in self._types:
            return self._types[datatype]
        known = 0 <= datatype < len(self._type_bytes)
        return self._type_bytes[datatype] if known else None

    def times(self, count: int, datatype: int) -> int | None:
        """Bytes of so many elements, None if the type is unknown."""
        each = self._of_type(datatype)
        return None if each is None or not 0 <= count * each <= MOST_BYTES else count * each

    def together(self, counts: Sequence[int], types: Sequence[int]) -> int | None:
        """Bytes of blocks of several types."""
        each = [self.times(count, one) for count, one in zip(counts, types, strict=False)]
        known = [one for one in each if one is not None]
        return sum(known) if len(known) == len(each) else None

    def group(self, number: int) -> tuple[int, ...] | None:
        """The world ranks of a group."""
        return self._groups.get(number)

    def of_communicator(self, local: int) -> tuple[int, ...] | None:
        """The world ranks of a communicator."""
        communicator = self._communicators.get(local)
        return None if communicator is None else self._whole.communicators[communicator].members

    def _refuse(self, sentence: str) -> NoReturn:
        self._place.refuse(f"(call {self._at}) {sentence}", "name the files of all ranks, or take another trace")


def _ranges(group: Sequence[int], ranges: Sequence[Sequence[int]]) -> list[int]:
    ranks: list[int] = []
    for first, last, stride in (one for one in ranges if len(one) == 3 and one[2]):
        for place in range(first, last + (1 if stride > 0 else -1), stride):
            if not 0 <= place < len(group):
                return []
            ranks.append(place)
    return ranks


def _included(group: tuple[int, ...] | None, places: Sequence[int]) -> tuple[int, ...] | None:
    if group is None or any(not 0 <= place < len(group) for place in places):
        return None
    return tuple(group[place] for place in places)


def _excluded(group: tuple[int, ...] | None, places: Sequence[int]) -> tuple[int, ...] | None:
    gone = set(places)
    return None if group is None else tuple(rank for place, rank in enumerate(group) if place not in gone)


def _joined(rank: _Rank, arguments: Sequence[Any], join: Callable[[Any, Any], Any]) -> tuple[int, ...] | None:
    one, other = rank.group(arguments[0]), rank.group(arguments[1])
    return None if one is None or other is None else tuple(join(one, other))


_GROUPS: Final[Mapping[str, Callable[[_Rank, Sequence[Any]], tuple[int, ...] | None]]] = {
    "Comm_group": lambda rank, words: rank.of_communicator(words[0]),
    "Group_incl": lambda rank, words: _included(rank.group(words[0]), words[2]),
    "Group_excl": lambda rank, words: _excluded(rank.group(words[0]), words[2]),
    "Group_range_incl": lambda rank, words: _included(
        rank.group(words[0]), _ranges(rank.group(words[0]) or (), words[2])
    ),
    "Group_range_excl": lambda rank, words: _excluded(
        rank.group(words[0]), _ranges(rank.group(words[0]) or (), words[2])
    ),
    "Group_union": lambda rank, words: _joined(
        rank, words, lambda one, other: [*one, *(at for at in other if at not in one)]
    ),
    "Group_intersection": lambda rank, words: _joined(
        rank, words, lambda one, other: [at for at in one if at in other]
    ),
    "Group_difference": lambda rank, words: _joined(
        rank, words, lambda one, other: [at for at in one if at not in other]
    ),
    "Comm_remote_group": lambda *_: None,
}
"""World ranks of new groups; None if the trace does not show them."""

_TYPES: Final[Mapping[str, Callable[[_Rank, Sequence[Any]], int | None]]] = {
    "Type_contiguous": lambda rank, words: rank.times(words[0], words[1]),
    "Type_vector": lambda rank, words: rank.times(words[0] * words[1], words[3]),
    "Type_hvector": lambda rank, words: rank.times(words[0] * words[1], words[3]),
    "Type_create_hvector": lambda rank, words: rank.times(words[0] * words[1], words[3]),
    "Type_indexed": lambda rank, words: rank.times(sum(words[1]), words[3]),
    "Type_hindexed": lambda rank, words: rank.times(sum(words[1]), words[3]),
    "Type_create_hindexed": lambda rank, words: rank.times(sum(words[1]), words[3]),
    "Type_create_indexed_block": lambda rank, words: rank.times(words[0] * words[1], words[3]),
    "Type_struct": lambda rank, words: rank.together(words[1], words[3]),
    "Type_create_struct": lambda rank, words: rank.together(words[1], words[3]),
    "Type_dup": lambda rank, words: rank.times(1, words[0]),
    "Type_create_resized": lambda rank, words: rank.times(1, words[0]),
    "Type_create_subarray": lambda rank, words: rank.times(prod(words[2]), words[5]),
    "Type_create_darray": lambda *_: None,
}
"""Bytes of new datatypes; None if the trace does not show them."""

_COLLECTIVES: Final[Mapping[str, Callable[[_Rank, Sequence[Any]], None]]] = {
    "Barrier": _Rank.barrier,
    "Bcast": _Rank.bcast,
    "Gather": _Rank.gather,
    "Gatherv": _Rank.gatherv,
    "Scatter": _Rank.scatter,
    "Scatterv": _Rank.scatterv,
    "Allgather": _Rank.allgather,
    "Allgatherv": _Rank.allgatherv,
    "Alltoall": _Rank.alltoall,
    "Alltoallv": _Rank.alltoallv,
    "Alltoallw": _Rank.alltoallw,
    "Reduce": _Rank.reduce,
    "Allreduce": _Rank.allreduce,
    "Reduce_scatter": _Rank.reduce_scatter,
    "Scan": _Rank.scan,
    "Exscan": _Rank.exscan,
}


def walk_of(world: World, rank: int, path: Path, file: RankFile) -> Generator[Making, int | None, None]:
    """Write one rank's calls; gives out each that makes a communicator, and is told which one it was."""
    return _Rank(world, rank, path, file).walk()
