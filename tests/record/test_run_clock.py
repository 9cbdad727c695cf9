"""One clock: steps of the system clock leave no jump, ticks keep their times."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.record.run_clock import RunClock, Schedule, aligned
from tests.support.measured.fake_clock import NS, FakeClock


def test_a_step_of_the_system_clock_does_not_move_the_runs_clock() -> None:
    system = FakeClock()
    clock = RunClock(system)
    begun_ns = clock.now_ns()
    system.advance(2.0)
    system.step(-3_600.0)
    assert clock.now_ns() == begun_ns + 2 * NS
    assert clock.system_ahead_ns() == -3_600 * NS


def test_waiting_for_a_time_that_has_passed_ends_at_once() -> None:
    clock = RunClock(FakeClock())
    ending = threading.Event()
    assert not clock.wait_until(clock.now_ns(), ending)
    ending.set()
    assert clock.wait_until(clock.now_ns() + NS, ending)


@given(st.integers(10**7, 10**11), st.integers(0, 10**6), st.integers(0, 10**13))
def test_the_following_tick_is_never_more_than_half_a_period_overdue(period_ns: int, tick: int, late_ns: int) -> None:
    schedule = Schedule(7 * NS, period_ns)
    now_ns = schedule.due_ns(tick) + late_ns
    following = schedule.following(tick, now_ns)
    assert following > tick
    assert now_ns - schedule.due_ns(following) <= period_ns / 2
    if following > tick + 1:  # no tick is skipped that could still be met
        assert now_ns - schedule.due_ns(following - 1) > period_ns / 2


def test_schedules_lie_on_whole_periods() -> None:
    schedule = aligned(NS, 1_700_000_000 * NS + 1)
    assert schedule.first_ns == 1_700_000_001 * NS
