"""Completion as shells ask for it, and its installation with one command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.eeectl.completion.shells import SHELLS, install
from tests.support import ROOT
from tests.support.needs import lacking

_COMPLETE = """
. "$HOME/.bashrc"
COMP_LINE="$1"; COMP_POINT=${#1}; COMPREPLY=()
_eeectl
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with completion installed, and a folder of runs; `eeectl` is on the PATH."""
    install("bash", tmp_path)
    (tmp_path / "runs" / "20260101T000000Z-demo").mkdir(parents=True)
    (tmp_path / "runs" / "20260101T000000Z-demo" / "run.yaml").write_text("format: 1\n")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "eeectl"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m eee_testbed.eeectl.cli "$@"\n')
    program.chmod(0o755)
    return tmp_path


def _completed(home: Path, line: str) -> list[str]:
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "PYTHONPATH": str(ROOT)}
    environment |= {"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "EEE_STATE_DIR": str(home / "state")}
    done = subprocess.run(
        ["bash", "-c", _COMPLETE, "bash", line], env=environment, cwd=home, capture_output=True, text=True,
        timeout=120, check=True,
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.slow
def test_bash_completes_verbs_labs_hosts_ports_and_runs(home: Path) -> None:
    assert _completed(home, "eeectl wat") == ["watch"]
    assert "miwa" in _completed(home, "eeectl lab up ")
    assert _completed(home, "eeectl lab exec --lab miwa n0") == ["n01", "n02", "n03", "n04"]
    assert _completed(home, "eeectl report ") == ["runs/20260101T000000Z-demo"]
    # Bash has taken "sw1:" as a word of its own: what follows it is what replaces the current word.
    assert _completed(home, "eeectl link off --lab miwa sw1:gi1/0/3") == ["gi1/0/3"]
    assert list((home / "cache" / "eee-testbed").glob("commands-*.json"))


@pytest.mark.parametrize("name", SHELLS)
def test_a_script_is_accepted_by_its_shell(name: str, tmp_path: Path) -> None:
    program = shutil.which(name)
    if program is None:
        lacking(f"{name} is not installed, and only its users need it")
    file, _ = install(name, tmp_path)
    subprocess.run([program, "-n", str(file)], check=True, timeout=60)


def test_installing_twice_adds_one_line_and_keeps_what_was_there(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'")
    assert install("bash", tmp_path)[1] == tmp_path / ".bashrc"
    assert install("bash", tmp_path)[1] is None
    lines = (tmp_path / ".bashrc").read_text().splitlines()
    assert lines[0] == "alias ll='ls -l'"
    assert len(lines) == 2


def test_the_shell_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert run(["completion", "install"]) == 0
    assert (tmp_path / ".config/fish/completions/eeectl.fish").exists()
    monkeypatch.setenv("SHELL", "/bin/dash")
    assert run(["completion", "install"]) == 1
    assert "name one of bash, zsh, fish" in capsys.readouterr().err
    assert run(["completion", "show", "zsh"]) == 0
    assert "compdef _eeectl eeectl" in capsys.readouterr().out
