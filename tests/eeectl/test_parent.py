"""A command ends with the one that started it, even if that one is killed."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eee_testbed.measuring.study.ending import PARENT

_CHILD = """
import pathlib, signal, sys
from eee_testbed.eeectl.parent import follow_parent
ready, restored = map(pathlib.Path, sys.argv[1:])
follow_parent()
try:
    ready.touch()
    print("ready", flush=True)
    signal.pause()
except KeyboardInterrupt:
    restored.touch()
"""

_STUDY = """
import sys
from eee_testbed.measuring.study.commands import run_command
run_command([sys.executable, "-c", *sys.argv[1:]])
"""


def test_what_a_killed_study_was_running_restores_its_lab_and_ends(tmp_path: Path) -> None:
    """The pipe is the child's standard output, too: it ends with the last of the two."""
    ready, restored = tmp_path / "ready", tmp_path / "restored"
    argv = [sys.executable, "-c", _STUDY, _CHILD, str(ready), str(restored)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as study:
        assert study.stdout is not None
        assert study.stdout.readline() == b"ready\n"
        study.kill()
        study.wait()
        assert select.select([study.stdout], [], [], 60)[0], "it goes on without its study"
        assert study.stdout.read() == b""
    assert restored.exists()


@pytest.mark.parametrize("words", [["status"], ["--help"]])
def test_a_command_whose_starter_is_dead_already_does_nothing(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "eee_testbed.eeectl.cli", *words],
        env={**os.environ, PARENT: "1" if os.getpid() != 1 else "2"},
        check=False,
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, b"")
