"""Numbers of test labs, from which names and addresses are made: no two labs that run at a time share one."""

import fcntl
import os
import random
import subprocess
from pathlib import Path
from typing import Final, TextIO

_FOLDER: Final = Path("/run/lock/eee-testbed-tests")
_NUMBERS: Final = range(60, 250)  # the shipped labs have smaller ones
_held: list[TextIO] = []


def reserve() -> int:
    """Reserve a number until this process ends, against all other test runs on this machine."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    shown = subprocess.run(["ip", "-o", "-4", "address"], capture_output=True, text=True, check=True).stdout
    for number in random.Random(os.getpid()).sample(_NUMBERS, len(_NUMBERS)):  # noqa: S311 - only to try few twice
        if f" 198.18.{number}." in shown:
            continue  # a lab made by hand
        file = (_FOLDER / str(number)).open("a", encoding="ascii")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        _held.append(file)
        return number
    raise AssertionError(f"all numbers of {_FOLDER} are taken: end other test runs, or remove their labs.")
