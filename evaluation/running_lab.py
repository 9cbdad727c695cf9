"""A virtual lab for a benchmark: the command line of this checkout, and the lab's journal."""

import shutil
import subprocess
import sys
from pathlib import Path

from eee_testbed.twin.machine.statedir import Journal, StateDir


def eeectl(*words: str) -> str:
    """Run eeectl; its standard error is ours, and if it fails, its exit status."""
    ended = subprocess.run(
        [sys.executable, "-m", "eee_testbed.eeectl.cli", *words], check=False, stdout=subprocess.PIPE, text=True
    )
    if ended.returncode != 0:
        sys.exit(ended.returncode)
    return ended.stdout


def share(lab: str, file: Path) -> str:
    """Copy a file into a lab's shared folder; where its hosts have it."""
    return f"/shared/{Path(shutil.copy(file, StateDir(lab).path / 'shared')).name}"


def journal_of(lab: str) -> Journal:
    """The journal of a lab that is up; exits with a message if it is not up."""
    journal = StateDir(lab).load()
    if journal is None:
        sys.exit(f"lab {lab} is not up: run `eeectl lab up {lab}`.")
    return journal
