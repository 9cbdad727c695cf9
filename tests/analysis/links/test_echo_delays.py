"""The engine's walk over echoes, against the plain one; and the likelihood, against the formula."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.echo_delays import EchoDelays, Lateness
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.links.probes import ECHO_WIRE_BYTE, Probes
from eee_testbed.analysis.links.sleep_path import GIGABIT_BYTE_US, plain_path
from eee_testbed.analysis.links.structures import Group, Structure
from tests.support.laws import law
from tests.support.measured.echo_bench import AWAKE, Bench, Sleep
from tests.support.measured.plain_echoes import echo_extra_us

BURST_BYTE = 130.0
LATE = Lateness(0.08, 0.3)
NOISE_US = 1.7
STEPS = ((2.0, 9.0), (9.0, 18.0), (18.0, 60.0))
Moved = tuple[float, float]


def _walk(probes: Probes, kept: Floats | None = None) -> EchoDelays:
    count = len(probes.sent_us)
    used = np.ones(count, bool) if kept is None else kept > 0
    return EchoDelays(probes, plain_path(), used, np.zeros(count), LATE)


@law(60)
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


@law(30)
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


def _student(error_us: float, scale_us: float = NOISE_US) -> float:
    return float(student.pdf(error_us / scale_us, 3) / scale_us)


def _between(left_us: float, from_us: float, to_us: float) -> float:
    return _student(left_us - (from_us + to_us) / 2, float(np.hypot(NOISE_US, (to_us - from_us) / np.sqrt(12))))


@dataclass
class _Gap:
    """All that may have happened to an echo that found its sleeper idle for so long. `firm`: its delay is certain."""

    policy: Policy
    idle_us: float
    left_us: float
    error_us: float
    firm: bool

    def at(self, more_us: float) -> float:
        """Its delay, had the gap been so much longer."""
        return float(self.policy.delay_us(np.array([self.idle_us + (0.0 if self.firm else more_us)]))[0])

    def on_time(self) -> Iterator[Moved]:
        """Densities, and how each moved the gap."""
        for node, weight in ((0.0, 0.5), (-1.2, 0.2), (1.2, 0.2), (-4.0, 0.05), (4.0, 0.05)):
            yield weight * _student(self.left_us - self.at(node * self.error_us)), node * self.error_us

    def late(self) -> Iterator[Moved]:
        """As received late, as the request that comes late, and the answer."""
        yield sum(self._late(0.0, 1 / 3, 0.0, step) for step in STEPS), 0.0
        for met, once, twice in ((1.0, 1 / 3, 2 / 3), (0.0, 1 / 3, 1 / 3)):
            for step in STEPS:
                yield self._late(met, once, twice, step), met * sum(step) / 2

    def _late(self, met: float, once: float, twice: float, step: Moved) -> float:
        first, last = (end + self.at(met * end) for end in step)
        density = (1 - LATE.again) * once * _between(self.left_us, first, last)
        if not self.firm or self.left_us - self.at(0.0) >= STEPS[0][0]:
            more = sum(_between(self.left_us, first + begin, last + end) for begin, end in STEPS)
            density += LATE.again * twice * more / 3
        return density / 3


def _densities(policy: Policy, gaps_us: Floats, left_us: Floats, before_us: float, error_us: float) -> list[float]:
    """Of each echo, given what most likely happened to the one before; `before_us`: the delay of the first's."""

    hold_us, asleep_us = policy.hold_us, policy.hold_us + policy.sleep_us
    density: list[float] = []
    late_before = excess_us = 0.0
    for gap, left in zip(gaps_us, left_us, strict=True):
        idle = gap - before_us
        shorter_us = max(4 * error_us, excess_us if late_before else 0.0)
        firm = error_us == 0.0 or idle + max(60.0, 4 * error_us) < hold_us or idle - shorter_us > asleep_us
        part = 0.0 if firm else late_before / 3
        on, late, likeliest = 0.0, 0.0, (0.0, 0.0)
        for shift, prior in ((0.0, 1 - 2 * part), (-excess_us, part), (0.0, part)):
            seen = _Gap(policy, idle + shift * (not firm), left, error_us, firm)
            each = [*seen.on_time()], [*seen.late()]
            on, late = (
                total + prior * sum(one for one, _ in some) for total, some in zip((on, late), each, strict=True)
            )
            for share, some in zip((1 - LATE.share, LATE.share), each, strict=True):
                likeliest = max(likeliest, *((prior * share * one, shift + more) for one, more in some))
        density.append((1 - LATE.share) * on + LATE.share * late)
        before_us = _Gap(policy, idle, left, error_us, firm).at(likeliest[1])
        excess_us = left - before_us
        late_before = LATE.share * late / density[-1]
        late_before *= excess_us > 0 and late_before >= 0.02
    return density


@law(10)
@given(seed=st.integers(0, 100_000), error_us=st.sampled_from([0.0, 0.7, 6.0]), least=st.sampled_from([0.0, 0.3]))
def test_the_likelihood_is_a_mixture_of_students_over_errors_of_the_gaps_and_late_frames(
    seed: int, error_us: float, least: float
) -> None:
    """One sleeper: the delay for a gap that was longer by an error is that of the gap between the echoes, moved.

    It is on the way of the request: an answer that comes or is received late is late, and no more.
    """
    random = np.random.default_rng(seed)
    column = random.uniform([50.0, 0.0, 0.5], [900.0, 300.0, 100.0])
    sent_us = np.cumsum(random.uniform(20.0, 1_500.0, 40)) * 3
    probes = Probes.of(sent_us, np.full(40, 9.0), BURST_BYTE)
    kept = np.ones(40)
    kept[:2] = 0.0
    structure = Structure((Group("deep", (1,)),))
    delays = _walk(probes).of(structure, column)
    gaps_us = np.diff(sent_us)[1:] - BURST_BYTE * plain_path()[1].byte_us
    left_us = random.normal(delays[2:], 2.0) + random.exponential(12.0, 38) * (random.random(38) < 0.3)
    density = _densities(Policy(*column), gaps_us, left_us, float(delays[1]), error_us)
    noise = np.array([NOISE_US])
    found = _walk(probes, kept).log_likelihood(
        structure, column[None], left_us[None], noise, np.array([error_us]), np.zeros(1), least
    )
    highest = student.pdf(0.0, 3) / NOISE_US
    assert found == pytest.approx([np.log(np.maximum(density, least * highest)).sum()])
