"""Grids of ranks: who sits where, and who is next to whom."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Self

Place = tuple[int, ...]


class Grid:
    """Ranks at the places of a grid; `places` is in the order of the ranks."""

    def __init__(self, places: Iterable[Place], *, periodic: bool = False) -> None:
        self.places = tuple(places)
        self.sizes = tuple(max(axis) + 1 for axis in zip(*self.places, strict=True))
        self._periodic = periodic
        self._ranks = {place: rank for rank, place in enumerate(self.places)}

    @classmethod
    def first_fastest(cls, sizes: Sequence[int], *, periodic: bool = False) -> Self:
        """Rank = x + sizes[0]·(y + sizes[1]·(z + …))."""
        places = (place[::-1] for place in itertools.product(*(range(size) for size in reversed(sizes))))
        return cls(places, periodic=periodic)

    @classmethod
    def last_fastest(cls, sizes: Sequence[int], *, periodic: bool = False) -> Self:
        """Row-major, as MPI_Cart_create: rank = (x·sizes[1] + y)·sizes[2] + z."""
        return cls(itertools.product(*(range(size) for size in sizes)), periodic=periodic)

    @classmethod
    def split(cls, splits: Sequence[tuple[int, int]], dimensions: int) -> Self:
        """Ranks divided again and again: each split is an axis and a number of parts; low parts get low ranks."""
        places: list[list[int]] = [[0] * dimensions]
        for axis, parts in splits:
            places = [
                [*place[:axis], place[axis] * parts + part, *place[axis + 1 :]]
                for place in places
                for part in range(parts)
            ]
        return cls(tuple(place) for place in places)

    def beside(self, rank: int, offset: Sequence[int]) -> int | None:
        """The rank that is `offset` away; None outside a grid that is not periodic."""
        moved = tuple(at + by for at, by in zip(self.places[rank], offset, strict=True))
        if self._periodic:
            moved = tuple(at % size for at, size in zip(moved, self.sizes, strict=True))
        return self._ranks.get(moved)


def offsets(dimensions: int) -> list[Place]:
    """To all neighbours, also over edges and corners: 26 of three dimensions. The first dimension is the fastest."""
    return [offset[::-1] for offset in itertools.product((-1, 0, 1), repeat=dimensions) if any(offset)]


def unit(axis: int, dimensions: int, by: int = 1) -> Place:
    """The offset along one axis."""
    return tuple(by if axis == other else 0 for other in range(dimensions))
