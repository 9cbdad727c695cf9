"""`eeectl lab check --files-only`: what the twin alone reads is checked too, and nothing is sent."""

import json
import shutil
from pathlib import Path

import pytest

from eeectl.cli import run
from lab.folder import find_lab

MIWA = find_lab("miwa")


@pytest.fixture(name="folder")
def copy_of_an_inventory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MIWA, tmp_path / "miwa"))


def test_an_inventory_without_mistakes_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "check", str(folder), "--files-only", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["switches"], found["hosts"], found["devices"]) == (1, 4, [])


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("base_watt: 26.0", "base_watt: -1.0", "base_watt"),
        ("hold_us: 1000.0", "hold_usec: 1000.0", "hold_us"),
        ("mode: deep", "mode: deeper", "mode"),
        ("seed: 2013", "seed: [", "truth.yaml"),
    ],
)
def test_a_mistake_in_the_truth_is_named(
    folder: Path, right: str, wrong: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = folder / "twin" / "truth.yaml"
    whole = truth.read_text()
    assert right in whole
    truth.write_text(whole.replace(right, wrong, 1))
    assert run(["lab", "check", str(folder), "--files-only"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "truth.yaml" in printed.err
    assert says in printed.err


def test_a_rack_has_no_truth_to_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(folder / "twin")
    assert run(["lab", "check", str(folder), "--files-only"]) == 0
    assert "no mistake found" in capsys.readouterr().out
