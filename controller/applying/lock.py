"""One person at a time: a lock per lab, with a holder and an expiry.

The kernel frees it when its holder dies, by whatever signal. The file's text is for people; it also shows that a
former holder died with the lock. A holder that has expired (stopped, or hanging) may be replaced: the file gets another
inode, and the old holder, which checks that before each round, sends nothing more.
"""

import contextlib
import fcntl
import getpass
import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from controller.applying.statefolder import StateFolder
from lab.errors import LabError

LIFE_S = 1800.0
"""How long a holder that does not renew its lock counts as alive."""


class Holder(BaseModel):
    """Who holds a lab, for which command, since when, and when that expires."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: str
    host: str
    pid: int
    command: str
    since: AwareDatetime
    expires: AwareDatetime

    @classmethod
    def me(cls, command: str, life_s: float = LIFE_S) -> Self:
        """This process."""
        now = datetime.now(UTC)
        return cls(
            user=_user(),
            host=socket.gethostname(),
            pid=os.getpid(),
            command=command,
            since=now,
            expires=now + timedelta(seconds=life_s),
        )

    def __str__(self) -> str:
        return f"{self.user}@{self.host} (process {self.pid}, {self.command}, since {self.since:%Y-%m-%d %H:%M:%S} UTC)"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


class Lock:
    """The lock of a lab, held from entering the context to leaving it; LabError if somebody else holds it.

    `warn` gets a sentence about a former holder that died or expired.
    """

    def __init__(
        self,
        folder: StateFolder,
        command: str,
        *,
        wait: bool = False,
        life_s: float = LIFE_S,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._folder = folder
        self._command = command
        self._wait = wait
        self._life_s = life_s
        self._warn = warn
        self._descriptor = -1
        self._holder = Holder.me(command, life_s)

    def __enter__(self) -> Self:
        self._folder.make()
        path = self._folder.lock
        former: Holder | None = None
        while True:
            descriptor = _open(path)
            former = _read(descriptor) or former
            try:
                self._take(descriptor, former)
            except BaseException:
                os.close(descriptor)
                raise
            if _is_same(path, descriptor):
                break
            os.close(descriptor)  # somebody replaced the file or released it: try again
        if former is not None:
            self._warn(f"{former} ended without releasing lab {self._folder.lab}; its lock is taken over.")
        self._descriptor = descriptor
        self.renew()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if _is_same(self._folder.lock, self._descriptor):
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def renew(self) -> None:
        """Extend the expiry; LabError if somebody took the lock over meanwhile."""
        if not _is_same(self._folder.lock, self._descriptor):
            raise LabError(
                f"lab {self._folder.lab} was taken over by {_read_path(self._folder.lock) or 'somebody else'}, as this "
                "command did not renew its lock in time: nothing more was sent; see "
                f"`eeectl status {self._folder.operand}`."
            )
        expires = datetime.now(UTC) + timedelta(seconds=self._life_s)
        text = self._holder.model_copy(update={"expires": expires}).model_dump_json().encode()
        with contextlib.suppress(OSError):  # a full disk is no reason to stop: flock is what counts
            os.pwrite(self._descriptor, text, 0)
            os.ftruncate(self._descriptor, len(text))

    def _take(self, descriptor: int, before: Holder | None) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if self._wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            if before is not None and before.expires < datetime.now(UTC):
                self._replace(before)
                return
            raise LabError(
                f"lab {self._folder.lab} is held by {before or 'somebody'}: wait until it is free."
            ) from error

    def _replace(self, before: Holder) -> None:
        try:
            self._folder.lock.unlink()
        except OSError as error:
            raise LabError(
                f"lab {self._folder.lab} is held by {before}, who did not renew the lock; you may not remove "
                f"{self._folder.lock}: ask {before.user}, or root."
            ) from error


def _open(path: Path) -> int:
    # Without O_CREAT first: the kernel may forbid it on others' files in a folder that is writable for all.
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with contextlib.suppress(PermissionError):
        os.fchmod(descriptor, 0o666)
    return descriptor


def _is_same(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    mine = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _read(descriptor: int) -> Holder | None:
    try:
        return Holder.model_validate_json(os.pread(descriptor, 65536, 0))
    except ValidationError:
        return None


def _read_path(path: Path) -> Holder | None:
    try:
        return Holder.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def holder_of(folder: StateFolder) -> Holder | None:
    """Who holds the lab now; None if nobody does. Reads without locking, so that it never keeps anybody out."""
    holder = _read_path(folder.lock)
    if holder is None:
        return None
    inode = folder.lock.stat().st_ino
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        fields = line.split()
        if fields[1] == "FLOCK" and int(fields[4]) == holder.pid and int(fields[5].rpartition(":")[2]) == inode:
            return holder
    return None
