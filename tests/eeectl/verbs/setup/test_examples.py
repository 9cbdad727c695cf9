"""`eeectl examples` as people and programs use it."""

import json
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run


def test_copy_and_a_second_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["examples", "copy", str(tmp_path / "mine"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["playbooks"] > 10
    assert run(["examples", "copy", str(tmp_path / "mine")]) == 1
    error = capsys.readouterr().err
    assert "exists: name another folder" in error
    assert "Traceback" not in error


def test_list_names_folders_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["examples", "list", "--json"]) == 0
    places = json.loads(capsys.readouterr().out)
    assert {"docs", "experiments", "inventory", "playbooks"} <= set(places)
    assert all(Path(place).is_dir() for place in places.values())
