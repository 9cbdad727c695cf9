"""The lab's clock beside the wall's, and a period of the wall in a process that lives in a lab's time."""

import time
from pathlib import Path

from eee_testbed.measuring.live.clocks import WallPace, now_of
from eee_testbed.measuring.live.feeds import RunFeed
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.store import Run
from tests.support.labs.toy_view import LAB


class _Lab:
    """A lab whose clock was slowed 90 s of the wall ago."""

    def __init__(self) -> None:
        self.wall_ns = time.monotonic_ns()
        self.lab_ns = self.wall_ns - 81 * 10**9
        self.rate, self.gone = "1/10", False

    def __call__(self) -> tuple[str, int, int]:
        if self.gone:
            raise FileNotFoundError
        return self.rate, self.lab_ns, self.wall_ns


def test_a_labs_time_is_as_far_behind_the_walls_as_its_clock_says() -> None:
    lab = _Lab()
    before_ns = time.time_ns()
    now_ns, clocks = now_of(lab)
    assert clocks is not None
    assert clocks.rate == "1/10"
    assert clocks.wall_ns - now_ns == 81 * 10**9
    assert abs(clocks.wall_ns - before_ns) < 5 * 10**9
    assert clocks.wall_s == lab.wall_ns / 1e9


def test_without_a_clock_of_its_own_and_after_the_lab_went_down_it_is_this_processs_time() -> None:
    lab = _Lab()
    lab.gone = True
    for read in (None, lab):
        before_ns = time.time_ns()
        now_ns, clocks = now_of(read)
        assert clocks is None
        assert before_ns <= now_ns <= time.time_ns()


def test_a_period_of_the_wall_is_a_tenth_of_it_in_a_lab_at_a_tenth() -> None:
    lab = _Lab()
    pace = WallPace(lab, every_s=1.0)
    assert round(pace.pause_s(), 9) == 0.1
    lab.wall_ns += 600_000_000
    assert round(pace.pause_s(), 9) == 0.04
    lab.wall_ns += 400_000_000
    assert pace.pause_s() == 0.0
    assert round(pace.pause_s(), 9) == 0.1, "the next one begins"


def test_a_pause_in_a_fast_lab_is_short_as_it_may_get_slow_meanwhile() -> None:
    lab = _Lab()
    lab.rate = "12"
    assert WallPace(lab, every_s=1.0).pause_s() == 0.25


def test_after_the_lab_went_down_the_pace_is_this_processs_own() -> None:
    lab, now_s = _Lab(), [5.0]
    pace = WallPace(lab, every_s=1.0, now_s=lambda: now_s[0])
    lab.gone = True
    assert pace.pause_s() == 0.0
    assert pace.pause_s() == 1.0
    now_s[0] = 5.75
    assert pace.pause_s() == 0.25


def test_a_run_that_is_going_on_is_shown_by_both_clocks_and_one_that_ended_by_its_own(tmp_path: Path) -> None:
    lab = _Lab()
    with Run.create(tmp_path, "toy", {"lab": "toy"}, RunClock()) as run:
        view = RunFeed(run.folder, LAB, read_clock=lab).poll()
        assert view.clocks is not None
        assert view.clocks.wall_ns - view.now_ns == 81 * 10**9
        run.close()
        assert RunFeed(run.folder, LAB, read_clock=lab).poll().clocks is None
