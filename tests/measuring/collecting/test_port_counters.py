"""Counters: differences are what passed, or they are marked; the truth is a model that never forgets."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.measuring.collecting.port_counters import PortMemory, PortReading, uptime_continuity

NS = 1_000_000_000
_TURN = 2**32


def _reading(
    values: Sequence[int | None], at_s: float, *, narrow: bool, rate: int | None = 1000, broken_ms: int | None = 0
) -> PortReading:
    count = len(values)
    counters = {"in_byte": list(values)}
    return PortReading(counters, {"in_byte": narrow}, [rate] * count, [broken_ms] * count, round(at_s * NS))


def _judge(memory: PortMemory, reading: PortReading, *, restarted: bool = False) -> tuple[list[int | None], list[str]]:
    stored, marks = memory.compare(reading, restarted=restarted)
    return stored["in_byte"], marks


@given(st.integers(0, _TURN - 1), st.lists(st.integers(0, 125_000_000), min_size=1, max_size=60))
def test_a_narrow_counter_continues_after_a_wrap(start: int, steps: list[int]) -> None:
    """At 1 Hz and 1 Gb/s nothing passes unseen: 32 bits of bytes last for 34 s."""
    memory, true = PortMemory(), start
    _judge(memory, _reading([start], 0.0, narrow=True))
    for second, step in enumerate(steps, start=1):
        before, true = true, true + step
        stored, marks = _judge(memory, _reading([true % _TURN], float(second), narrow=True))
        assert stored == [true]
        assert marks == ["wrap" if before // _TURN != true // _TURN else ""]


def test_a_narrow_counter_that_may_have_wrapped_twice_counts_as_reset() -> None:
    memory = PortMemory()
    _judge(memory, _reading([4_000_000_000], 0.0, narrow=True))
    assert _judge(memory, _reading([10], 60.0, narrow=True)) == ([10], ["reset"])


def test_a_narrow_counter_that_cannot_have_wrapped_at_the_ports_speed_was_reset() -> None:
    memory = PortMemory()
    _judge(memory, _reading([1_000_000_000], 0.0, narrow=True))
    assert _judge(memory, _reading([10], 1.0, narrow=True)) == ([10], ["reset"])


def test_a_narrow_counter_of_frames_wraps_no_faster_than_the_smallest_frames_come() -> None:
    """At 1 Gb/s 1.49 million frames of 84 bytes a second: ten million in 5 s are too many, five million are not."""
    for frames, mark in ((10_000_000, "reset"), (5_000_000, "wrap")):
        memory = PortMemory()
        for count, at_s in ((_TURN - 1, 0), (frames - 1, 5)):
            reading = PortReading(
                {"in_unicast_frame": [count]}, {"in_unicast_frame": True}, [1_000], [0], at_s * 1_000_000_000
            )
            _, marks = memory.compare(reading, restarted=False)
        assert marks == [mark]


def test_a_wide_counter_that_goes_back_was_reset_and_only_that_port() -> None:
    memory = PortMemory()
    _judge(memory, _reading([100, 100], 0.0, narrow=False))
    assert _judge(memory, _reading([99, 101], 1.0, narrow=False)) == ([99, 101], ["reset", ""])
    assert _judge(memory, _reading([99, 101], 2.0, narrow=False)) == ([99, 101], ["", ""])


def test_a_discontinuity_or_a_restart_is_marked_even_if_the_counter_rose() -> None:
    memory = PortMemory()
    _judge(memory, _reading([100], 0.0, narrow=False))
    assert _judge(memory, _reading([200], 1.0, narrow=False, broken_ms=900))[1] == ["reset"]
    assert _judge(memory, _reading([300], 2.0, narrow=False, broken_ms=900))[1] == [""]
    assert _judge(memory, _reading([400], 3.0, narrow=False, broken_ms=900), restarted=True)[1] == ["reset"]


def test_a_reset_is_seen_across_a_reading_that_lacks_the_counter() -> None:
    memory = PortMemory()
    _judge(memory, _reading([100], 0.0, narrow=False))
    assert _judge(memory, _reading([None], 1.0, narrow=False)) == ([None], [""])
    assert _judge(memory, _reading([5], 2.0, narrow=False))[1] == ["reset"]


def test_a_reset_clears_the_wraps() -> None:
    memory = PortMemory()
    _judge(memory, _reading([_TURN - 1], 0.0, narrow=True))
    assert _judge(memory, _reading([5], 1.0, narrow=True)) == ([_TURN + 5], ["wrap"])
    assert _judge(memory, _reading([9], 2.0, narrow=True), restarted=True) == ([9], ["reset"])


@pytest.mark.parametrize(
    ("before_ms", "after_ms", "apart_ms", "expected"),
    [
        (None, 5_000, (0.0, 0.0), "first"),
        (60_000, 61_010, (1_000.0, 1_000.0), "continuous"),
        (60_000, 3_000, (5_000.0, 5_000.0), "restarted"),
        (60_000, 64_900, (60_000.0, 60_000.0), "restarted"),  # up again, and longer than before
        (60_000, 60_000, (5_000.0, 5_000.0), "stopped"),
        (60_000, 60_000, (900.0, 900.0), "continuous"),  # polled again before it moved
        (2**32 + 60_000, 61_000, (1_000.0, 1_000.0), "restarted"),  # 2**32 ms are 50 days, no wrap
        (42_949_672_950, 40, (50.0, 50.0), "continuous"),  # after 497 days it begins at 0
        (60_000, 90_000, (1_000.0, 1_000.0), "restarted"),
        (60_000, 64_300, (1_600.0, 4_400.0), "continuous"),  # of two requests one was answered at the fourth try
        (60_000, 60_700, (500.0, 3_300.0), "continuous"),  # and then the next at once
        (60_000, 67_000, (1_600.0, 4_400.0), "restarted"),
        (60_000, 60_000, (900.0, 5_000.0), "continuous"),
    ],
)
def test_uptime_distinguishes_a_restart_from_a_wrap(
    before_ms: int | None, after_ms: int, apart_ms: tuple[float, float], expected: str
) -> None:
    assert uptime_continuity(before_ms, after_ms, *apart_ms) == expected
