"""Joules on synthetic meters with known answers: the interval holds the truth as often as it says."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import stdtrit

from analysis.interval import Floats
from analysis.power.energy import MeterTraits, energy_of, rounding_sigma, rounding_watt
from analysis.power.meter_lag import lag_of
from record.samples import PowerSeries

NS = 1_000_000_000
_START_NS = 1_700_000_000 * NS
Load = Callable[[Floats], Floats]


def _filtered(power_watt: Floats, dt_s: float, lag_s: float) -> Floats:
    """A low pass of first order."""
    if lag_s <= 0:
        return power_watt
    keep, shown, now = np.exp(-dt_s / lag_s), np.empty_like(power_watt), power_watt[0]
    for n, watt in enumerate(power_watt):
        now = watt + (now - watt) * keep
        shown[n] = now
    return shown


def _meter(
    rng: np.random.Generator,
    load: Load,
    seconds: float,
    *,
    step: float = 0.0,
    noise: float = 0.0,
    lag: float = 0.0,
    refresh: float = 1.0,
) -> tuple[PowerSeries, float]:
    """What a meter shows of a load when it is asked at 1 Hz, and how old that is on average."""
    dt = 0.05
    time_s = np.arange(-40.0, seconds + 40.0, dt)
    shown = _filtered(load(time_s), dt, lag)
    refreshes_s = np.arange(-39.0 + rng.uniform(0, refresh), seconds + 39.0, refresh)
    values = np.interp(refreshes_s, time_s, shown) + noise * rng.standard_normal(refreshes_s.size)
    if step > 0:
        values = np.round(values / step) * step
    asked_s = np.arange(-30.0, seconds + 30.0)
    seen = np.searchsorted(refreshes_s, asked_s, side="right") - 1
    age_s = float(np.mean(asked_s - refreshes_s[seen]))
    at_ns = _START_NS + (asked_s * NS).astype(np.int64)
    return PowerSeries(at_ns - 5_000_000, at_ns + 5_000_000, values[seen], step, np.zeros(asked_s.size, bool)), age_s


def _flat(watt: float) -> Load:
    return lambda time_s: np.full_like(time_s, watt)


def _stairs(base: float, at_s: Floats, heights: Floats) -> Load:
    return lambda time_s: base + sum((h * (time_s >= a) for a, h in zip(at_s, heights, strict=True)), np.zeros(1))


_ROUNDS = 150


@pytest.mark.parametrize(
    ("step", "noise", "refresh", "slack"),
    [(0.0, 0.3, 1.0, 1.6), (1.0, 0.0, 1.0, 3.0), (1.0, 0.1, 1.0, 4.0), (1.0, 0.5, 1.0, 2.0), (0.1, 0.5, 3.0, 2.0)],
)
def test_mean_power_of_a_steady_load(step: float, noise: float, refresh: float, slack: float) -> None:
    """Coarse meters without noise err by the same in every reading, which no averaging takes away."""
    rng = np.random.default_rng(1)
    errors, halves, held = [], [], 0
    for _ in range(_ROUNDS):
        watt = rng.uniform(40.0, 41.0)
        series, _ = _meter(rng, _flat(watt), 100.0, step=step, noise=noise, refresh=refresh)
        found = energy_of(series, _START_NS, _START_NS + 100 * NS, MeterTraits(refresh_s=refresh))
        errors.append(found.energy_joule.value - 100.0 * watt)
        halves.append(found.energy_joule.half_width)
        held += found.energy_joule.holds(100.0 * watt)
    assert held / _ROUNDS >= 0.90
    assert np.mean(halves) <= slack * 1.96 * np.std(errors)  # and it is not wider than necessary


def test_mean_power_of_a_varying_load_behind_a_lagging_meter() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(_ROUNDS):
        at_s, heights = np.sort(rng.uniform(0.0, 60.0, 3)), rng.uniform(-8.0, 8.0, 3)
        series, age_s = _meter(rng, _stairs(40.0, at_s, heights), 60.0, step=0.1, noise=0.1, lag=2.0)
        true = 40.0 * 60.0 + float(np.sum(heights * (60.0 - at_s)))
        known = MeterTraits(lag_s=2.0 + age_s + rng.uniform(-1.0, 1.0), lag_bound_s=1.0)
        held += energy_of(series, _START_NS, _START_NS + 60 * NS, known).energy_joule.holds(true)
    assert held / _ROUNDS >= 0.92


def test_ignoring_the_meters_lag_gives_a_wrong_mean_outside_its_interval() -> None:
    rng = np.random.default_rng(3)
    series, _ = _meter(rng, _stairs(40.0, np.array([59.0]), np.array([50.0])), 60.0, step=0.1, noise=0.05, lag=4.0)
    found = energy_of(series, _START_NS + 58 * NS, _START_NS + 62 * NS)
    assert not found.energy_joule.holds(40.0 * 4 + 50.0 * 3)


def test_a_window_at_an_edge_of_the_load_is_as_uncertain_as_its_clock() -> None:
    rng = np.random.default_rng(4)
    load = _stairs(40.0, np.array([60.0]), np.array([100.0]))
    series, _ = _meter(rng, load, 60.0, step=0.1, noise=0.05)
    sharp = energy_of(series, _START_NS, _START_NS + 60 * NS)
    vague = energy_of(series, _START_NS, _START_NS + 60 * NS, clock_bound_ns=2 * NS)
    assert vague.parts_joule["clock"] > 5 * sharp.parts_joule["clock"]
    assert vague.energy_joule.half_width > 100.0


def test_missing_readings_are_reported_and_widen_the_interval() -> None:
    rng = np.random.default_rng(5)
    load = _stairs(40.0, np.array([20.0, 40.0]), np.array([10.0, -10.0]))
    series, _ = _meter(rng, load, 60.0, step=0.1, noise=0.1)
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
    """Two steps of 1 W at refreshes of 10 s: their differences count for 10 s each, with two degrees of freedom."""
    watt = 40.0 + np.isin(np.arange(60) // 10, [2])
    found = energy_of(_polled(watt), _START_NS, _START_NS + 40 * NS, MeterTraits(refresh_s=10.0))
    assert found.parts_joule["noise"] == pytest.approx(10.0 * stdtrit(2, 0.975) / 1.959964)


def test_a_gap_costs_its_length_times_what_the_power_varied_by() -> None:
    seconds = np.arange(80) - 10
    watt = 40.0 + 6.0 * (seconds >= 10)
    found = energy_of(_polled(watt, (seconds <= 20) | (seconds >= 35)), _START_NS, _START_NS + 60 * NS)
    assert found.gap_s == 15.0
    assert found.parts_joule["gaps"] == pytest.approx(15.0 * 6.0 / np.sqrt(12.0))


def test_a_meters_class_and_the_bounds_of_lag_and_clock_are_maximum_errors() -> None:
    seconds = np.arange(80) - 10
    series = _polled(40.0 + 6.0 * (seconds >= 30))
    found = energy_of(
        series, _START_NS, _START_NS + 60 * NS, MeterTraits(lag_bound_s=2.0, accuracy_share=0.01), clock_bound_ns=3 * NS
    )
    parts = found.parts_joule
    assert parts["accuracy"] == pytest.approx(0.01 * found.energy_joule.value / np.sqrt(3.0))
    assert parts["lag"] == pytest.approx(2.0 * 6.0 / np.sqrt(3.0))
    assert parts["clock"] == pytest.approx(3.0 * 6.0 / np.sqrt(3.0))


def test_noise_of_a_third_of_a_step_leaves_a_part_of_the_rounding() -> None:
    """Readings on three levels; what rounding adds to their scatter is not noise that would average it out."""
    watt = np.round(40.0 + 0.35 * np.random.default_rng(10).standard_normal(4_000))
    assert rounding_watt(watt, 1.0) > 0.5 * rounding_sigma(1.0, 0.35)
    assert rounding_watt(watt, 1.0) < 0.5 * rounding_sigma(1.0, 0.0)


def test_windows_that_no_reading_covers_are_refused() -> None:
    series, _ = _meter(np.random.default_rng(7), _flat(40.0), 10.0)
    with pytest.raises(ValueError, match="has to end after it begins"):
        energy_of(series, _START_NS, _START_NS)
    with pytest.raises(ValueError, match="no readings"):
        energy_of(series, _START_NS + 500 * NS, _START_NS + 510 * NS)


# -- the lag itself


@pytest.mark.parametrize(
    ("steps", "lag", "refresh", "together"), [(1, 2.0, 1.0, False), (6, 2.0, 1.0, False), (6, 1.0, 3.0, True)]
)
def test_a_lag_is_inside_its_interval(steps: int, lag: float, refresh: float, *, together: bool) -> None:
    """`together`: all steps fall on one phase of the meter's refresh, which the interval has to account for."""
    rng = np.random.default_rng(8)
    held, halves = 0, []
    for _ in range(40):
        at_s = np.array([30.0 + 60.0 * n + (0.4 if together else rng.uniform(0, refresh)) for n in range(steps)])
        load = _stairs(50.0, at_s, np.array([20.0 if n % 2 == 0 else -20.0 for n in range(steps)]))
        series, age_s = _meter(rng, load, 60.0 * steps, step=0.1, noise=0.1, lag=lag, refresh=refresh)
        found = lag_of(series, [_START_NS + round(at * NS) for at in at_s], 25.0, refresh_s=refresh)
        held += found.lag_s.holds(lag + age_s)
        halves.append(found.bound_s)
    assert held / 40 >= 0.9
    assert np.mean(halves) < (2.0 if together else 0.8)


def test_a_step_that_cannot_be_seen_is_refused() -> None:
    rng = np.random.default_rng(9)
    series, _ = _meter(rng, _flat(50.0), 60.0, noise=1.0)
    with pytest.raises(ValueError, match="lost in the meter's noise"):
        lag_of(series, [_START_NS + 30 * NS], 25.0)
    with pytest.raises(ValueError, match="fewer than"):
        lag_of(series, [_START_NS + 500 * NS], 25.0)
    with pytest.raises(ValueError, match="at least one step"):
        lag_of(series, [], 25.0)
