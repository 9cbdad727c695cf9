"""TCEP's closed forms against what the paper prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regulation.path_diversity import least_active_share, other_links, path_count, path_gains, root_links


def test_figure_3() -> None:
    """56 paths against 40, if a pair counts with two at most; in full 61 against 51 and more."""
    root = root_links(8)
    on_one = (*root, *((1, other) for other in range(2, 8)))
    triangles = (*root, (1, 2), (2, 3), (1, 3), (4, 5), (5, 6), (4, 6))
    assert (path_count(8, on_one, 2), path_count(8, triangles, 2)) == (56, 40)
    assert (path_count(8, on_one), path_count(8, triangles)) == (61, 52)
    assert other_links(8)[:6] == tuple((1, other) for other in range(2, 8))


def test_figure_4() -> None:
    """32 routers, 10,000 placements; none, 59 and all of the other links."""
    detours = path_gains(32, (0, 59, 465), minimal=False)
    assert detours[0].concentrated == detours[0].fewest == detours[0].most == 31 * 30 // 2
    assert detours[1].concentrated / detours[1].fewest == pytest.approx(1.93, abs=0.03)
    assert detours[1].concentrated / detours[1].mean == pytest.approx(1.86, abs=0.01)
    assert detours[2].concentrated == detours[2].mean
    every = path_gains(32, (59,))[0]
    assert every.concentrated / every.mean == pytest.approx(1.77, abs=0.01)
    assert every.concentrated == path_count(32, (*root_links(32), *other_links(32)[:59]))


@given(routers=st.integers(3, 8), data=st.data())
def test_degrees_give_the_number_of_paths(routers: int, data: st.DataObject) -> None:
    """The count by degrees is the count pair by pair; and no placement has more paths than concentration."""
    extra = data.draw(st.integers(0, len(other_links(routers))))
    gain = path_gains(routers, (extra,), samples=20, seed=data.draw(st.integers(0, 99)))[0]
    links = (*root_links(routers), *other_links(routers)[:extra])
    assert gain.concentrated == path_count(routers, links)
    assert gain.fewest <= gain.mean <= gain.most


def test_lower_bound_of_figure_12() -> None:
    """0.5816 at 0.41, below which TCEP cannot go: it had 0.117 more at most, so about 0.70."""
    assert least_active_share(32, 1024, 0.41) == pytest.approx(0.5816, abs=1e-4)
    assert least_active_share(32, 1024, 0.0) == 2 / 32
    assert least_active_share(32, 1024, 1.0) == 1.0


@given(load=st.floats(0.001, 1))
def test_the_lower_bound_solves_the_inequality(load: float) -> None:
    share = least_active_share(32, 1024, load)
    crossing = 1024 * load / 2 * (share + 2 * (1 - share))
    assert crossing <= 32**2 / 2 * share * (1 + 1e-9)
    if share > 2 / 32:
        assert crossing == pytest.approx(32**2 / 2 * share)
