"""A link under equally spaced frames has the times of the closed form."""

import pytest

from eee_testbed.dataset.one_link import LinkLoad, link_times
from eee_testbed.lab.errors import LabError

TS_US, TW_US, HOLD_US = 182.0, 60.0, 1000.0


def load(interval_us: float, mode: str = "deep", size: int = 64) -> LinkLoad:
    timing = {"hold_us": HOLD_US, "wake_us": TW_US, "wake_during_sleep_us": TW_US, "quiet_us": 1e6}
    return LinkLoad("1000BASE-T", 1000, mode, timing, size, interval_us)  # type: ignore[arg-type]


@pytest.mark.parametrize("interval_us", [2_000.0, 10_000.0, 50_000.0])
def test_a_frame_that_finds_the_link_asleep_waits_for_its_wake(interval_us: float) -> None:
    found = link_times(load(interval_us))
    frame_us = load(interval_us).wire_us
    quiet_us = interval_us - frame_us - HOLD_US - TS_US - TW_US
    assert found.fraction("sleep") == pytest.approx(TS_US / interval_us, rel=1e-6)
    assert found.fraction("wake") == pytest.approx(TW_US / interval_us, rel=1e-6)
    assert found.fraction("quiet") == pytest.approx(quiet_us / interval_us, rel=1e-3)
    assert found.woken_fraction == 1.0
    assert found.delay_us - link_times(load(interval_us, "off")).delay_us == pytest.approx(TW_US)


def test_a_link_stays_awake_within_its_hold() -> None:
    found = link_times(load(900.0))
    assert (found.fraction("active"), found.woken_fraction) == (1.0, 0.0)


def test_more_than_a_link_carries_is_refused() -> None:
    with pytest.raises(LabError, match=r"takes 12\.304 us at 1000 Mb/s: use an interval above that, not 10 us"):
        link_times(load(10.0, size=1518))


def test_frames_that_come_while_the_link_falls_asleep_and_wakes_wait_for_half_of_that_on_average() -> None:
    """With no hold the link goes to sleep as soon as it has sent what had gathered."""
    timing = {"hold_us": 0.0, "wake_us": TW_US, "wake_during_sleep_us": TW_US}
    found = link_times(LinkLoad("1000BASE-T", 1000, "deep", timing, 64, 2.0, TS_US + TW_US))  # type: ignore[arg-type]
    assert found.delay_us == pytest.approx((TS_US + TW_US) / 2, rel=0.02)
    assert found.fraction("quiet") == 0.0
    assert found.woken_fraction == pytest.approx(1 / 180, rel=0.1)
