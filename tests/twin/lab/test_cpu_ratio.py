"""What a host's `cpu_ratio` buys: a program takes about the same lab time at any rate, and beside any other load.

Its lab time is its processor time by the ratio. Other load and cold caches lengthen the processor time of the same
instructions, so runs differ by some percent (docs/decisions/0003).
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.machine.cgroups import find_cpu_hierarchy
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.two_switches import Eeectl, cap_host, write_two_switches
from tests.support.needs import lacking, needs_lab

pytestmark = [pytest.mark.lab, pytest.mark.alone]

_RATIO = 0.25
_RATES = ("1/8", "1/32")
_BUSY_PROCESSES = (0, 4)
_TIMES_LESS = 3
"""So many times less do a program's times differ with a `cpu_ratio` than without."""

_PROGRAM = """
import time
for _ in range(3):
    began = time.monotonic()
    for _ in range(40):
        for _ in range(20_000):
            pass
        time.monotonic()
    print(time.monotonic() - began)
"""
"""The same work three times, with a look at the clock now and then: lab time that passed."""

_Times = dict[str, list[float]]
"""By host, the median lab time at each rate and load, seconds."""


def _spread(values: list[float]) -> float:
    return max(values) / min(values) - 1


@contextmanager
def _load(processes: int) -> Iterator[None]:
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def times(eeectl: Eeectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Times]:
    """The program at two rates and two loads, on n01, which has a `cpu_ratio`, and on n02, which has none."""
    needs_lab()
    try:
        find_cpu_hierarchy()
    except LabError as error:
        lacking(str(error))
    number = reserve()
    folder = write_two_switches(tmp_path_factory.mktemp("labs"), f"r{number}", number)
    cap_host(folder, "n01", _RATIO)
    done = eeectl("lab", "up", str(folder), "--rate", _RATES[0])
    assert done.returncode == 0, done.stderr
    times: _Times = {"n01": [], "n02": []}
    try:
        for processes in _BUSY_PROCESSES:
            with _load(processes):
                for rate in _RATES:
                    assert eeectl("lab", "clock", folder.name, rate).returncode == 0
                    for host, times_s in times.items():
                        done = eeectl("lab", "exec", host, "--lab", folder.name, "--", "python3", "-c", _PROGRAM)
                        assert done.returncode == 0, done.stderr
                        times_s.append(median(map(float, done.stdout.split())))
        yield times
    finally:
        done = eeectl("lab", "down", folder.name)
        assert done.returncode == 0, done.stderr


def test_a_program_takes_the_same_lab_time_which_a_fixed_rate_alone_does_not_give(times: _Times) -> None:
    assert _TIMES_LESS * _spread(times["n01"]) < _spread(times["n02"]), times
