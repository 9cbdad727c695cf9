"""Ctrl-C during a command of a study is the command's; the study only helps it to end soon."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from eee_testbed.eeectl.exit_status import INTERRUPTED
from eee_testbed.eeectl.pace import Pace
from eee_testbed.measuring.study.commands import run_command
from tests.support.waiting import eventually

_WAITS = """
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: None)
ready, go = map(pathlib.Path, sys.argv[1:])
ready.touch()
while not go.exists():
    time.sleep(0.01)
sys.exit(7)
"""


def _press_when(ready: Path, number: int = signal.SIGINT) -> threading.Thread:
    def press() -> None:
        eventually("it is ready", ready.exists, every_s=0.01)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


def test_the_command_ends_by_itself_and_is_helped_once(tmp_path: Path) -> None:
    ready, go, calls = tmp_path / "ready", tmp_path / "go", list[int]()

    def help_it() -> None:
        calls.append(1)
        go.touch()

    pressing = _press_when(ready)
    before = signal.getsignal(signal.SIGINT)
    assert run_command([sys.executable, "-c", _WAITS, str(ready), str(go)], help_it) == 7
    pressing.join()
    assert calls == [1]
    assert signal.getsignal(signal.SIGINT) is before


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
    assert run_command(command, lambda: calls.append(1)) == INTERRUPTED
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
