"""The hosts' own rise, from echoes with EEE off."""

import os
import subprocess
import sys

import numpy as np
import pytest

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.host_rise import measured_rise, unknown_rise
from eee_testbed.analysis.links.probes import Probes
from tests.support import ROOT


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


def test_a_rise_has_no_more_knots_than_the_echoes_justify() -> None:
    random = np.random.default_rng(2)
    gaps = random.uniform(100, 4000, size=600)
    assert len(measured_rise(_echoes(np.zeros(600), gaps, random)).knots) <= 3


def _uncertainty_us(scatter: float, seed: int) -> float:
    """How uncertain the rise after the longest gaps is found to be, if its factor differs between stretches of 60."""
    random = np.random.default_rng(seed)
    gaps = random.uniform(100, 4000, size=600)
    factor = np.repeat(1 + scatter * random.standard_normal(10), 60)
    found = measured_rise(_echoes(6.0 * factor * (1 - np.exp(-gaps / 800)), gaps, random))
    return float(np.sqrt((found.terms(np.array([3900.0])) ** 2).sum()))


@pytest.mark.slow
def test_a_rise_that_drifts_is_the_less_certain() -> None:
    """6 us, give or take the scatter of their factor; without any, it drifts by some of the noise of 0.5 us."""
    steady_us = [_uncertainty_us(0.0, seed) for seed in range(10)]
    drifting_us = [_uncertainty_us(0.25, seed) for seed in range(10)]
    assert 0.2 < np.median(steady_us) < 0.4
    assert 0.6 < np.median(drifting_us) < 2.0


def test_where_trials_differ_the_rise_may_too() -> None:
    random = np.random.default_rng(3)
    gaps = random.uniform(100, 4000, size=600)
    echoes = _echoes(np.zeros(600), gaps, random)
    found = measured_rise(echoes, trials_differ_us=2.0)
    assert found.base_scale_us == pytest.approx(2.0)
    assert np.sqrt((found.terms(np.array([3900.0])) ** 2).sum()) == pytest.approx(2.0, rel=0.1)


def test_an_unknown_rise_leaves_the_base_free() -> None:
    random = np.random.default_rng(1)
    gaps = random.uniform(100, 4000, size=200)
    found = unknown_rise(_echoes(np.zeros(200), gaps, random))
    assert not found.known
    assert found.log_prior(np.array([0.0, 500.0]), np.zeros((2, 1))).tolist() == [0.0, 0.0]


def test_echoes_say_the_same_on_every_processor() -> None:
    """OpenBLAS multiplies matrices as old processors do: with another order of sums, and without fused operations."""
    command = (sys.executable, "-m", "tests.support.measured.likelihood_digest")
    found = [
        subprocess.run(command, cwd=ROOT, env=os.environ | kind, check=True, capture_output=True, text=True).stdout
        for kind in ({}, {"OPENBLAS_CORETYPE": "Prescott"}, {"OPENBLAS_CORETYPE": "Haswell"})
    ]
    assert len(set(found)) == 1
