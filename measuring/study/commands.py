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
from eee_testbed.measuring.study.ending import DONE, INTERRUPTED, OUT_OF_TIME, PARENT, PENDING

_PROMPT_S: Final = 0.05
"""How often it is asked whether the time is over. It is lab time in a virtual lab: 50 s of the wall at 1/1000."""


def never() -> bool:
    """No limit of time."""
    return False


def run_eeectl(
    *arguments: str, over: Callable[[], bool] = never, on_interrupt: Callable[[], None] | None = None
) -> int:
    """Run `eeectl` with these arguments and return its exit status, as `run_command` does."""
    return run_command([sys.executable, "-m", "eee_testbed.eeectl.cli", *arguments], over, on_interrupt)


def run_command(
    command: list[str], over: Callable[[], bool] = never, on_interrupt: Callable[[], None] | None = None
) -> int:
    """Run a command; its exit status. LabError if it cannot be started.

    Ctrl-C, and a SIGINT or SIGTERM for this process alone, reach the subprocess as one SIGTERM each. It is awaited, as
    it restores what it changed: INTERRUPTED. Once `over` says that the time is over it gets one, too: OUT_OF_TIME.
    Either way an error's status stays. If this process is killed, the kernel sends the signal (`eeectl.parent`).
    `on_interrupt` is called at the first of these, while the subprocess ends.
    """
    running: list[subprocess.Popen[bytes]] = []
    asked: list[int] = []
    early: list[int] = []
    """Signals that came while the subprocess was being started."""

    def send_on(number: int, _: FrameType | None = None) -> None:
        asked.append(number)
        if on_interrupt is not None and len(asked) == 1:
            on_interrupt()
        for process in running:
            process.send_signal(signal.SIGTERM)
        if not running:
            early.append(number)

    before = {number: signal.signal(number, send_on) for number in (signal.SIGINT, signal.SIGTERM)}
    late = False
    try:
        with _begun(command) as process:
            running.append(process)
            for _ in early:
                process.send_signal(signal.SIGTERM)
            end = os.pidfd_open(process.pid)
            try:
                while not select.select([end], [], [], _PROMPT_S)[0]:
                    if not asked and over():
                        late = True
                        send_on(signal.SIGTERM)
            finally:
                os.close(end)
            status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return _ending(status, late=late, asked=len(asked))


def _begun(command: list[str]) -> subprocess.Popen[bytes]:
    """A subprocess that a terminal's Ctrl-C does not reach: it has that from this process, so never twice."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(command, env={**os.environ, PARENT: str(os.getpid())})
    except OSError as error:
        raise LabError(
            f"eeectl cannot start a subprocess ({error.strerror}): check this machine's memory and process limit."
        ) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ending(status: int, *, late: bool, asked: int) -> int:
    """How a subprocess has ended; `asked`: how often it was asked to end, the first time for its `late` end."""
    if not asked or (late and asked == 1 and status in (DONE, PENDING)):
        return INTERRUPTED if status < 0 else status
    if status > 0 and status not in (PENDING, INTERRUPTED):
        return status
    return OUT_OF_TIME if late and asked == 1 else INTERRUPTED
