"""Whether a file can be written where a person wants it, known before the work that fills it."""

from pathlib import Path

from eee_testbed.lab.errors import LabError


def require_place(where: Path, content: str, example: str) -> None:
    """LabError if a folder has the file's name, or if the folder that it is in is missing.

    `content` says what the file is for, `example` is a name for it.
    """
    if where.is_dir():
        raise LabError(f"{where} is a folder: name a file for {content}, such as {where / example}.")
    if not where.parent.is_dir():
        raise LabError(f"{where.parent} is not a folder, so {where.name} cannot be written: make it, or change -o.")
