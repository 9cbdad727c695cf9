"""The keeper of a job on a node, run here: whatever ends it, no process and no folder of the job stay."""

import base64
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.agents import job_keeper
from eee_testbed.agents.job_keeper import is_of
from eee_testbed.agents.pack import packed

_PATIENCE_S = 20.0


class Keeper:
    """A keeper as SSH would run it, and a process of its job that only a signal ends."""

    def __init__(self, *, linger_s: float = 60.0, **asked: Any) -> None:
        self.job = secrets.token_hex(8)
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-c", packed("job_keeper")], **pipes)
        given = {"job": self.job, "files": {}, "commands": [], "modules": [], "prepare": [], "linger_s": linger_s}
        self.told = self.ask(given | asked)
        self.folder = Path(self.told["folder"])
        self.member = subprocess.Popen(
            ["sleep", "500"], env={**os.environ, "EEE_JOB": self.job}, start_new_session=True
        )
        self.stranger = subprocess.Popen(["sleep", "500"], env={**os.environ, "EEE_JOB": "another"})

    def ask(self, value: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def all_gone(self) -> bool:
        self.process.wait(_PATIENCE_S)
        assert self.stranger.poll() is None
        return self.member.wait(_PATIENCE_S) == -signal.SIGTERM and not self.folder.exists()

    def end(self) -> None:
        self.process.terminate()  # it removes its folder
        self.process.wait(_PATIENCE_S)
        for process in (self.member, self.stranger):
            process.kill()
            process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        assert not self.folder.exists(), "whenever it is ended, also while it clears up"


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    made = Keeper(files={"input.txt": base64.b64encode(b"12").decode()}, commands=["sh", "nonesuch"], modules=["json"])
    yield made
    made.end()


def test_it_brings_the_files_and_says_what_is_missing(keeper: Keeper) -> None:
    assert (keeper.folder / "input.txt").read_bytes() == b"12"
    assert keeper.folder.stat().st_mode & 0o077 == 0
    assert keeper.told["missing"] == ["nonesuch"]
    assert keeper.told["cpus"] >= 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], ""),
        (["cp", "input.txt", "copy.txt"], ""),
        (["sh", "-c", "echo no room >&2; exit 3"], "sh ended with 3: no room"),
        (["nonesuch"], "No such file or directory: 'nonesuch'"),
    ],
)
def test_it_prepares_the_folder_or_says_why_not(words: list[str], why: str) -> None:
    keeper = Keeper(files={"input.txt": base64.b64encode(b"12").decode()}, prepare=words)
    try:
        assert keeper.told["unprepared"].endswith(why)
        assert bool(keeper.told["unprepared"]) == bool(why)
        assert (keeper.folder / "copy.txt").exists() == ("cp" in words)
        assert keeper.ask({"fetch": []})["files"] == {}
    finally:
        keeper.end()


def test_it_fetches_what_is_wanted_and_ends(keeper: Keeper) -> None:
    (keeper.folder / "out.0.prof").write_text("counts", encoding="utf-8")
    answer = keeper.ask({"fetch": ["*.prof", ""]})
    assert answer == {"files": {"out.0.prof": base64.b64encode(b"counts").decode()}, "killed": 1}
    assert keeper.all_gone()


def test_large_files_come_in_parts(keeper: Keeper) -> None:
    data = bytes(range(256)) * 4096 * 2 + b"end"
    (keeper.folder / "rank.3").write_bytes(data)
    (keeper.folder / "rank.4").write_bytes(b"")
    answers = [keeper.ask({"fetch": ["input.txt"], "parts": ["rank.*"]})]
    assert keeper.process.stdout is not None
    while "files" not in answers[-1]:
        answers.append(json.loads(keeper.process.stdout.readline()))
    assert [answer["part"] for answer in answers[:-1]] == ["rank.3"] * 3
    assert b"".join(zlib.decompress(base64.b64decode(answer["data"])) for answer in answers[:-1]) == data
    assert answers[-1]["files"].keys() == {"input.txt"}


def test_who_opens_the_pipe_waits_for_the_order(keeper: Keeper) -> None:
    words = ["sh", "-c", "echo before; : <begin; echo after"]
    with subprocess.Popen(words, cwd=keeper.folder, stdout=subprocess.PIPE, text=True) as rank:
        assert rank.stdout is not None
        assert keeper.process.stdin is not None
        assert rank.stdout.readline() == "before\n"
        assert select.select([rank.stdout], [], [], 0.2)[0] == []
        for order in ("", json.dumps({"begin": True})):
            keeper.process.stdin.write(order + "\n")
            keeper.process.stdin.flush()
        assert rank.stdout.readline() == "after\n"
    assert keeper.ask({"fetch": ["*"]})["files"].keys() == {"input.txt"}


def test_a_lost_connection_ends_it(keeper: Keeper) -> None:
    assert keeper.process.stdin is not None
    keeper.process.stdin.close()
    assert keeper.all_gone()


def test_a_process_that_works_in_the_folder_is_of_the_job(keeper: Keeper) -> None:
    unmarked = subprocess.Popen(["sleep", "500"], cwd=keeper.folder)
    keeper.ask({"fetch": []})
    assert unmarked.wait(_PATIENCE_S) == -signal.SIGTERM


@pytest.mark.parametrize(
    ("environ", "bounds", "program", "of"),
    [
        (b"A=1\0EEE_JOB=here\0", (40, 80), True, True),
        (b"A=1\0EEE_JOB=there\0", (40, 80), True, False),
        (b"", (0, 0), True, None),  # in the middle of execve
        (b"", (40, 80), True, None),  # has just ended it
        (b"", (40, 40), True, False),  # env -i
        (b"", (0, 0), False, False),  # a kernel's thread, a zombie
    ],
)
def test_a_process_between_two_programs_is_looked_at_again(
    tmp_path: Path, environ: bytes, bounds: tuple[int, int], *, program: bool, of: bool | None
) -> None:
    (tmp_path / "environ").write_bytes(environ)
    (tmp_path / "cwd").symlink_to("/")
    (tmp_path / "stat").write_text(f"7 (a) b) R {'0 ' * 46}{bounds[0]} {bounds[1]} 0", encoding="ascii")
    if program:
        (tmp_path / "exe").symlink_to("/bin/sh")
    assert is_of(tmp_path, b"EEE_JOB=here", tmp_path / "folder") is of


def test_a_process_that_is_just_starting_is_killed_at_the_next_look(tmp_path: Path) -> None:
    job = secrets.token_hex(8)
    with subprocess.Popen(["sleep", "500"], env={**os.environ, "EEE_JOB": job}) as starting:
        looks: list[Path] = []

        def first_unread(process: Path, mark: bytes, folder: Path) -> bool | None:
            if process.name == str(starting.pid):
                looks.append(process)
            return is_of(process, mark, folder) if len(looks) != 1 else None

        assert job_keeper.kill_all(job, tmp_path, first_unread) == 1
        starting.kill()


def test_what_does_not_end_by_itself_is_killed(tmp_path: Path) -> None:
    job = secrets.token_hex(8)
    words = ["sh", "-c", "trap '' TERM; echo set; while :; do sleep 500; done"]
    environment = {**os.environ, "EEE_JOB": job}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, start_new_session=True) as stubborn:
        assert stubborn.stdout is not None
        assert stubborn.stdout.readline() == b"set\n"
        assert job_keeper.kill_all(job, tmp_path, patience_s=0.2) >= 1
        assert stubborn.wait(_PATIENCE_S) == -signal.SIGKILL


@pytest.mark.slow
def test_silence_ends_it_and_heartbeats_do_not() -> None:
    keeper = Keeper(linger_s=0.8)
    try:
        assert keeper.process.stdin is not None
        for _ in range(6):
            keeper.process.stdin.write("\n")
            keeper.process.stdin.flush()
            time.sleep(0.25)  # longer together than it lingers
        assert keeper.process.poll() is None
        assert keeper.all_gone()
    finally:
        keeper.end()


def test_a_signal_ends_it(keeper: Keeper) -> None:
    keeper.process.terminate()
    assert keeper.all_gone()
