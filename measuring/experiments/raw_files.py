"""A trial's raw files: written as data arrive; data wait in memory while the disk is full."""

import os
import threading
from pathlib import Path
from typing import Self

from eee_testbed.lab.errors import RunFolderFailed


class RawFile:
    """A file that any thread may append to. Data are on disk, or in memory until `close` retries."""

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
        """Write the data, or keep them in memory if the disk is full."""
        with self._lock:
            self._waiting.append(data)
            try:
                self._write()
            except OSError:
                return  # retried with the next data, and by `close`

    def close(self) -> None:
        """Write what is still in memory; RunFolderFailed if that fails. Harmless when already closed."""
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
