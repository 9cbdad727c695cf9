"""Energy of channels by their states."""

from typing import TYPE_CHECKING

import pytest

from eee_testbed.simulation.description import Energy
from eee_testbed.simulation.energy import energy_use, shares_between
from eee_testbed.simulation.power_models import by_bits

if TYPE_CHECKING:
    from eee_engine import SimulatedChannel


def _channel(**states: int) -> "SimulatedChannel":
    every: SimulatedChannel = {
        "port": 0,
        "from_router": 0,
        "to_router": 1,
        "transmit_cycles": states.get("transmit", 0),
        "idle_cycles": states.get("idle", 0),
        "off_cycles": states.get("off", 0),
        "turning_on_cycles": states.get("turning_on", 0),
        "sleep_cycles": states.get("sleep", 0),
        "quiet_cycles": states.get("quiet", 0),
        "refresh_cycles": states.get("refresh", 0),
        "fast_cycles": states.get("fast", 0),
        "wake_cycles": states.get("wake", 0),
        "wakes": 0,
        "sleeps": 0,
    }
    return every


def test_tceps_router_takes_about_100_watts() -> None:
    # A radix-64 router with every port fully used at 1 GHz (TCEP section V): a picojoule a nanosecond is a milliwatt.
    ports = [_channel(transmit=1000)] * 64
    use = energy_use(Energy(), [_channel()] * 64, ports)
    assert use.picojoule / 1000 / 1000 == pytest.approx(96.0)
    assert (use.ratio, use.low_power_share) == (1.0, 0.0)


def test_idle_costs_three_quarters_and_sleep_its_share() -> None:
    use = energy_use(Energy(), [_channel()], [_channel(idle=100)])
    assert use.picojoule == pytest.approx(100 * 48 * 23.44)
    asleep = energy_use(
        Energy(low_power_share=0.2), [_channel(idle=7)], [_channel(idle=7, quiet=60, refresh=10, fast=10, wake=20)]
    )
    assert asleep.picojoule == pytest.approx((80 * 0.2 + 20) * 48 * 23.44)
    assert asleep.ratio == pytest.approx(0.36)
    assert asleep.low_power_share == pytest.approx(0.8)


def test_a_link_that_is_off_takes_nothing() -> None:
    use = energy_use(Energy(), [_channel()] * 2, [_channel(idle=100), _channel(off=100)])
    assert use.picojoule == pytest.approx(100 * 48 * 23.44)
    assert (use.ratio, use.off_share) == (pytest.approx(0.5), pytest.approx(0.5))


def test_a_link_that_is_turned_on_takes_full_power_and_counts_apart() -> None:
    before, after = [_channel(idle=5)], [_channel(idle=5, turning_on=60, quiet=40)]
    use, shares = energy_use(Energy(low_power_share=0.1), before, after), shares_between(before, after)
    assert use.picojoule == pytest.approx((60 + 4) * 48 * 23.44)
    assert (shares.turning_on, shares.low_power, shares.on, shares.off) == (0.6, 0.4, 0.6, 0.0)
    assert by_bits(Energy(low_power_share=0.1), shares).ratio.value == pytest.approx(use.ratio)


def test_a_network_of_one_router_has_no_channels() -> None:
    use = energy_use(Energy(), [], [])
    assert (use.picojoule, use.ratio, use.low_power_share) == (0.0, 1.0, 0.0)
