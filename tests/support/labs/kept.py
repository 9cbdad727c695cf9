"""The fixture of tests that keep their journals and locks in a folder of their own, in memory."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made there; fsync on a disk takes most of a test's time


@pytest.fixture(autouse=True)
def state_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder."""
    folder = Path(tempfile.mkdtemp(prefix="eee-kept-", dir=_MEMORY if _MEMORY.is_dir() else None))
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)
