"""Policies fitted to echoes through the engine, whose truth the fit does not see."""

import numpy as np
import pytest

from analysis.interval import Interval, NotEnoughData
from analysis.links.eee_policy import PolicyFit, fit_policy
from analysis.links.probes import ECHO_WIRE_BYTE, Probes
from tests.accuracy.blind_recovery import draw_truth, recover
from tests.support.measured.echo_bench import Bench

DEEP = {"hold_us": 1000.0, "sleep_us": 182.0, "wake_us": 60.0, "wake_during_sleep_us": 60.0}


def _probe(
    mode: str,
    timing: dict[str, float],
    *,
    seed: int = 1,
    count: int = 600,
    bursts: tuple[float, ...] = (ECHO_WIRE_BYTE,),
    card: dict[str, float] | None = None,
) -> Probes:
    """Echoes with late interrupts: Student-t errors, one-sided as delays are."""
    random = np.random.default_rng(seed)
    burst_byte = random.choice(bursts, size=count).astype(float)
    sent, rtt = Bench(mode, timing, card).echoes(random.uniform(300, 4000, size=count), burst_byte)
    return Probes.of(sent, rtt + 1.5 * np.abs(random.standard_t(3, size=count)), burst_byte)


def _near(found: Interval | None, truth: float, share: float) -> bool:
    return found is not None and abs(found.value - truth) <= share * truth


def test_hold_sleep_and_wake() -> None:
    fit = fit_policy(_probe("deep", DEEP, count=1500), sleepers=2)
    assert fit.kind == "hold"
    assert _near(fit.hold_us, 1000, 0.02)
    assert _near(fit.sleep_us, 182, 0.05)
    assert _near(fit.wake_us, 60, 0.02)
    assert fit.explained > 0.9


CARD = {"hold_us": 1000.0, "sleep_us": 182.0, "wake_us": 16.5, "wake_during_sleep_us": 16.5}


@pytest.mark.parametrize("card", [CARD, {**CARD, "hold_us": 600.0}, None])
def test_sleeping_cards_do_not_change_the_estimate_for_the_ports(card: dict[str, float] | None) -> None:
    """Whether they do or not: the intervals of the ports hold the truth, and the wakes add up."""
    fit = fit_policy(_probe("deep", DEEP, seed=2, count=1500, card=card), sleepers=2, cards=True)
    assert fit.kind == "hold"
    assert fit.hold_us is not None
    assert fit.wake_us is not None
    assert fit.card_wake_us is not None
    assert _within(fit.hold_us, 1000)
    assert _within(fit.wake_us, 60)
    assert _near(fit.hold_us, 1000, 0.1)
    truth_us = 120 + (0 if card is None else 2 * card["wake_us"])
    assert abs(2 * fit.wake_us.value + 2 * fit.card_wake_us.value - truth_us) < 4


def _within(found: Interval, truth: float) -> bool:
    """Inside, with the tenth of a percent that the bench's clock is coarse."""
    return found.low - truth / 1000 <= truth <= found.high + truth / 1000


def test_no_sleep_is_off_and_says_up_to_which_gap() -> None:
    fit = fit_policy(_probe("off", {}), sleepers=2)
    assert (fit.kind, fit.hold_us, fit.wake_us) == ("off", None, None)
    assert fit.largest_gap_us > 3900


def test_a_hold_beyond_every_gap_is_not_invented() -> None:
    assert fit_policy(_probe("deep", {**DEEP, "hold_us": 20_000.0}), sleepers=2).kind == "off"


def test_hybrid() -> None:
    timing = {**DEEP, "hold_us": 600.0, "fast_wake_us": 15.0, "deep_after_us": 1000.0}
    fit = fit_policy(_probe("hybrid", timing), sleepers=2)
    assert fit.kind == "hybrid"
    assert _near(fit.hold_us, 600, 0.02)
    assert _near(fit.deep_after_us, 1000, 0.02)
    assert _near(fit.fast_wake_us, 15, 0.05)
    assert _near(fit.wake_us, 60, 0.02)


def test_coalescing_shows_in_bursts_of_several_sizes_only() -> None:
    timing = {**DEEP, "wake_us": 17.0, "wake_during_sleep_us": 17.0, "coalesce_us": 48.0, "coalesce_byte": 3000}
    fit = fit_policy(_probe("deep", timing, bursts=(ECHO_WIRE_BYTE, 1200, 2600, 4000, 6000)), sleepers=2)
    assert fit.kind == "coalescing"
    assert fit.wait_us is not None
    assert fit.wake_us is not None
    assert fit.wait_us.holds(48)
    assert fit.wake_us.holds(17)
    alike = fit_policy(_probe("deep", timing), sleepers=2)
    assert alike.kind == "hold"
    assert _near(alike.wake_us, 48 + 17, 0.02)


def test_outliers_and_losses_move_little() -> None:
    clean = _probe("deep", DEEP)
    random = np.random.default_rng(5)
    rtt = clean.rtt_us.copy()
    rtt[random.random(len(rtt)) < 0.05] += 5000
    rtt[random.random(len(rtt)) < 0.03] = np.nan
    fit = fit_policy(Probes.of(clean.sent_us, rtt), sleepers=2)
    assert fit.kind == "hold"
    assert fit.lost > 0
    assert _near(fit.hold_us, 1000, 0.02)
    assert _near(fit.wake_us, 60, 0.02)


def test_same_data_same_answer() -> None:
    probes = _probe("deep", DEEP, count=200)
    assert fit_policy(probes, sleepers=2, seed=3) == fit_policy(probes, sleepers=2, seed=3)


@pytest.mark.parametrize("rtt_us", [np.full(200, 30.0), np.full(200, np.nan)])
def test_data_without_an_answer_is_refused_or_off(rtt_us: np.ndarray) -> None:
    sent = np.cumsum(np.linspace(500, 4000, 200))
    if np.isnan(rtt_us).all():
        with pytest.raises(NotEnoughData, match="echoes can be used"):
            fit_policy(Probes.of(sent, rtt_us))
    else:
        fit: PolicyFit = fit_policy(Probes.of(sent, rtt_us))
        assert fit.kind == "off"


def test_times_that_do_not_rise_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="do not rise"):
        Probes.of([1, 3, 2], [5, 5, 5])


def test_a_randomly_drawn_policy_is_recovered() -> None:
    """A few of the repetitions of blind_recovery.py, whose full run is quoted in the README."""
    for number in range(3):
        random = np.random.default_rng([7, number])
        truth = draw_truth(random)
        fit = recover(truth, random, echoes=(400, 600))
        assert fit.kind == "hold"
        for name in ("hold_us", "sleep_us", "wake_us"):
            assert _near(getattr(fit, name), truth[name], 0.05), (name, truth)
