"""The lab that a command works on when it names none."""

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lab.errors import LabError
from twin.machine.statedir import StateDir, running_labs

LabName = Annotated[str, Parameter(name="--lab")]


def chosen(name: str) -> str:
    """Return the lab that was named, else the one in EEE_LAB, else the only one that is running, else `virtual`.

    LabError for a folder whose name is that of a lab that is up from another folder: virtual labs go by their names.
    """
    if name:
        _require_same(name)
        return name
    if "EEE_LAB" in os.environ:
        return os.environ["EEE_LAB"]
    running = list(running_labs())
    return running[0] if len(running) == 1 else "virtual"


def _require_same(name: str) -> None:
    folder = Path(name).resolve()
    if "/" not in name or not (folder / "hosts.yml").exists():
        return
    journal = StateDir(folder.name).load()
    if journal is not None and Path(journal.folder).resolve() != folder:
        raise LabError(f"the lab {folder.name} that is up is that of {journal.folder}, not of {folder}.")
