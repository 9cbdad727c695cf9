"""The file system of a virtual host: the machine's, with every write kept in memory and lost with the host.

The root is an overlay over the machine's root, and so is each other file system mounted below it; upper layers lie on
one tmpfs inside the host's mount namespace. /proc, /sys, /dev, /run, /tmp and /shared are the host's own.

Simplification: a real node has its own disk. Here the lower layer is the machine's live one: a file changed on the
machine while a lab is up may appear changed, unchanged or not at all, as the kernel's overlay documentation warns. What
must be up to date on all hosts (programs being compiled) belongs into /shared, which is not an overlay.
"""

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path

from eee_testbed.twin.machine.lab_clock import HOST_PAGE
from eee_testbed.twin.machine.namespaces import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    become_root,
    mount,
    unmount,
)

_OWN = ("/proc", "/sys", "/dev", "/run", "/tmp", "/var/run", "/shared")  # noqa: S108 - mount points, not files
_CONTAINERS = ("/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet", "/snap")
_VOLATILE = ("/run", "/tmp", "/dev/shm")  # noqa: S108 - ditto
_KERNEL = re.compile(
    "proc|sysfs|cgroup2?|devpts|devtmpfs|mqueue|securityfs|debugfs|tracefs|pstore|bpf|configfs|fusectl|hugetlbfs"
    "|autofs|binfmt_misc|nsfs|rpc_pipefs|efivarfs|selinuxfs"
)
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"), ("ptmx", "pts/ptmx"))


@dataclass(frozen=True, slots=True)
class MountedBelow:
    """A file system mounted below the machine's root."""

    path: str
    kind: str
    writable: bool


def _unescape(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def mounts_below(mountinfo: str) -> list[MountedBelow]:
    """Return the mounts of a /proc/self/mountinfo that a host needs too, outer ones first.

    Left out: the kernel's own file systems, what a host has of its own, and the layers of containers.
    """
    mounts: dict[str, MountedBelow] = {}
    hidden: list[str] = []
    for line in mountinfo.splitlines():
        fields, _, rest = line.partition(" - ")
        path = _unescape(fields.split()[4])
        kind = rest.split()[0]
        if path == "/" or any(path == prefix or path.startswith(prefix + "/") for prefix in (*_OWN, *_CONTAINERS)):
            continue
        if _KERNEL.fullmatch(kind):
            hidden.append(path)
            continue
        mounts[path] = MountedBelow(path, kind, writable="rw" in fields.split()[5].split(","))
    kept = [held for path, held in mounts.items() if not any(path.startswith(over + "/") for over in hidden)]
    return sorted(kept, key=lambda held: held.path)


def _overlay(lower: str, target: str, layers: Path) -> None:
    if set(lower) & set(":,\\"):
        raise OSError(errno.EINVAL, f"{lower}: a path with ':' or ',' cannot be an overlay's layer")
    upper, work = layers / "upper", layers / "work"
    upper.mkdir(parents=True)
    work.mkdir()
    below = Path(lower).stat()
    os.chown(upper, below.st_uid, below.st_gid)
    upper.chmod(below.st_mode & 0o7777)
    mount("overlay", target, "overlay", 0, f"lowerdir={lower},upperdir={upper},workdir={work}")


def _read_only(source: str, target: str) -> None:
    mount(source, target, "", MS_BIND)
    mount(source, target, "", MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID)


def _copy_over(new_root: Path, folder: str, layers: Path) -> None:
    """Make a folder of a read-only root writable by a copy: an overlay of that folder alone is not possible."""
    import shutil  # noqa: PLC0415 - only where overlays cannot be stacked any deeper

    copy = layers / folder.strip("/").replace("/", "-")
    shutil.copytree(folder, copy, symlinks=True, ignore_dangling_symlinks=True)
    mount(str(copy), str(new_root) + folder, "", MS_BIND)


def _root(new_root: Path, layers: Path) -> None:
    try:
        _overlay("/", str(new_root), layers / "root")
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ELOOP):
            raise
        # The machine's root is itself an overlay of overlays: the kernel stacks two, no more. Then the root is
        # read-only, with a private copy of /etc and empty homes; writes anywhere else fail.
        _read_only("/", str(new_root))
        _copy_over(new_root, "/etc", layers)
        for folder in ("/home", "/var/log", "/var/tmp"):  # noqa: S108 - mount points
            mount("tmpfs", str(new_root) + folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")


def _reachable(path: Path) -> bool:
    """Whether the path can be reached: a later mount above it can hide it, or its server can be down."""
    try:
        path.stat()
    except OSError:
        return False
    return True


def _mount_point(path: Path, *, folder: bool) -> bool:
    try:
        if folder:
            path.mkdir(exist_ok=True)
        else:
            path.touch()
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
    return path.exists()


def _dev(dev: Path) -> None:
    mount("tmpfs", str(dev), "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k")
    for name in _DEVICES:
        (dev / name).touch()
        mount(f"/dev/{name}", str(dev / name), "", MS_BIND)
    for name, target in _LINKS:
        (dev / name).symlink_to(target)
    for name in ("pts", "shm"):
        (dev / name).mkdir()
    options = "newinstance,ptmxmode=0666,mode=620,gid=5"
    mount("devpts", str(dev / "pts"), "devpts", MS_NOSUID | MS_NOEXEC, options)


def mount_volatile(root: str) -> None:
    """Mount what a reboot empties; with root "/" and after `empty_volatile` it acts as a reboot."""
    base = root.rstrip("/")
    for path in _VOLATILE:
        mode = "755" if path == "/run" else "1777"
        mount("tmpfs", base + path, "tmpfs", MS_NOSUID | MS_NODEV, f"mode={mode}")
    for name, bits in (("sshd", 0o755), ("lock", 0o1777), ("user", 0o755)):
        folder = Path(f"{base}/run/{name}")
        folder.mkdir()
        folder.chmod(bits)


def empty_volatile() -> None:
    """Discard /run, /tmp and /dev/shm, as a power cut does."""
    for path in _VOLATILE:
        unmount(path)


def build_root(staging: str, shared: str, clock: str = "") -> None:
    """Build the host's file system and make it the root; call it as PID 1 in a new mount namespace.

    `staging` is an empty folder to mount on, `shared` the folder that becomes /shared, `clock` the page of the lab's
    clock, if it has one. OSError from the kernel.
    """
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    below = mounts_below(Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
    mount("tmpfs", staging, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    new_root, layers = Path(staging) / "merged", Path(staging) / "layers"
    new_root.mkdir()
    layers.mkdir()
    _root(new_root, layers)
    for number, held in enumerate(below):
        target = Path(str(new_root) + held.path)
        if not _reachable(Path(held.path)):
            continue
        if not _mount_point(target, folder=Path(held.path).is_dir()):
            continue
        try:
            if held.writable and Path(held.path).is_dir():
                _overlay(held.path, str(target), layers / f"below{number}")
            else:
                _read_only(held.path, str(target))
        except OSError:
            _read_only(held.path, str(target))  # this file system cannot be a layer: visible, but read-only
    for name in ("proc", "sys", "dev", "run", "tmp", "shared"):
        _mount_point(new_root / name, folder=True)
    mount("proc", str(new_root / "proc"), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("sysfs", str(new_root / "sys"), "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _dev(new_root / "dev")
    if clock:
        page = new_root / HOST_PAGE.lstrip("/")
        page.touch()
        _read_only(clock, str(page))
    mount_volatile(str(new_root))
    mount(shared, str(new_root / "shared"), "", MS_BIND)
    become_root(str(new_root))
