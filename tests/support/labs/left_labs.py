"""Where labs of tests have their state, and an end for those whose test process ended before its fixtures did.

After Ctrl-C in a parallel test run its workers are ended without their fixtures; a kill ends any.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support import ROOT

_PARENT: Final = Path("/run")
_HEAD: Final = "eee-test-"


def state_root(ending: str = "") -> Path:
    """A folder of this process for states of labs, short as paths of sockets have to be. It is not made here."""
    return _PARENT / f"{_HEAD}{os.getpid()}{ending}"


def take_down_left_labs(parent: Path = _PARENT) -> list[str]:
    """Take down the labs of processes that are gone, and remove their folders; returns the labs' names."""
    names = []
    for root in sorted(parent.glob(f"{_HEAD}*")):
        process = root.name.removeprefix(_HEAD).partition("-")[0]
        if not process.isdecimal() or Path("/proc", process).exists():
            continue
        labs = [path.parent for path in (*root.glob("*/control.sock"), *root.glob("labs/*/control.sock"))]
        if not [lab for lab in labs if not _down(lab)]:
            shutil.rmtree(root, ignore_errors=True)
        names += [lab.name for lab in labs]
    return names


def _down(lab: Path) -> bool:
    argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", "lab", "down", lab.name, "--yes"]
    environment = {**os.environ, "EEE_STATE_DIR": str(lab.parent), "PYTHONPATH": str(ROOT)}
    try:
        ended = subprocess.run(argv, env=environment, stdout=subprocess.DEVNULL, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0
