"""Policies to compute delays with, of two groups of transmitters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.calibration import LinkPolicy
from eee_testbed.analysis.links.path_delay import passing_delay_us
from eee_testbed.analysis.links.policies import path_of, shares_us
from tests.support.measured.synthetic_run import about, calibration


def _two_groups(sleepers: int, cards: int, port_us: float, card_us: float) -> LinkPolicy:
    (link,) = calibration().links.values()
    card = {"card_hold_us": about(1_000.0), "card_sleep_us": about(182.0), "card_wake_us": about(card_us)}
    more = {"sleeper_count": sleepers, "card_count": cards, "wake_us": about(port_us), **card}
    return link.model_copy(update=more)


@given(
    sleepers=st.integers(1, 6), cards=st.integers(1, 2), port_us=st.floats(0.1, 200.0), card_us=st.floats(0.1, 200.0)
)
def test_an_echo_that_finds_all_asleep_waits_for_each_of_them(
    sleepers: int, cards: int, port_us: float, card_us: float
) -> None:
    link = _two_groups(sleepers, cards, port_us, card_us)
    (delay_us,) = passing_delay_us(np.array([1e6]), path_of(link))
    assert delay_us == pytest.approx(sleepers * port_us + cards * card_us)


@given(
    sleepers=st.integers(1, 6), port_us=st.floats(0.0, 200.0), card_us=st.floats(0.0, 200.0), path_us=st.floats(1, 999)
)
def test_ports_and_card_of_one_way_take_half_of_the_wakes(
    sleepers: int, port_us: float, card_us: float, path_us: float
) -> None:
    link = _two_groups(sleepers, 2, port_us, card_us)
    port, card = shares_us(link, path_us, port_us, card_us)
    if port_us + card_us > 1e-6:
        assert (sleepers + 1) // 2 * port + card == pytest.approx(path_us / 2)
        assert port * card_us == pytest.approx(card * port_us)
