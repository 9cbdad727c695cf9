"""Joules on synthetic meters with known answers: the interval holds the truth as often as it says."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import stdtrit

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.power.energy import energy_of, rounding_sigma, rounding_watt
from eee_testbed.record.samples import PowerSeries

NS = 1_000_000_000
_START_NS = 1_700_000_000 * NS
Load = Callable[[Floats], Floats]


def _meter(
    rng: np.random.Generator, load: Load, seconds: float, *, step: float = 0.0, noise: float = 0.0
) -> PowerSeries:
    """What a meter that refreshes once a second shows of a load when it is asked at 1 Hz."""
    refreshes_s = np.arange(-39.0 + rng.uniform(0, 1), seconds + 39.0)
    values = load(refreshes_s) + noise * rng.standard_normal(refreshes_s.size)
    if step > 0:
        values = np.round(values / step) * step
    asked_s = np.arange(-30.0, seconds + 30.0)
    seen = np.searchsorted(refreshes_s, asked_s, side="right") - 1
    at_ns = _START_NS + (asked_s * NS).astype(np.int64)
    return PowerSeries(at_ns - 5_000_000, at_ns + 5_000_000, values[seen], step, np.zeros(asked_s.size, bool))


def _flat(watt: float) -> Load:
    return lambda time_s: np.full_like(time_s, watt)


def _stairs(base: float, at_s: Floats, heights: Floats) -> Load:
    return lambda time_s: base + sum((h * (time_s >= a) for a, h in zip(at_s, heights, strict=True)), np.zeros(1))


_ROUNDS = 150


@pytest.mark.parametrize(
    ("step", "noise", "slack"),
    [(0.0, 0.3, 1.6), (1.0, 0.0, 3.0), (1.0, 0.1, 4.0), (1.0, 0.5, 2.0)],
)
def test_mean_power_of_a_steady_load(step: float, noise: float, slack: float) -> None:
    """Coarse meters without noise err by the same in every reading, which no averaging takes away."""
    rng = np.random.default_rng(1)
    errors, halves, held = [], [], 0
    for _ in range(_ROUNDS):
        watt = rng.uniform(40.0, 41.0)
        series = _meter(rng, _flat(watt), 100.0, step=step, noise=noise)
        found = energy_of(series, _START_NS, _START_NS + 100 * NS)
        errors.append(found.energy_joule.value - 100.0 * watt)
        halves.append(found.energy_joule.half_width)
        held += found.energy_joule.holds(100.0 * watt)
    assert held / _ROUNDS >= 0.90
    assert np.mean(halves) <= slack * 1.96 * np.std(errors)  # and it is not wider than necessary


def test_a_window_at_an_edge_of_the_load_is_as_uncertain_as_its_clock() -> None:
    rng = np.random.default_rng(4)
    load = _stairs(40.0, np.array([60.0]), np.array([100.0]))
    series = _meter(rng, load, 60.0, step=0.1, noise=0.05)
    sharp = energy_of(series, _START_NS, _START_NS + 60 * NS)
    vague = energy_of(series, _START_NS, _START_NS + 60 * NS, clock_bound_ns=2 * NS)
    assert vague.parts_joule["clock"] > 5 * sharp.parts_joule["clock"]
    assert vague.energy_joule.half_width > 100.0


def test_missing_readings_are_reported_and_widen_the_interval() -> None:
    rng = np.random.default_rng(5)
    load = _stairs(40.0, np.array([20.0, 40.0]), np.array([10.0, -10.0]))
    series = _meter(rng, load, 60.0, step=0.1, noise=0.1)
    whole = energy_of(series, _START_NS, _START_NS + 60 * NS)
    seconds = (series.sent_ns - _START_NS) / 1e9
    keep = (seconds < 15.0) | (seconds > 35.0)
    holed = PowerSeries(
        series.sent_ns[keep], series.received_ns[keep], series.power_watt[keep], 0.1, series.stale[keep]
    )
    found = energy_of(holed, _START_NS, _START_NS + 60 * NS)
    assert whole.gap_s == 0.0
    assert found.gap_s == pytest.approx(21.0, abs=1.5)
    assert found.energy_joule.holds(60.0 * 40.0 + 20.0 * 10.0)
    assert found.energy_joule.half_width > 5 * whole.energy_joule.half_width


def _polled(watt: Floats, keep: NDArray[np.bool_] | None = None) -> PowerSeries:
    """A reading each second from 10 s before the start on, with answers at once; without those not kept."""
    at_ns = _START_NS + (np.arange(watt.size) - 10) * NS
    kept = np.ones(watt.size, bool) if keep is None else keep
    return PowerSeries(at_ns[kept], at_ns[kept], watt[kept], 0.1, np.zeros(int(kept.sum()), bool))


def test_degrees_of_freedom_are_fresh_readings_however_often_a_meter_is_polled() -> None:
    """Two steps of 1 W at refreshes of 10 s, polled each second: two degrees of freedom, not 40."""
    watt = 40.0 + np.isin(np.arange(60) // 10, [2])
    found = energy_of(_polled(watt), _START_NS, _START_NS + 40 * NS)
    assert found.parts_joule["noise"] == pytest.approx(stdtrit(2, 0.975) / 1.959964)


def test_a_gap_costs_its_length_times_what_the_power_varied_by() -> None:
    seconds = np.arange(80) - 10
    watt = 40.0 + 6.0 * (seconds >= 10)
    found = energy_of(_polled(watt, (seconds <= 20) | (seconds >= 35)), _START_NS, _START_NS + 60 * NS)
    assert found.gap_s == 15.0
    assert found.parts_joule["gaps"] == pytest.approx(15.0 * 6.0 / np.sqrt(12.0))


def test_a_gap_is_no_noise() -> None:
    """The power is another one after it, and steady before and after."""
    seconds = np.arange(80) - 10
    watt = 40.0 + 6.0 * (seconds >= 30)
    found = energy_of(_polled(watt, (seconds <= 25) | (seconds >= 35)), _START_NS, _START_NS + 60 * NS)
    assert found.parts_joule["gaps"] > 0.0
    assert found.parts_joule["noise"] == 0.0


@pytest.mark.parametrize(("first_s", "last_s", "gap_s"), [(-10, 48, 12.0), (8, 70, 8.0), (8, 48, 20.0), (-10, 58, 0.0)])
def test_a_window_that_outlasts_its_readings_has_a_gap(first_s: int, last_s: int, gap_s: float) -> None:
    """Of more than two and a half readings, as between two of them."""
    seconds = np.arange(81) - 10
    watt = 40.0 + 6.0 * (seconds >= 30)
    found = energy_of(_polled(watt, (seconds >= first_s) & (seconds <= last_s)), _START_NS, _START_NS + 60 * NS)
    assert found.gap_s == gap_s
    assert found.parts_joule["gaps"] == pytest.approx(gap_s * 6.0 / np.sqrt(12.0))


def test_the_bound_of_a_windows_times_is_a_maximum_error() -> None:
    seconds = np.arange(80) - 10
    found = energy_of(_polled(40.0 + 6.0 * (seconds >= 30)), _START_NS, _START_NS + 60 * NS, clock_bound_ns=3 * NS)
    assert found.parts_joule["clock"] == pytest.approx(3.0 * 6.0 / np.sqrt(3.0))


def test_noise_of_a_third_of_a_step_leaves_a_part_of_the_rounding() -> None:
    """Readings on three levels; what rounding adds to their scatter is not noise that would average it out."""
    watt = np.round(40.0 + 0.35 * np.random.default_rng(10).standard_normal(4_000))
    assert rounding_watt(watt, 1.0) > 0.5 * rounding_sigma(1.0, 0.35)
    assert rounding_watt(watt, 1.0) < 0.5 * rounding_sigma(1.0, 0.0)


def test_windows_that_no_reading_covers_are_refused() -> None:
    series = _meter(np.random.default_rng(7), _flat(40.0), 10.0)
    with pytest.raises(ValueError, match="has to end after it begins"):
        energy_of(series, _START_NS, _START_NS)
    with pytest.raises(ValueError, match="no readings"):
        energy_of(series, _START_NS + 500 * NS, _START_NS + 510 * NS)
