"""Ranks make the same collective calls: what differs is named."""

import pytest

from eee_testbed.simulation.replay.agreement import disagreement
from eee_testbed.simulation.replay.calls import Call
from tests.support.replay_programs import of_calls


def _calls(*calls: tuple[int, Call, int, int] | tuple[int, Call, int, int, int]) -> str:
    """Of a program of three ranks: rank, call, root, communicator, bytes; communicator 1 has ranks 2 and 0."""
    names = ("rank", "call", "peer", "communicator", "size")
    rows = ({"size": 8} | dict(zip(names, call, strict=False)) for call in calls)
    return disagreement(of_calls(3, *rows, communicators=((2, 0),)))


def test_ranks_that_make_the_same_calls_agree() -> None:
    bcast, barrier = Call.BCAST, Call.BARRIER
    assert not _calls((0, bcast, 1, 0), (0, barrier, 0, 0), (1, bcast, 1, 0), (1, barrier, 0, 0), (2, bcast, 1, 0))
    # Calls on other communicators may come between, and messages everywhere.
    assert not _calls((0, barrier, 0, 1), (0, bcast, 1, 0), (1, bcast, 1, 0), (2, bcast, 1, 0), (2, barrier, 0, 1))
    assert not _calls((0, Call.SEND, 1, 0), (0, bcast, 1, 0), (1, Call.RECV, 0, 0), (1, bcast, 1, 0))


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        (
            ((0, Call.BCAST, 0, 0), (1, Call.BARRIER, 0, 0)),
            "has BARRIER as collective call 1 of rank 1 on communicator 0, where rank 0 has BCAST with root 0",
        ),
        (
            ((0, Call.BARRIER, 0, 1), (0, Call.REDUCE, 0, 1), (2, Call.BARRIER, 0, 1), (2, Call.REDUCE, 1, 1)),
            "has REDUCE with root 1 as collective call 2 of rank 2 on communicator 1, where rank 0 has",
        ),
    ],
)
def test_another_call_or_root_is_named(calls: tuple[tuple[int, Call, int, int], ...], words: str) -> None:
    assert _calls(*calls).startswith(words)


def test_another_size_is_named() -> None:
    words = "has BCAST of 9 bytes with root 1 as collective call 1 of rank 2 on communicator 0, where rank 0 has BCAST "
    bcast, gather = Call.BCAST, Call.GATHERV
    assert _calls((0, bcast, 1, 0, 8), (1, bcast, 1, 0, 8), (2, bcast, 1, 0, 9)) == words + "of 8 bytes with root 1"
    assert not _calls((0, gather, 1, 0, 8), (2, gather, 1, 0, 9))  # each rank has a block of its own size


def test_calls_in_loops_are_not_judged() -> None:
    rows: list[dict[str, object]] = [
        {"rank": 0, "call": Call.LOOP, "size": 2}, {"rank": 0, "call": Call.BARRIER}, {"rank": 0, "call": Call.END},
        {"rank": 1, "call": Call.BARRIER}, {"rank": 1, "call": Call.BARRIER},
    ]  # fmt: skip
    assert not disagreement(of_calls(2, *rows))
