"""What a rank did, step by step, between the recorder's records and a program: requests have no numbers yet."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from eee_testbed.simulation.replay.calls import COLLECTIVES, NO_REQUEST, NOBODY, RECEIVES, SENDS, Call
from eee_testbed.simulation.replay.rank_calls import RankCalls

_BEGINNING: Final[Mapping[Call, Call]] = {
    Call.SEND: Call.ISEND,
    Call.SSEND: Call.ISSEND,
    Call.BSEND: Call.IBSEND,
    Call.RECV: Call.IRECV,
    **{call: call for call in COLLECTIVES},
}
"""The call that begins what a blocking call does."""

_ENDS: Final = frozenset({Call.WAIT, Call.CANCEL})


@dataclass(slots=True, eq=False)
class Step:
    """A call; `begun_ns` and `ended_ns` are the recorder's, `begins` says that it begins a request.

    A WAIT ends the requests that `waits` began, a CANCEL the one.
    """

    call: Call
    compute_ns: int = 0
    begun_ns: int = 0
    ended_ns: int = 0
    communicator: int = 0
    peer: int = 0
    tag: int = 0
    size: int = 0
    flags: int = 0
    sizes: Sequence[int] | None = None
    begins: bool = False
    waits: Sequence["Step"] = ()
    kept: bool = True


@dataclass(slots=True)
class Steps:
    """The steps of a rank; `computed_ns` is what it computed after the last one."""

    rank: int
    steps: list[Step] = field(default_factory=list)
    computed_ns: int = 0

    def finish(self, unended: Iterable[Step]) -> None:
        """Requests that no call found complete end with the program."""
        if waits := tuple(unended):
            self.steps.append(Step(Call.WAIT, self.computed_ns, waits=waits))
            self.computed_ns = 0

    def untangle(self) -> bool:
        """Calls of several threads in one order: what overlaps another call begins in its place and ends in its own.

        Until a call ends it is taken as waiting; until one begins, as computing. Says whether any calls overlapped.
        """
        timed: list[tuple[int, Step]] = []
        until_ns, any_overlap = 0, False
        ordered = sorted(self.steps, key=lambda step: step.begun_ns)
        for step, after in zip(ordered, [*ordered[1:], None], strict=True):
            overlaps = step.begun_ns < until_ns or (after is not None and after.begun_ns < step.ended_ns)
            until_ns, any_overlap = max(until_ns, step.ended_ns), any_overlap or overlaps
            if overlaps and step.call in _BEGINNING and not step.begins:
                step.call, step.begins = _BEGINNING[step.call], True
                timed.append(
                    (step.ended_ns, Step(Call.WAIT, begun_ns=step.ended_ns, ended_ns=step.ended_ns, waits=(step,)))
                )
            timed.append((step.ended_ns if step.waits else step.begun_ns, step))
        if not any_overlap:
            return False
        timed.sort(key=lambda one: one[0])
        before_ns = 0
        for at_ns, step in timed:
            step.compute_ns = 0 if step.waits else max(0, at_ns - before_ns)
            alone = not step.begins and not step.waits
            before_ns = max(before_ns, step.ended_ns if alone else at_ns)
        self.steps = [step for _, step in timed]
        return True

    def write(self, calls: RankCalls) -> None:
        """Write what is kept; requests get numbers that are free."""
        free: list[int] = []
        numbers: dict[Step, int] = {}
        for step in self.steps:
            calls.compute(step.compute_ns)
            waits = [one for one in step.waits if one in numbers]
            if not step.kept or (step.call in _ENDS and not waits):
                continue
            request, sizes = NO_REQUEST, step.sizes
            if step.begins:
                request = numbers[step] = free.pop() if free else len(numbers)
            elif waits:
                ended = [numbers.pop(one) for one in waits]
                free += reversed(ended)
                request, sizes = (NO_REQUEST, ended) if step.call is Call.WAIT else (ended[0], None)
            calls.call(
                step.call,
                communicator=step.communicator,
                peer=step.peer,
                tag=step.tag,
                size=step.size,
                request=request,
                flags=step.flags,
                sizes=sizes,
            )
        calls.compute(self.computed_ns)
        calls.finish()


def cut(ranks: Sequence[Steps], communicators: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Drop what lacks its other end as some file ends early; how many messages and collective calls were dropped.

    Messages of one sender, receiver, communicator and tag are received in their order, and collective calls of a
    communicator are called in one order: so the last ones are those that lack an end.
    """
    sent: defaultdict[tuple[int, int, int, int], list[Step]] = defaultdict(list)
    received: defaultdict[tuple[int, int, int, int], list[Step]] = defaultdict(list)
    called: defaultdict[int, dict[int, list[Step]]] = defaultdict(dict)
    for own in ranks:
        for step in own.steps:
            number = step.communicator
            if not step.kept:
                continue
            if step.call in COLLECTIVES:
                called[number].setdefault(own.rank, []).append(step)
            elif step.call in SENDS and step.peer != NOBODY:
                sent[number, own.rank, communicators[number][step.peer], step.tag].append(step)
            elif step.call in RECEIVES and step.peer != NOBODY:
                received[number, communicators[number][step.peer], own.rank, step.tag].append(step)
    messages = collectives = 0
    for key in {*sent, *received}:
        both = min(len(sent[key]), len(received[key]))
        messages += _drop(sent[key][both:]) + _drop(received[key][both:])
    for number, by_rank in called.items():
        all_called = min(len(by_rank.get(rank, ())) for rank in communicators[number])
        collectives += sum(_drop(steps[all_called:]) for steps in by_rank.values())
    return messages, collectives


def _drop(steps: Sequence[Step]) -> int:
    for step in steps:
        step.kept = False
    return len(steps)
