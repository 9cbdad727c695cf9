"""Limits of the kernel's neighbour table: raised for labs that need it, put back by the last."""

import shutil
from pathlib import Path

import pytest

from twin.neighbours import give_room_back, make_room
from twin.statedir import Journal, Process, StateDir


@pytest.fixture
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "limits"
    folder.mkdir()
    (folder / "gc_thresh2").write_text("512\n")
    (folder / "gc_thresh3").write_text("1024\n")
    return folder


def _values(limits: Path) -> tuple[int, int]:
    return int((limits / "gc_thresh2").read_text()), int((limits / "gc_thresh3").read_text())


def _run(name: str, hosts: int) -> StateDir:
    state = StateDir(name)
    state.create()
    members = {f"n{number}": Process(pid=1, start_ticks=0, boot="another") for number in range(hosts)}
    common = {"group": 1, "bridge": "b", "management_network": "198.18.0.0/24", "listeners": (), "cgroups": "/"}
    state.save(Journal(lab=name, folder="/", hosts=members, **common))
    return state


def test_all_hosts_of_a_large_lab_can_know_each_other(limits: Path) -> None:
    make_room(66, limits=limits)
    assert min(_values(limits)) >= 66 * 65


def test_the_last_lab_puts_the_limits_back(limits: Path) -> None:
    make_room(40, limits=limits)
    first = _run("one", 40)
    make_room(40, limits=limits)
    assert min(_values(limits)) >= 2 * 40 * 39
    second = _run("two", 40)
    shutil.rmtree(first.path)
    give_room_back(limits=limits)
    assert min(_values(limits)) >= 2 * 40 * 39
    shutil.rmtree(second.path)
    give_room_back(limits=limits)
    assert _values(limits) == (512, 1024)


def test_what_somebody_else_has_set_since_is_left_alone(limits: Path) -> None:
    make_room(66, limits=limits)
    (limits / "gc_thresh3").write_text("99999\n")
    give_room_back(limits=limits)
    assert _values(limits)[1] == 99999


def test_limits_that_suffice_are_not_touched(limits: Path) -> None:
    (limits / "gc_thresh2").write_text("100000\n")
    (limits / "gc_thresh3").write_text("100000\n")
    make_room(66, limits=limits)
    assert _values(limits) == (100000, 100000)
    give_room_back(limits=limits)
    assert _values(limits) == (100000, 100000)
