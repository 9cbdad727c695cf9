"""What the engine takes: the same calls, row by row."""

import struct
from itertools import pairwise

import numpy as np
from hypothesis import given
from polars.testing import assert_frame_equal

from eee_testbed.simulation.replay.program import Program
from eee_testbed.simulation.replay.records import ROW, calls_of, records
from tests.support.laws import law
from tests.support.replay_programs import programs, ring

_FORM = "<HHIiiiIqQQ"


@law(100)
@given(programs())
def test_rows_hold_the_columns(program: Program) -> None:
    made = records(program)
    numbers = np.frombuffer(made.lists, dtype="<i8").tolist()
    assert len(made.first) == program.ranks + 1
    assert made.first[-1] * struct.calcsize(_FORM) == len(made.rows)
    assert made.communicators == [list(ranks) for ranks in program.communicators]
    ranks = [rank for rank, (start, end) in enumerate(pairwise(made.first)) for _ in range(start, end)]
    assert ranks == program.calls["rank"].to_list()
    for row, want in zip(struct.iter_unpack(_FORM, made.rows), program.calls.iter_rows(named=True), strict=True):
        call, flags, communicator, peer, tag, request, length, size, compute_ns, at = row
        found = {"call": call, "flags": flags, "communicator": communicator, "peer": peer, "tag": tag}
        found |= {"request": request, "bytes": size, "compute_ns": compute_ns}
        assert found == {name: want[name] for name in found}
        assert numbers[at : at + length] == (want["sizes"] or [])


@law(100)
@given(programs())
def test_columns_come_back_from_rows(program: Program) -> None:
    made = records(program)
    sizes = program.calls["sizes"]
    want = program.calls.with_columns(sizes.set(sizes.list.len() == 0, None))
    assert_frame_equal(calls_of(made.rows, made.lists, made.first[1:]), want)


def test_a_row_is_48_bytes_without_gaps() -> None:
    assert ROW.itemsize == struct.calcsize(_FORM) == 48


def test_a_rank_without_calls_has_no_rows() -> None:
    program = ring(2)
    alone = Program("x", 3, program.calls, [range(3)], "a test")
    assert records(alone).first[-2:] == [program.calls.height] * 2
