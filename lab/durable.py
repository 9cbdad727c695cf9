"""Files that a crash leaves in their old or in their new version, never in between."""

import os
from collections.abc import Callable
from pathlib import Path

Sync = Callable[[int], None]
"""Flushes what a descriptor stands for to the disk, as fsync(2)."""


def replace(path: Path, content: str | bytes, sync: Sync = os.fsync) -> None:
    """Write a file beside `path`, flush it to the disk, and rename it; after an error the old file is still there."""
    data = content.encode() if isinstance(content, str) else content
    fresh = path.with_name(f"{path.name}.new")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            sync(file.fileno())
        rename(fresh, path, sync)
    except (OSError, KeyboardInterrupt):
        fresh.unlink(missing_ok=True)
        raise


def rename(fresh: Path, path: Path, sync: Sync = os.fsync) -> None:
    """Put a file that is on the disk already in the place of another of the same folder."""
    fresh.replace(path)
    sync_folder(path.parent, sync)


def sync_folder(folder: Path, sync: Sync = os.fsync) -> None:
    """Flush a folder's entries to the disk: files that were created, renamed or removed last."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(handle)
    finally:
        os.close(handle)
