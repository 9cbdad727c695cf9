"""The untimed run refuses what MPI would not forgive."""

from collections.abc import Callable

import pytest

from eee_testbed.simulation.replay.calls import ANY, NOBODY, Call
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from tests.support import untimed


def _program(*ranks: Callable[[ProgramWriter, int], None]) -> ProgramWriter:
    writer = ProgramWriter("some", len(ranks), "")
    for number, write in enumerate(ranks):
        write(writer, number)
    return writer


def _send(to: int, size: int, tag: int = 0) -> Callable[[ProgramWriter, int], None]:
    return lambda writer, rank: writer.rank(rank).send(to, size, tag)


def _receive(source: int, size: int, tag: int = 0) -> Callable[[ProgramWriter, int], None]:
    return lambda writer, rank: writer.rank(rank).receive(source, size, tag)


def _begins(source: int) -> Callable[[ProgramWriter, int], None]:
    def write(writer: ProgramWriter, rank: int) -> None:
        writer.rank(rank).irecv(source, 1)

    return write


def _swaps(other: int) -> Callable[[ProgramWriter, int], None]:
    def write(writer: ProgramWriter, rank: int) -> None:
        writer.rank(rank).send(other, 1)
        writer.rank(rank).receive(other, 1)

    return write


def _reduces(root: int) -> Callable[[ProgramWriter, int], None]:
    return lambda writer, rank: writer.rank(rank).call(Call.REDUCE, peer=root, size=8)


def test_a_message_meets_its_receive() -> None:
    untimed.run(_program(_send(1, 5, 3), _receive(0, 5, 3)).program())
    untimed.run(_program(_send(1, 5), _receive(ANY, 9, ANY)).program())
    untimed.run(_program(_send(NOBODY, 5), _receive(NOBODY, 5)).program())


@pytest.mark.parametrize(
    ("ranks", "why"),
    [
        ((_send(1, 5), _receive(0, 6)), "5 bytes from 0 meet 6"),
        ((_send(1, 9), _receive(ANY, 5, ANY)), "9 bytes from 0 meet 5"),
        ((_send(1, 5, 3), _receive(0, 5, 4)), "wait for ever"),
        ((_send(1, 5), _send(1, 5)), "nobody took"),
        ((_begins(1), _begins(0)), "nothing filled"),
        ((_send(1, 1), _begins(0)), "nobody waited for"),
        ((_reduces(0), _reduces(1)), "where others call"),
        ((_reduces(0), _receive(NOBODY, 0)), "wait for ever"),
    ],
)
def test_what_does_not_match_is_reported(ranks: tuple[Callable[[ProgramWriter, int], None], ...], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        untimed.run(_program(*ranks).program())


def test_two_that_send_before_they_receive_need_buffers() -> None:
    program = _program(_swaps(1), _swaps(0)).program()
    untimed.run(program)
    with pytest.raises(AssertionError, match="wait for ever"):
        untimed.run(program, buffered=False)


def test_loops_are_passed_through() -> None:
    writer = _program(*[lambda *_: None] * 2)
    for rank, passes in ((0, 6), (1, 2)):
        calls = writer.rank(rank)
        calls.loop(passes)
        if rank:
            calls.loop(3)
            calls.receive(0, 1)
            calls.end()
        else:
            calls.send(1, 1)
        calls.end()
    untimed.run(writer.program())
