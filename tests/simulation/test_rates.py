"""Channels at the lowest of three rates that carries their traffic, by hand."""

from typing import TYPE_CHECKING, cast

import pytest

from eee_testbed.simulation.description import Energy, Rates
from eee_testbed.simulation.rates import scaled_ratio

if TYPE_CHECKING:
    from eee_engine import SimulatedChannel

_STATES = ("transmit", "idle", "sleep", "wake", "quiet", "refresh", "fast", "off", "turning_on")


def _channel(transmit: int, idle: int) -> "SimulatedChannel":
    times = {f"{state}_cycles": 0 for state in _STATES} | {"transmit_cycles": transmit, "idle_cycles": idle}
    return cast("SimulatedChannel", times)


def _ratio(*sent: int) -> float:
    energy = Energy(active_pj_per_bit=20, idle_pj_per_bit=20)
    before = [_channel(5, 7) for _ in sent]
    after = [_channel(5 + one, 7 + 1000 - one) for one in sent]
    return scaled_ratio(energy, Rates(quarter_power=0.4, half_power=0.6), before, after)


@pytest.mark.parametrize(("sent", "share"), [(0, 0.4), (250, 0.4), (251, 0.6), (500, 0.6), (501, 1.0), (1000, 1.0)])
def test_the_rate_is_the_lowest_that_carries_the_traffic(sent: int, share: float) -> None:
    assert _ratio(sent) == pytest.approx(share)


def test_each_channel_has_its_own_rate() -> None:
    assert _ratio(0, 400, 1000) == pytest.approx((0.4 + 0.6 + 1.0) / 3)


def test_a_slow_channel_sends_for_longer() -> None:
    energy = Energy(active_pj_per_bit=30, idle_pj_per_bit=20)
    found = scaled_ratio(energy, Rates(quarter_power=0.5), [_channel(0, 0)], [_channel(200, 800)])
    # 800 of 1,000 cycles at a quarter of the rate and half the power: (0.8 * 30 + 0.2 * 20) / 2 = 14, to 22.
    assert found == pytest.approx(14 / 22)


def test_without_time_or_channels_nothing_changes() -> None:
    assert scaled_ratio(Energy(), Rates(), [], []) == 1.0
    assert scaled_ratio(Energy(), Rates(), [_channel(1, 1)], [_channel(1, 1)]) == 1.0
