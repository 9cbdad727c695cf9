"""Delay at a sleeping transmitter that gathers frames."""

import numpy as np

from eee_testbed.analysis.links.path_delay import Policy

BYTE_US = 0.008


def test_a_frame_that_is_held_back_waits_for_more_bytes_or_for_the_timer() -> None:
    """Long after Ts: the timer of 48 us if no 3,000 bytes come, else the 8 us that 1,000 take; then the wake."""
    timer = Policy(1_000.0, 182.0, 17.0, wait_us=48.0, wait_byte=3_000.0)
    filled = Policy(1_000.0, 182.0, 17.0, wait_us=48.0, wait_byte=1_000.0)
    idle_us = np.array([2_000.0])
    assert timer.delay_us(idle_us, 2_000.0, BYTE_US).tolist() == [65.0]
    assert filled.delay_us(idle_us, 2_000.0, BYTE_US).tolist() == [25.0]
