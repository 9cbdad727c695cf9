"""The engine's walk over echoes, against the plain one; and the likelihood, against the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from analysis.interval import Floats
from analysis.links.echo_delays import EchoDelays, Lateness
from analysis.links.path_delay import Policy, echo_extra_us
from analysis.links.probes import ECHO_WIRE_BYTE, Probes
from analysis.links.sleep_path import GIGABIT_BYTE_US, plain_path
from analysis.links.structures import Group, Structure
from tests.support.measured.echo_bench import AWAKE, Bench, Sleep

BURST_BYTE = 130.0
LATE = Lateness(0.08, 0.3)
Moved = tuple[float, float]


def _walk(probes: Probes, kept: Floats | None = None) -> EchoDelays:
    count = len(probes.sent_us)
    used = np.ones(count, bool) if kept is None else kept > 0
    return EchoDelays(probes, plain_path(), used, np.zeros(count), LATE)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_both_walks_agree_for_ports_and_cards(seed: int) -> None:
    """Times are drawn, not shrunk: round ones make idle times that equal a hold, which rounding decides."""
    random = np.random.default_rng(seed)
    probes = Probes.of(np.cumsum([0.0, *random.uniform(20.0, 1_500.0, 300)]), np.full(301, 9.0), BURST_BYTE)
    structure = Structure((Group("deep", (1, 3)), Group("deep", (0, 2))))
    column = random.uniform([1.0, 0.0, 0.5] * 2, [900.0, 300.0, 100.0] * 2)
    found = _walk(probes).of(structure, column)
    port, card = Policy(*column[:3]), Policy(*column[3:])
    path = [card, port, card, port]
    plain = echo_extra_us(probes.sent_us, 0.0, path, probes.burst_byte, GIGABIT_BYTE_US)
    assert np.allclose(found, plain, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_both_walks_agree_for_hybrid(seed: int) -> None:
    random = np.random.default_rng(seed)
    probes = Probes.of(np.cumsum([0.0, *random.uniform(20.0, 2_500.0, 300)]), np.full(301, 9.0), BURST_BYTE)
    column = random.uniform([1.0, 0.0, 20.0, 0.5, 10.0], [600.0, 300.0, 100.0, 20.0, 900.0])
    found = _walk(probes).of(Structure((Group("hybrid", (1, 3)),)), column)
    plain = echo_extra_us(probes.sent_us, 0.0, [Policy(*column)] * 2, probes.burst_byte, GIGABIT_BYTE_US)
    assert np.allclose(found, plain, atol=1e-6)


def test_the_walk_delays_bursts_as_a_switch_that_stores_frames() -> None:
    """Bursts of many sizes, through the engine: port of the second host, and port back, sleep and gather bytes."""
    random = np.random.default_rng(7)
    timing = {"hold_us": 900.0, "sleep_us": 190.0, "wake_us": 40.0, "wake_during_sleep_us": 40.0}
    gather = {"coalesce_us": 70.0, "coalesce_byte": 3_000}
    sleep = Sleep("deep", {**timing, **gather})
    gaps_us, bursts = random.uniform(100.0, 1_800.0, 400), np.floor(random.uniform(ECHO_WIRE_BYTE, 6_500.0, 400))
    bursts[(bursts > 2_999) & (bursts < 3_100)] = 2_999  # a port counts bytes without those between frames
    path = (AWAKE, sleep, AWAKE, sleep)
    awake, asleep = (Bench(sleeps).echoes(gaps_us, bursts) for sleeps in ((AWAKE,) * 4, path))
    found = _walk(Probes.of(*asleep, bursts)).of(
        Structure((Group("coalescing", (1, 3)),)), np.array([900.0, 190.0, 40.0, 70.0, 3_000.0])
    )
    assert np.abs(found - (asleep[1] - awake[1]))[1:].max() < 1.0


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 100_000), error_us=st.sampled_from([0.0, 0.7, 6.0]), least=st.sampled_from([0.0, 0.3]))
def test_the_likelihood_is_a_mixture_of_students_over_errors_of_the_gaps_and_late_frames(
    seed: int, error_us: float, least: float
) -> None:
    """One sleeper: the delay for a gap that was longer by an error is that of the gap between the echoes, moved.

    It is on the way of the request: an answer that comes or is received late is late, and no more.
    """
    random = np.random.default_rng(seed)
    hold_us, sleep_us, wake_us = random.uniform([50.0, 0.0, 0.5], [900.0, 300.0, 100.0])
    gap_us = random.uniform(20.0, 1_500.0, 40)
    sent_us = np.cumsum(gap_us) * 3  # far apart in pairs: no echo shortens the next one's gap by much
    probes = Probes.of(sent_us, np.full(40, 9.0), BURST_BYTE)
    kept = np.ones(40)
    kept[:2] = 0.0
    policy = Policy(hold_us, sleep_us, wake_us)
    structure = Structure((Group("deep", (1,)),))
    column = np.array([hold_us, sleep_us, wake_us])
    delays = _walk(probes).of(structure, column)
    gaps_us = np.diff(sent_us)[1:] - BURST_BYTE * plain_path()[1].byte_us
    left_us = random.normal(delays[2:], 2.0) + random.exponential(12.0, 38) * (random.random(38) < 0.3)

    def student_of(error_us: float, scale_us: float = 1.7) -> float:
        return float(student.pdf(error_us / scale_us, 3) / scale_us)

    def late_between(left_us: float, from_us: float, to_us: float) -> float:
        return student_of(left_us - (from_us + to_us) / 2, np.hypot(1.7, (to_us - from_us) / np.sqrt(12)))

    def delay_us(idle_us: float) -> float:
        return float(policy.delay_us(np.array([idle_us]))[0])

    def happened(idle_us: float, left_us: float, prior: float, *, firm: bool) -> tuple[float, float, list[Moved]]:
        """Density on time and late; and each of all that may have happened, by its weight and how it moved the gap."""
        moved: list[Moved] = []

        def at(more_us: float) -> float:
            return delay_us(idle_us + (0.0 if firm else more_us))

        on_time = 0.0
        for node, weight in ((0.0, 0.5), (-1.2, 0.2), (1.2, 0.2), (-4.0, 0.05), (4.0, 0.05)):
            density = weight * student_of(left_us - at(node * error_us))
            on_time += density
            moved.append((prior * (1 - LATE.share) * density, node * error_us))
        steps = ((2.0, 9.0), (9.0, 18.0), (18.0, 60.0))
        late = 0.0
        for place, (met, once, twice) in enumerate(((0.0, 1 / 3, 0.0), (1.0, 1 / 3, 2 / 3), (0.0, 1 / 3, 1 / 3))):
            whole = 0.0
            for one, other in steps:
                ends = one + at(met * one), other + at(met * other)
                density = (1 - LATE.again) * once * late_between(left_us, *ends)
                if not firm or left_us - at(0.0) >= steps[0][0]:
                    more = [late_between(left_us, ends[0] + first, ends[1] + last) for first, last in steps]
                    density += LATE.again * twice * sum(more) / 3
                whole += density / 3
                if place:
                    moved.append((prior * LATE.share * density / 3, met * (one + other) / 2))
            if not place:
                moved.append((prior * LATE.share * whole, 0.0))
            late += whole
        return on_time, late, moved

    density = []
    before_us, late_before, excess_us = delays[1], 0.0, 0.0
    for gap, left in zip(gaps_us, left_us, strict=True):
        idle = gap - before_us
        delay = delay_us(idle)
        shorter_us = max(4 * error_us, excess_us if late_before else 0.0)
        firm = error_us == 0.0 or idle + max(60.0, 4 * error_us) < hold_us or idle - shorter_us > hold_us + sleep_us
        if firm:
            on, late, _ = happened(idle, left, 1.0, firm=True)
        else:
            part = late_before / 3
            shifts = ((0.0, 1 - 2 * part), (-excess_us, part), (0.0, part))
            each = [(shift, *happened(idle + shift, left, prior, firm=False), prior) for shift, prior in shifts]
            on, late = (sum(one[-1] * one[place] for one in each) for place in (1, 2))
            _, longer_us = max((weight, shift + more) for shift, _, _, moved, _ in each for weight, more in moved)
            delay = delay_us(idle + longer_us)
        density.append((1 - LATE.share) * on + LATE.share * late)
        excess_us, before_us = left - delay, delay
        late_before = LATE.share * late / density[-1]
        late_before *= excess_us > 0 and late_before >= 0.02
    noise = np.array([1.7])
    found = _walk(probes, kept).log_likelihood(
        structure, column[None], left_us[None], noise, np.array([error_us]), np.zeros(1), least
    )
    highest = student.pdf(0.0, 3) / 1.7
    assert found == pytest.approx([np.log(np.maximum(density, least * highest)).sum()])
