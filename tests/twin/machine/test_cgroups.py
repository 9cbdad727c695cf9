"""Control groups of hosts, in either version of the hierarchy."""

from pathlib import Path

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.machine.cgroups import (
    Hierarchy,
    HostGroup,
    _candidates,
    enable_cpu_controller,
    find_cpu_hierarchy,
)


def test_control_groups_of_either_version() -> None:
    both = (
        "30 1 0:1 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "31 1 0:2 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
        "32 1 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
    )
    for controller in ("cpu", "cpuacct"):
        assert [(str(held.path), held.version) for held in _candidates(both, controller)] == [
            ("/sys/fs/cgroup/unified", 2),
            ("/sys/fs/cgroup/cpu,cpuacct", 1),
        ]
    alone = "32 1 0:3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    assert [held.version for held in _candidates(alone, "cpu")] == [2]


class _Machine:
    """Version 2 without a CPU controller, and version 1 with one."""

    def __init__(self, folder: Path) -> None:
        self.second, self.first = Hierarchy(folder / "unified", 2), Hierarchy(folder / "cpu", 1)
        for hierarchy in (self.second, self.first):
            hierarchy.path.mkdir()
            (hierarchy.path / "cgroup.procs").touch()
        (self.second.path / "cgroup.controllers").write_text("cpuset memory\n", encoding="ascii")
        self.mounts = folder / "mountinfo"
        self.mount(self.second, self.first)

    def mount(self, *hierarchies: Hierarchy) -> None:
        kinds = {1: "cgroup cgroup rw,cpu", 2: "cgroup2 cgroup2 rw"}
        lines = [f"30 1 0:1 / {one.path} rw - {kinds[one.version]}\n" for one in hierarchies]
        self.mounts.write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def machine(tmp_path: Path) -> _Machine:
    return _Machine(tmp_path)


def test_the_cpu_controller_is_taken_where_it_is(machine: _Machine) -> None:
    assert find_cpu_hierarchy(machine.mounts) == machine.first
    (machine.second.path / "cgroup.controllers").write_text("cpu memory\n", encoding="ascii")
    assert find_cpu_hierarchy(machine.mounts) == machine.second


def test_without_the_cpu_controller_there_is_a_sentence(machine: _Machine) -> None:
    machine.mount(machine.second)
    with pytest.raises(LabError, match="cpu_ratio"):
        find_cpu_hierarchy(machine.mounts)


def test_the_controller_is_enabled_on_the_way_to_a_labs_groups(tmp_path: Path) -> None:
    groups = tmp_path / "eee-testbed" / "lab"
    enable_cpu_controller(Hierarchy(tmp_path, 2), groups)
    for group in (tmp_path, groups.parent, groups):
        assert (group / "cgroup.subtree_control").read_text(encoding="ascii") == "+cpu"
    (groups / "cgroup.subtree_control").unlink()
    (groups / "cgroup.subtree_control").mkdir()  # as a kernel that refuses
    with pytest.raises(LabError, match="cpu_ratio"):
        enable_cpu_controller(Hierarchy(tmp_path, 2), groups)


def test_a_host_joins_both_of_its_groups(tmp_path: Path) -> None:
    group = HostGroup(tmp_path / "count", 2, tmp_path / "cap")
    group.make()
    group.join()
    assert [(folder / "cgroup.procs").read_text(encoding="ascii") for folder in group.folders] == ["0", "0"]
    assert HostGroup(tmp_path / "one", 2, tmp_path / "one").folders == (tmp_path / "one",)
