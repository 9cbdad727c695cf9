"""Loops are kept, and make what their passes one by one would make."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.simulation.programs.loops import repeat, run_cycles, run_steps
from eee_testbed.simulation.replay.calls import Call
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from tests.support.laws import law
from tests.support.traffic import busiest_ns, made


def _writer() -> ProgramWriter:
    return ProgramWriter("some", 1, "")


@law(100)
@given(steps=st.integers(0, 50), periods=st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_cycles_make_every_step(steps: int, periods: Sequence[int]) -> None:
    writer = _writer()
    calls = writer.rank(0)

    def write(due: tuple[bool, ...]) -> None:
        calls.send(sum(1 << number for number, is_due in enumerate(due) if is_due), 1)

    run_cycles(calls, steps, periods, write)
    found = dict(made(writer.program()).group_by("peer").agg(times="times").select("peer", "times").iter_rows())
    wanted: dict[int, int] = {}
    for step in range(1, steps + 1):
        kind = sum(1 << number for number, period in enumerate(periods) if step % period == 0)
        wanted[kind] = wanted.get(kind, 0) + 1
    assert {kind: sum(times) for kind, times in found.items()} == wanted


def test_equal_steps_are_a_loop() -> None:
    writer = _writer()
    calls = writer.rank(0)
    run_steps(calls, [1, 1, 1, 2], lambda peer: calls.send(peer, 1))
    assert writer.program().calls["call"].to_list() == [Call.LOOP, Call.SEND, Call.END, Call.SEND]


def test_computing_counts_as_often_as_its_loop() -> None:
    writer = _writer()
    calls = writer.rank(0)

    def inner() -> None:
        calls.compute(5)

    def outer() -> None:
        calls.compute(100)
        repeat(calls, 3, inner)
        calls.send(0, 1)

    repeat(calls, 2, outer)
    calls.compute(1)
    calls.finish()
    assert busiest_ns(writer.program()) == 2 * (100 + 3 * 5) + 1
    repeat(calls, 0, outer)
    assert busiest_ns(writer.program()) == 231
