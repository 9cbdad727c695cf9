"""One holder at a time; one that died or expired is reported and replaced."""

import os
import signal
from pathlib import Path

import pytest

from controller.applying.lock import Lock, holder_of
from controller.applying.statefolder import Rights, StateFolder
from lab.errors import LabError


@pytest.fixture
def folder() -> StateFolder:
    return StateFolder("toys")


def test_a_lock_names_its_holder_and_is_free_afterwards(folder: StateFolder) -> None:
    assert holder_of(folder) is None
    with Lock(folder, "apply"):
        holder = holder_of(folder)
        assert holder is not None
        assert (holder.pid, holder.command) == (os.getpid(), "apply")
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


def test_a_holder_without_heartbeat_is_replaced_and_notices(folder: StateFolder) -> None:
    said: list[str] = []
    with Lock(folder, "stopped", life_s=0.0) as old:
        with Lock(folder, "next", warn=said.append) as new:
            assert "stopped" in said[0]
            with pytest.raises(LabError, match=r"taken over by .*next"):
                old.renew()
            new.renew()
        assert holder_of(folder) is None
    with Lock(folder, "last"):  # the old one did not take the new one's file away
        pass


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
