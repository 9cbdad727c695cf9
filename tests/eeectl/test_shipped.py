"""What travels with the package is found installed and in a checkout, and copied without overwriting."""

import tomllib
from pathlib import Path

import pytest

from eee_testbed.eeectl.shipped import PARTS, copy_examples, place_of, playbook
from eee_testbed.lab.errors import LabError
from tests.support import ROOT


def test_a_checkout_has_its_parts_at_the_root() -> None:
    places = {part.name: place_of(part, ROOT) for part in PARTS}
    assert places["playbooks"] == ROOT / "playbooks"
    assert places["inventory"] == ROOT / "inventory"


def test_an_installed_package_has_them_inside(tmp_path: Path) -> None:
    for part in PARTS:
        (tmp_path / part.inside).mkdir(parents=True)
    (tmp_path / "docs").mkdir()  # of another package
    assert {place_of(part, tmp_path) for part in PARTS} == {tmp_path / part.inside for part in PARTS}


def test_the_wheel_puts_each_part_where_it_is_looked_for() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["sources"].items() >= {part.name: f"eee_testbed/{part.inside}" for part in PARTS}.items()
    assert {part.name for part in PARTS} <= set(wheel["only-include"])


def test_copies_are_whole_and_without_compiled_files(tmp_path: Path) -> None:
    counts = {part.name: count for part, count in copy_examples(tmp_path / "new" / "folder", ROOT)}
    copied = tmp_path / "new" / "folder"
    assert (copied / "inventory" / "virtual" / "hosts.yml").read_bytes() == (
        ROOT / "inventory" / "virtual" / "hosts.yml"
    ).read_bytes()
    assert (copied / "playbooks" / "nodes.yml").is_file()
    assert counts["experiments"] == len(list((ROOT / "experiments").glob("*.yaml")))
    assert not list(copied.rglob("__pycache__"))


def test_what_exists_is_kept_and_nothing_is_copied_beside_it(tmp_path: Path) -> None:
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks" / "mine.yml").write_text("mine")
    with pytest.raises(LabError, match="playbooks exists: name another folder"):
        copy_examples(tmp_path, ROOT)
    assert [path.name for path in tmp_path.iterdir()] == ["playbooks"]


def test_a_playbook_near_by_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert playbook("nodes.yml") == ROOT / "playbooks" / "nodes.yml"
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks" / "nodes.yml").write_text("")
    assert playbook("nodes.yml") == Path("playbooks/nodes.yml")
