"""A process is the same only if number, start, boot and namespace are; what is hidden counts as running."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from eee_testbed.controller.applying.processes import ProcessId, uptime_s

_STAT = "{pid} (a (strange) name) {state} 1 {pid} " + "0 " * 16 + "{started} 0 0\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A /proc with one process, 4242, which started at tick 99."""
    (tmp_path / "sys/kernel/random").mkdir(parents=True)
    (tmp_path / "sys/kernel/random/boot_id").write_text("first\n", encoding="ascii")
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/ns/pid").symlink_to("pid:[1]")
    (tmp_path / "4242").mkdir()
    show(tmp_path, "S")
    return tmp_path


def show(proc: Path, state: str, started: int = 99) -> None:
    text = _STAT.format(pid=4242, state=state, started=started)
    (proc / "4242/stat").write_text(text, encoding="ascii")


MINE = ProcessId(host=os.uname().nodename, boot="first", space="pid:[1]", pid=4242, started_tick=99)


@pytest.mark.parametrize(
    ("state", "standing"),
    [("R", "running"), ("S", "running"), ("D", "running"), ("T", "stopped"), ("t", "stopped"), ("Z", "gone")],
)
def test_the_kernel_says_how_it_stands(proc: Path, state: str, standing: str) -> None:
    show(proc, state)
    assert MINE.standing(proc) == standing


def test_another_process_of_its_number_is_not_it(proc: Path) -> None:
    show(proc, "R", started=100)
    assert MINE.standing(proc) == "gone"


def test_after_a_restart_of_the_machine_it_is_gone_and_elsewhere_nobody_knows(proc: Path) -> None:
    assert MINE.model_copy(update={"boot": "zeroth"}).standing(proc) == "gone"
    assert MINE.model_copy(update={"boot": "other", "host": "other"}).standing(proc) == "elsewhere"
    assert MINE.model_copy(update={"space": "pid:[2]"}).standing(proc) == "elsewhere"


def test_one_that_is_not_shown_is_gone_only_if_the_kernel_has_none_of_its_number(proc: Path) -> None:
    hidden = MINE.model_copy(update={"pid": os.getppid()})
    assert hidden.standing(proc) == "running"
    with subprocess.Popen(["true"]) as ended:
        pass
    assert MINE.model_copy(update={"pid": ended.pid}).standing(proc) == "gone"


def test_this_process_runs_and_a_child_that_was_stopped_or_killed_does_not() -> None:
    assert ProcessId.me().standing() == "running"
    ready, written = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(written, ProcessId.me().model_dump_json().encode())
        signal.pause()
    child = ProcessId.model_validate_json(os.read(ready, 4096))
    assert child.standing() == "running"
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
    assert child.standing() == "stopped"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert child.standing() == "gone"
    assert uptime_s() > 0
