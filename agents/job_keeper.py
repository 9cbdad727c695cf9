"""Keeper of a job on a node: makes its private folder, and leaves nothing of it when the job ends, however it ends.

It is started over SSH, one on each node of a job, and exchanges JSON lines with the controller:

    in   {"job": "0123abcd", "files": {NAME: BASE64}, "commands": [], "modules": [], "prepare": [], "linger_s": 30}
    out  {"folder": "/tmp/eee-0123abcd", "missing": [...], "unprepared": "", "cpus": 2, "user": "lab", "uid": 2000}
    in   an empty line every few seconds: a keepalive
    in   {"begin": true}
    in   {"fetch": ["*.prof"], "parts": ["rank.*"]}
    out  {"part": NAME, "data": BASE64}
    out  {"files": {NAME: BASE64}, "killed": 0}

`prepare` is a command that is run in the folder first; `unprepared` says why it failed. In the folder is a named pipe,
`begin`: whoever opens it for reading waits for the line of that name. Files that match `parts` may be large: they come
in order, as parts that are packed by zlib.

After `fetch`, when the connection ends, and when no line came for `linger_s` (the network is cut), it ends every
process of the job on this node and removes the folder. A process is of the job if EEE_JOB is `job` in its environment,
or if it works in the folder.
"""

from __future__ import annotations

import base64
import contextlib
import fnmatch
import getpass
import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_PARENT = Path("/tmp")  # noqa: S108 - the same on all nodes; the folder below it is made for its owner alone
_KILLING_S = 10.0
_PREPARING_S = 60.0
_POLITE_S = 3.0
_AGAIN_S = 0.05
_GATE = "begin"
_ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_MOST_BYTE = 1 << 26
_PART_BYTE = 1 << 20


class Lines:
    """Lines of standard input, with a patience."""

    def __init__(self) -> None:
        self._data = b""

    def next(self, patience_s: float) -> bytes | None:
        """The next line without its end; None if the input ended, or no line came in time."""
        end_s = time.monotonic() + patience_s
        while b"\n" not in self._data:
            ready, _, _ = select.select([0], [], [], max(end_s - time.monotonic(), 0.0))
            piece = os.read(0, 65_536) if ready else b""
            if not piece:
                return None
            self._data += piece
        line, _, self._data = self._data.partition(b"\n")
        return line


def missing(commands: Sequence[str], modules: Sequence[str]) -> list[str]:
    """Which of these this node has not: programs of the PATH or by their path, modules of this Python."""
    absent = [name for name in commands if shutil.which(name) is None]
    return absent + [f"Python's {name}" for name in modules if importlib.util.find_spec(name) is None]


def make_folder(job: str, files: Mapping[str, str]) -> Path:
    """The private folder with its files; an OSError if there is one of that name already, or no room."""
    folder = _PARENT / f"eee-{job}"
    folder.mkdir(mode=0o700)
    try:
        for name, content in files.items():
            (folder / name).write_bytes(base64.b64decode(content))
            (folder / name).chmod(0o700)
        os.mkfifo(folder / _GATE, 0o600)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def prepare(words: Sequence[str], folder: Path) -> str:
    """Run a command in the folder; why it failed, in a line, or ""."""
    if not words:
        return ""
    try:
        done = subprocess.run(
            words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PREPARING_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return (
        "" if done.returncode == 0 else f"{words[0]} ended with {done.returncode}: {said[0] if said else 'no output'}"
    )


def is_of(process: Path, mark: bytes, folder: Path) -> bool | None:
    """Whether a process, as a folder of /proc, is of the job; one that is gone or another user's is not.

    None if it is between two programs: it has left one environment, and the next is not readable yet.
    """
    try:
        environment = (process / "environ").read_bytes()
        if mark in environment.split(b"\0") or (process / "cwd").readlink().is_relative_to(folder):
            return True
        return None if not environment and has_unread_environment(process) else False
    except OSError:
        return False


def has_unread_environment(process: Path) -> bool:
    """Whether what was read as empty is not so (execve(2) in progress); an OSError for a thread of the kernel."""
    (process / "exe").readlink()
    fields = (process / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    env_start, env_end = fields[47:49]  # proc(5): both 0 until there is one
    return env_start != env_end or env_end == "0"


def kill_all(
    job: str, folder: Path, of_job: Callable[[Path, bytes, Path], bool | None] = is_of, patience_s: float = _POLITE_S
) -> int:
    """End what is of the job until nothing is, as `of_job` answers for each process; how many were ended.

    First by SIGTERM, and by SIGKILL after `patience_s`: a launcher that ends by itself gives its nodes back to the
    batch system, which holds them for one that was killed.
    """
    mark, own_number = f"EEE_JOB={job}".encode(), str(os.getpid())
    killed: set[str] = set()
    begun_s = time.monotonic()
    end_s = begun_s + _KILLING_S
    while time.monotonic() < end_s:
        processes = [path for path in Path("/proc").iterdir() if path.name.isdigit() and path.name != own_number]
        seen = {path.name: of_job(path, mark, folder) for path in processes}
        if not any(of is not False for of in seen.values()):
            break
        members = {number for number, of in seen.items() if of}
        patient = time.monotonic() < begun_s + patience_s
        for number in members - killed if patient else members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGTERM if patient else signal.SIGKILL)
        killed |= members
        time.sleep(_AGAIN_S)  # they are not our children, and may be starting others: look again
    return len(killed)


def fetched(folder: Path, patterns: Sequence[str]) -> dict[str, str]:
    """Files of the folder whose names match, as base64; what is longer than 64 MiB together is cut off."""
    contents, room = {}, _MOST_BYTE
    for path in sorted(folder.iterdir()):
        if path.is_file() and any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns):
            with path.open("rb") as file:
                data = file.read(room)
            room -= len(data)
            contents[path.name] = base64.b64encode(data).decode()
    return contents


def say_parts(folder: Path, patterns: Sequence[str]) -> None:
    """A line for each part of the files whose names match."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns):
            with path.open("rb") as file:
                while data := file.read(_PART_BYTE):
                    say({"part": path.name, "data": base64.b64encode(zlib.compress(data, 1)).decode()})


def say(message: Mapping[str, Any]) -> None:
    """One line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def end(*_: object) -> None:
    """The first signal ends the keeper; no other may cut its clearing up short."""
    ignore_signals()
    sys.exit(1)


def ignore_signals() -> None:
    """Such as the hangup after the last answer: the keeper is ending anyway."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


def keep(job: Mapping[str, Any], folder: Path, lines: Lines) -> None:
    """Say what this node has, wait for the end, and answer what is fetched."""
    absent = missing(job["commands"], job["modules"])
    prepared = {"folder": str(folder), "missing": absent, "unprepared": prepare(job["prepare"], folder)}
    cpus = len(os.sched_getaffinity(0))
    say({**prepared, "cpus": cpus, "user": getpass.getuser(), "uid": os.getuid()})
    order: dict[str, Any] | None = {}
    while order is not None and "fetch" not in order:
        if "begin" in order:
            # Reading and writing: it neither waits for a reader nor fails without one. Open until the end.
            os.open(folder / _GATE, os.O_RDWR | os.O_CLOEXEC)
        line = lines.next(job["linger_s"])
        order = None if line is None else json.loads(line or b"{}")
    killed = kill_all(job["job"], folder)
    if order is not None:
        say_parts(folder, order.get("parts", []))
        say({"files": fetched(folder, order["fetch"]), "killed": killed})


def main() -> int:
    """Keep one job."""
    lines = Lines()
    asked = lines.next(30.0)
    if asked is None:
        return 1
    job = json.loads(asked)
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # until there is somebody who removes the folder
    for number in _ENDING:
        signal.signal(number, end)
    folder = make_folder(job["job"], job["files"])
    try:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
            keep(job, folder, lines)
        finally:
            ignore_signals()  # one that comes before this is done ends here, and the folder goes below
    finally:
        kill_all(job["job"], folder)
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
