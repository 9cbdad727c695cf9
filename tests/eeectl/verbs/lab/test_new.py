"""`eeectl lab new`: whatever it writes passes `lab check`, and two labs can be up side by side."""

import json
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.lab.folder import load_lab
from eee_testbed.twin.families.table import FAMILIES

_SIZES = [
    *(["--family", family] for family in FAMILIES),
    ["--switches", "3", "--hosts", "5", "--family", ",".join(FAMILIES)],
    ["--switches", "1", "--hosts", "40"],
    ["--switches", "7", "--hosts", "30", "--links", "1", "--shape", "ring"],
]


@pytest.fixture(name="place", autouse=True)
def a_folder_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("size", _SIZES, ids=" ".join)
def test_what_is_written_passes_the_check(size: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "new", "mine", *size]) == 0
    assert "`eeectl lab up mine`" in capsys.readouterr().out
    assert run(["lab", "check", "mine", "--files-only"]) == 0


def test_a_second_lab_has_addresses_of_its_own(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("mine", "other/theirs", "other/ours"):
        assert run(["lab", "new", name, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["lab"], found["switches"], found["hosts"]) == (Path(name).name, 2, 4)
    labs = [load_lab(place / folder) for folder in ("inventory/mine", "other/theirs", "other/ours")]
    assert len({lab.management_network for lab in labs}) == 3
    addresses = [device.address for lab in labs for device in (*lab.switches, *lab.strips)]
    assert len(set(addresses)) == len(addresses)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["My_Lab"], "lower-case letters"),
        (["virtual"], "is known already"),
        (["mine", "--family", "cisco_ios"], "has no twin: use one or several of"),
        (["mine", "--switches", "2", "--hosts", "200"], "give fewer hosts"),
    ],
)
def test_a_mistake_is_refused_and_leaves_nothing(
    place: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "new", *words]) == 1
    assert says in capsys.readouterr().err
    assert list(place.iterdir()) == []


def test_files_that_are_there_stay(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "inventory" / "mine").mkdir(parents=True)
    assert run(["lab", "new", "mine"]) == 1
    assert "exists already" in capsys.readouterr().err
