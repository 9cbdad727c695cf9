"""Run tests in a copy of the checkout, and read from what they print which one failed."""

import contextlib
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.mutants.table import TableError

_PYTEST: Final = (
    *("-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "tests.mutants.plain_hypothesis"),
    *("-m", "not lab and not alone"),
)
PRELOADED: Final = (
    *("pytest", "_pytest.junitxml", "xdist.plugin", "syrupy", "_hypothesis_pytestplugin", "hypothesis.strategies"),
    *("numpy", "numpy.random", "pydantic.networks", "ruamel.yaml", "rich.console", "rich.table", "rich.progress"),
    *("scipy.special", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.stats", "networkx"),
    *("asyncssh", "paramiko", "pysnmp.hlapi.v3arch.asyncio", "jinja2", "pexpect", "prometheus_client"),
)
"""Other people's modules only: one of the checkout would keep the line that a mutant changes. None that starts threads,
which a fork would not have: so without polars and the engine."""

_OUTPUT: Final = ".what-pytest-printed"
_CARGO: Final = ("cargo", "test", "--locked")
_NOTHING_COLLECTED: Final = 5

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
    """Runs tests; at most `limit_s` seconds each, after which they count as failed. `stop` ends all runs.

    Used as a context, at the end of which nothing of it runs any more. `preloaded` are modules that are imported once.
    """

    def __init__(self, limit_s: float, target: Path | None = None, preloaded: Sequence[str] = PRELOADED) -> None:
        self._limit_s = limit_s
        self._target = target
        self._preloaded = preloaded
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._warm: dict[Path, subprocess.Popen[str]] = {}
        self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        for process in self._warm.values():
            process.communicate()

    def stop(self) -> None:
        """End what runs, and start nothing more."""
        with self._lock:
            self._stopped = True
            for group in self._groups:
                _kill(group)

    def run(self, folder: Path, tests: str, *, rust: bool) -> Ending:
        """Run tests of the copy in a folder. TableError if nothing ran; Ended if the program is being ended."""
        begun_s = time.monotonic()
        status, text = self._cargo(folder, tests) if rust else self._pytest(folder, tests)
        seconds = time.monotonic() - begun_s
        command = f"{'cargo test' if rust else 'pytest'} {tests}"
        if status is None:
            return Ending(f"no end within {self._limit_s:g} s", seconds)
        if rust and "error: could not compile" in text:
            raise TableError(f"`{command}` does not compile: {_errors(text)}")
        if status == _NOTHING_COLLECTED or (rust and status == 0 and not sum(map(int, _RUST_PASSED.findall(text)))):
            raise TableError(f"`{command}` runs no test.")
        if status == 0:
            return Ending("", seconds)
        found = (_RUST_FAILED if rust else _FAILED).search(text)
        if found is None:
            end = " ".join(text.split()[-40:])
            raise TableError(f"`{command}` failed with status {status}, and names no test: {end}")
        return Ending(found[1], seconds)

    def _pytest(self, folder: Path, tests: str) -> tuple[int | None, str]:
        """Status (None: it took too long), and what was printed."""
        warm, output = self._warm_in(folder), folder / _OUTPUT
        assert warm.stdin is not None
        assert warm.stdout is not None
        print(json.dumps([[*_PYTEST, *shlex.split(tests)], str(output)]), file=warm.stdin, flush=True)
        group = int(warm.stdout.readline())
        with self._running(group):
            print(file=warm.stdin, flush=True)  # only now may its end be written: none of it is buffered here
            late = not select.select([warm.stdout], [], [], self._limit_s)[0]
            if late:
                _kill(group)
            status = int(warm.stdout.readline())
        return (None, "") if late else (status, output.read_text(encoding="utf-8", errors="replace"))

    def _warm_in(self, folder: Path) -> subprocess.Popen[str]:
        """The process that forks for the tests of a copy; each copy is used by one thread."""
        if folder not in self._warm:
            self._warm[folder] = subprocess.Popen(
                (sys.executable, "-m", "tests.mutants.warm", *self._preloaded),
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        return self._warm[folder]

    def _cargo(self, folder: Path, tests: str) -> tuple[int | None, str]:
        """Status (None: it took too long), and what was printed."""
        target = self._target or folder / "engine" / "target"
        process = subprocess.Popen(
            (*_CARGO, *shlex.split(tests)),
            cwd=folder / "engine",
            env={**os.environ, "CARGO_TARGET_DIR": str(target), "PROPTEST_MAX_SHRINK_ITERS": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        with self._running(process.pid):
            try:
                text = process.communicate(timeout=self._limit_s)[0]
            except subprocess.TimeoutExpired:
                _kill(process.pid)
                process.communicate()
                return None, ""
        return process.returncode, text

    @contextmanager
    def _running(self, group: int) -> Iterator[None]:
        """A group of processes runs within the context, and is killed if the program is being ended: then Ended."""
        with self._lock:
            self._groups.add(group)
            if self._stopped:
                _kill(group)
        try:
            yield
        finally:
            with self._lock:
                self._groups.discard(group)
        if self._stopped:
            raise Ended


def _kill(group: int) -> None:
    """All processes of a group; it has none any more if it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _errors(text: str) -> str:
    return "; ".join(line for line in text.splitlines() if line.startswith("error"))
