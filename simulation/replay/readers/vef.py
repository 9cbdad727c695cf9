"""VEF traces (TraceLib): messages that depend on each other, as text; its numeric codes come from the user.

Which number stands for which dependency or operation is not published, so a YAML file says it (`CODES` is an example).
A line is a message, `ID SOURCE TARGET BYTES DEPENDENCY NS OTHER`, or a task's part of a collective call,
`G<ID> COMMUNICATOR OPERATION TASK SENT RECEIVED DEPENDENCY NS OTHER`. It begins so many nanoseconds after the other
message was sent or received, or after the other collective call. The format has no receives: each is begun when its
rank starts, and waited for where something depends on it. A rank's lines are in the order in which it made them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.lab.untrusted_files import read_yaml
from eee_testbed.simulation.replay.calls import ANY, Call
from eee_testbed.simulation.replay.checks import MOST_MEMBERS, MOST_RANKS
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter, RankCalls
from eee_testbed.simulation.replay.readers.reading import (
    BadLine,
    Options,
    Place,
    duration_ns,
    lines_of,
    rank_of,
    size_of,
    whole_number,
)

_HEAD: Final = re.compile(rb"VEF\S*\s+\d+\s+\d+\s+\d+\s+\d+\s+\d+")
_DEPENDENCIES: Final = ("independent", "send", "receive", "collective")
_OPERATIONS: Final[Mapping[str, Call]] = {
    "bcast": Call.BCAST,
    "reduce": Call.REDUCE,
    "allreduce": Call.ALLREDUCE,
    "gather": Call.GATHER,
    "scatter": Call.SCATTER,
    "allgather": Call.ALLGATHER,
    "barrier": Call.BARRIER,
    "alltoall": Call.ALLTOALL,
}
_ROOT_SENDS: Final = frozenset({Call.BCAST, Call.SCATTER})
_ROOT_RECEIVES: Final = frozenset({Call.REDUCE, Call.GATHER})
CODES: Final = """\
dependencies: {0: independent, 1: send, 2: receive, 3: collective}
operations: {0: bcast, 1: reduce, 2: allreduce, 3: gather, 4: scatter, 5: allgather, 6: barrier, 7: alltoall}
"""
"""A file with codes; its numbers are invented."""

_MOST_NUMBER: Final = 1 << 40
_CODES_REMEDY: Final = "write `dependencies` and `operations` as the reference page shows"


def looks_like_vef(head: bytes) -> bool:
    """Whether a file begins as one of these."""
    return _HEAD.match(head) is not None


@dataclass(frozen=True, slots=True)
class Codes:
    """What the numbers of a trace mean."""

    dependencies: Mapping[int, str]
    operations: Mapping[int, Call]


@dataclass(frozen=True, slots=True)
class _Event:
    """A message, or a task's part of a collective call, in the order of its rank."""

    line: int
    rank: int
    number: int
    dependency: str
    ns: float
    other: int
    message: tuple[int, int] | None = None
    """Target and bytes; None for a collective call."""


@dataclass(slots=True)
class _Collective:
    communicator: int
    call: Call
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)


def read_vef(files: Sequence[Path], options: Options) -> Program:
    """The program of a trace; UnreadableFile names file and line of what cannot be used."""
    if len(files) != 1:
        Place(files[0]).refuse("is one of several files", "name the trace alone")
    if options.codes is None:
        raise LabError("VEF traces have codes that are not published: name a file with them (--codes FILE.yaml).")
    reading = _Reading(files[0], options.name, read_codes(options.codes))
    for place, text in lines_of(files[0]):
        try:
            reading.line(place.line, text.split())
        except BadLine as error:
            place.refuse(str(error))
    return reading.program()


def read_codes(path: Path) -> Codes:
    """The file with the codes; UnreadableFile says what is wrong with it."""
    content = read_yaml(path, _CODES_REMEDY)
    codes = content if isinstance(content, dict) else {}
    dependencies = _named(path, codes.get("dependencies"), "dependencies", _DEPENDENCIES)
    operations = _named(path, codes.get("operations"), "operations", tuple(_OPERATIONS))
    return Codes(dependencies, {code: _OPERATIONS[name] for code, name in operations.items()})


def _named(path: Path, table: object, key: str, names: Sequence[str]) -> dict[int, str]:
    if not isinstance(table, dict) or not all(type(code) is int for code in table):
        raise UnreadableFile(str(path), 0, f"has no table of numbers `{key}`", _CODES_REMEDY)
    for code, name in table.items():
        if name not in names:
            sentence = f"has {key}: {code}: {str(name)[:40]}, and known are {', '.join(names)}"
            raise UnreadableFile(str(path), 0, sentence, _CODES_REMEDY)
    return dict(table)


class _Reading:
    def __init__(self, path: Path, name: str, codes: Codes) -> None:
        self._path, self._name, self._codes = path, name, codes
        self._ranks = self._expected = self._members = 0
        self._communicators: dict[int, tuple[int, ...]] = {}
        self._events: defaultdict[int, list[_Event]] = defaultdict(list)
        self._messages: dict[int, tuple[int, int, int]] = {}
        self._collectives: dict[int, _Collective] = {}

    def line(self, number: int, fields: Sequence[str]) -> None:
        """Read a line."""
        if not fields:
            return
        if not self._ranks:
            self._begin(fields)
        elif fields[0].startswith("C"):
            self._communicator(fields)
        elif fields[0].startswith("G"):
            self._collective(number, fields)
        else:
            self._message(number, fields)

    def _begin(self, fields: Sequence[str]) -> None:
        if not fields[0].startswith("VEF") or len(fields) < 6:
            raise BadLine("does not begin with VEF and its numbers")
        self._ranks = whole_number(fields[1], 1, MOST_RANKS, "a number of ranks")
        self._expected = whole_number(fields[2], 0, _MOST_NUMBER, "a number of messages")

    def _communicator(self, fields: Sequence[str]) -> None:
        number = whole_number(fields[0][1:], 0, MOST_MEMBERS, "a communicator")
        self._members += len(fields)
        if self._members > MOST_MEMBERS or number in self._communicators:
            raise BadLine(f"has the communicator {number} a second time, or too many ranks in all")
        self._communicators[number] = tuple(rank_of(word, self._ranks) for word in fields[1:])

    def _message(self, line: int, fields: Sequence[str]) -> None:
        if len(fields) != 7:
            raise BadLine(f"has {len(fields)} words, and a message has 7")
        number = whole_number(fields[0], 0, _MOST_NUMBER, "a message")
        if number in self._messages:
            raise BadLine(f"has message {number} a second time")
        source, target = rank_of(fields[1], self._ranks), rank_of(fields[2], self._ranks)
        event = self._event(line, source, number, fields[4:], (target, size_of(fields[3])))
        self._messages[number] = (source, target, size_of(fields[3]))
        self._events[source].append(event)

    def _collective(self, line: int, fields: Sequence[str]) -> None:
        if len(fields) != 9:
            raise BadLine(f"has {len(fields)} words, and a part of a collective call has 9")
        number = whole_number(fields[0][1:], 0, _MOST_NUMBER, "a collective call")
        which = whole_number(fields[1].removeprefix("C"), 0, MOST_MEMBERS, "a communicator")
        call = self._codes.operations.get(whole_number(fields[2], 0, _MOST_NUMBER, "an operation"))
        if call is None:
            raise BadLine(f"has the operation {fields[2][:20]}, which the codes do not name")
        if which not in self._communicators:
            raise BadLine(f"has the communicator {which}, which is not before")
        collective = self._collectives.setdefault(number, _Collective(which, call))
        rank = rank_of(fields[3], self._ranks)
        if (collective.communicator, collective.call) != (which, call) or rank in collective.sizes:
            raise BadLine(f"has a part of collective call {number} that does not fit its others")
        if rank not in self._communicators[which]:
            raise BadLine(f"has the task {rank}, which is not in the communicator {which}")
        collective.sizes[rank] = (size_of(fields[4]), size_of(fields[5]))
        self._events[rank].append(self._event(line, rank, number, fields[6:], None))

    def _event(
        self, line: int, rank: int, number: int, fields: Sequence[str], message: tuple[int, int] | None
    ) -> _Event:
        code = whole_number(fields[0], 0, _MOST_NUMBER, "a dependency")
        if code not in self._codes.dependencies:
            raise BadLine(f"has the dependency {code}, which the codes do not name")
        dependency = self._codes.dependencies[code]
        other = (
            ANY
            if dependency == "independent"
            else whole_number(fields[2].removeprefix("G"), 0, _MOST_NUMBER, "a number")
        )
        return _Event(line, rank, number, dependency, duration_ns(fields[1]), other, message)

    # -- the program

    def program(self) -> Program:
        """The program, if the file is whole."""
        place = Place(self._path)
        if not self._ranks:
            place.refuse("has no line that begins with VEF")
        if len(self._messages) != self._expected:
            place.refuse(f"has {len(self._messages)} of its {self._expected} messages: it was cut off")
        for number, collective in self._collectives.items():
            if len(collective.sizes) != len(self._communicators[collective.communicator]):
                place.refuse(f"lacks tasks of collective call {number}: it was cut off")
        writer = ProgramWriter(self._name, self._ranks, f"VEF trace of {self._ranks} ranks")
        tags: Counter[tuple[int, int]] = Counter()
        incoming: defaultdict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
        tag_of: dict[int, int] = {}
        for number, (source, target, size) in self._messages.items():
            tag_of[number] = tags[source, target]
            tags[source, target] += 1
            incoming[target].append((number, source, size, tag_of[number]))
        for rank in range(self._ranks):
            calls = writer.rank(rank)
            received = {number: calls.irecv(source, size, tag) for number, source, size, tag in incoming[rank]}
            _Rank(self, writer, calls, rank, received, tag_of).write(self._events[rank])
        writer.assume("Receives are begun when a rank starts: the trace has none of its own.")
        if self._collectives:
            writer.assume(
                "Sizes of collective calls are those of a block; of an alltoall with 1 received, of all blocks."
            )
        return writer.program()

    def refuse(self, line: int, sentence: str) -> None:
        """UnreadableFile at a line."""
        Place(self._path, line).refuse(sentence)

    def call_of(self, event: _Event, writer: ProgramWriter, calls: RankCalls) -> None:
        """A rank's part of a collective call."""
        collective = self._collectives[event.number]
        members = self._communicators[collective.communicator]
        sent = {rank: sizes[0] for rank, sizes in collective.sizes.items()}
        received = {rank: sizes[1] for rank, sizes in collective.sizes.items()}
        number = writer.communicator(members, collective.communicator if members != tuple(range(self._ranks)) else None)
        root = ANY
        if collective.call in _ROOT_SENDS | _ROOT_RECEIVES:
            roots = [rank for rank, size in (sent if collective.call in _ROOT_SENDS else received).items() if size]
            if len(roots) > 1:
                self.refuse(event.line, f"belongs to a collective call with {len(roots)} roots")
            root = members.index(roots[0]) if roots else 0
        match collective.call:
            case Call.BARRIER:
                size = 0
            case Call.BCAST | Call.SCATTER:
                size = max(received.values()) or max(sent.values())
            case Call.ALLTOALL if received[event.rank] == 1:
                size = sent[event.rank] // len(members)
            case _:
                size = max(sent.values())
        calls.call(collective.call, communicator=number, peer=root, size=size)


class _Rank:
    """One rank's events, in order: what each depends on, and how much was computed since."""

    def __init__(
        self,
        whole: _Reading,
        writer: ProgramWriter,
        calls: RankCalls,
        rank: int,
        received: dict[int, int],
        tag_of: Mapping[int, int],
    ) -> None:
        self._whole, self._writer, self._calls, self._rank = whole, writer, calls, rank
        self._received, self._tag_of = received, tag_of
        self._sent: dict[int, int] = {}
        self._computed_ns = 0.0
        self._at: dict[tuple[str, int], float] = {}
        """How much was computed when a message was sent or received, or a collective call was over."""

    def write(self, events: Sequence[_Event]) -> None:
        """Write the calls."""
        for event in events:
            since = self._since(event)
            computing = max(since + event.ns - self._computed_ns, 0.0)
            self._calls.compute(computing)
            self._computed_ns += computing
            if event.message is None:
                self._whole.call_of(event, self._writer, self._calls)
                self._at["collective", event.number] = self._computed_ns
            else:
                target, size = event.message
                self._sent[event.number] = self._calls.isend(target, size, self._tag_of[event.number])
                self._at["send", event.number] = self._computed_ns
        if rest := [*self._sent.values(), *self._received.values()]:
            self._calls.wait(*rest)
        self._calls.finish()

    def _since(self, event: _Event) -> float:
        """Wait for what an event depends on, and say how much was computed by then."""
        if event.dependency == "independent":
            return 0.0
        key = (event.dependency, event.other)
        if key in self._at and event.dependency != "send":
            return self._at[key]
        if event.dependency == "receive" and event.other in self._received:
            self._calls.wait(self._received.pop(event.other))
            self._at[key] = self._computed_ns
        elif event.dependency == "send" and key in self._at:
            if event.other in self._sent:
                self._calls.wait(self._sent.pop(event.other))
        else:
            self._whole.refuse(
                event.line, f"depends on {event.dependency} {event.other}, which rank {self._rank} had not before"
            )
        return self._at[key]
