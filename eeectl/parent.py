"""A command that another one started ends with it: a study that is killed leaves no run that holds the lab.

The kernel sends SIGTERM when the other one dies, by whatever signal; a run then restores its lab, as after Ctrl-C.
"""

import os
import signal
from typing import Final

PARENT: Final = "EEE_PARENT"
"""The variable that names the process to end with."""

_PR_SET_PDEATHSIG: Final = 1


def follow_parent() -> None:
    """Ask for the signal, if a command started this one. It stays when this process executes another program."""
    number = os.environ.pop(PARENT, "")
    if not number:
        return
    import ctypes  # noqa: PLC0415 - most commands do not need it, and it costs start-up time

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGTERM), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    if str(os.getppid()) != number:  # it died before
        os.kill(os.getpid(), signal.SIGTERM)
