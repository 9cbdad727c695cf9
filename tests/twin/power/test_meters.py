"""What a meter shows against what is true, on a virtual clock."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.twin.power.meters import Meter, MeterTraits
from eee_testbed.twin.truth.truth import StripTruth

RNG = np.random.default_rng


def run(meter: Meter, watts: list[float], step_s: float = 1.0) -> list[float]:
    """Feed steps of constant power; returns what is shown after each."""
    shown = []
    for index, watt in enumerate(watts):
        meter.feed(watt, index * step_s, (index + 1) * step_s)
        shown.append(meter.shown_watt)
    return shown


def test_readings_change_only_at_refreshes() -> None:
    meter = Meter(MeterTraits(refresh_s=3.0), RNG(1))
    assert run(meter, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]) == [0.0, 0.0, 30.0, 30.0, 30.0, 60.0]


def test_lag_is_a_first_order_low_pass() -> None:
    meter = Meter(MeterTraits(refresh_s=1.0, lag_s=4.0), RNG(1))
    expected = [100.0 * (1 - math.exp(-t / 4.0)) for t in range(1, 21)]
    assert run(meter, [100.0] * 20) == pytest.approx(expected)


@given(st.integers(1, 7))
def test_lag_does_not_depend_on_the_tick(parts: int) -> None:
    whole, split = (Meter(MeterTraits(refresh_s=1.0, lag_s=2.5), RNG(1)) for _ in range(2))
    run(whole, [80.0, 20.0, 20.0])
    run(split, [watt for watt in (80.0, 20.0, 20.0) for _ in range(parts)], 1.0 / parts)
    # the last refresh may fall a rounding error behind the last tick
    split.feed(20.0, 3.0, 3.001)
    assert split.shown_watt == pytest.approx(whole.shown_watt, rel=1e-9)


@given(st.floats(1.0, 5000.0), st.sampled_from([0.1, 1.0, 10.0]))
def test_a_reading_is_a_whole_number_of_steps_and_the_nearest(watt: float, step_watt: float) -> None:
    meter = Meter(MeterTraits(resolution_watt=step_watt), RNG(1))
    shown = run(meter, [watt])[0]
    assert abs(shown - watt) <= step_watt / 2 * (1 + 1e-9)
    assert shown / step_watt == pytest.approx(round(shown / step_watt), abs=1e-6)


@given(
    st.lists(st.floats(5.0, 400.0), min_size=1, max_size=60),
    st.floats(0.98, 1.02),
    st.floats(-0.5, 0.5),
)
def test_the_energy_register_agrees_with_the_meters_own_watts(
    watts: list[float], gain_ratio: float, offset_watt: float
) -> None:
    step_joule = 3600.0
    meter = Meter(MeterTraits(gain_ratio=gain_ratio, offset_watt=offset_watt, register_joule=step_joule), RNG(1))
    integral_joule = math.fsum(run(meter, watts))
    assert meter.shown_joule <= integral_joule + 1e-6
    assert integral_joule - meter.shown_joule < step_joule + 1e-6
    assert meter.shown_joule % step_joule == 0.0


def test_noise_has_the_configured_spread_and_repeats_with_the_seed() -> None:
    traits = MeterTraits(noise_watt=0.4, gain_ratio=1.01, offset_watt=0.3)
    shown = run(Meter(traits, RNG(5)), [50.0] * 5000)
    assert np.std(shown) == pytest.approx(0.4, rel=0.05)
    assert np.mean(shown) == pytest.approx(50.0 * 1.01 + 0.3, abs=0.03)
    assert run(Meter(traits, RNG(5)), [50.0] * 5000) == shown


def test_nothing_plugged_in_shows_nothing() -> None:
    meter = Meter(MeterTraits(noise_watt=1.0, offset_watt=0.5), RNG(1))
    assert run(meter, [0.0] * 100) == [0.0] * 100
    assert meter.shown_joule == 0.0


def test_a_frozen_meter_keeps_its_reading_and_jumps_when_released() -> None:
    meter = Meter(MeterTraits(), RNG(1))
    run(meter, [10.0, 10.0])
    meter.frozen = True
    meter.feed(99.0, 2.0, 5.0)
    assert (meter.shown_watt, meter.shown_joule) == (10.0, 20.0)
    meter.frozen = False
    meter.feed(99.0, 5.0, 6.0)
    assert (meter.shown_watt, meter.shown_joule) == (99.0, pytest.approx(20.0 + 4 * 99.0))


def test_skipped_refreshes_leave_the_old_reading() -> None:
    watts = [float(watt) for watt in range(10, 2010)]
    shown = run(Meter(MeterTraits(skipped_fraction=0.3), RNG(2)), watts)
    stale = sum(a == b for a, b in pairwise(shown))
    assert stale / len(shown) == pytest.approx(0.3, abs=0.04)


def test_the_resettable_register_starts_again_and_the_absolute_one_does_not() -> None:
    meter = Meter(MeterTraits(), RNG(1))
    run(meter, [100.0] * 10)
    meter.reset_energy(10.0)
    meter.feed(100.0, 10.0, 13.0)
    assert (meter.shown_since_reset_joule, meter.shown_joule) == (pytest.approx(300.0), pytest.approx(1300.0))
    assert meter.reset_at_s == 10.0


def test_truth_wins_over_the_familys_values() -> None:
    family = MeterTraits(refresh_s=2.0, lag_s=1.0, resolution_watt=10.0, register_joule=360_000.0)
    assert family.with_truth(StripTruth()) == family
    own = family.with_truth(StripTruth(refresh_s=5.0, lag_s=0.0, resolution_watt=1.0, gain_ratio=1.1))
    assert (own.refresh_s, own.lag_s, own.resolution_watt, own.gain_ratio) == (5.0, 0.0, 1.0, 1.1)
