"""Which process is it, and does it still run? Answered from /proc, without a clock that somebody can set.

A process is known by its number, the tick of the boot at which it started, the boot, and the PID namespace: numbers
are used again, by other processes, after a restart, and in containers.
"""

import os
import socket
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict

_PROC: Final = Path("/proc")

Standing = Literal["running", "stopped", "gone", "elsewhere"]
"""`stopped`: by Ctrl-Z, SIGSTOP or a debugger. `elsewhere`: on another machine or in another container."""


class ProcessId(BaseModel):
    """One process of one machine, for good."""

    model_config = ConfigDict(frozen=True)

    host: str
    boot: str
    space: str
    """The PID namespace, as /proc names it."""

    pid: int
    started_tick: int
    """Since the boot, in ticks of the kernel (`_SC_CLK_TCK` a second)."""

    @classmethod
    def me(cls) -> Self:
        """This process."""
        pid = os.getpid()
        stat = _stat(_PROC, pid)
        return cls(
            host=socket.gethostname(),
            boot=_boot(_PROC),
            space=_space(_PROC),
            pid=pid,
            started_tick=stat[1] if stat else 0,
        )

    def standing(self, proc: Path = _PROC) -> Standing:
        """Whether it runs. Where /proc hides processes of others, one that exists counts as running."""
        if self.boot != _boot(proc):
            return "gone" if self.host == socket.gethostname() else "elsewhere"
        if self.space != _space(proc):
            return "elsewhere"
        stat = _stat(proc, self.pid)
        if stat is None:
            return "running" if _hidden(self.pid) else "gone"
        state, started_tick = stat
        if started_tick != self.started_tick or state in "ZXx":
            return "gone"
        return "stopped" if state in "Tt" else "running"


def uptime_s(proc: Path = _PROC) -> float:
    """Seconds since the boot. They include suspension, and steps of the clock do not change them.

    From a file, as clocks of processes that live in a virtual lab's time are that lab's.
    """
    return float((proc / "uptime").read_text(encoding="ascii").split()[0])


def _boot(proc: Path) -> str:
    return (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _space(proc: Path) -> str:
    return str((proc / "self/ns/pid").readlink())


def _stat(proc: Path, pid: int) -> tuple[str, int] | None:
    """State and start of a process; None if /proc does not show it."""
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    fields = text.rpartition(")")[2].split()  # a program's name may hold spaces and brackets
    return fields[0], int(fields[19])


def _hidden(pid: int) -> bool:
    """Whether a process exists that /proc does not show, as with the mount option hidepid."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
