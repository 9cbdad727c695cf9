"""A command in the foreground of this one: it gets what is typed, and what others send to this process.

A terminal sends Ctrl-C to all processes in its foreground, so the command has it already. A signal that a program sends
to this process alone, as `timeout` does, would leave the command running: it is sent on.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_SENT_ON: Final = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP})
_TYPED: Final = frozenset({signal.SIGINT, signal.SIGQUIT})
_SENT_BY_A_PROGRAM: Final = 0
"""`si_code` up to this one: kill, sigqueue, tkill (sigaction(2)); above it: the kernel, so the terminal."""


def run_in_foreground(argv: Sequence[str], environment: Mapping[str, str], prepare: Callable[[], None]) -> int:
    """Run a command, `prepare` in its process first; its exit status, 128 + number if a signal ended it.

    To be called by the only thread. A command that starts another and waits for it, as nsenter does, has signals sent
    to that one.
    """
    awaited = _SENT_ON | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)

    def begin() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        prepare()

    try:
        with subprocess.Popen(argv, env=environment, preexec_fn=begin) as child:  # noqa: PLW1509 - one thread here
            while (code := child.poll()) is None:
                _send_on(child.pid, signal.sigwaitinfo(awaited))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return code if code >= 0 else 128 - code


def _send_on(child: int, received: signal.struct_siginfo) -> None:
    number = signal.Signals(received.si_signo)
    if number == signal.SIGCHLD or (number in _TYPED and received.si_code > _SENT_BY_A_PROGRAM):
        return
    with suppress(OSError):
        children = Path(f"/proc/{child}/task/{child}/children").read_text(encoding="ascii")
        started = [int(process) for process in children.split()]
        for process in started or [child]:
            os.kill(process, number)
