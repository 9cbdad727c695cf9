"""SimGrid's time-independent traces: a line a call, `RANK VERB ARGUMENTS`, in one file or one for each rank.

Computing is counted in operations there, so a speed is needed. Collective calls are always those of the world. Requests
are found by sender, receiver and tag, the oldest first. A test is no message and takes no time here; where no wait
follows, the last test found the request complete, and becomes a wait.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from simulation.replay.calls import ANY, NO_REQUEST, NOBODY, Call
from simulation.replay.program import Program
from simulation.replay.rank_calls import ProgramWriter, RankCalls
from simulation.replay.readers.reading import (
    BadLine,
    Options,
    Place,
    duration_ns,
    lines_of,
    rank_of,
    size_of,
    whole_number,
    words_of,
)

_FLOPS_PER_S: Final = 1e9
_NAMES: Final[Mapping[str, int]] = {"-555": ANY, "-666": NOBODY}
_ANY_TAG: Final = "-444"
_TYPE_BYTES: Final = (
    *(8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8),
    *(8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8, 8),
)
"""Bytes of an element by the number of its type, on 64 bits."""

_SILENT: Final = frozenset({"finalize", "comm_size", "comm_split", "comm_dup", "location"})
_MOST_TAG: Final = (1 << 31) - 1


def looks_like_ti(head: bytes) -> bool:
    """Whether a file begins as one of these: a rank and `init`."""
    words = head.split(b"\n", 1)[0].split()
    return len(words) in (2, 3) and words[0].isdigit() and words[1] == b"init"


def read_ti(files: Sequence[Path], options: Options) -> Program:
    """The program of the files; UnreadableFile names file and line of what cannot be used."""
    lines: defaultdict[int, list[_Line]] = defaultdict(list)
    for path in files:
        for place, text in lines_of(path):
            words = text.split()
            if not words:
                continue
            try:
                rank = rank_of(words[0])
            except BadLine as error:
                place.refuse(str(error))
            if len(words) == 1:
                place.refuse("has a rank without a call")
            lines[rank].append(_Line(path, place.line, words[1], words[2:]))
    ranks = max(lines, default=-1) + 1
    if not ranks:
        Place(files[0]).refuse("has no call")
    if len(lines) < ranks:
        missing = next(rank for rank in range(ranks) if rank not in lines)
        Place(files[0]).refuse(f"has no call of rank {missing}, but of rank {ranks - 1}", "name the files of all ranks")
    writer = ProgramWriter(options.name, ranks, f"SimGrid time-independent trace, {len(files)} files")
    flops_per_s = options.flops_per_s or _FLOPS_PER_S
    for rank in range(ranks):
        _Rank(writer, rank, ranks, 1e9 / flops_per_s).read(lines[rank])
    _say(writer, lines, flops_per_s)
    return writer.program()


def _say(writer: ProgramWriter, lines: Mapping[int, Sequence["_Line"]], flops_per_s: float) -> None:
    verbs = {line.verb for own in lines.values() for line in own}
    writer.assume(f"Computing is given in operations: {flops_per_s:g} of them take a second.")
    if verbs & {"comm_split", "comm_dup"}:
        writer.assume("Communicators are made, but the format does not name them in calls: all calls are on the world.")
    if "test" in verbs:
        writer.assume("Tests take no time; where no wait follows, the last test of a request is its wait.")


@dataclass(slots=True)
class _Line:
    path: Path
    number: int
    verb: str
    words: Sequence[str]


@dataclass(slots=True)
class _Pending:
    """A request; `number` is known once it is begun."""

    key: tuple[int, int, int]
    last_test: int = -1
    waited: bool = False
    number: int = NO_REQUEST


@dataclass(slots=True)
class _Ends:
    """Which requests each line begins, ends or tests, by the number of the line."""

    begun: dict[int, _Pending] = field(default_factory=dict)
    ended: dict[int, list[_Pending]] = field(default_factory=dict)


class _Rank:
    """The calls of one rank."""

    def __init__(self, writer: ProgramWriter, rank: int, ranks: int, ns_per_flop: float) -> None:
        self._writer, self._rank, self._ranks, self._ns = writer, rank, ranks, ns_per_flop
        self._calls: RankCalls = writer.rank(rank)
        self._default = 1
        self._at = 0
        self._ends = _Ends()

    def read(self, lines: Sequence[_Line]) -> None:
        """Read all lines."""
        for step in (self._follow, self._call):
            self._open: defaultdict[tuple[int, int, int], deque[_Pending]] = defaultdict(deque)
            for self._at, line in enumerate(lines):
                try:
                    step(line)
                except BadLine as error:
                    Place(line.path, line.number).refuse(str(error))
            if step == self._follow:
                self._settle()
        self._calls.finish()

    # -- requests: which line ends which

    def _follow(self, line: _Line) -> None:
        words = line.words
        match line.verb:
            case "isend" | "irecv":
                peer, tag = self._peer(words_of(words, 3)[0]), self._tag(words[1])
                ends = (self._rank, peer) if line.verb == "isend" else (peer, self._rank)
                pending = self._ends.begun[self._at] = _Pending((*ends, tag))
                self._open[pending.key].append(pending)
            case "wait" | "test":
                waiting = self._open.get(self._key(words))
                if not waiting:
                    return  # a test before found it complete
                if line.verb == "test":
                    waiting[0].last_test = self._at
                else:
                    self._end(self._at, waiting.popleft())
            case "waitall":
                for waiting in self._open.values():
                    while waiting:
                        self._end(self._at, waiting.popleft())

    def _key(self, words: Sequence[str]) -> tuple[int, int, int]:
        source, target, tag = words_of(words, 3, 3)
        return self._peer(source), self._peer(target), self._tag(tag)

    def _end(self, at: int, pending: _Pending) -> None:
        pending.waited = True
        self._ends.ended.setdefault(at, []).append(pending)

    def _settle(self) -> None:
        """Requests that no line waits for are complete at their last test."""
        for pending in self._ends.begun.values():
            if not pending.waited and pending.last_test >= 0:
                self._end(pending.last_test, pending)

    # -- calls

    def _call(self, line: _Line) -> None:
        if line.verb in _SILENT:
            return
        if line.verb in ("wait", "waitall", "test"):
            ended = self._ends.ended.get(self._at)
            if ended:
                self._calls.wait(*(pending.number for pending in ended))
            return
        action = _ACTIONS.get(line.verb)
        if action is None:
            raise BadLine(f"has the call {line.verb[:40]!r}, which the format does not have")
        action(self, line.verb, line.words)

    def init(self, _verb: str, words: Sequence[str]) -> None:
        self._default = 8 if words_of(words, 0, 1) else 1

    def compute(self, _verb: str, words: Sequence[str]) -> None:
        self._calls.compute(duration_ns(words_of(words, 1, 1)[0], self._ns))

    def sleep(self, _verb: str, words: Sequence[str]) -> None:
        self._calls.compute(duration_ns(words_of(words, 1, 1)[0], 1e9))

    def point(self, verb: str, words: Sequence[str]) -> None:
        if len(words) == 2:
            raise BadLine("has a message without a tag, as up to SimGrid 3.19 (simgrid_convert_TI_traces adds tags)")
        peer, tag, count = words_of(words, 3, 4)[:3]
        if count == "-1":
            raise BadLine("has a receive of unknown size")
        to, size, number = self._peer(peer), size_of(count, self._element(words, 3)), self._tag(tag)
        match verb:
            case "send":
                self._calls.send(to, size, number)
            case "recv":
                self._calls.receive(to, size, number)
            case "isend":
                self._ends.begun[self._at].number = self._calls.isend(to, size, number)
            case _:
                self._ends.begun[self._at].number = self._calls.irecv(to, size, number)

    def both(self, _verb: str, words: Sequence[str]) -> None:
        sent, to, received, source = words_of(words, 4, 6)[:4]
        out, into = size_of(sent, self._element(words, 4)), size_of(received, self._element(words, 5))
        self._calls.sendrecv(self._peer(to), out, self._peer(source), into)

    def barrier(self, _verb: str, words: Sequence[str]) -> None:
        words_of(words, 0, 0)
        self._calls.call(Call.BARRIER)

    def bcast(self, _verb: str, words: Sequence[str]) -> None:
        size = size_of(words_of(words, 1, 3)[0], self._element(words, 2))
        self._calls.call(Call.BCAST, peer=self._root(words, 1), size=size)

    def reduce(self, _verb: str, words: Sequence[str]) -> None:
        size = size_of(words_of(words, 2, 4)[0], self._element(words, 3))
        self._calls.call(Call.REDUCE, peer=self._root(words, 2), size=size)
        self._calls.compute(duration_ns(words[1], self._ns))

    def vector(self, verb: str, words: Sequence[str]) -> None:
        size = size_of(words_of(words, 2, 3)[0], self._element(words, 2))
        self._calls.call(_VECTORS[verb], size=size)
        self._calls.compute(duration_ns(words[1], self._ns))

    def blocks(self, verb: str, words: Sequence[str]) -> None:
        """Alltoall and Allgather: send and receive count, types."""
        size = size_of(words_of(words, 2, 4)[0], self._element(words, 2))
        self._calls.call(_VECTORS[verb], size=size)

    def rooted(self, verb: str, words: Sequence[str]) -> None:
        """Gather and Scatter: send and receive count, root, types."""
        sent, received = words_of(words, 2, 5)[:2]
        gathers = verb == "gather"
        size = size_of(sent, self._element(words, 3)) if gathers else size_of(received, self._element(words, 4))
        self._calls.call(_VECTORS[verb], peer=self._root(words, 2), size=size)

    def gatherv(self, _verb: str, words: Sequence[str]) -> None:
        ranks = self._ranks
        words_of(words, ranks + 1, ranks + 4)
        size, into = size_of(words[0], self._element(words, ranks + 2)), self._element(words, ranks + 3)
        root = self._root(words, ranks + 1)
        sizes = [size_of(word, into) for word in words[1 : ranks + 1]] if root == self._rank else None
        self._calls.call(Call.GATHERV, peer=root, size=size, sizes=sizes)

    def scatterv(self, _verb: str, words: Sequence[str]) -> None:
        ranks = self._ranks
        words_of(words, ranks + 1, ranks + 4)
        size, out = size_of(words[ranks], self._element(words, ranks + 3)), self._element(words, ranks + 2)
        root = self._root(words, ranks + 1)
        sizes = [size_of(word, out) for word in words[:ranks]] if root == self._rank else None
        self._calls.call(Call.SCATTERV, peer=root, size=size, sizes=sizes)

    def allgatherv(self, _verb: str, words: Sequence[str]) -> None:
        ranks = self._ranks
        words_of(words, ranks + 1)
        typed = len(words) - ranks - 1 in (1, 2, ranks + 2)  # else displacements alone follow
        into = self._element(words, ranks + 2) if typed else self._default
        sizes = [size_of(word, into) for word in words[1 : ranks + 1]]
        self._calls.call(Call.ALLGATHERV, size=sizes[self._rank], sizes=sizes)

    def alltoallv(self, _verb: str, words: Sequence[str]) -> None:
        ranks = self._ranks
        words_of(words, 2 * ranks + 2, 2 * ranks + 4)
        out, into = self._element(words, 2 * ranks + 2), self._element(words, 2 * ranks + 3)
        sent = [size_of(word, out) for word in words[1 : ranks + 1]]
        received = [size_of(word, into) for word in words[ranks + 2 : 2 * ranks + 2]]
        self._calls.call(Call.ALLTOALLV, size=sum(sent), sizes=sent + received)

    def reduce_scatter(self, _verb: str, words: Sequence[str]) -> None:
        ranks = self._ranks
        words_of(words, ranks + 1, ranks + 2)
        sizes = [size_of(word, self._element(words, ranks + 1)) for word in words[:ranks]]
        self._calls.call(Call.REDUCE_SCATTER, size=sum(sizes), sizes=sizes)
        self._calls.compute(duration_ns(words[ranks], self._ns))

    # -- words

    def _peer(self, word: str) -> int:
        return _NAMES[word] if word in _NAMES else rank_of(word, self._ranks)

    def _tag(self, word: str) -> int:
        return ANY if word == _ANY_TAG else whole_number(word, ANY, _MOST_TAG, "a tag")

    def _root(self, words: Sequence[str], at: int) -> int:
        return rank_of(words[at], self._ranks) if at < len(words) else 0

    def _element(self, words: Sequence[str], at: int) -> int:
        """Bytes of an element of the type at a position, where there is one."""
        if at >= len(words):
            return self._default
        return _TYPE_BYTES[whole_number(words[at], 0, len(_TYPE_BYTES) - 1, "a type")]


_VECTORS: Final[Mapping[str, Call]] = {
    "allreduce": Call.ALLREDUCE,
    "scan": Call.SCAN,
    "exscan": Call.EXSCAN,
    "alltoall": Call.ALLTOALL,
    "allgather": Call.ALLGATHER,
    "gather": Call.GATHER,
    "scatter": Call.SCATTER,
}
_ACTIONS: Final[Mapping[str, Callable[[_Rank, str, Sequence[str]], None]]] = {
    "init": _Rank.init,
    "compute": _Rank.compute,
    "sleep": _Rank.sleep,
    **dict.fromkeys(("send", "recv", "isend", "irecv"), _Rank.point),
    "sendRecv": _Rank.both,
    "barrier": _Rank.barrier,
    "bcast": _Rank.bcast,
    "reduce": _Rank.reduce,
    **dict.fromkeys(("allreduce", "scan", "exscan"), _Rank.vector),
    **dict.fromkeys(("alltoall", "allgather"), _Rank.blocks),
    **dict.fromkeys(("gather", "scatter"), _Rank.rooted),
    "gatherv": _Rank.gatherv,
    "scatterv": _Rank.scatterv,
    "allgatherv": _Rank.allgatherv,
    "alltoallv": _Rank.alltoallv,
    "reducescatter": _Rank.reduce_scatter,
}
