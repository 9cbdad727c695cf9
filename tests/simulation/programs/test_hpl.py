"""HPL: traffic by its closed form, each broadcast gives the panel to all, U reaches every row of ranks."""

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.simulation.programs.hpl import Hpl, generate, owned
from eee_testbed.simulation.programs.hpl_broadcast import ring_children
from eee_testbed.simulation.programs.hpl_spread import roll, spread
from tests.support.laws import law
from tests.support.traffic import sent

_RINGS = ("1ring", "1ringM", "2ring", "2ringM")
_DOUBLE = 8


def _bytes(order: int, block: int, rows: int, columns: int) -> float:
    """Panels along rows, U and pivot rows along columns; rows are a power of two."""
    steps = math.log2(rows)
    doubles = 0.0
    for begin in range(0, order, block):
        wide, left = min(block, order - begin), order - begin
        doubles += (columns - 1) * ((left - wide) * wide + rows * (wide * wide + wide + 1))
        doubles += wide * (left + 1 - wide) * (rows - 1 + steps / 2)
        doubles += wide * (steps * rows * (wide + 4) + (rows - 1) * wide)
    return doubles * _DOUBLE


@pytest.mark.parametrize("kind", _RINGS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 6), (4, 1), (4, 3), (2, 8)])
def test_traffic_is_that_of_the_closed_form(kind: Any, rows: int, columns: int) -> None:
    found = generate(Hpl(order=1000, block=50, rows=rows, columns=columns, broadcast=kind))
    assert sent(found)[1] == pytest.approx(_bytes(1000, 50, rows, columns), rel=1e-3)


@pytest.mark.parametrize(("rows", "columns"), [(2, 8), (4, 4), pytest.param(8, 8, marks=pytest.mark.slow)])
def test_large_problems_send_4_n_squared_times_q_and_p(rows: int, columns: int) -> None:
    order = 20_000
    found = generate(Hpl(order=order, block=40, rows=rows, columns=columns))
    per_row = 1 + (math.log2(rows) / 2 - 1) / rows
    assert sent(found)[1] == pytest.approx(4 * order**2 * (columns - 1 + per_row * rows), rel=0.08)


@pytest.mark.parametrize(
    ("rows", "columns", "gigabytes"),
    [(8, 16, 10.83), (16, 16, 16.47), pytest.param(16, 32, 25.98, marks=pytest.mark.slow)],
)
def test_the_default_sends_what_table_5_of_andujar_has(rows: int, columns: int, gigabytes: float) -> None:
    assert sent(generate(Hpl(rows=rows, columns=columns)))[1] / 1e9 == pytest.approx(gigabytes, rel=0.012)


def test_long_broadcasts_send_about_twice_a_panel() -> None:
    """Spread and roll in Q pieces: log2(Q)/2 + Q - 1 panels; modified among Q - 1, after one whole panel."""
    one_ring, long = (
        sent(generate(Hpl(order=640, block=32, rows=1, columns=8, broadcast=kind)))[1] for kind in ("1ring", "blong")
    )
    assert long / one_ring == pytest.approx((8 - 1 + 1.5) / 7, rel=0.01)
    modified = sent(generate(Hpl(order=630, block=30, rows=1, columns=5, broadcast="blongM")))[1]
    ring = sent(generate(Hpl(order=630, block=30, rows=1, columns=5)))[1]
    assert modified / ring == pytest.approx((1 + 4 - 1 + 1) / 4, rel=0.01)


@pytest.mark.parametrize("kind", _RINGS)
@pytest.mark.parametrize("columns", range(2, 12))
def test_a_ring_reaches_every_column_once(kind: Any, columns: int) -> None:
    children = ring_children(kind, columns)
    assert sorted(child for sent_to in children.values() for child in sent_to) == list(range(1, columns))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("1ring", {0: (1,), 1: (2,), 2: (3,), 3: (4,), 4: (5,), 5: ()}),
        ("1ringM", {0: (1, 2), 1: (), 2: (3,), 3: (4,), 4: (5,), 5: ()}),
        ("2ring", {0: (1, 3), 1: (2,), 2: (), 3: (4,), 4: (5,), 5: ()}),
        ("2ringM", {0: (1, 2, 3), 1: (), 2: (), 3: (4,), 4: (5,), 5: ()}),
    ],
)
def test_rings_of_six_columns(kind: Any, expected: dict[int, tuple[int, ...]]) -> None:
    assert ring_children(kind, 6) == expected


@law(50)
@given(number=st.integers(1, 40))
def test_spread_and_roll_give_all_pieces_to_all(number: int) -> None:
    pieces = [set(range(number)) if position == 0 else set[int]() for position in range(number)]
    left = [list(spread(position, number)) for position in range(number)]
    while any(left):
        before = sum(map(len, left))
        for position, messages in enumerate(left):
            if messages and messages[0].sends:
                taken = left[messages[0].partner]
                if taken and not taken[0].sends and taken[0].partner == position:
                    message, same = messages.pop(0), taken.pop(0)
                    assert (message.begin, message.end) == (same.begin, same.end)
                    assert set(range(message.begin, message.end)) <= pieces[position]
                    pieces[message.partner] |= set(range(message.begin, message.end))
        assert sum(map(len, left)) < before
    assert all(position in pieces[position] for position in range(number))
    rolled = [{position} | {step.received for step in roll(position, number)} for position in range(number)]
    assert all(one == set(range(number)) for one in rolled)


@law(100)
@given(order=st.integers(1, 300), block=st.integers(1, 40), parts=st.integers(1, 9), begin=st.integers(0, 300))
def test_blocks_are_dealt_out_in_turn(order: int, block: int, parts: int, begin: int) -> None:
    begin = min(begin, order)
    for index in range(parts):
        assert owned(begin, order, block, index, parts) == sum(
            at // block % parts == index for at in range(begin, order)
        )


def test_the_first_panels_are_those_of_the_whole() -> None:
    whole, first = (generate(Hpl(order=1000, block=50, rows=2, columns=4, panels=panels)) for panels in (20, 3))
    assert generate(Hpl(order=1000, block=50, rows=2, columns=4)).calls.equals(whole.calls)
    for rank in range(8):
        mine, theirs = (one.calls.filter(pl.col("rank") == rank) for one in (first, whole))
        assert 0 < mine.height < theirs.height
        # The last row is the computing that is left at the end.
        assert mine.head(-1).equals(theirs.head(mine.height - 1))
