"""HPCC's RandomAccess: many small messages to everybody.

A rank draws updates of words all over the table and puts them into a bucket for each rank. With 1,024 of them pending,
the fullest bucket is sent (MPI_Isend, tag 2), one message at a time. At the end it sends what is left, then an empty
message with tag 1 to every other rank. Four MPI_Irecv from anybody are always posted, and cancelled when all ranks
have finished.

Source: icl-utk-edu/hpcc d2b9a19, RandomAccess/MPIRandomAccess.c and buckets.c. (Older versions send 8 bytes to say
that they have finished.) Destinations are drawn by the seed, not by HPCC's generator.

Left out: HPCC looks for messages between updates; here a rank takes them after its own last one, in the order in which
they came, so that they never hold its sends up. Their sends must be eager: they have 8 KiB at most. Ties between
buckets go to the lowest rank. Verification.
"""

from functools import partial
from itertools import pairwise
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from eee_testbed.simulation.part import Seed
from eee_testbed.simulation.programs.loops import repeat
from eee_testbed.simulation.programs.part import DOUBLE_BYTE, MOST_RANKS, Generated, Grain, Passes, writer_for
from eee_testbed.simulation.replay.calls import ANY, Call
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import RankCalls

FINISHED_TAG: Final = 1
UPDATE_TAG: Final = 2
_PENDING_UPDATES: Final = 1024
_RECEIVES: Final = 4


class RandomAccess(Generated):
    """Ranks, updates, seed."""

    kind: Literal["random_access"] = "random_access"
    grain_ns: Grain = 20
    """Compute time of an update; 20 ns are assumed."""

    ranks: Annotated[int, Field(ge=2, le=MOST_RANKS)] = 128
    updates: Passes = 32_768
    """Of a rank: four for each word of its table, unless HPCC's bound of time ends it earlier."""

    seed: Seed = 1


class _Sent(NamedTuple):
    """A message: updates drawn before it, destination, updates in it."""

    drawn: int
    to: int
    updates: int


def generate(parameters: RandomAccess) -> Program:
    """The program."""
    writer = writer_for(parameters, parameters.ranks)
    sent = [_messages(parameters, rank) for rank in range(parameters.ranks)]
    coming = np.zeros(parameters.ranks, dtype=np.int64)
    for messages in sent:
        np.add.at(coming, [message.to for message in messages], 1)
    for rank, messages in enumerate(sent):
        _write(writer.rank(rank), parameters, rank, messages, int(coming[rank]))
    return writer.program()


def _messages(parameters: RandomAccess, rank: int) -> list[_Sent]:
    """What a rank sends before it has finished."""
    drawn = np.random.default_rng((parameters.seed, rank)).integers(0, parameters.ranks, parameters.updates)
    places = np.flatnonzero(drawn != rank)
    others = drawn[places]
    buckets = np.zeros(parameters.ranks, dtype=np.int64)
    sent, taken = list[_Sent](), 0
    while True:
        taken = _fill(buckets, others, taken)
        fullest = int(buckets.argmax())
        if not buckets[fullest]:
            return sent
        drawn_so_far = int(places[taken - 1]) + 1 if taken < len(others) else parameters.updates
        sent.append(_Sent(drawn_so_far, fullest, int(buckets[fullest])))
        buckets[fullest] = 0


def _fill(buckets: NDArray[np.int64], others: NDArray[np.int64], taken: int) -> int:
    """Put updates into the buckets until so many are pending; how many were taken in all."""
    until = min(taken + _PENDING_UPDATES - int(buckets.sum()), len(others))
    buckets += np.bincount(others[taken:until], minlength=len(buckets))
    return until


def _write(calls: RankCalls, parameters: RandomAccess, rank: int, messages: list[_Sent], coming: int) -> None:
    posted = min(_RECEIVES, parameters.ranks - 1) if parameters.ranks > _RECEIVES else 1
    receives = [_receive(calls) for _ in range(posted)]
    for before, message in pairwise([_Sent(0, 0, 0), *messages]):
        calls.compute((message.drawn - before.drawn) * parameters.grain_ns)
        calls.wait(calls.isend(message.to, message.updates * DOUBLE_BYTE, UPDATE_TAG))
    if not messages:
        calls.compute(parameters.updates * parameters.grain_ns)
    finished = [calls.isend(other, 0, FINISHED_TAG) for other in range(parameters.ranks) if other != rank]
    passes, rest = divmod(coming + parameters.ranks - 1, posted)
    repeat(calls, passes, partial(_take, calls, receives))
    _take(calls, receives[:rest])
    calls.wait(*finished)
    for request in receives:
        calls.call(Call.CANCEL, request=request)


def _receive(calls: RankCalls) -> int:
    return calls.irecv(ANY, _PENDING_UPDATES * DOUBLE_BYTE, ANY)


def _take(calls: RankCalls, receives: list[int]) -> None:
    """Wait for each receive and post it again; the request keeps its number."""
    for request in receives:
        calls.wait(request)
        _receive(calls)
