"""Delays of echoes that pass sleeping transmitters, against a walk from echo to echo."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.links.path_delay import Policy, echo_extra_us
from tests.support.laws import law

BYTE_US = 0.008
BURST_BYTE = 130.0


def _walk(sent_us: Sequence[float], base_us: float, policies: Sequence[Policy]) -> list[float]:
    """One echo after the other, each through all transmitters in turn."""
    free_us: list[float | None] = [None] * len(policies)
    extra = []
    for sent in sent_us:
        total = 0.0
        for number, policy in enumerate(policies):
            at = sent + number * base_us / len(policies) + total
            before = free_us[number]
            added = 0.0 if before is None else float(policy.delay_us(np.array(at - before), BURST_BYTE, BYTE_US))
            free_us[number] = at + added + BURST_BYTE * BYTE_US
            total += added
        extra.append(total)
    return extra


@law(30)
@given(
    seed=st.integers(0, 1000),
    hold_us=st.floats(150.0, 400.0),
    sleep_us=st.floats(50.0, 300.0),
    wake_us=st.floats(10.0, 100.0),
    count=st.integers(1, 4),
)
def test_chains_of_any_length_are_walked_to_their_end(
    seed: int, hold_us: float, sleep_us: float, wake_us: float, count: int
) -> None:
    """Gaps about the hold: whether an echo waits depends on the one before, and so on, for many."""
    most_us = hold_us + count * (sleep_us + wake_us)
    gaps_us = np.random.default_rng(seed).uniform(0.9 * hold_us, most_us, 400)
    sent_us = np.cumsum([0.0, *gaps_us])
    policies = [Policy(hold_us, sleep_us, wake_us)] * count
    found = echo_extra_us(sent_us, 9.0, policies, np.full(len(sent_us), BURST_BYTE), BYTE_US)
    assert np.allclose(found, _walk(sent_us.tolist(), 9.0, policies), atol=1e-6)


def test_a_frame_that_is_held_back_waits_for_more_bytes_or_for_the_timer() -> None:
    """Long after Ts: the timer of 48 us if no 3,000 bytes come, else the 8 us that 1,000 take; then the wake."""
    timer = Policy(1_000.0, 182.0, 17.0, wait_us=48.0, wait_byte=3_000.0)
    filled = Policy(1_000.0, 182.0, 17.0, wait_us=48.0, wait_byte=1_000.0)
    idle_us = np.array([2_000.0])
    assert timer.delay_us(idle_us, 2_000.0, BYTE_US).tolist() == [65.0]
    assert filled.delay_us(idle_us, 2_000.0, BYTE_US).tolist() == [25.0]
