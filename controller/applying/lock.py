"""One person at a time: a lock per lab, with a holder who gives heartbeats.

The kernel frees it when its holder dies, by whatever signal. The file's text is for people; it also shows that a
former holder died with the lock. Whoever runs keeps its lock, however long its trials take and whatever happens to the
clock. One that was stopped (Ctrl-Z) and gave no heartbeat for half an hour may be replaced: the file gets another
inode, and the old holder, which checks that before each round, sends nothing more.

Only its owner may write the file; others lock it all the same, as that takes no right to write.
"""

import contextlib
import fcntl
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from eee_testbed.controller.applying.holder import LIFE_S, Holder, holder_of, read_holder
from eee_testbed.controller.applying.processes import uptime_s
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.lab.errors import LabError

BEAT_EVERY_S: Final = 1.0
_MODE: Final = 0o644
_TEXT_BYTE: Final = 1024  # a text of one length is never read half old, half new


class Lock:
    """The lock of a lab, held from entering the context to leaving it; LabError if somebody else holds it.

    `warn` gets a sentence about a former holder that died or was stopped. `life_s`: how long one that is stopped keeps
    the lab.
    """

    def __init__(
        self,
        folder: StateFolder,
        command: str,
        *,
        wait: bool = False,
        life_s: float = LIFE_S,
        beat_every_s: float = BEAT_EVERY_S,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._folder = folder
        self._wait = wait
        self._life_s = life_s
        self._beat_every_s = beat_every_s
        self._warn = warn
        self._descriptor = -1
        self._holder = Holder.me(command)
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._heart = threading.Thread(target=self._beat, name=f"heartbeat {folder.lab}", daemon=True)

    def __enter__(self) -> Self:
        self._folder.make()
        path = self._folder.lock
        replaced: Holder | None = None
        while True:
            descriptor = _open(path)
            try:
                replaced = self._take(descriptor) or replaced
            except BaseException:
                os.close(descriptor)
                raise
            if _is_same(path, descriptor):
                break
            os.close(descriptor)  # somebody replaced the file or released it: try again
        former = replaced or read_holder(descriptor)  # who releases a lock leaves no text
        if former is not None:
            self._warn(f"{former} did not release lab {self._folder.lab}; its lock is taken over.")
        self._descriptor = descriptor
        self._write()
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._heart.join()
        if _is_same(self._folder.lock, self._descriptor):
            self._forget()
        os.close(self._descriptor)

    def renew(self) -> None:
        """Give a heartbeat; LabError if somebody took the lock over while this process was stopped."""
        if not _is_same(self._folder.lock, self._descriptor):
            raise LabError(
                f"lab {self._folder.lab} was taken over by {holder_of(self._folder) or 'somebody else'}, as this "
                "command was stopped for too long: nothing more was sent; see "
                f"`eeectl status {self._folder.operand}`."
            )
        self._write()

    def _beat(self) -> None:
        while not self._ended.wait(self._beat_every_s):
            self._write()

    def _write(self) -> None:
        holder = self._holder.model_copy(update={"beat_s": round(uptime_s(), 2)})
        text = holder.model_dump_json().encode().ljust(_TEXT_BYTE)
        # A full disk, or a file of somebody who was killed, is no reason to stop: flock is what counts.
        with self._writing, contextlib.suppress(OSError):
            os.pwrite(self._descriptor, text, 0)

    def _forget(self) -> None:
        """The next holder makes a file of its own; where a folder does not allow that, this one is left empty."""
        try:
            self._folder.lock.unlink()
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)

    def _take(self, descriptor: int) -> Holder | None:
        """Lock the file; a holder that has abandoned it is returned, and its file is gone then."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if self._wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            before = read_holder(descriptor)
            if before is not None and before.abandoned(uptime_s(), self._life_s):
                self._replace(before)
                return before
            raise LabError(
                f"lab {self._folder.lab} is held by {holder_of(self._folder) or 'somebody'}: wait until it is free."
            ) from error
        return None

    def _replace(self, before: Holder) -> None:
        try:
            self._folder.lock.unlink()
        except OSError as error:
            raise LabError(
                f"lab {self._folder.lab} is held by {before}, which was stopped; you may not remove "
                f"{self._folder.lock}: ask {before.user}, or root."
            ) from error


def _open(path: Path) -> int:
    """Open a lock's file, to be written if that is allowed; LabError if something else has its name."""
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = _open_any(path, flags)
    except FileExistsError:
        return _open(path)  # somebody was faster
    except OSError as error:
        raise LabError(f"the lock {path} cannot be opened ({error.strerror}): remove it.") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise LabError(f"the lock {path} is not a file: remove it.")
    if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) != _MODE:
        os.fchmod(descriptor, _MODE)  # whatever the umask is; and earlier versions let everybody write
    return descriptor


def _open_any(path: Path, flags: int) -> int:
    # Without O_CREAT first: the kernel may forbid it on others' files in a folder that is writable for all.
    with contextlib.suppress(FileNotFoundError):
        try:
            return os.open(path, os.O_RDWR | flags)
        except PermissionError:
            return os.open(path, os.O_RDONLY | flags)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, _MODE)


def _is_same(path: Path, descriptor: int) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    mine = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)
