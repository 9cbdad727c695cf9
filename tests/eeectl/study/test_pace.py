"""A person waits by the wall's clock."""

import time
from pathlib import Path

import pytest

from eeectl.study.pace import Pace
from twin.lab import lifecycle


def test_a_budget_is_the_walls_time_in_a_lab_with_a_clock_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "clock_page", Path)
    monkeypatch.setattr(lifecycle, "read_lab_clock", lambda _: ("1/10", 5_000_000_000, 70_000_000_000))
    assert Pace("virtual").wall_s() == 70.0


def test_without_a_clock_of_its_own_it_is_the_machines() -> None:
    before_s = time.monotonic()
    assert before_s <= Pace("no-such-lab").wall_s() <= time.monotonic()
