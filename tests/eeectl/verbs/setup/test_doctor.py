"""`eeectl doctor` as people and programs use it."""

import json
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from tests.support import ROOT


def test_a_rack_whose_secrets_are_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    example = str(ROOT / "inventory" / "example")
    assert run(["doctor", example]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("this machine: ")
    heading = next(n for n, line in enumerate(lines) if line.startswith(f"lab {example}: "))
    assert any("umask 077" in line for line in lines[heading:])
    assert run(["doctor", example, "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert {one["severity"] for one in printed[f"lab {example}"]} == {"missing"}


def test_a_lab_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "nowhere"]) == 1
    assert "no lab 'nowhere'" in capsys.readouterr().err
