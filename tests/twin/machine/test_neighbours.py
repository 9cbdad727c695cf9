"""Limits of the kernel's neighbour table: raised for labs that need it, restored by the last."""

from pathlib import Path

import pytest

from eee_testbed.lab.untrusted_files import DamagedPart
from eee_testbed.twin.machine.neighbours import raise_limits, restore_limits


@pytest.fixture
def limits(tmp_path: Path) -> Path:
    folder = tmp_path / "limits"
    folder.mkdir()
    (folder / "gc_thresh2").write_text("512\n")
    (folder / "gc_thresh3").write_text("1024\n")
    return folder


class _Labs:
    """State folders, in roots of their own, and the machine that they share."""

    def __init__(self, limits: Path) -> None:
        self._limits = limits
        self._record = limits.parent / "record"

    def up(self, name: str, hosts: int) -> None:
        path = self._path(name)
        path.mkdir(parents=True)
        raise_limits(path, hosts, limits=self._limits, record=self._record)

    def down(self, name: str) -> None:
        self._path(name).rmdir()
        restore_limits(self._path(name), limits=self._limits, record=self._record)

    def vanish(self, name: str) -> None:
        self._path(name).rmdir()

    def _path(self, name: str) -> Path:
        return self._limits.parent / f"root of {name}" / name


@pytest.fixture
def labs(limits: Path) -> _Labs:
    return _Labs(limits)


def _values(limits: Path) -> tuple[int, int]:
    return int((limits / "gc_thresh2").read_text()), int((limits / "gc_thresh3").read_text())


def test_all_hosts_of_a_large_lab_can_know_each_other(limits: Path, labs: _Labs) -> None:
    labs.up("one", 66)
    assert min(_values(limits)) >= 66 * 65


def test_the_last_lab_restores_the_limits(limits: Path, labs: _Labs) -> None:
    """Limits are shared even between labs with state roots of their own."""
    labs.up("one", 40)
    labs.up("two", 40)
    assert min(_values(limits)) >= 2 * 40 * 39
    labs.down("one")
    assert min(_values(limits)) >= 2 * 40 * 39
    labs.down("two")
    assert _values(limits) == (512, 1024)
    assert sorted(path.name for path in limits.parent.iterdir() if path.is_file()) == []


def test_a_lab_whose_state_was_removed_no_longer_counts(limits: Path, labs: _Labs) -> None:
    labs.up("one", 40)
    labs.vanish("one")
    labs.up("two", 4)
    labs.down("two")
    assert _values(limits) == (512, 1024)


def test_limits_that_another_user_changed_since_are_kept(limits: Path, labs: _Labs) -> None:
    labs.up("one", 66)
    (limits / "gc_thresh3").write_text("99999\n")
    labs.down("one")
    assert _values(limits)[1] == 99999


def test_limits_that_suffice_are_not_touched(limits: Path, labs: _Labs) -> None:
    (limits / "gc_thresh2").write_text("100000\n")
    (limits / "gc_thresh3").write_text("100000\n")
    labs.up("one", 66)
    assert _values(limits) == (100000, 100000)
    labs.down("one")
    assert _values(limits) == (100000, 100000)


def test_a_container_that_does_not_show_the_limits_leaves_them(limits: Path, labs: _Labs) -> None:
    for file in limits.iterdir():
        file.unlink()
    labs.up("one", 66)
    labs.down("one")
    assert list(limits.iterdir()) == []
    assert not (limits.parent / "record").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"rooms": 1}', '{"before": {"gc_thresh2": "x"}}', "\xff", "[" * 5_000])
def test_a_damaged_record_is_begun_anew_and_said(limits: Path, labs: _Labs, text: str) -> None:
    (limits.parent / "record").write_text(text, encoding="latin-1")
    with pytest.warns(DamagedPart, match="begun anew"):
        labs.up("a", 66)
    labs.down("a")
    assert (limits / "gc_thresh3").read_text().strip() == "1024"
