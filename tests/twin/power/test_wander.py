"""Drift and ripple: reproducible, independent of the sampling, and of the configured size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.twin.power.wander import Wander, stream
from eee_testbed.twin.truth.truth import WanderTruth

TRUTH = WanderTruth(drift_watt=0.5, drift_tau_s=50.0, ripple_watt=0.2)


@given(st.lists(st.floats(0.01, 7.0), min_size=1, max_size=40), st.integers(0, 1000))
def test_energy_does_not_depend_on_when_it_is_sampled(steps_s: list[float], seed: int) -> None:
    often, once = (Wander(TRUTH, stream(seed, "sw1")) for _ in range(2))
    now_s, joule = 0.0, 0.0
    for step_s in steps_s:
        now_s += step_s
        joule += often.advance(now_s)
    assert once.advance(now_s) == pytest.approx(joule, abs=1e-9)
    assert once.watt == often.watt


def test_devices_of_one_lab_vary_independently() -> None:
    first, other = (Wander(TRUTH, stream(1, name)) for name in ("sw1", "sw2"))
    assert first.advance(10.0) != other.advance(10.0)


def test_drift_has_the_configured_spread_and_memory() -> None:
    drift = WanderTruth(drift_watt=0.5, drift_tau_s=50.0)
    wander = Wander(drift, stream(3, "sw1"))
    watts = []
    for second in range(1, 100_001):
        watts.append(wander.watt)
        wander.advance(float(second))
    samples = np.array(watts)
    assert samples.std() == pytest.approx(0.5, rel=0.1)
    assert abs(samples.mean()) < 0.05
    after_tau = np.corrcoef(samples[:-50], samples[50:])[0, 1]
    assert after_tau == pytest.approx(np.exp(-1), abs=0.06)


def test_without_wander_nothing_varies() -> None:
    assert Wander(WanderTruth(), stream(1)).advance(1000.0) == 0.0
