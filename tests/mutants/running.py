"""Run tests in a copy of the checkout, and read from what they print which one failed."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutants.table import TableError

_PYTEST: Final = (
    *(sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"),
    *("-p", "tests.mutants.plain_hypothesis", "-m", "not lab and not alone"),
)
_CARGO: Final = ("cargo", "test", "--locked")
_NOTHING_COLLECTED: Final = 5
_END_S: Final = 10.0

_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_RUST_FAILED: Final = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. FAILED$", re.MULTILINE)
_RUST_PASSED: Final = re.compile(r"^test result: \w+\. (\d+) passed", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of tests ended: `failed` is the first test that failed, empty if all passed."""

    failed: str
    seconds: float


class Ended(Exception):
    """The program is being ended."""


class Runner:
    """Runs tests; at most `limit_s` seconds each, after which they count as failed. `stop` ends all runs."""

    def __init__(self, limit_s: float, target: Path | None = None) -> None:
        self._limit_s = limit_s
        self._target = target
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def stop(self) -> None:
        """End what runs, and start nothing more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _signal(process, signal.SIGTERM)

    def run(self, folder: Path, tests: str, *, rust: bool) -> Ending:
        """Run tests of the copy in a folder. TableError if nothing ran; Ended if the program is being ended."""
        return self._cargo(folder, tests) if rust else self._pytest(folder, tests)

    def _pytest(self, folder: Path, tests: str) -> Ending:
        environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
        status, text, seconds = self._finish((*_PYTEST, *shlex.split(tests)), folder, environment)
        if status is None:
            return Ending(f"no end within {self._limit_s:g} s", seconds)
        if status == _NOTHING_COLLECTED:
            raise TableError(f"`pytest {tests}` runs no test.")
        if status == 0:
            return Ending("", seconds)
        return Ending(_first(_FAILED, text, f"`pytest {tests}` failed with status {status}", text), seconds)

    def _cargo(self, folder: Path, tests: str) -> Ending:
        target = self._target or folder / "engine" / "target"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "PROPTEST_MAX_SHRINK_ITERS": "0"}
        status, text, seconds = self._finish((*_CARGO, *shlex.split(tests)), folder / "engine", environment)
        if status is None:
            return Ending(f"no end within {self._limit_s:g} s", seconds)
        if "error: could not compile" in text:
            raise TableError(f"`cargo test {tests}` does not compile: {_errors(text)}")
        if status == 0:
            if not sum(map(int, _RUST_PASSED.findall(text))):
                raise TableError(f"`cargo test {tests}` runs no test.")
            return Ending("", seconds)
        return Ending(_first(_RUST_FAILED, text, f"`cargo test {tests}` failed with status {status}", text), seconds)

    def _finish(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> tuple[int | None, str, float]:
        """Status (None: it took too long), what was printed, and seconds."""
        begun_s = time.monotonic()
        with self._lock:
            if self._stopped:
                raise Ended
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self._running.add(process)
        try:
            text: str | None = process.communicate(timeout=self._limit_s)[0]
        except subprocess.TimeoutExpired:
            text = None
        finally:
            _end(process)
            with self._lock:
                self._running.discard(process)
        if self._stopped:
            raise Ended
        seconds = time.monotonic() - begun_s
        return (None, "", seconds) if text is None else (process.returncode, text, seconds)


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """To all processes of its session; it has none any more if it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _end(process: subprocess.Popen[str]) -> None:
    """End it, if it runs, and what it left."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_END_S)
    _signal(process, signal.SIGKILL)
    process.wait()


def _first(pattern: re.Pattern[str], text: str, otherwise: str, whole: str) -> str:
    found = pattern.search(text)
    if found is None:
        raise TableError(f"{otherwise}, and names no test: {' '.join(whole.split()[-40:])}")
    return found[1]


def _errors(text: str) -> str:
    return "; ".join(line for line in text.splitlines() if line.startswith("error"))
