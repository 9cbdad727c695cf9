"""Where a series becomes steady, and how well its mean is known."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import sem, t

from eee_testbed.simulation.steadiness import MeanInterval, batch_means, drifts, mser, narrow_enough


def test_a_start_that_differs_is_left_out() -> None:
    rng = np.random.default_rng(1)
    series = np.concatenate([np.linspace(50, 10, 30), np.full(170, 10.0)]) + rng.normal(0, 0.5, 200)
    assert 25 <= mser(series.tolist()) <= 35


def test_a_steady_series_is_kept() -> None:
    rng = np.random.default_rng(2)
    assert mser(rng.normal(10, 1, 400).tolist()) < 40


def test_a_series_that_grows_to_its_end_has_no_steady_part() -> None:
    assert mser([float(n) for n in range(100)]) == 50


@given(st.lists(st.floats(-1e6, 1e6), max_size=60))
def test_at_most_half_is_left_out(series: list[float]) -> None:
    assert 0 <= mser(series) <= len(series) // 2


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        # Neighbours depend on each other (AR(1) with mean 20).
        noise = rng.normal(0, 1, 2000)
        series = np.empty(2000)
        last = 0.0
        for index, one in enumerate(noise):
            last = 0.7 * last + one
            series[index] = 20 + last
        counts = rng.integers(50, 150, 2000)
        found = batch_means((series * counts).tolist(), counts.tolist())
        assert found is not None
        held += abs(found.mean - 20) <= found.half_width
    assert 0.90 <= held / 400 <= 0.99


def test_the_interval_is_students() -> None:
    values = np.random.default_rng(4).normal(10, 1, 20)
    found = batch_means(values.tolist(), [1.0] * 20)
    assert found is not None
    low, high = t.interval(0.95, 19, loc=values.mean(), scale=sem(values))
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx((low, high))


def test_too_few_batches_have_no_interval() -> None:
    assert batch_means([1.0] * 19, [1.0] * 19) is None
    assert batch_means([0.0] * 20, [0.0] * 20) is None
    found = batch_means([3.0] * 20, [1.5] * 20)
    assert found is not None
    assert (found.mean, found.half_width, found.percent) == (pytest.approx(2), pytest.approx(0), pytest.approx(0))


def test_a_steady_series_hardly_ever_drifts_and_a_trend_does() -> None:
    rng = np.random.default_rng(5)
    steady = [drifts(rng.normal(10, 1, 400).tolist(), [1.0] * 400) for _ in range(400)]
    assert sum(steady) <= 4
    slope = np.linspace(0, 2, 400)
    assert all(drifts((rng.normal(10, 1, 400) + slope).tolist(), [1.0] * 400) for _ in range(40))


def test_a_constant_series_does_not_drift_and_too_short_a_one_is_not_trusted() -> None:
    assert not drifts([0.1 + 0.2] * 40, [1.0] * 40)
    assert drifts([1.0] * 19, [1.0] * 19)


def _ends(series: npt.NDArray[np.float64]) -> MeanInterval:
    """The interval with which a point's measurement ends, looked at after every 40 batches."""
    looks: list[MeanInterval | None] = []
    for count in range(40, len(series) + 1, 40):
        looks.append(batch_means(series[:count].tolist(), [1.0] * count))
        if narrow_enough(looks, 1.0):
            break
    assert looks[-1] is not None
    return looks[-1]


def test_intervals_hold_the_mean_though_the_measurement_ends_when_they_are_narrow() -> None:
    rng = np.random.default_rng(1)
    ends = [_ends(rng.normal(20, 2, 2400)) for _ in range(400)]
    assert sum(abs(one.mean - 20) <= one.half_width for one in ends) / 400 >= 0.92
