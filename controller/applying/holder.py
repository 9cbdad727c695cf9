"""Who holds a lab: what a lock's file says, held against what the kernel says.

Whether the lock is held is the kernel's word alone. The file's text names the holder; where it is missing, as on a full
disk or in a file of another user, the kernel's process number does.
"""

import contextlib
import fcntl
import getpass
import os
import pwd
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, ValidationError

from eee_testbed.controller.applying.processes import ProcessId, uptime_s
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.lab.plain_text import one_line

LIFE_S: Final = 1800.0
"""How long a holder that was stopped (Ctrl-Z) keeps its lab."""

_TEXT_BYTE: Final = 4096
_Text = Annotated[str, AfterValidator(one_line)]
"""Text of the file, which another user may have written."""


class Holder(BaseModel):
    """Who holds a lab, for which command, since when; `beat_s`: uptime of the machine at the last heartbeat."""

    model_config = ConfigDict(frozen=True)

    user: _Text
    command: _Text
    since: AwareDatetime
    process: ProcessId
    beat_s: float

    @classmethod
    def me(cls, command: str) -> Self:
        """This process."""
        return cls(
            user=_user(), command=command, since=datetime.now(UTC), process=ProcessId.me(), beat_s=round(uptime_s(), 2)
        )

    def abandoned(self, now_s: float, life_s: float = LIFE_S) -> bool:
        """Whether the lock may be taken from it, at an uptime of the machine.

        Only from a process that is gone, or that was stopped and gave no heartbeat for `life_s`: whoever runs keeps it.
        """
        standing = self.process.standing()
        return standing == "gone" or (standing == "stopped" and now_s - self.beat_s > life_s)

    def __str__(self) -> str:
        who = f"{self.user}@{one_line(self.process.host)}"
        return f"{who} (process {self.process.pid}, {self.command}, since {self.since:%Y-%m-%d %H:%M:%S} UTC)"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def read_holder(descriptor: int) -> Holder | None:
    """Who wrote its name into a lock's file last; None if nobody did."""
    try:
        return Holder.model_validate_json(os.pread(descriptor, _TEXT_BYTE, 0))
    except ValidationError:
        return None


def holder_of(folder: StateFolder) -> Holder | str | None:
    """Who holds the lab now, or words on a process that has not written its name; None if nobody does.

    Never keeps anybody out.
    """
    try:
        descriptor = os.open(folder.lock, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        named, pid = read_holder(descriptor), _flock_pid(descriptor)
        if pid is None:
            there = named is not None and named.process.standing() == "elsewhere" and _held_elsewhere(descriptor)
            return named if there else None
    finally:
        os.close(descriptor)
    if named is not None and (named.process.pid == pid or named.process.standing() == "elsewhere"):
        return named
    return f"process {pid}{_user_of(pid)}"


def _flock_pid(descriptor: int) -> int | None:
    """The process that holds a file's lock on this machine; None if none does."""
    inode = os.fstat(descriptor).st_ino
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        fields = line.split()
        if fields[1] == "FLOCK" and int(fields[5].rpartition(":")[2]) == inode:
            return int(fields[4])
    return None


def _held_elsewhere(descriptor: int) -> bool:
    """Whether another machine holds a lock on a shared file system.

    Asked by taking it for an instant, together with everybody else who only asks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _user_of(pid: int) -> str:
    """Whose process it is, as far as /proc shows it."""
    with contextlib.suppress(OSError, KeyError):
        return f" of {pwd.getpwuid((Path('/proc') / str(pid)).stat().st_uid).pw_name}"
    return ""
