"""One holder at a time; one that died is reported and replaced, one that runs keeps its lock."""

import os
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from eee_testbed.controller.applying.holder import LIFE_S, Holder, holder_of
from eee_testbed.controller.applying.lock import Lock
from eee_testbed.controller.applying.processes import uptime_s
from eee_testbed.controller.applying.statefolder import Rights, StateFolder
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.plain_text import is_safe
from tests.support.needs import needs_root


@pytest.fixture
def folder() -> StateFolder:
    return StateFolder("toys")


def test_a_lock_names_its_holder_and_is_free_afterwards(folder: StateFolder) -> None:
    assert holder_of(folder) is None
    with Lock(folder, "apply"):
        holder = holder_of(folder)
        assert isinstance(holder, Holder)
        assert (holder.process.pid, holder.command) == (os.getpid(), "apply")
        with pytest.raises(LabError, match=rf"held by .*process {os.getpid()}, apply"), Lock(folder, "link off 3"):
            pass
    assert holder_of(folder) is None
    with Lock(folder, "again"):
        pass


def test_a_holder_that_died_is_reported(folder: StateFolder) -> None:
    pid = os.fork()
    if pid == 0:
        Lock(folder, "apply").__enter__()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert holder_of(folder) is None
    said: list[str] = []
    with Lock(folder, "status", warn=said.append):
        assert f"process {pid}" in said[0]


@pytest.fixture
def held(folder: StateFolder) -> Iterator[int]:
    """Another process that holds the lab, and says with its end what renewing came to."""
    ready, written = os.pipe()
    pid = os.fork()
    if pid == 0:
        with Lock(folder, "night") as lock:
            os.write(written, b"!")
            signal.sigwait({signal.SIGUSR1})
            try:
                lock.renew()
            except LabError as error:
                os._exit(7 if "taken over by" in str(error) else 1)
        os._exit(0)
    assert os.read(ready, 1) == b"!"
    os.close(ready)
    os.close(written)
    yield pid
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGUSR1)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


@pytest.fixture(autouse=True)
def usr1_waits() -> Iterator[None]:
    """A signal that a child waits for is blocked from before its start."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])


def test_whoever_runs_keeps_its_lock_even_if_no_heartbeat_came(folder: StateFolder, held: int) -> None:
    """As after a suspension, or in a lab whose time hardly moves."""
    with pytest.raises(LabError, match=rf"held by .*process {held}, night"), Lock(folder, "next", life_s=-1e9):
        pass
    assert holder_of(folder) is not None


def test_a_holder_that_was_stopped_is_replaced_after_a_while_and_notices(folder: StateFolder, held: int) -> None:
    stop(held)
    with pytest.raises(LabError, match=r"held by .*night"), Lock(folder, "too early"):
        pass
    said: list[str] = []
    with Lock(folder, "next", life_s=-1e9, warn=said.append) as new:
        assert "night" in said[0]
        os.kill(held, signal.SIGCONT)
        os.kill(held, signal.SIGUSR1)
        assert os.waitstatus_to_exitcode(os.waitpid(held, 0)[1]) == 7
        new.renew()  # the old one did not take the new one's file away
        assert isinstance(holder := holder_of(folder), Holder)
        assert holder.command == "next"
    assert holder_of(folder) is None


def test_whoever_waits_for_a_lock_that_is_released_is_warned_of_nobody(folder: StateFolder, held: int) -> None:
    said: list[str] = []

    def take() -> None:
        with Lock(folder, "guardian", wait=True, warn=said.append):
            said.append("taken")

    inode = f":{folder.lock.stat().st_ino} "
    waiting = threading.Thread(target=take)
    waiting.start()
    end_s = time.monotonic() + 30
    while not any("->" in line and inode in line for line in Path("/proc/locks").read_text().splitlines()):
        assert time.monotonic() < end_s
    os.kill(held, signal.SIGUSR1)
    waiting.join(60)
    assert said == ["taken"]


def test_heartbeats_come_by_themselves_and_count_the_machines_uptime(folder: StateFolder) -> None:
    def beat_s() -> float:
        holder = holder_of(folder)
        assert isinstance(holder, Holder)
        return holder.beat_s

    with Lock(folder, "run", beat_every_s=0.02):
        first_s, end_s = beat_s(), time.monotonic() + 30
        while beat_s() == first_s:
            assert time.monotonic() < end_s
        assert first_s < beat_s() <= uptime_s()


@pytest.mark.parametrize("step_s", [-1e9, 1e9])
def test_a_step_of_the_clock_neither_ends_nor_extends_a_lock(folder: StateFolder, held: int, step_s: float) -> None:
    """All that a text has of the clock is when the command began, which decides nothing."""
    holder = holder_of(folder)
    assert isinstance(holder, Holder)
    stepped = holder.model_copy(update={"since": holder.since + timedelta(seconds=step_s)})
    for moved in (holder, stepped):
        assert not moved.abandoned(holder.beat_s + 1e9)
    stop(held)
    for moved in (holder, stepped):
        assert not moved.abandoned(holder.beat_s + LIFE_S - 1)
        assert moved.abandoned(holder.beat_s + LIFE_S + 1)


def test_a_holder_whose_name_could_not_be_written_is_known_all_the_same(folder: StateFolder, held: int) -> None:
    folder.lock.chmod(0o600)
    os.truncate(folder.lock, 0)  # a full disk
    assert f"process {held}" in str(holder_of(folder))
    with pytest.raises(LabError, match=rf"held by process {held}"), Lock(folder, "next"):
        pass


def test_only_its_owner_may_write_the_file(folder: StateFolder) -> None:
    folder.make()
    folder.lock.touch()
    folder.lock.chmod(0o666)  # as an earlier version left it
    with Lock(folder, "run"):
        assert stat.S_IMODE(folder.lock.stat().st_mode) == 0o644
    before = os.umask(0o077)
    try:
        with Lock(folder, "run"):
            assert stat.S_IMODE(folder.lock.stat().st_mode) == 0o644, "others lock it, too"
    finally:
        os.umask(before)


def test_others_files_are_locked_without_writing_them(folder: StateFolder) -> None:
    needs_root("becoming another user")
    folder.make()
    for place in (folder.path.parent, folder.path):
        place.chmod(0o755)
    folder.lock.touch(0o644)
    pid = os.fork()
    if pid == 0:
        os.setresuid(65534, 65534, 65534)
        with Lock(folder, "run"):
            held = str(holder_of(folder))
        os._exit(0 if f"process {os.getpid()}" in held else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert folder.lock.read_bytes() == b""


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("elsewhere"), Path.mkdir])
def test_what_is_no_file_is_not_taken_for_a_lock(folder: StateFolder, make: Callable[[Path], None]) -> None:
    folder.make()
    make(folder.lock)
    with pytest.raises(LabError, match="remove it"), Lock(folder, "run"):
        pass
    assert not folder.lock.with_name("elsewhere").exists()


def test_a_folder_that_cannot_be_created_is_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "file"))
    with pytest.raises(LabError, match="EEE_CONTROLLER_DIR"), Lock(StateFolder("toys"), "apply"):
        pass


def test_root_and_others_have_their_own_folder_and_one_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EEE_CONTROLLER_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def locks_alone(path: Path) -> bool:
        return path == Path("/run/lock")

    mine = StateFolder("toys", rights=Rights(root=False, may_write=locks_alone))
    roots = StateFolder("toys", rights=Rights(root=True, may_write=locks_alone))
    assert mine.path == tmp_path / "eee-testbed" / "toys"
    assert roots.path == Path("/var/lib/eee-testbed/toys")
    assert mine.lock == roots.lock == Path("/run/lock/eee-testbed-toys.lock")


def test_who_holds_a_lab_cannot_write_to_our_terminal(folder: StateFolder) -> None:
    with Lock(folder, "apply\x1b[2J\nroot holds nothing"):
        holder = holder_of(folder)
    assert holder is not None
    assert is_safe(str(holder))
