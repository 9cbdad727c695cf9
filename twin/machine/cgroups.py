"""A control group per virtual host, for its CPU time: version 2 where it is mounted, else version 1's cpuacct.

Version 2 counts CPU time in every group without any controller, so the machine's configuration is not changed. Only a
lab whose hosts have a `cpu_ratio` needs the CPU controller: in version 2 it is then enabled on the way to the lab's
groups and stays so; in version 1 the hosts have a second group in its hierarchy.
"""

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.lab.errors import LabError

_MOUNTS: Final = Path("/proc/self/mountinfo")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where groups can be made: `path` is the hierarchy's root as mounted here, `version` 1 or 2."""

    path: Path
    version: int


def _candidates(mountinfo: str, controller: str) -> list[Hierarchy]:
    """Version 2, and version 1 with this controller."""
    folders = []
    for line in mountinfo.splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split()[:3]
        path = Path(fields.split()[4])
        if kind == "cgroup2":
            folders.append(Hierarchy(path, 2))
        elif kind == "cgroup" and controller in options.split(","):
            folders.append(Hierarchy(path, 1))
    return sorted(folders, key=lambda hierarchy: -hierarchy.version)


def _writable(hierarchy: Hierarchy) -> bool:
    return os.access(hierarchy.path, os.W_OK) and os.access(hierarchy.path / "cgroup.procs", os.W_OK)


def find_hierarchy() -> Hierarchy:
    """Return a hierarchy that can be written; LabError if none can."""
    candidates = _candidates(_MOUNTS.read_text(encoding="utf-8"), "cpuacct")
    for hierarchy in candidates:
        if _writable(hierarchy):
            return hierarchy
    seen = ", ".join(str(hierarchy.path) for hierarchy in candidates) or "none"
    raise LabError(
        f"no control-group hierarchy is writable (found: {seen}), so the hosts' CPU time cannot be measured: "
        "mount cgroup2 read-write, in a container with `--privileged --cgroupns=private`."
    )


def find_cpu_hierarchy(mounts: Path = _MOUNTS) -> Hierarchy:
    """Return a hierarchy with the CPU controller that can be written; LabError if none can.

    `mounts` lists what is mounted where, as proc_pid_mountinfo(5) says.
    """
    candidates = _candidates(mounts.read_text(encoding="utf-8"), "cpu")
    for hierarchy in candidates:
        if _writable(hierarchy) and (hierarchy.version == 1 or "cpu" in _controllers(hierarchy.path)):
            return hierarchy
    raise LabError(
        "no control-group hierarchy with the CPU controller is writable, so cpu_ratio of twin/truth.yaml cannot be "
        "kept: mount one, or remove cpu_ratio."
    )


def _controllers(group: Path) -> list[str]:
    return (group / "cgroup.controllers").read_text(encoding="ascii").split()


def enable_cpu_controller(hierarchy: Hierarchy, groups: Path) -> None:
    """Give the groups in a folder of the hierarchy a CPU controller; LabError if the kernel refuses."""
    groups.mkdir(parents=True, exist_ok=True)
    if hierarchy.version == 1:
        return
    for group in (hierarchy.path, groups.parent, groups):
        try:
            (group / "cgroup.subtree_control").write_text("+cpu", encoding="ascii")
        except OSError as error:
            raise LabError(
                f"{group} cannot give its groups the CPU controller ({error.strerror}), which cpu_ratio of "
                "twin/truth.yaml needs: let no process stand in that group, or remove cpu_ratio."
            ) from error


@dataclass(frozen=True, slots=True)
class HostGroup:
    """The control group of one host; `cpu_path` is its group with a CPU controller, if it needs one."""

    path: Path
    version: int
    cpu_path: Path | None = None

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of its groups, each once."""
        return tuple(dict.fromkeys(path for path in (self.path, self.cpu_path) if path is not None))

    def make(self) -> None:
        """Create it."""
        for path in self.folders:
            path.mkdir(parents=True, exist_ok=True)

    def join(self) -> None:
        """Move the calling process into the group."""
        for path in self.folders:
            (path / "cgroup.procs").write_text("0", encoding="ascii")

    def cpu_s(self) -> float:
        """CPU seconds used by all processes that are or were in the group; 0 after it was removed."""
        try:
            if self.version == 1:
                return int((self.path / "cpuacct.usage").read_text(encoding="ascii")) / 1e9
            text = (self.path / "cpu.stat").read_text(encoding="ascii")
        except FileNotFoundError:
            return 0.0
        stats = dict(line.split() for line in text.splitlines())
        return int(stats["usage_usec"]) / 1e6


def lab_folder(hierarchy: Hierarchy, lab: str) -> Path:
    """Return the folder of all groups of a lab."""
    return hierarchy.path / "eee-testbed" / lab


def remove_groups(folder: Path) -> None:
    """Remove a lab's groups after their processes have ended; missing groups are ignored."""
    for path in (*folder.glob("*/"), folder, folder.parent):
        try:
            path.rmdir()
        except FileNotFoundError:
            continue
        except OSError as error:
            shared_with_others = path == folder.parent and error.errno in (errno.ENOTEMPTY, errno.EBUSY)
            if not shared_with_others:
                raise
