"""The pace of a lab's time over a trial."""

from pathlib import Path
from typing import Any

import pytest

from eee_testbed.twin.lab.lateness import DaemonOf, Lateness

_S = 1_000_000_000


class _Daemon:
    """A lab without frames, and its clock."""

    def __init__(self) -> None:
        self.rate, self.lab_ns, self.wall_ns = "1", 5 * _S, 9 * _S

    def go_on(self, wall_s: float, rate: str, factor: float) -> None:
        self.rate = rate
        self.wall_ns += round(wall_s * _S)
        self.lab_ns += round(wall_s * factor * _S)

    def order(self, _do: str, **_arguments: Any) -> Any:
        return {"engine": {"lateness": {"bucket_count": [0, 0], "bucket_upper_us": [1.0]}}}

    def clock(self) -> tuple[str, int, int]:
        return self.rate, self.lab_ns, self.wall_ns

    def wall_s(self) -> float:
        return self.wall_ns / _S


@pytest.fixture
def clock() -> _Daemon:
    return _Daemon()


def test_a_constant_rate_is_named_and_the_walls_is_not(clock: _Daemon) -> None:
    monitor = Lateness(clock, 1)
    clock.go_on(3.0, "1", 1.0)
    assert monitor.pace() == ""
    monitor.begin(timed=False)
    clock.go_on(3.0, "1/10", 0.1)
    assert monitor.pace() == "1/10 of real time"
    monitor.begin(timed=False)
    clock.go_on(3.0, "1/600", 1 / 600)
    assert monitor.pace() == "1/600 of real time (a second takes 10 min)"


def test_a_rate_that_changed_is_told_by_its_mean(clock: _Daemon) -> None:
    monitor = Lateness(clock, 1)
    clock.go_on(1.0, "1/10", 0.1)
    clock.go_on(3.0, "1/50", 0.02)
    assert monitor.pace() == "0.04 times real time on average"
    clock.go_on(1.0, "1", 1.0)
    assert monitor.pace() == "0.23 times real time on average"
    monitor.begin(timed=False)
    clock.go_on(1.0, "1", 1.0)
    clock.go_on(10.0, "12", 12.0)
    assert monitor.pace() == "11 times real time on average"
    monitor.begin(timed=False)
    clock.go_on(3.0, "12", 12.0)
    assert monitor.pace() == "12 times real time"


def test_a_lab_without_a_clock_has_the_walls_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path))
    (tmp_path / "lab").mkdir()

    class WithoutClock(_Daemon):
        def clock(self) -> tuple[str, int, int]:
            return DaemonOf("lab").clock()

    assert Lateness(WithoutClock(), 1).pace() == ""
