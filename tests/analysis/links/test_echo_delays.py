"""The quick walk over echoes, against the plain one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.interval import Floats
from analysis.links.echo_delays import Delays, EchoDelays
from analysis.links.path_delay import Policy, echo_extra_us
from analysis.links.probes import Probes
from analysis.links.sleep_path import GIGABIT_BYTE_US, plain_path
from analysis.links.structures import Group, Structure

BURST_BYTE = 130.0


def _whole(delays: Delays, count: int) -> Floats:
    """Delays of all echoes, shape (candidates, echoes)."""
    found = np.zeros((len(delays.plateau_us), count))
    found[:, delays.asleep] = delays.plateau_us
    found[:, delays.active] = delays.active_us[0]
    return found


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_both_walks_agree_for_ports_and_cards(seed: int) -> None:
    """Times are drawn, not shrunk: round ones make idle times that equal a hold, which rounding decides."""
    random = np.random.default_rng(seed)
    probes = Probes.of(np.cumsum([0.0, *random.uniform(20.0, 1_500.0, 300)]), np.full(301, 9.0), BURST_BYTE)
    structure = Structure((Group("deep", (1, 3)), Group("deep", (0, 2))))
    column = random.uniform([1.0, 0.0, 0.5] * 2, [900.0, 300.0, 100.0] * 2)
    delays = EchoDelays(probes, plain_path()).of(structure, np.array([column, column]), np.zeros((2, 1)))
    port, card = Policy(*column[:3]), Policy(*column[3:])
    path = [card, port, card, port]
    plain = echo_extra_us(probes.sent_us, 0.0, path, probes.burst_byte, GIGABIT_BYTE_US)
    assert np.allclose(_whole(delays, 301), plain, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_both_walks_agree_for_hybrid(seed: int) -> None:
    random = np.random.default_rng(seed)
    probes = Probes.of(np.cumsum([0.0, *random.uniform(20.0, 2_500.0, 300)]), np.full(301, 9.0), BURST_BYTE)
    column = random.uniform([1.0, 0.0, 20.0, 0.5, 10.0], [600.0, 300.0, 100.0, 20.0, 900.0])
    delays = EchoDelays(probes, plain_path()).of(Structure((Group("hybrid", (1, 3)),)), column[None], np.zeros((1, 1)))
    plain = echo_extra_us(probes.sent_us, 0.0, [Policy(*column)] * 2, probes.burst_byte, GIGABIT_BYTE_US)
    assert np.allclose(_whole(delays, 301), plain, atol=1e-6)
