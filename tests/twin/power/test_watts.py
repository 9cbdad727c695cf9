"""Laws of the power model, over made-up ledgers."""

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.twin.power.watts import PortLedger, ac_watt, efficiency, node_base_joule, port_joule
from eee_testbed.twin.truth.truth import NodePowerTruth, PortPowerTruth, SupplyTruth
from tests.support.truth_draw import random_truth

if TYPE_CHECKING:
    from eee_engine import TimeInState

STATES = ("down_ps", "active_ps", "sleep_ps", "quiet_ps", "refresh_ps", "wake_ps", "fast_ps")
PS = 10**12

durations = st.lists(st.integers(0, 2 * PS), min_size=len(STATES), max_size=len(STATES))
truths = st.integers(0, 10_000).map(lambda seed: random_truth(seed).switches.families["netgear_m4300"].power.port)


def ledger(parts: list[int], *, wakes: int = 0, speed_mbps: int = 1000) -> "TimeInState":
    states = dict(zip(STATES, parts, strict=True))
    total_ps = sum(parts)
    up_ps = total_ps - states["down_ps"]
    return {
        "down_ps": states["down_ps"],
        "active_ps": states["active_ps"],
        "transmit_ps": 0,
        "sleep_ps": states["sleep_ps"],
        "quiet_ps": states["quiet_ps"],
        "refresh_ps": states["refresh_ps"],
        "wake_ps": states["wake_ps"],
        "fast_ps": states["fast_ps"],
        "total_ps": total_ps,
        "wakes": wakes,
        "lpi_events": wakes,
        "up_by_mbps": {speed_mbps: up_ps} if up_ps else {},
    }


def port(own: list[int], far: list[int] | None = None, *, wakes: int = 0, admin_up: bool = True) -> PortLedger:
    return PortLedger(ledger(own, wakes=wakes), None if far is None else ledger(far), admin_up)


def plus(a: list[int], b: list[int]) -> list[int]:
    return [x + y for x, y in zip(a, b, strict=True)]


ZERO = [0] * len(STATES)


def test_known_joules() -> None:
    truth = PortPowerTruth(
        up_watt={100: 0.2, 1000: 1.0}, deep_fraction=0.25, unlinked_watt=0.1, shutdown_watt=0.05, wake_joule=0.5
    )
    start = port(ZERO)
    awake = [0, 10 * PS, 0, 0, 0, 0, 0]
    asleep = [0, 0, 0, 10 * PS, 0, 0, 0]
    down = [10 * PS, 0, 0, 0, 0, 0, 0]
    assert port_joule(start, port(awake), truth) == pytest.approx(10.0)
    assert port_joule(start, port(asleep), truth) == pytest.approx(2.5)
    assert port_joule(start, port(asleep, awake), truth) == pytest.approx(6.25)  # one direction sleeps
    assert port_joule(start, port(asleep, wakes=3), truth) == pytest.approx(4.0)
    assert port_joule(start, port(down), truth) == pytest.approx(1.0)
    assert port_joule(start, port(down, admin_up=False), truth) == pytest.approx(0.5)
    slow = PortLedger(ledger(awake, speed_mbps=100), None, admin_up=True)
    assert port_joule(start, slow, truth) == pytest.approx(2.0)


def test_traffic_costs_per_bit_and_frame_and_survives_cleared_counters() -> None:
    truth = PortPowerTruth(up_watt={1000: 0.0}, bit_joule=1e-9, frame_joule=1e-6)
    up = ledger([0, PS, 0, 0, 0, 0, 0])
    later = ledger([0, 2 * PS, 0, 0, 0, 0, 0])
    before = PortLedger(up, None, admin_up=True, sent_byte=1000, sent_count=10)
    after = PortLedger(later, None, admin_up=True, sent_byte=2000, sent_count=15)
    cleared = PortLedger(later, None, admin_up=True, sent_byte=500, sent_count=2)
    assert port_joule(before, after, truth) == pytest.approx(8000e-9 + 5e-6)
    assert port_joule(before, cleared, truth) == pytest.approx(4000e-9 + 2e-6)


@given(truth=truths, first=durations, second=durations, admin_up=st.booleans())
def test_joules_add_up_over_parts_of_an_interval(
    truth: PortPowerTruth, first: list[int], second: list[int], *, admin_up: bool
) -> None:
    start, middle = port(ZERO, ZERO, admin_up=admin_up), port(first, first, admin_up=admin_up)
    end = port(plus(first, second), plus(first, second), admin_up=admin_up)
    parts = port_joule(start, middle, truth) + port_joule(middle, end, truth)
    assert math.isclose(port_joule(start, end, truth), parts, rel_tol=1e-9, abs_tol=1e-12)


@given(truth=truths, times=durations, state=st.sampled_from(STATES[2:]), far_too=st.booleans())
def test_energy_never_rises_when_a_link_may_sleep_at_no_cost(
    truth: PortPowerTruth, times: list[int], state: str, *, far_too: bool
) -> None:
    """Whatever part of the awake time a transmitter spends in any LPI state instead, wakes being free."""
    free = truth.model_copy(update={"wake_joule": 0.0})
    slept = list(times)
    slept[STATES.index(state)] += slept[1]
    slept[1] = 0
    awake = port_joule(port(ZERO, ZERO), port(times, times), free)
    asleep = port_joule(port(ZERO, ZERO), port(slept, slept if far_too else times), free)
    assert asleep <= awake * (1 + 1e-12)


@given(truths, durations)
def test_a_shut_port_never_costs_more_than_an_awake_one(truth: PortPowerTruth, times: list[int]) -> None:
    total_ps = sum(times)
    shut = port_joule(port(ZERO), port([total_ps, 0, 0, 0, 0, 0, 0], admin_up=False), truth)
    awake = port_joule(port(ZERO), port([0, total_ps, 0, 0, 0, 0, 0]), truth)
    assert shut <= awake * (1 + 1e-12)


def test_lpi_time_is_spread_over_the_speeds_of_an_interval() -> None:
    truth = PortPowerTruth(up_watt={100: 0.2, 1000: 1.0}, deep_fraction=0.5)
    mixed = ledger([0, 0, 0, 4 * PS, 0, 0, 0])
    mixed["up_by_mbps"] = {100: PS, 1000: 3 * PS}
    joule = port_joule(port(ZERO), PortLedger(mixed, None, admin_up=True), truth)
    assert joule == pytest.approx(0.5 * (0.2 * 1 + 1.0 * 3))


@given(st.integers(0, 500), st.floats(0.0, 500.0), st.floats(0.001, 100.0))
def test_more_load_draws_more_from_the_mains(seed: int, load_watt: float, more_watt: float) -> None:
    supply = random_truth(seed).nodes.defaults.power.supply
    assert ac_watt(load_watt + more_watt, supply) > ac_watt(load_watt, supply) >= load_watt


def test_efficiency_is_linear_between_points_and_flat_outside() -> None:
    supply = SupplyTruth(capacity_watt=100, efficiency=((0.2, 0.8), (0.6, 0.9)))
    found = [efficiency(supply, load) for load in (0.0, 0.2, 0.4, 0.6, 1.0)]
    assert found == pytest.approx([0.8, 0.8, 0.85, 0.9, 0.9])
    assert ac_watt(40.0, supply) == pytest.approx(40.0 / 0.85)


def test_a_node_goes_from_idle_to_full_with_its_cpus() -> None:
    truth = NodePowerTruth(
        idle_watt=150,
        full_watt=300,
        full_cpu_count=4,
        nic=PortPowerTruth(up_watt={1000: 0}),
        supply=SupplyTruth(capacity_watt=600),
    )
    watts = [node_base_joule(truth, 10.0, cpu_s) / 10.0 for cpu_s in (0.0, 20.0, 40.0, 80.0)]
    assert watts == pytest.approx([150, 225, 300, 300])


@pytest.mark.parametrize(
    ("state", "fraction"),
    [("active", 1.0), ("sleep", 0.9), ("quiet", 0.1), ("refresh", 0.8), ("wake", 0.7), ("fast", 0.6)],
)
def test_every_state_has_its_own_level_and_each_direction_its_share(state: str, fraction: float) -> None:
    truth = PortPowerTruth(
        up_watt={1000: 1.0},
        sleep_fraction=0.9,
        refresh_fraction=0.8,
        wake_fraction=0.7,
        fast_fraction=0.6,
        deep_fraction=0.1,
        transmit_fraction=0.75,
    )
    times = [10 * PS if name == f"{state}_ps" else 0 for name in STATES]
    awake = [0, 10 * PS, 0, 0, 0, 0, 0]
    assert port_joule(port(ZERO), port(times, times), truth) == pytest.approx(10 * fraction)
    assert port_joule(port(ZERO), port(times, awake), truth) == pytest.approx(10 * (0.75 * fraction + 0.25))
    assert port_joule(port(ZERO), port(awake, times), truth) == pytest.approx(10 * (0.75 + 0.25 * fraction))
