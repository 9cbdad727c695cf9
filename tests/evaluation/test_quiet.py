"""When a machine counts as quiet."""

import signal
import subprocess
import sys

import pytest

from evaluation.quiet import MachineState, state_between

_BEFORE = "cpu  100 0 100 1000 0 0 0 50 0 0\ncpu0 50 0 50 500 0 0 0 25 0 0\ncpu1 50 0 50 500 0 0 0 25 0 0\nintr 1\n"


def _after(user: int, idle: int, steal: int) -> str:
    return _BEFORE.replace("cpu  100 0 100 1000 0 0 0 50", f"cpu  {100 + user} 0 100 {1000 + idle} 0 0 0 {50 + steal}")


def test_an_idle_machine_is_quiet() -> None:
    state = state_between(_BEFORE, _after(4, 396, 0))
    assert state == MachineState(2, 0.02, 0.0)
    assert state.quiet


def test_one_busy_core_or_a_busy_host_is_not_quiet() -> None:
    assert not state_between(_BEFORE, _after(200, 200, 0)).quiet
    stolen = state_between(_BEFORE, _after(0, 380, 20))
    assert stolen.steal_share == 0.05
    assert not stolen.quiet
    assert "5.0% of its time taken by its host" in str(stolen)


_BENCHMARK = """
import argparse, threading
from evaluation import quiet
quiet._WINDOW_S = 0.01
quiet.require(argparse.Namespace(force=True))
try:
    print("measuring", flush=True)
    threading.Event().wait()
finally:
    print("lab down", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_ends_a_benchmark_leaves_no_lab_behind(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _BENCHMARK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as benchmark:
        assert benchmark.stdout is not None
        assert benchmark.stdout.readline() == "measuring\n"
        benchmark.send_signal(number)
        try:
            shown, _ = benchmark.communicate(timeout=60)
        finally:
            benchmark.kill()
    assert shown == "lab down\n"
    assert benchmark.returncode != 0
