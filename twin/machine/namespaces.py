"""The system calls that Python 3.11 lacks: namespaces, mounts, and dying with a parent."""

import ctypes
import os
import platform

from eee_testbed.lab.errors import LabError

CLONE_NEWNS = 0x0002_0000
CLONE_NEWCGROUP = 0x0200_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x4_0000
MNT_DETACH = 2

_PR_SET_PDEATHSIG = 1
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "ppc64le": 203, "riscv64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Move to new namespaces of the kinds in `flags`; OSError from the kernel."""
    _checked(_libc.unshare(flags), "unshare")


def enter(namespace_fd: int, kind: int) -> None:
    """Join a namespace (setns); for a PID namespace only children made later are in it."""
    _checked(_libc.setns(namespace_fd, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system; OSError names source and target."""
    result = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )
    _checked(result, f"mount {kind or source} on {target}")


def unmount(target: str) -> None:
    """Unmount lazily."""
    _checked(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def become_root(folder: str) -> None:
    """Make a mount point the root of this mount namespace and detach the old root."""
    number = _PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise LabError(f"virtual hosts are not supported on {platform.machine()} processors: use x86_64 or aarch64.")
    os.chdir(folder)
    _checked(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def die_with_parent(signal_number: int) -> None:
    """Request a signal when the thread that forked this process ends (the caller checks that it still runs)."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal_number), 0, 0, 0), "prctl")
