"""Signals and the end of a study's time reach the command that it runs, once; the study helps it to end soon."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, PENDING
from eee_testbed.eeectl.pace import Pace
from eee_testbed.measuring.study.commands import run_command
from eee_testbed.measuring.study.ending import OUT_OF_TIME
from tests.support.waiting import eventually

_WAITS = """
import pathlib, signal, sys, time
asked = []
signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
ready, go, status = sys.argv[1:]
pathlib.Path(ready).touch()
while not (asked and pathlib.Path(go).exists()):
    time.sleep(0.01)
pathlib.Path(go).write_text(" ".join(map(str, asked)))
sys.exit(int(status))
"""


def _press_when(ready: Path, number: int = signal.SIGINT) -> threading.Thread:
    def press() -> None:
        eventually("it is ready", ready.exists, every_s=0.01)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("status", "ends_with"), [(0, INTERRUPTED), (1, 1), (PENDING, INTERRUPTED), (130, INTERRUPTED)]
)
def test_a_sigint_for_this_process_alone_reaches_the_command_and_it_is_helped_once(
    tmp_path: Path, status: int, ends_with: int
) -> None:
    ready, go, calls = tmp_path / "ready", tmp_path / "go", list[int]()

    def help_it() -> None:
        calls.append(1)
        go.touch()

    pressing = _press_when(ready)
    before = signal.getsignal(signal.SIGINT)
    command = [sys.executable, "-c", _WAITS, str(ready), str(go), str(status)]
    assert run_command(command, on_interrupt=help_it) == ends_with
    pressing.join()
    assert calls == [1]
    assert signal.getsignal(signal.SIGINT) is before


_SIGNALLED = """
import sys
from eee_testbed.measuring.study.commands import run_command
sys.exit(run_command([sys.executable, "-c", *sys.argv[1:]]))
"""


def test_ctrl_c_at_a_terminal_reaches_the_command_once(tmp_path: Path) -> None:
    """A terminal signals the whole group: the study, and the command."""
    ready, go = tmp_path / "ready", tmp_path / "go"
    argv = [sys.executable, "-c", _SIGNALLED, _WAITS, str(ready), str(go), "130"]
    with subprocess.Popen(argv, start_new_session=True) as study:
        eventually("it is ready", ready.exists, every_s=0.01)
        os.killpg(study.pid, signal.SIGINT)
        go.touch()
        assert study.wait(60) == INTERRUPTED
    assert go.read_text() == str(int(signal.SIGTERM))


@pytest.mark.parametrize(("status", "ends_with"), [(0, DONE), (1, 1), (PENDING, PENDING), (130, OUT_OF_TIME)])
def test_a_command_is_stopped_when_its_time_is_over(tmp_path: Path, status: int, ends_with: int) -> None:
    ready, go, calls = tmp_path / "ready", tmp_path / "go", list[int]()

    def help_it() -> None:
        calls.append(1)
        go.touch()

    command = [sys.executable, "-c", _WAITS, str(ready), str(go), str(status)]
    assert run_command(command, ready.exists, help_it) == ends_with
    assert calls == [1]


_RESTORES = """
import pathlib, signal, sys, time
ready, restored = map(pathlib.Path, sys.argv[1:])
def restore(*_):
    restored.touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, restore)
ready.touch()
time.sleep(600)
"""


def test_a_sigterm_is_sent_on_and_the_command_restores_what_it_changed(tmp_path: Path) -> None:
    ready, restored = tmp_path / "ready", tmp_path / "restored"
    ending = _press_when(ready, signal.SIGTERM)
    before = signal.getsignal(signal.SIGTERM)
    calls = list[int]()
    command = [sys.executable, "-c", _RESTORES, str(ready), str(restored)]
    assert run_command(command, on_interrupt=lambda: calls.append(1)) == INTERRUPTED
    ending.join()
    assert restored.exists()
    assert calls == [1]
    assert signal.getsignal(signal.SIGTERM) is before


_TERMINATED_EARLY = """
import os, signal, sys
from eee_testbed.measuring.study.commands import run_command
sys.addaudithook(lambda event, _: os.kill(os.getpid(), signal.SIGTERM) if event == "subprocess.Popen" else None)
sys.exit(run_command([sys.executable, "-c", "import time; time.sleep(90)"]))
"""


def test_a_sigterm_that_comes_while_the_command_is_started_is_sent_on_too() -> None:
    done = subprocess.run([sys.executable, "-c", _TERMINATED_EARLY], check=False, timeout=60)
    assert done.returncode == INTERRUPTED


def test_a_command_that_a_signal_ends_is_interrupted() -> None:
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run_command([sys.executable, "-c", kill]) == INTERRUPTED


def test_a_rack_has_no_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path))
    pace = Pace("no-such-lab")
    pace.hurry()
    pace.restore()
