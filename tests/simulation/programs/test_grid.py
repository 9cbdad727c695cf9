"""Grids of ranks: numbering, neighbours, divisions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.simulation.programs.grid import Grid, offsets, unit
from tests.support.laws import law

_sizes = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def test_first_and_last_fastest() -> None:
    assert Grid.first_fastest((2, 3)).places == ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2))
    assert Grid.last_fastest((2, 3)).places == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2))


def test_splits_are_digits_from_the_top() -> None:
    assert Grid.split([(1, 2), (0, 3)], 2).places == ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1))


@law(50)
@given(sizes=_sizes, periodic=st.booleans(), data=st.data())
def test_neighbours_are_mutual(sizes: list[int], periodic: bool, data: st.DataObject) -> None:  # noqa: FBT001
    grid = Grid.first_fastest(sizes, periodic=periodic)
    rank = data.draw(st.integers(0, math.prod(sizes) - 1))
    for offset in offsets(len(sizes)):
        other = grid.beside(rank, offset)
        if other is not None:
            assert grid.beside(other, tuple(-by for by in offset)) == rank
        assert periodic <= (other is not None)


@pytest.mark.parametrize(("dimensions", "number"), [(2, 8), (3, 26)])
def test_offsets_go_over_edges_and_corners(dimensions: int, number: int) -> None:
    assert len(set(offsets(dimensions))) == number
    assert unit(1, dimensions, -1) in offsets(dimensions)
