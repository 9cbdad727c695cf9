"""The hosts' own rise, from echoes with EEE off."""

import numpy as np
import pytest

from analysis.interval import Floats
from analysis.links.host_rise import measured_rise, unknown_rise
from analysis.links.probes import Probes


def _echoes(rise: Floats, gaps: Floats, random: np.random.Generator) -> Probes:
    rtt = 20.0 + rise + 0.5 * random.standard_t(3, size=len(gaps))
    sent = np.cumsum(gaps + np.concatenate(([0.0], rtt[:-1])))
    return Probes.of(sent, rtt)


@pytest.mark.parametrize(("height_us", "step_us"), [(0.0, 0.0), (6.0, 0.0), (0.0, 8.0), (6.0, 8.0)])
def test_slopes_and_steps_are_found(height_us: float, step_us: float) -> None:
    random = np.random.default_rng(1)
    gaps = random.uniform(100, 4000, size=1200)

    def rise(gap: Floats) -> Floats:
        found: Floats = height_us * (1 - np.exp(-gap / 800)) + step_us * (gap > 1500)
        return found

    found = measured_rise(_echoes(rise(gaps), gaps, random))
    asked = np.array([150.0, 400.0, 900.0, 1400.0, 1700.0, 2500.0, 3800.0])
    assert found.known
    assert np.abs(found.mean(asked) - 20.0 - rise(asked)).max() < 0.5
    assert (abs(found.step_us) > 0) == (step_us > 0)


def test_an_unknown_rise_leaves_the_base_free() -> None:
    random = np.random.default_rng(1)
    gaps = random.uniform(100, 4000, size=200)
    found = unknown_rise(_echoes(np.zeros(200), gaps, random))
    assert not found.known
    assert found.log_prior(np.array([0.0, 500.0]), np.zeros((2, 1))).tolist() == [0.0, 0.0]
