"""A rank's records as steps: requests are followed from their begin to the call that found them complete."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from eee_testbed.benchmarks.recorder.function import LEFT_OUT, Function, Group
from eee_testbed.benchmarks.recorder.table import ASKING, BY_NUMBER
from eee_testbed.simulation.replay.calls import ANY, COLLECTIVES, IN_PLACE, NOBODY, NOT_COMMUTATIVE, Call
from eee_testbed.simulation.replay.checks import MOST_BYTES, MOST_NS
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from eee_testbed.simulation.replay.readers.recorder_communicators import Communicator, Communicators, peer_of
from eee_testbed.simulation.replay.readers.recorder_file import ASKED, COMMUNICATOR, FAILED, FLUSHED, RankFile, Record
from eee_testbed.simulation.replay.readers.recorder_steps import Step, Steps

_SENDS: Final[Mapping[str, Call]] = {
    "Send": Call.SEND, "Rsend": Call.SEND, "Ssend": Call.SSEND, "Bsend": Call.BSEND,
    "Isend": Call.ISEND, "Irsend": Call.ISEND, "Issend": Call.ISSEND, "Ibsend": Call.IBSEND,
    "Send_init": Call.ISEND, "Rsend_init": Call.ISEND, "Ssend_init": Call.ISSEND, "Bsend_init": Call.IBSEND,
}  # fmt: skip
_COLLECTIVES: Final[Mapping[str, Call]] = {
    **{call.name.capitalize(): call for call in COLLECTIVES},
    **{f"I{call.name.lower()}": call for call in COLLECTIVES},
    "Alltoallw": Call.ALLTOALLV,
    "Ialltoallw": Call.ALLTOALLV,
}
_LISTED_SIZES: Final[Mapping[Call, int]] = {Call.ALLGATHERV: 1, Call.ALLTOALLV: 2, Call.REDUCE_SCATTER: 1}
_AT_ROOT: Final = frozenset({Call.GATHERV, Call.SCATTERV})
_MOST_TAG: Final = (1 << 31) - 1

Values = Mapping[str, int]


@dataclass(slots=True)
class Seen:
    """What the files of all ranks had that a program does not hold."""

    wildcards: int = 0
    unended: int = 0
    probes: int = 0
    asked: int = 0
    threads: bool = False
    left_out: dict[Group, Counter[str]] = field(default_factory=dict)
    makers: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)


class Recorded:
    """Reads a rank's file: `steps` has what it did, `duration_ns` how long it ran."""

    def __init__(self, file: RankFile, writer: ProgramWriter, seen: Seen) -> None:
        self._file, self._writer, self._seen = file, writer, seen
        self.steps, self.duration_ns = Steps(file.head.rank), 0
        self._communicators = Communicators(file.head.rank, file.head.ranks, file.refuse)
        self._open: dict[int, list[Step]] = {}
        self._freed: list[Step] = []
        self._templates: dict[int, tuple[Step, Communicator]] = {}
        self._posted: dict[Step, Communicator] = {}
        self._cancels: dict[int, Step] = {}
        self._computed_ns = 0
        self._on_communicator = self._table()
        self._others: dict[str, Callable[[Sequence[int]], None]] = {
            "Start": self._start, "Startall": self._start, "Cancel": self._cancel, "Request_free": self._free,
            "Mrecv": self._take, "Imrecv": lambda _: None, "Comm_idup": lambda fields: self._opens(fields[0], []),
        }  # fmt: skip

    def _table(self) -> dict[str, Callable[[Values, Communicator], None]]:
        table: dict[str, Callable[[Values, Communicator], None]] = {}
        for name, call in (*_SENDS.items(), ("Irecv", Call.IRECV), ("Recv_init", Call.IRECV)):
            table[name] = partial(self._keep if name.endswith("_init") else self._post, call)
        for name in ("Recv", "Mprobe", "Improbe", "Sendrecv", "Sendrecv_replace"):
            table[name] = self._receive
        for name in ("Probe", "Iprobe"):
            table[name] = self._probe
        return table

    def read(self) -> None:
        """Read all records."""
        for record in self._file.records():
            self.duration_ns += record.since_ns
            self._computed_ns += max(0, record.since_ns - record.took_ns)
            if self.duration_ns > MOST_NS:
                self._file.refuse("a time above 104 days")
            self._record(record)
        self.steps.computed_ns = self._computed_ns
        if self._file.head.several_threads:
            self._seen.threads |= self.steps.untangle()
        unended = [*self._freed, *(step for steps in self._open.values() for step in steps)]
        for step in unended:
            step.kept = step not in self._posted
            self._seen.unended += not step.kept
        self.steps.finish(step for step in unended if step.kept)

    # -- records

    def _record(self, record: Record) -> None:
        kind, fields = record.kind, record.fields
        function = BY_NUMBER.get(kind)
        if function is not None:
            before = len(self.steps.steps)
            self._call(function, fields)
            if len(self.steps.steps) > before:
                self._time(self.steps.steps[before:], record)
        elif kind == COMMUNICATOR:
            self._communicators.add(fields)
        elif kind == FAILED:
            failed = BY_NUMBER.get(fields[0] if fields else -1)
            self._seen.failed[failed.mpi_name if failed is not None else "an unknown function"] += 1
        elif kind == ASKED:
            asked = BY_NUMBER.get(fields[0] if fields else -1)
            if asked is None or asked.name not in ASKING or len(fields) != 2:
                self._file.refuse("tests of a function that tests nothing")
            self._seen.asked += fields[1]
        elif kind != FLUSHED:
            self._file.refuse(f"a record of kind {kind}, which has no place there")

    def _time(self, steps: Sequence[Step], record: Record) -> None:
        steps[0].compute_ns = self._computed_ns
        self._computed_ns = 0
        begun_ns = max(0, self.duration_ns - record.took_ns)
        for step in steps:  # of several, all begin at the begin, and are waited for at the end
            step.begun_ns = self.duration_ns if step.waits else begun_ns
            step.ended_ns = self.duration_ns if step.waits or len(steps) == 1 else begun_ns

    def _call(self, function: Function, fields: Sequence[int]) -> None:
        name = function.name
        if function.group in LEFT_OUT:
            self._seen.left_out.setdefault(function.group, Counter())[function.mpi_name] += 1
            return
        if function.group is Group.COMMUNICATOR:
            self._seen.makers[function.mpi_name] += 1
        of = None
        if "communicator" in function.values:
            if not fields:
                self._file.refuse(f"a call {function.mpi_name} without its communicator")
            of = self._communicators[fields[0]]
        if len(fields) < len(function.values):
            self._file.refuse(f"a call {function.mpi_name} with {len(fields)} fields")
        values = dict(zip(function.values, fields, strict=False))
        rest = fields[len(function.values) :]
        if of is None:
            if function.group is not Group.COMMUNICATOR or name == "Comm_idup":
                self._others.get(name, self._complete)(fields)
        elif function.group is Group.NEIGHBOUR:
            self._neighbours(values, rest, of)
        elif function.group is Group.COLLECTIVE:
            self._collective(_COLLECTIVES[name], values, rest, of)
        else:
            self._on_communicator[name](values, of)

    # -- messages

    def _posted_as(self, call: Call, values: Values, of: Communicator) -> Step:
        step = Step(call, communicator=self._number(of), peer=self._peer(values["peer"], of))
        step.tag, step.size = self._tag(values["tag"]), self._size(values["bytes"])
        return step

    def _post(self, call: Call, values: Values, of: Communicator) -> None:
        """A send, or a receive that is begun."""
        self._begin(self._posted_as(call, values, of), values, of)

    def _begin(self, step: Step, values: Values, of: Communicator) -> None:
        self._add(step, values)
        if step.call is Call.IRECV:
            self._posted[step] = of

    def _keep(self, call: Call, values: Values, of: Communicator) -> None:
        """What a persistent request will begin."""
        self._templates[values["request"]] = self._posted_as(call, values, of), of

    def _add(self, step: Step, values: Values) -> None:
        self.steps.steps.append(step)
        if "request" in values:
            step.begins = True
            self._opens(values["request"], [step])

    def _receive(self, values: Values, of: Communicator) -> None:
        """A receive that shows what it got; MPI_Mprobe begins one, as it takes the message out of the queue."""
        got = Step(Call.RECV, communicator=self._number(of))
        self._got(got, values["source"], values["got_tag"], values["got_bytes"], of)
        wild = ("from", "from_tag") if "from" in values else ("peer", "tag")
        self._seen.wildcards += self._peer(values[wild[0]], of) == ANY or values[wild[1]] == 0
        if "from" in values:
            send = Step(Call.ISEND, communicator=got.communicator, peer=self._peer(values["peer"], of), begins=True)
            send.tag, send.size = self._tag(values["tag"]), self._size(values["bytes"])
            got.call, got.begins = Call.IRECV, True
            self.steps.steps += [got, send, Step(Call.WAIT, waits=(got, send))]
        else:
            got.call = Call.IRECV if "request" in values else Call.RECV
            self._add(got, values)

    def _got(self, step: Step, source: int, tag: int, size: int, of: Communicator) -> None:
        step.peer = self._peer(source, of)
        if step.peer == ANY:
            self._file.refuse("a message from any source")
        step.tag, step.size = max(0, self._tag(tag)), self._size(size)
        if step.peer == NOBODY:
            step.tag = step.size = 0

    def _probe(self, _values: Values, _of: Communicator) -> None:
        self._seen.probes += 1

    # -- requests

    def _opens(self, request: int, steps: list[Step]) -> None:
        self._freed += self._open.pop(request, [])
        self._open[request] = steps

    def _start(self, fields: Sequence[int]) -> None:
        for request in fields:
            if request - 1 in self._templates:
                step, of = self._templates[request - 1]
                self._begin(replace(step), {"request": request - 1}, of)

    def _complete(self, fields: Sequence[int]) -> None:
        """A call that found requests complete."""
        at, waits = 0, list[Step]()
        while at < len(fields):
            number, cancelled, receives = fields[at] >> 2, fields[at] & 2, fields[at] & 1
            steps = self._open.pop(number, [])
            at += 1
            if receives:
                if at + 3 > len(fields):
                    self._file.refuse("a request that received without saying what")
                self._received(steps, fields[at : at + 3])
                at += 3
            cancel = self._cancels.pop(number, None)
            if cancelled and cancel is not None:
                self._cancelled(steps, cancel)
            else:
                waits += steps
        if waits:
            self.steps.steps.append(Step(Call.WAIT, waits=tuple(waits)))

    def _received(self, steps: Sequence[Step], fields: Sequence[int]) -> None:
        for step in steps:
            of = self._posted.pop(step, None)
            if of is not None:
                self._seen.wildcards += ANY in (step.peer, step.tag)
                source, tag, size = fields
                self._got(step, source, tag, size, of)

    def _cancelled(self, steps: Sequence[Step], cancel: Step) -> None:
        """What was cancelled is posted and taken back; a send that was is left away."""
        for step in steps:
            self._posted.pop(step, None)
            step.kept = step.call is Call.IRECV
        cancel.waits = tuple(steps)

    def _cancel(self, fields: Sequence[int]) -> None:
        step = Step(Call.CANCEL)
        self._cancels[fields[0] - 1] = step
        self.steps.steps.append(step)

    def _free(self, fields: Sequence[int]) -> None:
        self._templates.pop(fields[0] - 1, None)
        self._freed += self._open.pop(fields[0] - 1, [])

    def _take(self, fields: Sequence[int]) -> None:
        if steps := self._open.pop(fields[0] - 1, []):
            self.steps.steps.append(Step(Call.WAIT, waits=tuple(steps)))

    # -- calls of all ranks, and of neighbours

    def _collective(self, call: Call, values: Values, rest: Sequence[int], of: Communicator) -> None:
        members, here = len(of.members), of.here
        step = Step(call, communicator=self._number(of), peer=ANY, flags=values.get("flags", 0))
        if step.flags > (IN_PLACE | NOT_COMMUTATIVE):
            self._file.refuse(f"the flags {step.flags}, which do not exist")
        if "root" in values:
            step.peer = self._peer(values["root"], of)
        several = _LISTED_SIZES.get(call, int(call in _AT_ROOT and step.peer == here))
        if len(rest) != several * members:
            self._file.refuse(f"a {call.name.lower()} of {members} ranks with {len(rest)} sizes")
        sizes = [self._size(one) for one in rest]
        step.sizes = sizes or None
        match call:
            case Call.ALLGATHERV:
                step.size = sizes[here]
            case Call.ALLTOALLV:
                step.size = sum(sizes[:members])
            case Call.REDUCE_SCATTER:
                step.size = sum(sizes)
            case _:
                step.size = self._size(values.get("bytes", 0))
        self._add(step, values)

    def _neighbours(self, values: Values, rest: Sequence[int], of: Communicator) -> None:
        """Messages to and from each neighbour, apart from the program's own.

        In a grid what goes down a dimension is what comes from above: the tag says which way it goes.
        """
        sources, targets = len(of.sources), len(of.targets)
        if len(rest) != targets + sources:
            self._file.refuse(f"a call of {targets} and {sources} neighbours with {len(rest)} sizes")
        number = self._writer.communicator(of.members, ("neighbours", of.nth))
        steps = [
            Step(
                Call.IRECV,
                communicator=number,
                peer=one,
                tag=(at ^ 1) * of.cartesian,
                size=self._size(size),
                begins=True,
            )
            for at, (one, size) in enumerate(zip(of.sources, rest[targets:], strict=True))
            if one != NOBODY
        ]
        steps += [
            Step(Call.ISEND, communicator=number, peer=one, tag=at * of.cartesian, size=self._size(size), begins=True)
            for at, (one, size) in enumerate(zip(of.targets, rest[:targets], strict=True))
            if one != NOBODY
        ]
        self.steps.steps += steps
        if "request" in values:
            self._opens(values["request"], steps)
        elif steps:
            self.steps.steps.append(Step(Call.WAIT, waits=tuple(steps)))

    # -- numbers

    def _number(self, of: Communicator) -> int:
        return self._writer.communicator(of.members, of.nth or None)

    def _peer(self, value: int, of: Communicator) -> int:
        return peer_of(value, len(of.members), self._file.refuse)

    def _tag(self, value: int) -> int:
        if value - 1 > _MOST_TAG:
            self._file.refuse(f"the tag {value - 1}")
        return value - 1

    def _size(self, value: int) -> int:
        if value > MOST_BYTES:
            self._file.refuse(f"{value} bytes, which cannot be")
        return value
