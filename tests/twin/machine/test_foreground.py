"""Signals to a command in the foreground reach what it runs, once."""

import os
import signal
import subprocess
import sys

import pytest

_RUNS = """
import os, sys
from eee_testbed.twin.machine.foreground import run_in_foreground
print(os.getpid(), flush=True)
sys.exit(run_in_foreground(sys.argv[1:], os.environ, lambda: None))
"""
_COUNTS = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
print("ready", flush=True)
first = signal.sigwait([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
second = signal.sigtimedwait([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 0.2)
print(first, second is None, flush=True)
sys.exit(7)
"""
_WAITS_FOR_ANOTHER = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"


def _started(*argv: str) -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", _RUNS, *argv]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)


def _line(running: "subprocess.Popen[str]") -> str:
    assert running.stdout is not None
    return running.stdout.readline().strip()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("between", [[], [sys.executable, "-c", _WAITS_FOR_ANOTHER]])
def test_a_signal_to_this_process_alone_is_sent_on(between: list[str], number: signal.Signals) -> None:
    with _started(*between, sys.executable, "-c", _COUNTS) as running:
        pid = int(_line(running))
        assert _line(running) == "ready"
        os.kill(pid, number)
        assert _line(running) == f"{number.value} True"
        assert running.wait() == 7


def test_what_is_typed_arrives_once() -> None:
    """The terminal sends Ctrl-C to all of the foreground: the command gets the terminal's, and not another."""
    master, slave = os.openpty()
    words = ["setsid", "--ctty", "--wait", sys.executable, "-c", _RUNS, sys.executable, "-c", _COUNTS]
    with subprocess.Popen(words, stdin=slave, stdout=subprocess.PIPE, text=True) as running:
        _line(running)
        assert _line(running) == "ready"
        os.write(master, b"\x03")
        assert _line(running) == f"{signal.SIGINT.value} True"
        assert running.wait() == 7
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize(
    ("argv", "status"), [(["true"], 0), (["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill -9 $$"], 137)]
)
def test_the_status_is_the_commands(argv: list[str], status: int) -> None:
    with _started(*argv) as running:
        running.communicate()
    assert running.returncode == status
