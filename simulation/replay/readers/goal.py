"""GOAL schedules (LogGOPSim, ATLAHS): a graph of sends, receives and computing for each rank, as text.

A rank of a program makes one call after the other. So the graph becomes a sequence: whatever may begin is begun in the
order in which it may, sends and receives as requests, and where all that is left needs the end of some of them, these
are waited for. This keeps the graph exactly if that is so at each wait, as in a sequence or between fork and join. A
rank that would go on in one way or another, whichever message comes first, is refused.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.simulation.replay.calls import ANY, NO_REQUEST
from eee_testbed.simulation.replay.checks import MOST_RANKS
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
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

_HEAD: Final = re.compile(rb"\s*(?://[^\n]*\n\s*|/\*.*?\*/\s*)*num_ranks\s+\d", re.DOTALL)
_COMMENT: Final = re.compile(r"//.*|/\*.*?\*/")
_RANKS: Final = re.compile(r"num_ranks\s+(\S+)")
_BEGIN: Final = re.compile(r"rank\s+(\S+?)\s*\{\s*(\}?)")
_TASK: Final = re.compile(
    r"(?:(?P<label>\w+)\s*:\s*)?"
    r"(?:(?P<verb>send|recv)\s+(?P<size>\d+)\s*b\s+(?:to|from)\s+(?P<peer>-?\d+)(?:\s+tag\s+(?P<tag>-?\d+))?"
    r"|calc\s+(?P<ns>\d+))"
    r"(?:\s+cpu\s+(?P<cpu>\d+))?(?:\s+nic\s+\d+)?"
)
_EDGE: Final = re.compile(r"(\w+)\s+(i?requires)\s+(\w+)")
_VERB: Final = re.compile(r"(?:\w+\s*:\s*)?(\w+)\b")
_VERBS: Final = frozenset({"send", "recv", "calc"})
_MOST_TAG: Final = (1 << 31) - 1


def looks_like_goal(head: bytes) -> bool:
    """Whether a file begins with its number of ranks."""
    return _HEAD.match(head) is not None


@dataclass(slots=True)
class _Task:
    """A send, a receive, or computing. `needs` have to end before it, `missing` counts what has not begun yet."""

    line: int
    verb: str
    size: int = 0
    peer: int = ANY
    tag: int = 0
    ns: float = 0.0
    cpu: int = 0
    needs: list["_Task"] = field(default_factory=list)
    needed_by: list["_Task"] = field(default_factory=list)
    missing: int = 0
    begun: bool = False
    ended: bool = False
    request: int = NO_REQUEST


def read_goal(files: Sequence[Path], options: Options) -> Program:
    """The program of a schedule; UnreadableFile names file and line of what cannot be used."""
    if len(files) != 1:
        Place(files[0]).refuse("is one of several files", "name the schedule alone")
    reading = _Reading(files[0], options.name)
    for place, text in lines_of(files[0]):
        try:
            reading.line(place, text)
        except BadLine as error:
            place.refuse(str(error))
    return reading.program()


class _Reading:
    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._writer: ProgramWriter | None = None
        self._ranks = 0
        self._rank: int | None = None
        self._done: set[int] = set()
        self._in_comment = False

    def line(self, place: Place, text: str) -> None:
        """Read a line; at the end of a rank, its calls are written."""
        text = self._without_comments(text)
        if not text:
            return
        if self._writer is None:
            self._begin(text)
        elif self._rank is None:
            self._begin_rank(place, text)
        elif text == "}":
            self._end_rank(place)
        else:
            self._task(place, text)

    def _without_comments(self, text: str) -> str:
        if self._in_comment:
            _, end, text = text.partition("*/")
            self._in_comment = not end
        text = _COMMENT.sub("", text)
        if "/*" in text:
            text = text.partition("/*")[0]
            self._in_comment = True
        return text.strip()

    def _begin(self, text: str) -> None:
        match = _RANKS.fullmatch(text)
        if match is None:
            raise BadLine("does not begin with num_ranks")
        self._ranks = whole_number(match[1], 1, MOST_RANKS, "num_ranks")
        self._writer = ProgramWriter(self._name, self._ranks, "GOAL schedule")

    def _begin_rank(self, place: Place, text: str) -> None:
        match = _BEGIN.fullmatch(text)
        if match is None:
            raise BadLine("is neither the begin of a rank nor within one")
        self._rank = rank_of(match[1], self._ranks)
        if self._rank in self._done:
            raise BadLine(f"begins rank {self._rank} a second time")
        self._tasks: list[_Task] = []
        self._named: dict[str, _Task] = {}
        if match[2]:
            self._end_rank(place)

    def _task(self, place: Place, text: str) -> None:
        edge = _EDGE.fullmatch(text)
        if edge is not None:
            self._edge(*edge.groups())
            return
        match = _TASK.fullmatch(text)
        if match is None:
            verb = _VERB.match(text)
            if verb and verb[1] in _VERBS:
                raise BadLine(f"has a {verb[1]} that is not whole, or has what the format does not: {text[:40]!r}")
            raise BadLine(f"has {verb[1] if verb else text[:20]!r}, which is no send, recv, calc or requires of MPI")
        task = _Task(place.line, match["verb"] or "calc", cpu=whole_number(match["cpu"] or "0", 0, 1 << 20, "a cpu"))
        if task.verb == "calc":
            task.ns = duration_ns(match["ns"])
        else:
            task.size = size_of(match["size"])
            task.peer = ANY if match["peer"] == "-1" and task.verb == "recv" else rank_of(match["peer"], self._ranks)
            task.tag = whole_number(match["tag"] or "0", ANY if task.verb == "recv" else 0, _MOST_TAG, "a tag")
        label = match["label"]
        if label is not None:
            if label in self._named:
                raise BadLine(f"has the label {label[:40]} a second time")
            self._named[label] = task
        self._tasks.append(task)

    def _edge(self, later: str, kind: str, earlier: str) -> None:
        for label in (later, earlier):
            if label not in self._named:
                raise BadLine(f"names {label[:40]}, which is not before")
        dependent, other = self._named[later], self._named[earlier]
        if kind == "irequires":
            if other.verb == "calc" and other.ns:
                self._assume("What may begin when computing has begun (irequires) begins at its end.")
            dependent.missing += 1
            other.needed_by.append(dependent)
        else:
            dependent.needs.append(other)
            dependent.missing += 1
            other.needed_by.append(dependent)

    def _end_rank(self, place: Place) -> None:
        writer, rank = self._writer, self._rank
        if writer is None or rank is None:
            return
        if len({task.cpu for task in self._tasks if task.verb == "calc" and task.ns}) > 1:
            self._assume(
                "A rank computes on one processor: what a schedule has on several is done one after the other."
            )
        _Sequence(self._tasks, place, writer, rank).write()
        self._done.add(rank)
        self._rank = None

    def _assume(self, sentence: str) -> None:
        if self._writer is not None:
            self._writer.assume(sentence)

    def program(self) -> Program:
        """The program, if the file is whole."""
        if self._writer is None:
            Place(self._path).refuse("has no num_ranks")
        if self._rank is not None:
            Place(self._path).refuse(f"ends within rank {self._rank}: it was cut off", "make the schedule again")
        if missing := sorted(set(range(self._ranks)) - self._done):
            self._assume(
                f"{len(missing)} of {self._ranks} ranks (the first is {missing[0]}) are not in the file: they do "
                "nothing. If it was cut off, make the schedule again."
            )
        return self._writer.program()


class _Sequence:
    """Turns a rank's graph into calls."""

    def __init__(self, tasks: Sequence[_Task], place: Place, writer: ProgramWriter, rank: int) -> None:
        self._tasks, self._place, self._writer, self._rank = tasks, place, writer, rank
        self._calls = writer.rank(rank)
        self._ready: deque[_Task] = deque(task for task in tasks if not task.missing)
        self._held: dict[int, _Task] = {}
        """Tasks whose needs have all begun, and of which some have not ended, by line."""

        self._order: dict[int, int] = {}
        """By line, when a task was held."""

        self._left = len(tasks)

    def write(self) -> None:
        """Begin what may begin; then wait for what all that is held needs."""
        while self._left:
            while self._ready:
                self._begin(self._ready.popleft())
            if not self._left:
                break
            if not self._held:
                line = min(task.line for task in self._tasks if not task.begun)
                Place(self._place.path, line).refuse("depends on itself, by way of others", "make the schedule again")
            ended = self._common()
            self._wait(ended)
            self._release(ended)
        if rest := [task for task in self._tasks if task.request != NO_REQUEST and not task.ended]:
            self._wait(rest)
        self._calls.finish()

    def _release(self, ended: Sequence[_Task]) -> None:
        """What needed these and nothing else any more may begin, in the order in which it was held."""
        waited = {other.line for task in ended for other in task.needed_by if other.line in self._held}
        order = sorted(waited, key=lambda line: self._order[line])
        for line in order:
            if all(need.ended for need in self._held[line].needs):
                self._ready.append(self._held.pop(line))

    def _common(self) -> Sequence[_Task]:
        """Requests that every task that is held needs: nothing can go on before these have ended."""
        tasks = iter(self._held.values())
        common = {id(need): need for need in _open(next(tasks))}
        for task in tasks:
            needed = {id(need) for need in _open(task)}
            common = {key: need for key, need in common.items() if key in needed}
            if not common:
                break
        if common:
            return list(common.values())
        every = (need for task in self._held.values() for need in _open(task))
        send = next((need for need in every if need.verb == "send"), None)
        if send is not None:
            self._writer.assume(
                "Where a rank would go on in one way or another, sends are waited for in the order of the schedule."
            )
            return [send]
        held = list(self._held.values())
        one, needed = held[0], {id(need) for need in _open(held[0])}
        other = next((task for task in held if not needed & {id(need) for need in _open(task)}), held[-1])
        sentence = (
            f"and line {other.line} go on whichever message comes first, and a rank makes one call after the other"
        )
        remedy = "make a schedule in which one of them requires the other"
        raise UnreadableFile(str(self._place.path), one.line, sentence, remedy)

    def _begin(self, task: _Task) -> None:
        match task.verb:
            case "calc":
                self._calls.compute(task.ns)
                task.ended = True
            case "send":
                task.request = self._calls.isend(task.peer, task.size, task.tag)
            case _:
                task.request = self._calls.irecv(task.peer, task.size, task.tag)
        task.begun = True
        self._left -= 1
        for other in task.needed_by:
            other.missing -= 1
            if not other.missing:
                if all(need.ended for need in other.needs):
                    self._ready.append(other)
                else:
                    self._held[other.line] = other
                    self._order[other.line] = len(self._order)

    def _wait(self, tasks: Sequence[_Task]) -> None:
        self._calls.wait(*(task.request for task in tasks))
        for task in tasks:
            task.ended = True


def _open(task: _Task) -> Iterator[_Task]:
    """Requests that a task needs and that have not ended."""
    return (need for need in task.needs if not need.ended)
