"""Delay and time in low power of a gap, against a walk through the states of Georgakoudis et al. (2019), III."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.predict.asked_mode import AskedMode, asked_mode
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.what_if import parse_what_if
from tests.analysis.predict.test_prediction import exact_calibration
from tests.support.laws import law
from tests.support.measured.synthetic_run import SLEEP_US, WAKE_US

times = st.floats(0.0, 300.0, allow_nan=False)
Moment = tuple[float, float, float]


def _mode(
    policy: Policy, quiet_us: float = math.inf, refresh_us: float = 0.0, *, sleep_waits: bool = True
) -> AskedMode:
    waited = policy if sleep_waits else replace(policy, sleep_us=0.0)
    return AskedMode(waited, None, None, (), policy.sleep_us, quiet_us, refresh_us)


@st.composite
def modes(draw: st.DrawFn) -> AskedMode:
    after = draw(st.one_of(st.just(math.nan), st.just(math.inf), times))
    policy = Policy(draw(times), draw(times), draw(times), draw(st.floats(0.0, 20.0)), after)
    quiet_us = draw(st.one_of(st.just(math.inf), st.floats(1.0, 300.0)))
    return _mode(policy, quiet_us, draw(st.floats(0.0, 50.0)), sleep_waits=draw(st.booleans()))


def _walk(mode: AskedMode, idle_us: float) -> Moment:
    """A state machine with a clock, until the packet comes and may go: time in quiet and in fast wake, and delay."""
    policy, spent = mode.policy, dict.fromkeys(("hold", "fast", "sleep", "quiet", "refresh"), 0.0)
    after_hold = "sleep" if math.isnan(float(policy.deep_after_us)) else "fast"
    next_after = {"hold": after_hold, "fast": "sleep", "sleep": "quiet", "quiet": "refresh", "refresh": "quiet"}
    lasts = {
        "hold": float(policy.hold_us),
        "fast": float(policy.deep_after_us),
        "sleep": float(mode.sleep_us),
        "quiet": mode.quiet_us if mode.refresh_us else math.inf,
        "refresh": mode.refresh_us,
    }
    state, now = "hold", 0.0
    while now + lasts[state] < idle_us:
        spent[state] += lasts[state]
        now += lasts[state]
        state = next_after[state]
    spent[state] += idle_us - now
    delay_us = {"hold": 0.0, "fast": float(policy.fast_wake_us)}.get(state, float(policy.wake_us))
    if state == "sleep" and policy.sleep_us:
        delay_us += now + lasts["sleep"] - idle_us
    return spent["quiet"], spent["fast"], delay_us


def _of(mode: AskedMode, idle_us: float) -> Moment:
    quiet_us, fast_us = (float(one[0]) for one in mode.low_power_us(np.array([idle_us])))
    return quiet_us, fast_us, float(mode.policy.delay_us(np.array([idle_us]))[0])


@law(100)
@given(modes(), st.floats(0.001, 2000.0))
def test_a_gap_is_what_a_walk_through_the_states_says(mode: AskedMode, idle_us: float) -> None:
    assert _of(mode, idle_us) == pytest.approx(_walk(mode, idle_us), abs=1e-6)


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("deep,hold_us=100", _mode(Policy(100, SLEEP_US, WAKE_US))),
        ("fast,hold_us=10", _mode(Policy(10, 0.0, 0.0, 0.34, math.inf))),
        ("deep,hold_us=1,phy=10GBASE-T", _mode(Policy(1, 2.88, 4.48), 39.68, 1.28)),
        ("hybrid,hold_us=10,deep_after_us=50,phy=100GBASE-R", _mode(Policy(10, 1.1, 5.5, 0.34, 50), 1_700, 5.9)),
        ("deep,hold_us=2,phy=100GBASE-R,sleep_waits=no", _mode(Policy(2, 1.1, 5.5), 1_700, 5.9, sleep_waits=False)),
    ],
)
def test_a_question_has_the_times_that_it_names(question: str, mode: AskedMode) -> None:
    gaps_us = np.geomspace(0.5, 50_000, 400)
    asked = asked_mode(parse_what_if(question), exact_calibration().links["path n01 - n02"], Sampler(2))
    walked = np.array([_walk(mode, gap_us) for gap_us in gaps_us])
    found = (*asked.low_power_us(gaps_us[None, :]), asked.policy.delay_us(gaps_us[None, :]))
    for own, expected in zip(found, walked.T, strict=True):
        np.testing.assert_allclose(np.broadcast_to(own, (2, 400))[0], expected, atol=1e-6)


def test_the_papers_tables_without_the_wait_in_ts() -> None:
    """Table II and IV of Georgakoudis, markers 1 to 6, with the time since quiet less the refresh periods."""
    deep = _mode(Policy(10.0, 2.0, 5.5), 100.0, 3.0, sleep_waits=False)
    found = [_of(deep, idle_us) for idle_us in (5.0, 10.0, 11.0, 62.0, 113.0, 217.0)]
    assert [delay_us for *_, delay_us in found] == [0.0, 0.0, 5.5, 5.5, 5.5, 5.5]
    assert [quiet_us for quiet_us, *_ in found] == [0.0, 0.0, 0.0, 50.0, 100.0, 200.0]
    hybrid = _mode(Policy(10.0, 2.0, 5.5, 0.34, 20.0), 100.0, 3.0, sleep_waits=False)
    found = [_of(hybrid, idle_us) for idle_us in (5.0, 25.0, 31.0, 82.0)]
    assert [delay_us for *_, delay_us in found] == [0.0, 0.34, 5.5, 5.5]
    assert [fast_us for _, fast_us, _ in found] == [0.0, 15.0, 20.0, 20.0]
    assert [quiet_us for quiet_us, *_ in found] == [0.0, 0.0, 0.0, 50.0]


@law(100)
@given(modes(), st.floats(0.001, 3000.0), st.floats(0.0, 500.0))
def test_a_longer_hold_saves_no_more(mode: AskedMode, idle_us: float, longer_us: float) -> None:
    free = replace(mode, quiet_us=math.inf)
    later = replace(free, policy=replace(free.policy, hold_us=free.policy.hold_us + longer_us))
    assert sum(_of(later, idle_us)[:2]) <= sum(_of(free, idle_us)[:2]) + 1e-9
