"""A model of run time that explains nothing is refused; one that does, or whose overheads are all equal, is kept."""

import numpy as np
import pytest

from eee_testbed.analysis.interval import Interval, NotEnoughData
from eee_testbed.analysis.programs.miwa import MiwaFit, Run, curve_us, fit_miwa
from eee_testbed.analysis.programs.round_replay import RoundRun, fit_rounds
from eee_testbed.analysis.programs.run_time import errors_of
from eee_testbed.analysis.programs.usefulness import refuse_useless


def _rounds(over_us: np.ndarray, wait_us: np.ndarray) -> list[RoundRun]:
    return [
        RoundRun(1.0, 1_000.0, float(wait), 1.0 + float(over) * 1e-3)
        for over, wait in zip(over_us, wait_us, strict=True)
    ]


def _judge(runs: list[RoundRun]) -> None:
    fit = fit_rounds(runs)
    refuse_useless(runs, [fit.time_s(run) for run in runs], fit.explained, {"serial": fit.serial}, None)


def _useful(runs: list[RoundRun]) -> bool:
    try:
        _judge(runs)
    except NotEnoughData:
        return False
    return True


def test_a_model_whose_waits_have_nothing_to_do_with_the_overheads_is_refused() -> None:
    random = np.random.default_rng(1)
    kept = [_useful(_rounds(random.normal(0, 50, 16), random.uniform(0, 120, 16))) for _ in range(40)]
    assert sum(kept) <= 4


def test_a_model_that_describes_overheads_worse_than_their_mean_is_refused() -> None:
    """R2 of -0.30 and less was stored."""
    over_us = np.array([60.0, 62.0, 58.0, 61.0, 59.0, 60.0, 63.0, 57.0])
    wait_us = np.array([30.0, 90.0, 30.0, 90.0, 30.0, 90.0, 30.0, 90.0])
    with pytest.raises(NotEnoughData, match="worse than a constant"):
        _judge(_rounds(over_us, wait_us))


def test_a_right_model_is_kept_also_where_all_overheads_are_equal() -> None:
    random = np.random.default_rng(2)
    for wait_us in (np.full(12, 60.0), np.linspace(0, 240, 12)):
        for _ in range(20):
            _judge(_rounds(2 * wait_us + random.normal(0, 3, 12), wait_us))


def test_a_model_that_predicts_worse_than_assuming_that_eee_costs_nothing_is_refused() -> None:
    runs = _rounds(np.linspace(0, 240, 12), np.linspace(0, 120, 12))
    fit = fit_rounds(runs)
    estimated = [fit.time_s(run) for run in runs]
    nothing = errors_of([run.base_s for run in runs], [run.eee_s for run in runs])
    refuse_useless(runs, estimated, fit.explained, {}, nothing.model_copy(update={"mean_percent": 1.0}), 1)
    with pytest.raises(NotEnoughData, match="costs nothing"):
        refuse_useless(runs, estimated, fit.explained, {}, nothing, 1)


def test_parameters_without_bounds_are_refused() -> None:
    runs = _rounds(np.linspace(0, 240, 12), np.linspace(0, 120, 12))
    estimated = [fit_rounds(runs).time_s(run) for run in runs]
    for found in (Interval(1.0, float("-inf"), float("inf")), Interval(1.0, 0.0, float("inf"))):
        with pytest.raises(NotEnoughData, match="no bounds to c"):
            refuse_useless(runs, estimated, 0.9, {"c": found}, None)


# -- Miwa's curve where parts of it cannot be known


def _miwa(seed: int, **truth: float) -> MiwaFit:
    random = np.random.default_rng(seed)
    runs = []
    for idle_us in random.uniform(20, 2_500, size=40):
        base_s = (idle_us + 8.0) * 0.1
        over_us = float(curve_us(idle_us, **truth)) + random.normal(scale=2.0)
        runs.append(Run(base_s, 100_000.0, 1_000.0, 1e9, base_s + over_us * 0.1))
    return fit_miwa(runs)


def test_a_step_has_a_plateau_and_a_threshold_whatever_its_alpha() -> None:
    """All gaps near their mean: overheads rise in one step. Intervals of alpha and t0 went from -inf to inf."""
    held = steps = 0
    for seed in range(10):
        fit = _miwa(seed, plateau_us=100.0, alpha_per_us=10.0, origin_us=1_000.0, threshold_us=1_000.0)
        held += fit.plateau_us.holds(100.0)
        steps += fit.alpha_per_us is None and fit.origin_us is None
        assert fit.plateau_us.half_width < 5
        assert fit.threshold_us.holds(1_000.0)
        assert fit.overhead_us(2_000.0) == pytest.approx(100.0, abs=3)
    assert held >= 8
    assert steps >= 8


def test_a_curve_is_no_step() -> None:
    for seed in range(5):
        fit = _miwa(seed, plateau_us=100.0, alpha_per_us=0.004, origin_us=1_000.0, threshold_us=1_000.0)
        assert fit.alpha_per_us is not None
        assert fit.alpha_per_us.high < float("inf")
        assert fit.origin_us is not None


def test_a_straight_rise_has_no_plateau() -> None:
    fit = _miwa(1, plateau_us=1e5, alpha_per_us=1e-6, origin_us=200.0, threshold_us=200.0)
    assert fit.plateau_us.high == float("inf")
    assert fit.overhead_us(2_000.0) == pytest.approx(180.0, abs=5)
