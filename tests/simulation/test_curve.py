"""A curve is found with few points: both ends, the saturation, and more where latency rises."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.simulation.curve import CurvePoint, next_loads
from eee_testbed.simulation.description import Curve


def _queue(load: float, saturation: float) -> CurvePoint:
    """Latency of a queue that saturates at a load."""
    if load >= saturation:
        return CurvePoint(load, 1e6, True)
    return CurvePoint(load, 20 + 5 * load / (saturation - load), False)


def _curve(curve: Curve, saturation: float) -> list[CurvePoint]:
    points: list[CurvePoint] = []
    while loads := next_loads(curve, points):
        for load in loads:
            assert all(abs(load - point.load) > 1e-3 for point in points), "no load twice"
            points.append(_queue(load, saturation))
    return sorted(points, key=lambda point: point.load)


@given(st.floats(0.1, 1.2), st.integers(8, 40))
def test_saturation_is_found_and_the_points_are_those_asked_for(saturation: float, count: int) -> None:
    points = _curve(Curve(points=count), saturation)
    assert len(points) <= count
    works = [point.load for point in points if not point.saturated]
    full = [point.load for point in points if point.saturated]
    assert max(works) < saturation
    if full:
        assert min(full) - max(works) <= max(0.02, 1.0 / 3 ** (count // 4))
    else:
        assert max(works) == 1.0


def test_points_are_closer_where_latency_rises() -> None:
    points = _curve(Curve(points=20), 0.8)
    works = [point for point in points if not point.saturated]
    steps = [(other.load - one.load, one.load) for one, other in pairwise(works)]
    assert min(steps)[1] > 0.6
    assert max(steps)[1] < 0.5
    # Between neighbours, even the last before saturation, latency hardly more than doubles.
    assert all((other.latency or 0) / (one.latency or 1) < 2.1 for one, other in pairwise(works))


def test_a_network_that_is_saturated_at_once_has_two_points() -> None:
    points = _curve(Curve(points=10, lowest=0.5), 0.1)
    assert [point.load for point in points] == [0.5, 1.0]
    assert next_loads(Curve(points=3), [_queue(0.02, 0.5)]) == [1.0]
