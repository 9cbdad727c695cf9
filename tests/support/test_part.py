"""`tests/part.sh`, which times the parts of a suite."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "part.sh", tmp_path / "tests")
    return tmp_path


def _part(checkout: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    argv = [str(checkout / "tests" / "part.sh"), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=dict(os.environ))


def test_a_part_prints_what_its_command_prints_and_ends_as_it_does(checkout: Path) -> None:
    _part(checkout, "--new")
    done = _part(checkout, "a b", "bash", "-c", "echo out; echo err >&2; exit 3")
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert done.stderr.splitlines() == ["err", "part a b failed with status 3"]


def test_the_table_has_a_line_for_each_part_since_it_was_begun(checkout: Path) -> None:
    _part(checkout, "--new")
    _part(checkout, "old", "true")
    _part(checkout, "--new")
    _part(checkout, "good", "true")
    _part(checkout, "bad", "false")
    rows = _part(checkout, "--show").stdout.splitlines()[-2:]
    assert [row.split(" s  ")[-1] for row in rows] == ["good", "bad  FAILED"]
