"""Run `eeectl` as a subprocess at this terminal."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.study.ending import INTERRUPTED, PARENT

_PROMPT_S: Final = 1.0
"""A signal that comes just before a wait for the subprocess begins is handled so much later."""


def run_eeectl(*arguments: str, on_interrupt: Callable[[], None] | None = None) -> int:
    """Run `eeectl` with these arguments and return its exit status; the subprocess handles Ctrl-C.

    `on_interrupt` is called at the first Ctrl-C, while the subprocess restores what it changed.
    """
    return run_command([sys.executable, "-m", "eee_testbed.eeectl.cli", *arguments], on_interrupt)


def run_command(command: list[str], on_interrupt: Callable[[], None] | None = None) -> int:
    """Run a command as `run_eeectl` does; INTERRUPTED if a signal ended it. LabError if it cannot be started.

    A SIGTERM for this process is sent on, and the subprocess awaited, which restores what it changed: INTERRUPTED.
    If this process is killed, the kernel sends it to the subprocess (`eeectl.parent`).
    `on_interrupt` is called then, too.
    """
    pressed: list[int] = []
    running: list[subprocess.Popen[bytes]] = []
    terminated: list[int] = []
    early: list[int] = []
    """Signals that came while the subprocess was being started."""

    def leave_to_subprocess(number: int, _: FrameType | None) -> None:
        """Do not stop here. SIG_IGN would be inherited by the subprocess."""
        pressed.append(number)
        if on_interrupt is not None and len(pressed) == 1:
            on_interrupt()

    def send_on(number: int, _: FrameType | None) -> None:
        terminated.append(number)
        if on_interrupt is not None and len(terminated) == 1:
            on_interrupt()
        for process in running:
            process.send_signal(number)
        if not running:
            early.append(number)

    before = {
        number: signal.signal(number, handler)
        for number, handler in ((signal.SIGINT, leave_to_subprocess), (signal.SIGTERM, send_on))
    }
    try:
        with subprocess.Popen(command, env={**os.environ, PARENT: str(os.getpid())}) as process:
            running.append(process)
            for number in early:
                process.send_signal(number)
            _await_end(process)
            status = process.wait()
    except OSError as error:
        raise LabError(
            f"eeectl cannot start a subprocess ({error.strerror}): check this machine's memory and process limit."
        ) from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return INTERRUPTED if status < 0 or terminated else status


def _await_end(process: subprocess.Popen[bytes]) -> None:
    end = os.pidfd_open(process.pid)
    try:
        while not select.select([end], [], [], _PROMPT_S)[0]:
            pass
    finally:
        os.close(end)
