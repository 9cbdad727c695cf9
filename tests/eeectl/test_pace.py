"""A person waits in real time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from eee_engine import Engine, LabClock

from eee_testbed.eeectl.pace import Pace
from eee_testbed.twin.machine.lab_clock import environment, make_page
from eee_testbed.twin.machine.statedir import CLOCK, Journal, Process, StateDir
from tests.support import ROOT

_WALL_THEN_LAB_S = """
import time
from eee_testbed.eeectl.pace import Pace
print(Pace("slow").wall_s(), time.monotonic())
"""


@pytest.mark.slow
def test_a_budget_is_the_walls_time_in_a_lab_with_a_clock_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    state = StateDir("slow")
    state.create()
    me, page = Process.of(os.getpid()), state / CLOCK
    state.save(
        Journal(
            lab="slow", folder=str(tmp_path), group=1, bridge="", management_network="", listeners=(), cgroups="",
            daemon=me, ready=True,
        )
    )  # fmt: skip
    make_page(page)
    clock = LabClock(page, Engine(), tmp_path, [], [])
    try:
        clock.set_rate("1/10")
        before_s = time.monotonic()
        argv = [sys.executable, "-c", _WALL_THEN_LAB_S]
        joined = {**os.environ, **environment(str(page))}
        done = subprocess.run(argv, env=joined, capture_output=True, text=True, check=True, timeout=60)
        wall_s, lab_s = map(float, done.stdout.split())
        assert before_s < wall_s < time.monotonic()
        assert lab_s < wall_s, "it lives in the lab's time"
    finally:
        clock.close()


def test_without_a_clock_of_its_own_it_is_the_machines() -> None:
    before_s = time.monotonic()
    assert before_s <= Pace("no-such-lab").wall_s() <= time.monotonic()
