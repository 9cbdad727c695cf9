"""`eeectl eee show` shows every switch that answers, and names those that do not."""

import json
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from tests.support.labs.lab_files import DELL, SmallLab


def test_a_switch_that_does_not_answer_is_named_and_its_links_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
    secrets = tmp_path / "state" / "away" / "secrets"
    secrets.mkdir(parents=True)
    for name in ("cli_password", "snmp_write_community"):
        (secrets / name).write_text("lab\n")
        (secrets / name).chmod(0o600)
    cables = ("sw1:gi1/0/1,n01:eth0,1000,copper,no",)
    lab = SmallLab(251, {"sw1": DELL}, 1, cables, {}).write(tmp_path, "away", "", tmp_path / "state")
    assert eeectl(["eee", "show", "--lab", str(lab)]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("eeectl: sw1: ")
    assert printed.err.count("\n") == 1
    assert "sw1:gi1/0/1" in printed.out
    assert eeectl(["eee", "show", "--lab", str(lab), "--json"]) == 1
    printed = capsys.readouterr()
    assert printed.err == f"eeectl: {json.loads(printed.out)['failed']['sw1']}\n"
