"""`--notify COMMAND`: tell a person who is away that a long measurement has ended, failed or was stopped.

The command is started without a shell, in a session of its own, with one line about what happened as its last argument
and in its environment. Of this process's environment it gets the variables of `_KEPT` alone, so that no secret
travels with it, and it does not live in a lab's time. Whatever it does, what was measured and the exit status stay.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from cyclopts import Parameter

from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, PENDING
from eee_testbed.lab.errors import LabError

if TYPE_CHECKING:
    from eee_testbed.measuring.experiments.session import RunResult

_KEPT: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TERM"),
    *("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"),
)
_LONGEST_S: Final = 30.0
_STATES: Final = {DONE: "done", PENDING: "incomplete", INTERRUPTED: "stopped"}


class Notice:
    """A context around a measurement; the command is started when it ends. LabError at once if it cannot be started.

    Without a command nothing is started. The state is "done", "incomplete" (trials are missing), "stopped" or "failed".
    """

    run: Path | None = None
    """The folder of the run or study, as soon as it is known."""

    def __init__(self, command: str, verb: str, longest_s: float = _LONGEST_S) -> None:
        self._words = _words_of(command)
        self._verb = verb
        self._longest_s = longest_s
        self._state, self._summary = "failed", ""

    def __enter__(self) -> Self:
        return self

    def ended(self, status: int, summary: str) -> int:
        """Note how the measurement ended, in one line; returns the exit status."""
        self._state, self._summary = _STATES.get(status, "failed"), summary
        return status

    def run_ended(self, status: int, result: "RunResult") -> int:
        """Note how a run ended; returns the exit status."""
        outcome = result.outcome
        self.run = result.folder
        cause = f"; {outcome.cause}" if outcome.cause is not None else ""
        return self.ended(status, f"{outcome.valid} of {outcome.slots} trials are valid: {result.folder}{cause}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._state = "stopped" if isinstance(error, KeyboardInterrupt) else "failed"
            self._summary = str(error) or self._state
        if self._words:
            _start(self._words, self._facts(), self._longest_s)

    def _facts(self) -> Mapping[str, str]:
        summary = " ".join(f"eeectl {self._verb} {self._state}: {self._summary}".split())
        run = "" if self.run is None else str(self.run.resolve())
        return {"EEE_VERB": self._verb, "EEE_STATE": self._state, "EEE_SUMMARY": summary, "EEE_RUN": run}


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeOptions:
    """Whom a verb tells that a measurement has ended.

    Parameters
    ----------
    notify
        Start this command at the end, after a failure and after a stop. Its last argument is one line about that, and
        EEE_STATE, EEE_SUMMARY, EEE_RUN and EEE_VERB are in its environment. It is not run by a shell.

    """

    notify: str = ""

    def notice(self, verb: str, *, measures: bool = True) -> Notice:
        """The context around what a verb does; nobody is told if it measures nothing."""
        return Notice(self.notify if measures else "", verb)


def _words_of(command: str) -> Sequence[str]:
    if not command:
        return ()
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise LabError(f"--notify cannot be read ({error}): quote it as a shell would need it.") from error
    if not words or shutil.which(words[0]) is None:
        raise LabError(f"--notify names no program ('{command}'): give one that is installed, and its first arguments.")
    return words


def _start(words: Sequence[str], facts: Mapping[str, str], longest_s: float) -> None:
    """Start the command and wait for it; one sentence if it fails."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    argv = [*words, facts["EEE_SUMMARY"]]
    try:
        with subprocess.Popen(
            argv, env={**kept, **facts}, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), start_new_session=True
        ) as process:
            why = _awaited(process, longest_s)
    except OSError as error:
        why = f"could not be started ({error.strerror})"
    if why:
        name = shlex.quote(words[0])
        print(
            f"eeectl: --notify: {name} {why}: the message may not have been sent; the measurements are kept.",
            file=sys.stderr,
        )


def _awaited(process: subprocess.Popen[bytes], longest_s: float) -> str:
    """Wait for the command; why it failed, or an empty text."""
    try:
        status = process.wait(longest_s)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return "was ended by Ctrl-C" if isinstance(error, KeyboardInterrupt) else f"was ended after {longest_s:g} s"
    return f"ended with status {status}" if status else ""
