"""Which lab a command means when it names none."""

import os
from typing import Annotated

from cyclopts import Parameter

from twin.machine.statedir import running_labs

LabName = Annotated[str, Parameter(name="--lab")]


def chosen(name: str) -> str:
    """Return the lab that was named, or that EEE_LAB names, or the only one that runs, or `virtual`."""
    if name:
        return name
    if "EEE_LAB" in os.environ:
        return os.environ["EEE_LAB"]
    running = list(running_labs())
    return running[0] if len(running) == 1 else "virtual"
