"""Points of a load together: intervals shrink with seeds and grow with draws."""

from dataclasses import replace

import pytest

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.point import Point, simulate_point
from eee_testbed.simulation.summaries import summaries


@pytest.fixture(scope="module")
def point() -> Point:
    description = Description.model_validate(
        {
            "name": "a",
            "network": {"kind": "torus", "radix": [3]},
            "routing": "dor",
            "router": {"vcs": 2},
            "loads": [0.1],
        }
    )
    return simulate_point(description, 0.1, 1)


def _with(point: Point, **changes: object) -> Point:
    return replace(point, **changes)  # type: ignore[arg-type]


def test_seeds_narrow_the_interval(point: Point) -> None:
    seeds = [_with(point, seed=seed, latency=20.0 + seed, latency_half_width=2.0) for seed in range(4)]
    (one,) = summaries(seeds)
    assert one.latency is not None
    assert (one.latency.value, one.latency.half_width) == (21.5, pytest.approx(1.0))
    assert one.count == 4


def test_runs_without_intervals_have_that_of_their_spread(point: Point) -> None:
    seeds = [_with(point, seed=seed, latency=20.0 + seed, latency_half_width=None) for seed in range(3)]
    (one,) = summaries(seeds)
    assert one.latency is not None
    assert (one.latency.value, one.latency.half_width) == (21.0, pytest.approx(4.303 / 3**0.5, rel=1e-3))
    (alone,) = summaries(seeds[:1])
    assert alone.latency is not None
    assert alone.latency.half_width == 0.0


def test_draws_widen_it_by_their_spread(point: Point) -> None:
    middle = _with(point, latency=20.0, latency_half_width=0.3)
    draws = [_with(middle, draw=draw, latency=20.0 + offset) for draw, offset in enumerate((-1.0, 0.0, 1.0), start=1)]
    (one,) = summaries([middle, *draws])
    assert one.latency is not None
    # Student's t with two degrees of freedom times a standard deviation of 1.
    assert (one.latency.value, one.latency.half_width) == (20.0, pytest.approx((4.303**2 + 0.09) ** 0.5, rel=1e-3))
    # Two draws say nothing about a spread.
    (few,) = summaries([middle, *draws[:2]])
    assert few.latency is not None
    assert few.latency.half_width == pytest.approx(0.3)


def test_a_saturated_point_makes_its_load_saturated(point: Point) -> None:
    low, high = summaries([_with(point, load=0.9, saturated=True), point, _with(point, load=0.9, seed=2)])
    assert (low.load, high.load, high.saturated, high.latency) == (0.1, 0.9, True, None)


def test_shares_add_up(point: Point) -> None:
    shares = point.shares
    assert shares.on + shares.low_power + shares.off == pytest.approx(1.0)
