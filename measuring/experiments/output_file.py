"""What a command prints: written to a file as it arrives, and kept."""

from pathlib import Path
from typing import Self

from eee_testbed.lab.plain_text import decoded_lines
from eee_testbed.measuring.experiments.raw_files import RawFile


class OutputFile:
    """Output of a command: written to a file as it arrives, and kept in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = RawFile(path)
        self._pieces: list[bytes] = []

    def __enter__(self) -> Self:
        self._path.unlink(missing_ok=True)
        self._file.append(b"")  # so that the file exists in any case
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._file.close()

    def take(self, data: bytes) -> None:
        """Append a piece of output."""
        self._pieces.append(data)
        self._file.append(data)

    @property
    def text(self) -> str:
        """All output so far."""
        return decoded_lines(b"".join(self._pieces))
