"""Numbers of programs that can be counted by hand."""

import pytest
from hypothesis import given

from eee_testbed.simulation.replay.calls import ANY, COLLECTIVES, NOBODY, SENDS, Call
from eee_testbed.simulation.replay.loops import innermost_loops, repetitions, unrolled
from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from eee_testbed.simulation.replay.summary import summary_of
from tests.support.laws import law
from tests.support.replay_programs import programs, ring


def test_a_ring() -> None:
    found = summary_of(ring(ranks=4, size=1000, passes=10))
    assert (found.ranks, found.communicators, found.calls) == (4, 1, 4 * (10 * 3 + 1))
    assert found.by_call == {"isend": 40, "irecv": 40, "wait": 40, "allreduce": 4}
    assert (found.messages, found.byte) == (40, 40_000)
    assert [(one.source, one.target, one.messages, one.byte) for one in found.pairs] == [
        (rank, (rank + 1) % 4, 10, 10_000) for rank in range(4)
    ]
    assert (found.partners.least, found.partners.most, found.byte_by_rank.median) == (1, 1, 10_000)
    assert [(one.call, one.ranks, one.byte, one.times) for one in found.collectives] == [("allreduce", 4, 8, 1)]
    assert (found.compute_ns.least, found.compute_ns.most, found.compute_share) == (5100, 5100, None)


def test_peers_are_counted_in_ranks_of_the_world() -> None:
    writer = ProgramWriter("x", 4, "a test")
    number = writer.communicator([3, 1])
    writer.rank(1).send(0, 10, communicator=number)
    writer.rank(1).send(NOBODY, 10)
    writer.rank(3).receive(1, 10, communicator=number)
    writer.recorded(1000)
    writer.rank(3).compute(400)
    writer.rank(3).finish()
    found = summary_of(writer.program())
    assert [(one.source, one.target) for one in found.pairs] == [(1, 3)]
    assert found.compute_share == pytest.approx(0.1)
    assert (found.gaps, found.short_gaps) == (1, 1)


def test_nothing() -> None:
    found = summary_of(ProgramWriter("x", 2, "a test").program())
    assert (found.calls, found.pairs, found.collectives, found.gaps) == (0, (), (), 0)


@law(80)
@given(programs())
def test_counts_are_those_of_the_unrolled_program(program: Program) -> None:
    rows = list(unrolled(program.calls.to_dicts()))
    found = summary_of(program)
    sends = [row for row in rows if row["call"] in SENDS and row["peer"] != NOBODY]
    assert (found.messages, found.byte) == (len(sends), sum(row["bytes"] for row in sends))
    assert found.calls == sum(row["call"] != Call.COMPUTE for row in rows)
    whole = [row for row in rows if row["call"] in COLLECTIVES and row["peer"] != ANY]
    assert sum(found.by_call.get(Call(call).name.lower(), 0) for call in {row["call"] for row in whole}) == len(whole)


def test_loops_in_loops() -> None:
    writer = ProgramWriter("x", 1, "a test")
    rank = writer.rank(0)
    rank.call(Call.BARRIER)
    rank.loop(3)
    rank.loop(5)
    rank.call(Call.BARRIER)
    rank.end()
    rank.call(Call.BARRIER)
    rank.end()
    rank.call(Call.BARRIER)
    calls = writer.program().calls
    assert repetitions(calls).tolist() == [1, 1, 3, 15, 15, 3, 3, 1]
    assert innermost_loops(calls["call"].to_numpy()).tolist() == [-1, 1, 2, 2, 1, 1, -1, -1]
