"""Time in state against a link walked event by event, the closed form against a queue, and the laws of energy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.links.link_modes import LinkMode, ModeName, poisson, spend
from tests.support.laws import law

times = st.floats(0.0, 300.0, allow_nan=False)
MODES: tuple[ModeName, ...] = ("active", "deep", "fast", "hybrid")


@st.composite
def modes(draw: st.DrawFn) -> LinkMode:
    return LinkMode(
        mode=draw(st.sampled_from(MODES)),
        hold_us=draw(times),
        sleep_us=draw(times),
        wake_us=draw(times),
        quiet_us=draw(st.one_of(st.just(math.inf), st.floats(1.0, 300.0))),
        refresh_us=draw(st.floats(0.0, 50.0)),
        fast_wake_us=draw(st.floats(0.0, 20.0)),
        deep_after_us=draw(times),
        deep_fraction=draw(st.floats(0.0, 0.5)),
        fast_fraction=draw(st.floats(0.5, 1.0)),
        sleep_waits=draw(st.booleans()),
    )


def _walk(mode: LinkMode, idle_us: float) -> dict[str, float]:
    """A state machine with a clock: what state comes next and when, until the packet comes and may go."""
    spent = dict.fromkeys(("hold", "fast", "sleep", "quiet", "refresh", "wake"), 0.0)
    state, now = "hold", 0.0
    after_hold = "sleep" if mode.mode == "deep" else "fast"
    next_after = {"fast": "sleep", "sleep": "quiet", "quiet": "refresh", "refresh": "quiet"}
    lasts = {"sleep": mode.sleep_us, "quiet": mode.quiet_us, "refresh": mode.refresh_us}
    lasts["hold"] = math.inf if mode.mode == "active" else mode.hold_us
    lasts["fast"] = mode.deep_after_us if mode.mode == "hybrid" else math.inf
    while now + lasts[state] < idle_us:
        if state == "quiet" and mode.refresh_us == 0.0:
            break
        spent[state] += lasts[state]
        now += lasts[state]
        state = after_hold if state == "hold" else next_after[state]
    spent[state] += idle_us - now
    if state == "sleep" and mode.sleep_waits:
        spent["sleep"] += now + mode.sleep_us - idle_us
    spent["wake"] = {"hold": 0.0, "fast": mode.fast_wake_us}.get(state, mode.wake_us)
    return spent


@law(100)
@given(modes(), st.floats(0.001, 2000.0))
def test_an_idle_interval_is_what_a_walk_through_the_states_says(mode: LinkMode, idle_us: float) -> None:
    found, walked = spend(mode, [idle_us]), _walk(mode, idle_us)
    for name, value in (("quiet", found.quiet_us), ("refresh", found.refresh_us), ("fast", found.fast_us)):
        assert float(value[0]) == pytest.approx(walked[name], abs=1e-6)
    assert float(found.sleep_us[0]) == pytest.approx(walked["sleep"], abs=1e-6)
    assert float(found.wake_us[0]) == pytest.approx(walked["wake"], abs=1e-6)
    assert float(found.total_us[0]) == pytest.approx(sum(walked.values()), abs=1e-6)


@law(100)
@given(modes(), st.lists(st.floats(0.001, 3000.0), min_size=1, max_size=20))
def test_states_add_up_to_idle_time_and_delay(mode: LinkMode, idle_us: list[float]) -> None:
    found = spend(mode, idle_us)
    assert np.allclose(found.total_us, np.asarray(idle_us) + found.delay_us)
    assert 0.0 <= found.power_fraction(mode) <= 1.0 + 1e-12


@law(100)
@given(modes(), st.floats(0.001, 3000.0), st.floats(0.0, 500.0))
def test_a_longer_hold_saves_no_more_and_delays_no_later_sleeper(
    mode: LinkMode, idle_us: float, longer_us: float
) -> None:
    later = LinkMode(
        mode.mode,
        mode.hold_us + longer_us,
        mode.sleep_us,
        mode.wake_us,
        math.inf,
        0.0,
        mode.fast_wake_us,
        mode.deep_after_us,
        sleep_waits=mode.sleep_waits,
    )
    short = spend(LinkMode(**{**_fields(later), "hold_us": mode.hold_us}), [idle_us])
    long = spend(later, [idle_us])
    assert float(long.quiet_us[0] + long.fast_us[0]) <= float(short.quiet_us[0] + short.fast_us[0]) + 1e-9


def _fields(mode: LinkMode) -> dict[str, object]:
    return {name: getattr(mode, name) for name in LinkMode.__dataclass_fields__}


@law(100)
@given(modes(), st.lists(st.floats(0.001, 3000.0), min_size=1, max_size=20))
def test_energy_does_not_rise_where_sleep_costs_no_time(mode: LinkMode, idle_us: list[float]) -> None:
    free = LinkMode(**{**_fields(mode), "wake_us": 0.0, "fast_wake_us": 0.0, "sleep_us": 0.0})
    found = spend(free, idle_us)
    assert float(found.delay_us.sum()) == 0.0
    joule = found.power_fraction(free) * float(found.total_us.sum())
    assert joule <= sum(idle_us) * (1 + 1e-12)


def test_the_papers_tables_without_the_wait_in_ts() -> None:
    """Table II and IV of Georgakoudis, markers 1 to 6, with the time since quiet less the refresh periods."""
    timing = {"hold_us": 10.0, "sleep_us": 2.0, "wake_us": 5.5, "quiet_us": 100.0, "refresh_us": 3.0}
    deep = LinkMode("deep", **timing, sleep_waits=False)
    found = spend(deep, [5.0, 10.0, 11.0, 62.0, 113.0, 217.0])
    assert found.delay_us.tolist() == [0.0, 0.0, 5.5, 5.5, 5.5, 5.5]
    assert found.quiet_us.tolist() == [0.0, 0.0, 0.0, 50.0, 100.0, 200.0]
    hybrid = LinkMode("hybrid", **timing, fast_wake_us=0.34, deep_after_us=20.0, sleep_waits=False)
    found = spend(hybrid, [5.0, 25.0, 31.0, 82.0])
    assert found.delay_us.tolist() == [0.0, 0.34, 5.5, 5.5]
    assert found.fast_us.tolist() == [0.0, 15.0, 20.0, 20.0]
    assert found.quiet_us.tolist() == [0.0, 0.0, 0.0, 50.0]


def test_the_mean_power_of_several_links_with_traffic() -> None:
    deep = LinkMode("deep", deep_fraction=0.1)
    one = spend(deep, [100.0])
    assert one.power_fraction(deep) == pytest.approx(0.1)
    assert one.power_fraction(deep, busy_us=100.0) == pytest.approx(0.55)


def _queue(mode: LinkMode, rate: float, service_us: float, coalesce: int, frames: int) -> tuple[float, float, float]:
    """A queue walked frame by frame: (fraction in LPI, mean wait in us, wakes a second)."""
    arrivals = np.random.default_rng(3).exponential(1 / rate, size=frames).cumsum()
    free, low_us, wakes, waits, number = 0.0, 0.0, 0, 0.0, 0
    while number < frames - coalesce:
        if arrivals[number] > free + mode.hold_us:
            asleep = free + mode.hold_us + mode.sleep_us
            called = max(asleep, arrivals[number + coalesce - 1])
            low_us += called - asleep
            wakes += 1
            free = called + mode.wake_us
        start = max(free, arrivals[number])
        waits += start - arrivals[number]
        free = start + service_us
        number += 1
    return low_us / free, waits / number, wakes / free * 1e6


@pytest.mark.parametrize("coalesce", [1, 4])
@pytest.mark.parametrize(
    ("load", "hold_us", "sleep_us", "wake_us"),
    [(0.1, 0.0, 182.0, 16.0), (0.3, 20.0, 2.88, 4.48), (0.6, 5.0, 10.0, 7.0)],
)
def test_the_closed_form_is_what_a_queue_does(
    coalesce: int, load: float, hold_us: float, sleep_us: float, wake_us: float
) -> None:
    mode = LinkMode("deep", hold_us, sleep_us, wake_us)
    service_us = 12.0
    found = poisson(mode, load / service_us, service_us, service_us**2, coalesce)
    lpi, wait_us, wakes = _queue(mode, load / service_us, service_us, coalesce, 40_000)
    assert found.lpi_fraction == pytest.approx(lpi, abs=0.006)
    assert found.wait_us == pytest.approx(wait_us, rel=0.04)
    assert found.wakes_per_second == pytest.approx(wakes, rel=0.03)


def test_the_examples_of_10_and_1_gigabit() -> None:
    ten = poisson(LinkMode("deep", 0.0, 2.88, 4.48), 0.1 / 1.2, 1.2, 1.44)
    assert (ten.lpi_fraction, ten.wait_us) == (pytest.approx(0.506, abs=0.001), pytest.approx(4.2, abs=0.05))
    one = poisson(LinkMode("deep", 0.0, 182.0, 16.0), 0.1 / 12, 12.0, 144.0)
    assert (one.lpi_fraction, one.wait_us) == (pytest.approx(0.105, abs=0.001), pytest.approx(90, abs=0.7))


def test_what_the_closed_form_does_not_hold_for_is_refused() -> None:
    with pytest.raises(ValueError, match="deep sleep"):
        poisson(LinkMode("fast"), 0.01, 10.0, 100.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        poisson(LinkMode("deep"), 0.2, 10.0, 100.0)
