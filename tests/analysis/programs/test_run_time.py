"""Run time under EEE on a bench without engine, whose truth is known, and on data that cannot answer."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.programs.profile import Direction, Profile
from eee_testbed.analysis.programs.round_replay import Replay, RoundRun, fit_rounds, round_run
from eee_testbed.analysis.programs.run_time import Waits, WakeRun, errors_of, fit_wakes, wake_run
from tests.support.measured.alltoall_bench import Played, Shape, play, profile

HOLD = Policy(1000.0, 182.0, 60.0)
NEVER = Policy(float("inf"), 0.0, 0.0)
SLEEPS_US = (300.0, 700.0, 850.0, 900.0, 1000.0, 1100.0, 1300.0, 1800.0)


def overhead_us(known: Profile, policies: Mapping[Direction, Policy]) -> float:
    """What a round waits, by the replay."""
    return float(Replay.of(known).overhead_us(policies)[0])


@pytest.fixture(scope="module")
def measured() -> list[tuple[Profile, Played, Shape]]:
    shapes = [Shape(sleep_us=sleep_us, scatter_us=8.0, rounds=300) for sleep_us in SLEEPS_US]
    return [(profile(shape, play(shape, None, 1)), play(shape, HOLD, 2), shape) for shape in shapes]


@pytest.mark.slow
def test_the_replay_estimates_run_times_that_it_was_not_fitted_to(
    measured: list[tuple[Profile, Played, Shape]],
) -> None:
    runs = [round_run(known, {"receive": HOLD}, played.time_s) for known, played, _ in measured]
    fit = fit_rounds(runs[1::2])
    errors = errors_of([fit.time_s(run) for run in runs[::2]], [run.eee_s for run in runs[::2]])
    assert errors.mean_percent < 2
    assert errors.worst_percent < 5
    assert fit.explained > 0.8


def test_waits_far_beyond_the_hold_equal_those_of_the_bench(measured: list[tuple[Profile, Played, Shape]]) -> None:
    """One wake a round, less what the frames behind the first take anyway."""
    known, played, shape = measured[-1]
    waited_us = (played.time_s - known.base_s.value) / shape.rounds * 1e6
    assert overhead_us(known, {"receive": HOLD}) == pytest.approx(waited_us, abs=12)
    waits = wake_run(known, {"receive": HOLD}).waits
    assert waits.seen_us(1.0, 0.0) == pytest.approx(60, abs=1)


def test_a_policy_that_never_sleeps_costs_nothing(measured: list[tuple[Profile, Played, Shape]]) -> None:
    known, _, _ = measured[0]
    assert overhead_us(known, {"receive": NEVER}) == 0.0
    assert overhead_us(known, {"receive": HOLD}) == 0.0
    assert wake_run(known, {"receive": NEVER}).waits.seen_us(4.0, 0.0) == 0.0


def test_cards_that_sleep_too_add_their_wake(measured: list[tuple[Profile, Played, Shape]]) -> None:
    known, _, _ = measured[-1]
    both = overhead_us(known, {"receive": HOLD, "transmit": HOLD})
    assert both == pytest.approx(overhead_us(known, {"receive": HOLD}) + 60, abs=12)


def test_a_batch_of_policies_gives_the_same_delays_as_each_alone(measured: list[tuple[Profile, Played, Shape]]) -> None:
    replay = Replay.of(measured[4][0], replicas=6)
    holds_us = (900.0, 1000.0, 1100.0, 1e6)
    drawn = Policy(np.array(holds_us)[:, None], 182.0, np.full((4, 1), 60.0))
    together = replay.overhead_us({"receive": drawn, "transmit": drawn})
    alone = [Policy(hold_us, 182.0, 60.0) for hold_us in holds_us]
    each = [float(replay.overhead_us({"receive": one, "transmit": one})[0]) for one in alone]
    assert together == pytest.approx(each)
    assert together[0] > together[2] > together[3] == 0.0


def test_the_slowest_of_several_and_what_is_hidden() -> None:
    waits = Waits.of(np.array([100.0, 0.0]), np.array([25.0, 75.0]), 100.0)
    assert waits.seen_us(1.0, 0.0) == pytest.approx(25)
    assert waits.seen_us(4.0, 0.0) == pytest.approx(100 * (1 - 0.75**4))
    assert waits.seen_us(1.0, 40.0) == pytest.approx(15)
    assert waits.seen_us(1.0, 200.0) == 0.0
    twice = Waits.of(np.array([100.0]), np.array([200.0]), 100.0)
    assert twice.seen_us(4.0, 0.0) == pytest.approx(200)


def _wake_runs(noise: float, count: int = 24, seed: int = 0) -> list[WakeRun]:
    """Two serial waits for the slowest of three, of which 30 us are hidden."""
    random = np.random.default_rng(seed)
    runs = []
    for share in np.linspace(0.02, 0.98, count):
        delays = random.uniform(0, 240, size=200)
        waits = Waits.of(delays, np.full(200, share * 5.0), 1000.0)
        base_s = 1.0
        over_s = 1000 * 2.0 * waits.seen_us(3.0, 30.0) * 1e-6
        runs.append(WakeRun(base_s, 1000, waits, base_s + over_s + random.normal(scale=noise), links=4))
    return runs


@pytest.mark.slow
def test_known_parameters_of_the_closed_form_are_found() -> None:
    fit = fit_wakes(_wake_runs(1e-3))
    assert fit.serial.holds(2.0)
    assert fit.abreast.holds(3.0)
    assert fit.hidden_us.holds(30.0)
    assert fit.explained > 0.98
    assert fit.residual_us < 3


def test_noise_widens_the_interval() -> None:
    runs = [RoundRun(1.0, 1000, wait, 1.0 + wait * 1.1e-3) for wait in np.linspace(0, 100, 12)]
    exact = fit_rounds(runs)
    assert exact.serial.value == pytest.approx(1.1)
    random = np.random.default_rng(1)
    noisy = fit_rounds([replace(run, eee_s=run.eee_s + random.normal(scale=0.03)) for run in runs])
    assert noisy.serial.holds(1.1)
    assert noisy.serial.half_width > 0.1


def test_what_cannot_be_fitted_is_refused(measured: list[tuple[Profile, Played, Shape]]) -> None:
    known, played, _ = measured[0]
    with pytest.raises(NotEnoughData, match="too few for three"):
        fit_wakes(_wake_runs(1e-3, count=5))
    awake = wake_run(known, {"receive": HOLD}, played.time_s)
    with pytest.raises(NotEnoughData, match="longer than the hold"):
        fit_wakes([awake] * 10)
    with pytest.raises(NotEnoughData, match="longer than the hold"):
        fit_rounds([round_run(known, {"receive": HOLD}, played.time_s)] * 10)
    with pytest.raises(NotEnoughData, match="gap recorder"):
        wake_run(known.model_copy(update={"gaps": {}}), {"receive": HOLD})
    with pytest.raises(NotEnoughData, match="gap recorder"):
        overhead_us(known.model_copy(update={"call_count": 0.0}), {"receive": HOLD})
    with pytest.raises(ValueError, match="at least one"):
        errors_of([], [])


def test_errors_are_of_the_measured_time() -> None:
    errors = errors_of([1.1, 2.0], [1.0, 2.5])
    assert (errors.mean_percent, errors.worst_percent) == (pytest.approx(15), pytest.approx(20))
