"""A control group per virtual host, for its CPU time: version 2 where it is mounted, else version 1's cpuacct.

Version 2 counts CPU time in every group without any controller, so the machine's configuration is not changed.
"""

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where groups can be made: `path` is the hierarchy's root as mounted here, `version` 1 or 2."""

    path: Path
    version: int


def _candidates(mountinfo: str) -> list[Hierarchy]:
    found = []
    for line in mountinfo.splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split()[:3]
        path = Path(fields.split()[4])
        if kind == "cgroup2":
            found.append(Hierarchy(path, 2))
        elif kind == "cgroup" and "cpuacct" in options.split(","):
            found.append(Hierarchy(path, 1))
    return sorted(found, key=lambda hierarchy: -hierarchy.version)


def find_hierarchy() -> Hierarchy:
    """Return a hierarchy that can be written; LabError if none can."""
    candidates = _candidates(Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
    for hierarchy in candidates:
        if os.access(hierarchy.path, os.W_OK) and os.access(hierarchy.path / "cgroup.procs", os.W_OK):
            return hierarchy
    seen = ", ".join(str(hierarchy.path) for hierarchy in candidates) or "none"
    raise LabError(
        f"no control-group hierarchy is writable (found: {seen}), so the hosts' CPU time cannot be measured: "
        "mount cgroup2 read-write, in a container with `--privileged --cgroupns=private`."
    )


@dataclass(frozen=True, slots=True)
class HostGroup:
    """The control group of one host."""

    path: Path
    version: int

    def make(self) -> None:
        """Create it."""
        self.path.mkdir(parents=True, exist_ok=True)

    def join(self) -> None:
        """Move the calling process into the group."""
        (self.path / "cgroup.procs").write_text("0", encoding="ascii")

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
    """Remove a lab's groups, whose processes have ended; missing groups are ignored."""
    for path in (*folder.glob("*/"), folder, folder.parent):
        try:
            path.rmdir()
        except FileNotFoundError:
            continue
        except OSError as error:
            shared_with_others = path == folder.parent and error.errno in (errno.ENOTEMPTY, errno.EBUSY)
            if not shared_with_others:
                raise
