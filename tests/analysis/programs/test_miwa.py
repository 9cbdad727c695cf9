"""Eq. 1-4 as printed, and their fit on data whose answer is known."""

import numpy as np
import pytest

from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.programs.miwa import MiwaFit, Run, curve_us, fit_miwa

TRUTH = {"plateau_us": 100.0, "alpha_per_us": 0.004, "origin_us": 150.0, "threshold_us": 200.0}


def _runs(noise_us: float, seed: int = 0, count: int = 60, **changed: float) -> list[Run]:
    random = np.random.default_rng(seed)
    runs = []
    for idle_us in random.uniform(20, 2500, size=count):
        calls, size_byte, link_bps = 100_000.0, 1000.0, 1e9
        base_s = (idle_us * 1e-6 + 8 * size_byte / link_bps) * calls
        over_us = float(curve_us(idle_us, **(TRUTH | changed))) + random.normal(scale=noise_us)
        runs.append(Run(base_s, calls, size_byte, link_bps, base_s + calls * over_us * 1e-6))
    return runs


def test_the_papers_example_of_the_idle_interval() -> None:
    """One second, 1,000 communications of 1,024 bits at 1 Gb/s: 999 us (Miwa 2013, section 4.2)."""
    assert Run(1.0, 1000, 128, 1e9).idle_us == pytest.approx(999, abs=0.03)


def test_the_curve_is_zero_up_to_the_threshold_and_tends_to_the_plateau() -> None:
    assert curve_us(200.0, **TRUTH) == 0
    assert curve_us(200.1, **TRUTH) > 0
    assert curve_us(1e6, **TRUTH) == pytest.approx(100)


def test_known_parameters_are_found() -> None:
    fit = fit_miwa(_runs(1.0, seed=1))
    assert fit.plateau_us.holds(100)
    assert fit.alpha_per_us is not None
    assert fit.alpha_per_us.holds(0.004)
    assert fit.threshold_us.holds(200)
    assert fit.explained > 0.98
    run = _runs(0.0, seed=9)[0]
    assert fit.time_s(run) == pytest.approx(run.eee_s, rel=0.01)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    fits = [fit_miwa(_runs(2.0, seed=seed, count=30)) for seed in range(20)]
    assert sum(fit.plateau_us.holds(100) for fit in fits) >= 16
    assert sum(fit.threshold_us.holds(200) for fit in fits) >= 15


def test_much_noise_gives_a_wide_interval() -> None:
    def width(fit: MiwaFit) -> float:
        return fit.plateau_us.half_width

    assert width(fit_miwa(_runs(20.0))) > 5 * width(fit_miwa(_runs(1.0)))


def test_bad_data_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="too few"):
        fit_miwa(_runs(1.0, count=5))
    with pytest.raises(NotEnoughData, match="no overhead"):
        fit_miwa(_runs(0.0, plateau_us=0.0))
    run = _runs(1.0)[0]
    with pytest.raises(NotEnoughData, match="same mean idle"):
        fit_miwa([run] * 20)


def test_the_threshold_is_a_probed_hold_as_far_as_run_times_allow() -> None:
    """Run times say that t is between 800 and 1,200 us; with a peak after it, as of a wait for Ts, more would fit."""
    pauses_us = [200, 400, 600, 800, 1_200, 1_600, 2_400, 3_200, 4_800, 6_400]
    costs_us = [1, -2, 2, -1, 190, 78, 82, 80, 79, 81]
    runs = [Run(1e-3 * one, 1000, 0, 1e9, 1e-3 * (one + more)) for one, more in zip(pauses_us, costs_us, strict=True)]
    for hold_us, threshold_us in ((1_000.0, 1_000.0), (880.0, 880.0), (1_300.0, 1_200.0)):
        fit = fit_miwa(runs, hold_us)
        assert fit.threshold_us.value == pytest.approx(threshold_us)
        overhead_us = fit.overhead_us(np.array([700.0, 900.0, 1_200.0, 3_000.0]))
        assert overhead_us[0] == 0
        assert (overhead_us[1] > 0) == (hold_us < 900)
        assert overhead_us[2:] == pytest.approx([fit.plateau_us.value] * 2, rel=0.2)
        assert np.isfinite([fit.plateau_us.low, fit.plateau_us.high]).all()
