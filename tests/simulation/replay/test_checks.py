"""Checks of whole columns say what a walk over the calls says."""

from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.simulation.replay.calls import ANY, CALLS, COLLECTIVES, NOBODY, RECEIVES, SENDS, STARTS, Call
from eee_testbed.simulation.replay.checks import MOST_BYTES, BadProgram, check_program
from eee_testbed.simulation.replay.program import SCHEMA, Program
from tests.support.laws import law
from tests.support.replay_programs import of_calls, programs


def _check(program: Program) -> None:
    check_program(program.calls, program.ranks, program.communicators)


@law(100)
@given(programs())
def test_what_runs_is_accepted(program: Program) -> None:
    _check(program)


_VALUES = st.sampled_from((-3, -2, -1, 0, 1, 2, 3, 4, 5, 8, 9, 10, 17, 27, 40, 41, 250))
_LISTS = st.none() | st.lists(st.integers(-1, 2), max_size=4)


@law(400)
@given(programs(most_ranks=3, most_actions=5), st.data())
def test_what_is_altered_is_judged_as_by_a_walk(program: Program, data: st.DataObject) -> None:
    if not program.calls.height:
        return
    column = data.draw(st.sampled_from(sorted(SCHEMA)))
    row = data.draw(st.integers(0, program.calls.height - 1))
    values = program.calls[column].to_list()
    values[row] = data.draw(_LISTS) if column == "sizes" else data.draw(_VALUES)
    try:
        altered = program.calls.with_columns(pl.Series(column, values, dtype=SCHEMA[column]))
    except (TypeError, OverflowError):  # it does not fit the column
        return
    bad = Program("x", program.ranks, altered, program.communicators, "a test")
    if _walk(bad):
        _check(bad)
    else:
        with pytest.raises(BadProgram):
            _check(bad)


def _walk(program: Program) -> bool:
    """Whether a program is one, call by call."""
    rows = program.calls.to_dicts()
    if any(after["rank"] < before["rank"] for before, after in pairwise(rows)):
        return False
    for rank in {row["rank"] for row in rows}:
        own = [row for row in rows if row["rank"] == rank]
        if rank >= program.ranks or not all(_call_is_right(row, program) for row in own):
            return False
        if any(row["request"] >= len(own) for row in own) or not _order_is_right(own):
            return False
    return True


def _call_is_right(row: dict[str, Any], program: Program) -> bool:
    if row["call"] not in set(Call) or row["communicator"] >= len(program.communicators):
        return False
    call, members = Call(row["call"]), list(program.communicators[row["communicator"]])
    numbers = [row["bytes"], *(row["sizes"] or ())]
    return (
        row["flags"] <= 3
        and all(0 <= one <= MOST_BYTES for one in numbers)
        and (call not in SENDS | RECEIVES | COLLECTIVES or row["rank"] in members)
        and _peer_is_right(call, row, len(members))
        and (call is not Call.LOOP or row["bytes"] > 0)
        and _length_is_right(call, row, members)
    )


def _peer_is_right(call: Call, row: dict[str, Any], size: int) -> bool:
    if call in SENDS:
        return row["peer"] in (*range(size), NOBODY) and row["tag"] >= 0
    if call in RECEIVES:
        return row["peer"] in (*range(size), NOBODY, ANY) and row["tag"] >= ANY
    return CALLS[call].peer != "root" or row["peer"] in range(size)


def _length_is_right(call: Call, row: dict[str, Any], members: list[int]) -> bool:
    count = len(row["sizes"] or ())
    lengths = {Call.ALLGATHERV: 1, Call.REDUCE_SCATTER: 1, Call.ALLTOALLV: 2, Call.GATHERV: 1, Call.SCATTERV: 1}
    spared = call in (Call.GATHERV, Call.SCATTERV) and members.index(row["rank"]) != row["peer"] and count == 0
    return call is Call.WAIT or spared or count == lengths.get(call, 0) * len(members)


def _order_is_right(own: list[dict[str, Any]]) -> bool:
    """Loops and requests, one pass of each loop."""
    began: set[int] = set()
    loops: list[set[int]] = []
    for row in own:
        call = Call(row["call"])
        if call is Call.LOOP:
            loops.append(set(began))
        elif call is Call.END and (not loops or loops.pop() != began):
            return False
        if not _requests_are_right(call, row, began):
            return False
    return not loops


def _requests_are_right(call: Call, row: dict[str, Any], began: set[int]) -> bool:
    """Whether a call's requests are open or not as they should be; `began` is kept."""
    request = row["request"]
    if call in STARTS or (call in COLLECTIVES and request != -1):
        if request < 0 or request in began:
            return False
        began.add(request)
        return True
    ends = row["sizes"] or () if call is Call.WAIT else (request,) if call is Call.CANCEL else ()
    for one in ends:
        if one not in began:
            return False
        began.remove(one)
    return call is Call.CANCEL or request == -1


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"call": Call.END}], "row 0 (rank 0) the end of a loop that is not begun"),
        ([{"call": Call.LOOP, "size": 1}], "rank 0 a loop without an end"),
        ([{"call": Call.LOOP}, {"call": Call.END}], "a loop of no pass"),
        ([{"call": Call.WAIT, "sizes": [0]}], "row 0 (rank 0) a call that ends the request 0, which is not begun"),
        ([{"call": Call.IRECV, "request": 1}], "the request 1: count requests from 0"),
        ([{"call": Call.ISEND, "peer": 0}], "a call without its request"),
        ([{"call": Call.RECV, "request": 0}], "the request 0 of a call that begins none"),
        ([{"call": Call.BCAST, "peer": NOBODY}], "the root -2"),
        ([{"call": Call.SEND, "peer": ANY}], "the destination -1"),
        ([{"call": Call.RECV, "peer": 7}], "the peer 7, which the communicator 0 does not have"),
        ([{"call": Call.BARRIER, "communicator": 1, "rank": 1}], "the communicator 1, which the rank is not in"),
        ([{"call": Call.ALLTOALLV, "sizes": [1]}], "1 sizes, where"),
        (
            [
                {"call": Call.LOOP, "size": 2},
                {"call": Call.IRECV, "request": 0},
                {"call": Call.END},
                {"call": Call.WAIT, "sizes": [0]},
            ],
            "row 0 (rank 0) a loop whose pass begins the request 0",
        ),
    ],
)
def test_sentences(rows: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(BadProgram) as caught:
        _check(of_calls(2, *(dict(row) for row in rows), communicators=[[0]]))
    assert words in str(caught.value)
