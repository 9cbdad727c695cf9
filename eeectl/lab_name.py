"""The lab that a command works on when it names none."""

import os
from typing import Annotated

from cyclopts import Parameter

from twin.machine.statedir import running_labs

LabName = Annotated[str, Parameter(name="--lab")]


def chosen(name: str) -> str:
    """Return the lab that was named, else the one in EEE_LAB, else the only one that is running, else `virtual`."""
    if name:
        return name
    if "EEE_LAB" in os.environ:
        return os.environ["EEE_LAB"]
    running = list(running_labs())
    return running[0] if len(running) == 1 else "virtual"
