"""An exchange with neighbours: receives first, then sends, then one wait for all."""

from collections.abc import Sequence
from typing import NamedTuple

from eee_testbed.simulation.replay.rank_calls import RankCalls


class Message(NamedTuple):
    """A message to a neighbour, or from one."""

    peer: int
    size: int
    tag: int = 0


def exchange(calls: RankCalls, sent: Sequence[Message], received: Sequence[Message], *, blocking: bool = False) -> None:
    """MPI_Irecv from all, MPI_Isend (or, `blocking`, MPI_Send) to all, MPI_Waitall."""
    requests = [calls.irecv(message.peer, message.size, message.tag) for message in received]
    for message in sent:
        if blocking:
            calls.send(message.peer, message.size, message.tag)
        else:
            requests.append(calls.isend(message.peer, message.size, message.tag))
    if requests:
        calls.wait(*requests)
