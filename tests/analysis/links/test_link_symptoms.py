"""Symptoms in echoes and in the states that both ends of a link report."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from eee_testbed.analysis.links.link_symptoms import EndView, at_least, compare_ends, symptoms_of
from eee_testbed.analysis.links.probes import Probes


def _probes(count: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    random = np.random.default_rng(seed)
    gaps = random.uniform(100, 5000, size=count)
    return gaps.cumsum(), 150 + random.exponential(3, size=count), random


def test_a_sound_path_has_no_symptoms() -> None:
    sent, rtt, _ = _probes()
    assert symptoms_of(Probes.of(sent, rtt)) == ()


def test_random_losses_are_not_a_symptom() -> None:
    flagged = 0
    for seed in range(30):
        sent, rtt, random = _probes(seed=seed)
        rtt[random.random(len(rtt)) < 0.05] = np.nan
        flagged += bool(symptoms_of(Probes.of(sent, rtt)))
    assert flagged == 0


def test_a_flap_is_reported_with_its_length_and_not_as_loss_after_idle() -> None:
    sent, rtt, _ = _probes()
    dead = (sent > 400_000) & (sent < 1_000_000)
    rtt[dead] = np.nan
    (symptom,) = symptoms_of(Probes.of(sent, rtt))
    assert "dead once, for up to 0.6 s" in symptom


def test_loss_after_idle_is_reported_with_its_gap() -> None:
    sent, rtt, random = _probes()
    gaps = np.diff(sent, prepend=sent[0])
    rtt[(gaps > 2000) & (random.random(len(rtt)) < 0.12)] = np.nan
    (symptom,) = symptoms_of(Probes.of(sent, rtt))
    assert "loses the frame that wakes it" in symptom
    assert 1500 < float(symptom.split("above ")[1].split(" us")[0]) < 2500


def test_few_echoes_yield_no_symptom() -> None:
    sent, rtt, _ = _probes(count=20)
    rtt[5:7] = np.nan
    assert symptoms_of(Probes.of(sent, rtt)) == ()


def test_one_sided_eee() -> None:
    agreement = compare_ends(EndView("sw1:1", on=True, active=True), EndView("n01:eth0", on=True, active=False))
    assert agreement.sleeping == (None, False)
    assert "one side only" in agreement.symptoms[0]
    agreement = compare_ends(EndView("sw1:1", on=True), EndView("n01:eth0", on=False))
    assert "set both ends alike" in agreement.symptoms[0]


def test_the_sleeping_end_is_found_from_the_counters_of_either_end() -> None:
    switch = EndView("sw1:1", on=True, sent_lpi_count=5000, received_lpi_count=0)
    agreement = compare_ends(switch, EndView("n01:eth0", on=True))
    assert agreement.sleeping == (True, False)
    assert "only sw1:1 ever asks" in agreement.symptoms[0]
    both = compare_ends(EndView("a", on=True, sent_lpi_count=90, received_lpi_count=80), EndView("b", on=True))
    assert (both.sleeping, both.symptoms) == ((True, True), ())
    assert compare_ends(EndView("a", on=True), EndView("b", on=True)).sleeping == (None, None)


@pytest.mark.parametrize(("total", "marked"), [(300, 12), (300, 299), (50, 1), (2_000, 700)])
def test_the_chance_of_so_many_losses_is_the_hypergeometric_one(total: int, marked: int) -> None:
    drawn = np.arange(1, total, 7)
    for least in (0, 1, marked // 2, marked):
        found = at_least(np.full(drawn.size, least), total, marked, drawn)
        assert found == pytest.approx(hypergeom.sf(least - 1, total, marked, drawn), rel=1e-9, abs=1e-300)
