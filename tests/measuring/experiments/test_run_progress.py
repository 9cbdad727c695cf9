"""What a run's progress shows, on a terminal and in a log."""

import pytest

from eee_testbed.measuring.experiments.run_progress import RunProgress, in_words


def test_times_are_shown_with_their_known_precision() -> None:
    assert [in_words(one) for one in (0.2, 42.4, 89, 300, 5000, 9000)] == [
        "1 s", "42 s", "89 s", "5 min", "83 min", "2.5 h",
    ]  # fmt: skip


def test_the_remaining_time_is_estimated_from_the_slots_done_since_the_run_began_or_was_resumed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now_s = [1000.0]
    with RunProgress(10, now_s=lambda: now_s[0]) as progress:
        progress.resumed(4)
        assert progress.left_s is None
        now_s[0] += 60.0
        progress.ended("eee on invalid: a link went down.", 6)
        assert progress.left_s == pytest.approx(120.0)
        now_s[0] += 1.0
        progress.ended("eee off", 7)  # too soon for another line
        now_s[0] += 30.0
        progress.ended("eee off invalid: a link went down", 10)
    printed = capsys.readouterr().err.splitlines()
    assert printed == [
        "eeectl: 6 of 10: eee on invalid: a link went down; about 2 min left",
        "eeectl: 10 of 10: eee off invalid: a link went down",
    ]


def test_people_wait_by_another_clock_than_a_slow_labs(capsys: pytest.CaptureFixture[str]) -> None:
    lab_s, wall_s = [5.0], [70_000.0]
    with RunProgress(10, now_s=lambda: lab_s[0]) as progress:
        progress.wait_by(lambda: wall_s[0])
        for done in (1, 2):
            lab_s[0] += 1.0
            wall_s[0] += 10.0
            progress.ended("eee on", done)
    assert capsys.readouterr().err.splitlines() == [
        "eeectl: 1 of 10: eee on; about 2 min left",
        "eeectl: 2 of 10: eee on; about 80 s left",
    ]
