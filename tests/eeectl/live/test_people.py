"""Users, processes and machine faults that interrupt an apply."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support.labs.engineer import Engineer, Running
from tests.support.labs.lab_client import EEECTL, ROOT, eventually, run

TRUNK = "sw1:gi1/0/5"
ROUNDS = (1, 9)
"""Of twelve, announced when a test strikes; `every_step.py` strikes at each line of the journal."""


@pytest.mark.parametrize("number", ROUNDS)
def test_killed_and_recovered(engineer: Engineer, number: int) -> None:
    applying = engineer.start_apply()
    engineer.await_round(applying, number)
    applying.kill()
    assert engineer.eeectl("status", "--offline").returncode == 3
    refused = engineer.apply()
    assert refused.returncode == 1
    assert "eeectl recover" in refused.stderr
    done = engineer.timed(f"recover after kill -9 in round {number}", "recover", "--yes")
    assert done.returncode == 0, done.stderr
    assert "as it was before" in done.stdout
    engineer.require_before()
    assert engineer.eeectl("status").returncode == 0


def test_killed_twice(engineer: Engineer) -> None:
    applying = engineer.start_apply()
    engineer.await_round(applying, 8)
    applying.kill()
    recovering = engineer.start("recover", "--yes")
    engineer.await_round(recovering, 8 + 3)
    recovering.kill()
    done = engineer.timed("recover after a recover that was killed", "recover", "--yes")
    assert done.returncode == 0, done.stderr
    engineer.require_before()


def test_killed_under_a_guardian(engineer: Engineer) -> None:
    applying = engineer.start_apply("--confirm-in", "10m")
    engineer.await_round(applying, 6)
    applying.kill()
    eventually("the guardian takes it back", lambda: engineer.kinds()[-1] == "done", patience_s=90.0)
    assert engineer.entries()[-1]["outcome"] == "taken back"
    engineer.require_before()


def test_interrupted_before_anything_was_sent(engineer: Engineer) -> None:
    applying = engineer.start_apply()
    eventually("the lock is taken", (engineer.kept / engineer.lab.name / "lock").exists)
    applying.interrupt()
    done = applying.end()
    assert done.returncode == 130, done.stderr
    assert engineer.kinds() == []
    engineer.require_before()


def test_interrupted_in_the_middle(engineer: Engineer) -> None:
    applying = engineer.start_apply()
    engineer.await_round(applying, 6)
    applying.interrupt()
    done = applying.end()
    assert done.returncode == 130, done.stderr
    assert "everything was rolled back" in done.stderr
    engineer.require_before()


def test_interrupted_twice(engineer: Engineer) -> None:
    applying = engineer.start_apply()
    engineer.await_round(applying, 8)
    applying.interrupt()
    eventually("it is being rolled back", lambda: "taking back" in engineer.kinds())
    applying.interrupt()
    done = applying.end()
    assert done.returncode == 130, done.stderr
    assert "eeectl recover" in done.stderr
    assert engineer.eeectl("status", "--offline").returncode == 3
    assert engineer.eeectl("recover", "--yes").returncode == 0
    engineer.require_before()


def test_a_colleague_between_planning_and_the_answer(engineer: Engineer) -> None:
    argv = engineer.argv("apply", "--no-host-check")
    child = pexpect.spawn(argv[0], argv[1:], env=engineer.environment(), cwd=str(ROOT), encoding="utf-8", timeout=60)
    child.expect("apply this")
    engineer.lab.configure("sw3", "interface gi1/0/20", "shutdown", "exit")
    child.sendline("y")
    child.expect(pexpect.EOF)
    said = str(child.before)
    child.close()
    assert child.exitstatus == 1, said
    assert "1 setting differs" in said
    plain = " ".join(said.split())  # the terminal has 80 columns
    assert "changed by somebody else since planning: sw3:gi1/0/20: admin_up True -> False" in plain, said
    assert engineer.kinds() == []
    engineer.lab.configure("sw3", "interface gi1/0/20", "no shutdown", "exit")
    engineer.require_before()


def test_two_at_once(engineer: Engineer) -> None:
    first = engineer.start_apply()
    engineer.await_round(first, 1)
    second = engineer.apply()
    assert second.returncode == 1
    assert f"is held by {_me()}" in second.stderr
    assert str(first.process.pid) in second.stderr
    done = first.end()
    assert done.returncode == 0, done.stderr
    engineer.require_after()


def test_a_lab_in_which_somebody_works_keeps_its_power_and_stays_up(engineer: Engineer) -> None:
    first = engineer.start_apply()
    engineer.await_round(first, 1)
    refused = engineer.eeectl("lab down")
    assert refused.returncode == 1
    assert f"is held by {_me()}" in refused.stderr
    assert "give --yes" in refused.stderr
    assert first.end().returncode == 0
    engineer.require_after()


def test_a_lab_with_a_shell_open_on_a_host_stays_up(engineer: Engineer) -> None:
    shell = pexpect.spawn("ssh", ["-F", str(engineer.lab.config), "-tt", "n01"], timeout=60)
    shell.sendline("echo he''re")
    shell.expect("here")
    refused = engineer.eeectl("lab down")
    assert refused.returncode == 1
    assert "somebody has a terminal open on n01: " in refused.stderr
    assert "give --yes" in refused.stderr
    shell.sendline("exit")
    shell.expect(pexpect.EOF)
    shell.close()


@pytest.fixture
def killed_run(engineer: Engineer, tmp_path: Path) -> Path:
    """The folder of a run that was killed while the lab was at other levels than before."""
    file = tmp_path / "experiment.yaml"
    factor = f"{{links: ['{TRUNK}'], levels: ['on', 'off']}}"
    measured = f"measure: {{idle: {{window_s: 2}}}}\nfactors: {{eee: {factor}}}\nblocks: 1\n"
    file.write_text(f"name: killed\nlab: {engineer.folder}\n{measured}")
    assert engineer.apply().returncode == 0
    argv = [*EEECTL, "run", str(file), "--runs", str(tmp_path / "runs")]
    running = Running(argv, engineer.environment())
    eventually("a trial has begun", lambda: "trial_begun" in _events(tmp_path))
    running.kill()
    return next((tmp_path / "runs").iterdir())


def _events(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("runs/*/events.jsonl"))


def test_a_run_that_was_killed_is_named_and_asks_before_it_undoes_what_others_did(
    engineer: Engineer, killed_run: Path
) -> None:
    engineer.lab.configure("sw3", "interface gi1/0/20", "shutdown", "exit")
    status = engineer.eeectl("status")
    assert status.returncode == 3
    for words in (f"the run {killed_run} was killed", "--resume` goes on", "--put-back` only restores"):
        assert words in status.stdout
    for flag in ("--resume", "--put-back"):
        refused = engineer.words("run", str(killed_run), flag)
        assert refused.returncode == 1
        assert "sw3:gi1/0/20: admin_up True -> False" in refused.stderr
        assert "give --yes" in refused.stderr
    assert "gi1/0/20: admin_up" in engineer.eeectl("status").stdout, "nothing was undone"
    done = engineer.words("run", str(killed_run), "--resume", "--yes")
    assert done.returncode == 0, done.stderr
    assert "restored" in done.stdout
    engineer.require_after()
    after = engineer.eeectl("status")
    assert (after.returncode, "was killed" in after.stdout) == (0, False)


def test_the_lab_of_a_killed_run_is_put_back(engineer: Engineer, killed_run: Path) -> None:
    assert engineer.words("run", str(killed_run), "--put-back").returncode == 0
    engineer.require_after()
    assert engineer.eeectl("status").returncode == 0
    assert engineer.eeectl("rollback", "--all", "--yes").returncode == 0
    engineer.require_before()


def test_the_lab_of_a_killed_run_is_recovered_without_the_runs_folder(engineer: Engineer, killed_run: Path) -> None:
    shutil.rmtree(killed_run)
    status = engineer.eeectl("status")
    assert status.returncode == 3
    assert f"the run {killed_run} was killed, and its folder is gone" in status.stdout
    assert engineer.words("run", str(killed_run), "--resume").returncode == 1
    recovered = engineer.eeectl("recover")
    assert recovered.returncode == 0, recovered.stderr
    assert "was killed: the lab" in recovered.stdout
    engineer.require_after()
    assert engineer.eeectl("status").returncode == 0


def _me() -> str:
    return run(["id", "-un"]).stdout.strip()


def test_no_terminal_to_confirm_on(engineer: Engineer) -> None:
    done = engineer.eeectl("apply")
    assert done.returncode == 1
    assert "nothing was sent" in done.stderr
    engineer.require_before()


def test_a_wrong_password(engineer: Engineer) -> None:
    engineer.fault("password", "sw2")
    done = engineer.apply()
    assert done.returncode == 1
    assert "sw2: does not let admin in" in done.stderr
    assert engineer.kinds() == []
    engineer.fault("clear")
    engineer.require_before()


def test_a_password_that_is_changed_in_the_middle(engineer: Engineer) -> None:
    engineer.fault("password", "sw1", "--at-change", "5")
    engineer.fault("drop", "sw1", "--at-change", "8")
    done = engineer.apply()
    assert done.returncode == 1
    assert "between two states" in done.stderr, done.stderr
    engineer.fault("clear")
    assert engineer.eeectl("recover", "--yes").returncode == 0
    engineer.require_before()


def test_another_host_key(engineer: Engineer) -> None:
    engineer.fault("rekey", "sw1")
    done = engineer.apply()
    assert done.returncode == 1
    assert "sw1: " in done.stderr
    assert "host key" in done.stderr
    assert engineer.kinds() == []
    engineer.fault("clear")
    engineer.require_before()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that another user has filled but for 4 kB."""
    run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(tmp_path)])
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_no_disk_space_for_a_journal(engineer: Engineer, small_disk: Path) -> None:
    done = engineer.apply(kept=small_disk)
    assert done.returncode == 1
    assert "could not be written" in done.stderr, done.stderr
    engineer.require_before()
    assert "has never applied anything" in engineer.eeectl("recover", kept=small_disk).stderr


def test_the_disk_fills_up_in_the_middle(engineer: Engineer, small_disk: Path) -> None:
    run(["mount", "-o", f"remount,size={engineer.head_byte // 4096 * 4 + 24}k", str(small_disk)])
    engineer.keep_proof(small_disk)
    done = engineer.apply(kept=small_disk)
    assert done.returncode == 1, done.stdout
    assert "everything was rolled back" in done.stderr, done.stderr
    assert "free disk space" in done.stderr
    engineer.require_before()
    run(["mount", "-o", "remount,size=10m", str(small_disk)])
    recovered = engineer.eeectl("recover", "--yes", kept=small_disk)
    assert recovered.returncode == 0, recovered.stderr
    engineer.require_before()


def test_an_unknown_lab(engineer: Engineer) -> None:
    done = run([*EEECTL, "apply", "nowhere", "--yes"], check=False, env=engineer.environment())
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
