"""Hosts that are slower in one trial than in another."""

import numpy as np
import pytest

from eee_testbed.analysis.links.probes import Probes
from eee_testbed.analysis.links.trial_levels import trial_offsets_us


def _trials(bases_us: list[float], count: int = 300, *, seed: int = 1, high_us: float = 4_000.0) -> Probes:
    """Trials over a path that sleeps after 1000 us."""
    random = np.random.default_rng(seed)
    gaps = random.uniform(100.0, high_us, size=count * len(bases_us))
    trial = np.repeat(np.arange(len(bases_us)), count)
    asleep = (gaps > 1_000.0) * (np.maximum(1_182.0 - gaps, 0.0) + 120.0)
    rtt = 20.0 + np.array(bases_us)[trial] + asleep + 0.5 * random.standard_t(3, size=len(gaps))
    return Probes.of(np.cumsum(gaps), rtt, trial=trial)


@pytest.mark.parametrize("bases_us", [[0.0, 1.4], [0.0, -0.6, 3.0], [0.2] * 6])
def test_offsets_are_found_whatever_sleeps(bases_us: list[float]) -> None:
    probes = _trials(bases_us)
    found = trial_offsets_us(probes)
    wanted = np.array(bases_us) - np.mean(bases_us)
    assert np.abs(found - wanted[probes.trial]).max() < 0.2


@pytest.mark.parametrize("base_us", [0.0, 1.4])
def test_a_trial_near_a_hold_is_compared_where_round_trips_do_not_depend_on_the_gap(base_us: float) -> None:
    """Its gaps are drawn from a part of the others' range: in bins on the slope it has longer ones, or shorter ones."""
    random = np.random.default_rng(5)
    edges = np.concatenate((random.uniform(1_080, 1_170, 580), random.uniform(1_170, 1_590, 20)))
    gaps = np.concatenate((np.exp(random.uniform(np.log(100), np.log(4000), 900)), edges))
    trial = np.minimum(np.arange(1_500) // 300, 3)
    asleep = (gaps > 1_000.0) * (np.maximum(1_182.0 - gaps, 0.0) + 120.0)
    rtt = 9.0 + base_us * (trial == 3) + asleep + 0.15 * random.standard_t(3, size=len(gaps))
    probes = Probes.of(np.cumsum(gaps), rtt, trial=trial)
    found = trial_offsets_us(probes)
    apart = float(found[trial == 3][0] - np.mean([found[trial == one][0] for one in range(3)]))
    assert apart == pytest.approx(base_us, abs=0.4)


@pytest.mark.parametrize(("echoes", "trials"), [(2, 2), (7, 2), (40, 2), (41, 20), (60, 60)])
def test_few_echoes_are_no_reason_to_fail(echoes: int, trials: int) -> None:
    random = np.random.default_rng(1)
    sent = np.cumsum(random.uniform(100.0, 900.0, echoes))
    found = trial_offsets_us(Probes.of(sent, random.normal(100.0, 0.1, echoes), trial=np.arange(echoes) % trials))
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 1.0


def test_one_trial_has_none() -> None:
    assert not trial_offsets_us(_trials([3.0])).any()


def test_a_trial_with_gaps_of_its_own_cannot_be_compared() -> None:
    """Nor does it hinder the comparison of the others."""
    others, alone = _trials([0.0, 2.0], high_us=900.0), _trials([9.0], seed=2)
    kept = alone.gap_us > 2_000.0
    sent = np.concatenate((others.sent_us, others.sent_us[-1] + np.cumsum(alone.gap_us[kept])))
    rtt = np.concatenate((others.rtt_us, alone.rtt_us[kept]))
    trial = np.concatenate((others.trial, np.full(int(kept.sum()), 2)))
    found = trial_offsets_us(Probes.of(sent, rtt, trial=trial))
    by_trial = [float(np.median(found[trial == number])) for number in range(3)]
    assert by_trial[1] - by_trial[0] == pytest.approx(2.0, abs=0.2)
    assert by_trial[2] == 0.0


def test_nothing_but_lost_echoes_has_no_offsets() -> None:
    lost = Probes.of(np.arange(100.0), np.full(100, np.nan), trial=np.arange(100) // 50)
    assert not trial_offsets_us(lost).any()
