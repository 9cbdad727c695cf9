"""`eeectl lab check --files-only`: what the twin alone reads is checked too, and nothing is sent."""

import json
import shutil
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.lab.folder import find_lab

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


def test_mistakes_of_all_files_are_reported_together_with_their_lines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, right, wrong in (
        ("hosts.yml", "ansible_user: lab", "ansible_usr: lab"),
        ("cables.csv", "sw1:gi1/0/2,n02:eth0,1000", "sw1:gi1/0/2,n02:eth0,1001"),
        ("outlets.csv", "pdu1,2,n01", "pdu1,two,n01"),
        ("twin/truth.yaml", "hold_us: 1000.0", "hold_us: -1"),
    ):
        file = folder / name
        file.write_text(file.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    assert run(["lab", "check", str(folder), "--files-only"]) == 1
    places = [line.removeprefix("eeectl: ").split(": ")[0] for line in capsys.readouterr().err.splitlines()]
    files = {place.rpartition(":")[0] for place in places}
    assert files == {str(folder / name) for name in ("hosts.yml", "cables.csv", "outlets.csv", "twin/truth.yaml")}


def test_tables_are_read_even_if_the_inventory_is_no_yaml(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "hosts.yml").write_text("all: [", encoding="utf-8")
    (folder / "outlets.csv").write_text("strip,outlet,feeds\npdu1,two,n01\n", encoding="utf-8")
    assert run(["lab", "check", str(folder), "--files-only"]) == 1
    printed = capsys.readouterr().err
    assert "hosts.yml:1" in printed
    assert "outlets.csv:2" in printed


def test_ports_that_a_model_does_not_have_are_named_with_the_switch(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = folder / "hosts.yml"
    hosts.write_text(hosts.read_text(encoding="utf-8").replace("te1/0/[1:2]: 10000", "te1/0/[1:4]: 10000"))
    assert run(["lab", "check", str(folder), "--files-only"]) == 1
    line = next(n for n, text in enumerate(hosts.read_text(encoding="utf-8").splitlines(), 1) if "sw1:" in text)
    assert f"hosts.yml:{line}: sw1: the ports of a PowerConnect 5548 are gi1/0/1 to te1/0/2" in capsys.readouterr().err
