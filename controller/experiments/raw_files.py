"""A trial's raw files: written as they come; what a full disk does not take waits in memory."""

import os
import threading
from pathlib import Path
from typing import Self

from lab.errors import RunFolderFailed


class RawFile:
    """A file that any thread may append to. Its data is on the disk, or in memory until `close` has tried again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def append(self, data: bytes) -> None:
        """Write, or keep what the disk does not take."""
        with self._lock:
            self._waiting.append(data)
            try:
                self._write()
            except OSError:
                return  # tried again with what comes next, and by `close`

    def close(self) -> None:
        """Write what waits; RunFolderFailed if the disk does not take it. Harmless when closed."""
        with self._lock:
            try:
                if self._waiting:
                    self._write()
            except OSError as error:
                raise RunFolderFailed(str(self.path.parent), error.strerror or str(error)) from error
            finally:
                if self._descriptor >= 0:
                    os.close(self._descriptor)
                self._descriptor = -1

    def _write(self) -> None:
        if self._descriptor < 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        data = b"".join(self._waiting)
        while data:
            written = os.write(self._descriptor, data)
            data = data[written:]
            self._waiting = [data] if data else []
