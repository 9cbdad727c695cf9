"""Command lines of launchers, exactly; what their messages say; what is refused."""

import json
import subprocess
from pathlib import Path

import pytest

from eee_testbed.benchmarks.program import Launch, Placement
from eee_testbed.measuring.experiments.launchers import mpich, own_command, slurm
from eee_testbed.measuring.experiments.launchers.asking import _ASK
from eee_testbed.measuring.experiments.launchers.launcher import Start
from eee_testbed.measuring.experiments.launchers.table import LAUNCHERS, chosen

FOLDER = "/run/eee-12ab"
TWO = Placement(("n02", "n01"), 2)
LAUNCH = Launch(("/shared/halo", "a b"), environment={"N": "1 2"})


def test_hydra() -> None:
    start = Start(LAUNCH, TWO, "12ab", FOLDER, interfaces=("eth0", "eth0"), crowded=True, words=("-bind-to", "core"))
    words = ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", f"{FOLDER}/reach_node", "-hosts", "n02:2,n01:2"]
    words += ["-n", "4", "-wdir", FOLDER, "-genvnone", "-genv", "UCX_NET_DEVICES", "eth0", "-genv", "FI_TCP_IFACE"]
    words += ["eth0", "-genv", "MPIR_CVAR_POLLS_BEFORE_YIELD", "1", "-genv", "EEE_JOB", "12ab", "-genv", "N", "1 2"]
    assert mpich.argv(start) == [*words, "-bind-to", "core", "/shared/halo", "a b"]


def test_hydra_on_cards_of_several_names() -> None:
    words = mpich.argv(Start(LAUNCH, TWO, "12ab", FOLDER, interfaces=("eth0", "eno1")))
    assert words[words.index("UCX_NET_DEVICES") + 1] == "eth0,eno1"
    assert "FI_TCP_IFACE" not in words


@pytest.mark.parametrize("status", [0, 3, 255])
def test_hydra_reaches_a_node_and_does_not_wait_for_one_that_it_cannot_reach(tmp_path: Path, status: int) -> None:
    """Its caller, as Hydra, ends if ssh fails, and only then."""
    script = tmp_path / "reach_node"
    script.write_bytes(mpich.files(TWO)["reach_node"])
    script.chmod(0o700)
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\nprintf "<%s>" "$@"\nexit {status}\n')
    ssh.chmod(0o700)
    caller = f'"{script}" -x n01 "a b" c; echo " $?"'
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "EEE_JOB": "12ab"}
    done = subprocess.run(
        ["sh", "-c", caller], env=environment, capture_output=True, text=True, timeout=20, check=False
    )
    called = "<-x><-o><BatchMode=yes><-o><ConnectTimeout=10><n01><env><EEE_JOB=12ab><a b><c>"
    assert done.stdout == (called if status == 255 else f"{called} {status}\n")
    assert done.returncode == (-15 if status == 255 else 0)


def test_srun() -> None:
    start = Start(LAUNCH, TWO, "12ab", FOLDER, words=("--mpi=pmi2",), allocation="77")
    words = [
        "env",
        f"SLURM_HOSTFILE={FOLDER}/ranks_by_host",
        "EEE_JOB=12ab",
        "N=1 2",
        "srun",
        "--nodes=2",
        "--ntasks=4",
    ]
    words += ["--job-name=eeectl", "--distribution=arbitrary", f"--chdir={FOLDER}", "--export=ALL"]
    words += ["--kill-on-bad-exit=1", "--jobid=77"]
    found = slurm.argv(start)
    assert found[: len(words)] == words
    assert found[len(words)] == "--mpi=pmi2"
    assert found[-2:] == ["/shared/halo", "a b"]
    assert slurm.files(TWO) == {"ranks_by_host": b"n02\nn02\nn01\nn01\n"}
    assert not any(word.startswith("--jobid") for word in slurm.argv(Start(LAUNCH, TWO, "12ab", FOLDER)))


@pytest.mark.parametrize("status", [0, 3])
def test_a_rank_of_srun_ends_as_its_program(status: int, tmp_path: Path) -> None:
    start = Start(Launch(("sh", "-c", 'echo "$1"; exit "$0"', str(status), "a  b")), TWO, "12ab", str(tmp_path))
    words = slurm.argv(start)
    rank = words[words.index("sh") :]
    done = subprocess.run(rank, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (status, "a  b\n")


def test_srun_keeps_mpich_on_the_cards_of_the_data_network() -> None:
    assert "UCX_NET_DEVICES=eth0" in slurm.argv(Start(LAUNCH, TWO, "12ab", FOLDER, interfaces=("eth0",)))


def test_a_command_line_of_the_user(tmp_path: Path) -> None:
    """The program enters its folder and has its environment, though the launcher knows of neither."""
    choice = chosen("command", "sh -c 'shift; exec \"$@\"' x {hosts}:{ranks}:{ranks_per_host}:{hostfile}", {})
    launch = Launch(("sh", "-c", 'echo "$PWD $EEE_JOB $N"'), environment={"N": "1 2"})
    words = own_command.argv(Start(launch, TWO, "12ab", str(tmp_path), words=choice.words))
    assert words[4] == f"n02,n01:4:2:{tmp_path}/hosts_of_ranks"
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == f"{tmp_path} 12ab 1 2\n"
    assert choice.launcher.needed_on_first(choice.words) == ("sh",)


@pytest.mark.parametrize(
    ("name", "words", "sentence"),
    [
        ("lam", "", "unknown launcher lam: use one of openmpi, mpich, slurm, command"),
        ("command", "", "needs launcher_words"),
        ("command", "mpiexec -n {ranks}", r"put \{hosts\} or \{hostfile\}"),
        ("command", "mpiexec -host {hosts} -n {slots}", r"unknown place \{slots\}"),
        ("mpich", "-genv 'A", "close the quotation"),
    ],
)
def test_what_is_no_launcher_is_refused(name: str, words: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        chosen(name, words, {})


def test_the_allocation_is_that_of_the_shell_and_for_slurm_alone() -> None:
    shell = {"SLURM_JOB_ID": "77"}
    assert chosen("slurm", "", shell).allocation == "77"
    assert chosen("mpich", "", shell).allocation == ""


KILLED = "=   BAD TERMINATION OF ONE\n=   PID 49 RUNNING AT n02\n=   EXIT CODE: {}\n=   CLEANING UP\n"


@pytest.mark.parametrize(
    ("launcher", "errors", "host", "part"),
    [
        ("mpich", KILLED.format(9), "n02", "by signal 9"),
        ("mpich", KILLED.format(139), "n02", "by signal 11"),
        ("mpich", KILLED.format(3 << 8), "n02", "with status 3"),
        ("mpich", "ssh: connect to host n01 port 22: No route to host\n[mpiexec@n02] x", "n01", "key-based login"),
        ("mpich", "it is wrong\n[mpiexec@n02] main (a.c:1): error\n=====\n", "", "status 7 (it is wrong)"),
        ("slurm", "srun: error: n01: task 1: Exited with exit code 3\n", "n01", "Exited with exit code 3"),
        ("slurm", "srun: error: n01: tasks 0-1: Killed\n", "n01", "Killed"),
        ("slurm", "srun: error: n01: task 1: Exited with exit code 139\n", "n01", "by signal 11"),
        ("slurm", "OMPI was not built with SLURM's PMI support\nsrun: error: n01: task 1: x", "", "--mpi=pmix"),
        ("slurm", "srun: error: Unable to allocate resources: Invalid node name\n", "", "names of the hosts"),
        ("command", "", "", "status 7 (no output)"),
    ],
)
def test_what_failed(launcher: str, errors: str, host: str, part: str) -> None:
    found, sentence = LAUNCHERS[launcher].diagnose(7, errors, ("n02", "n01"))
    assert found == host
    assert part in sentence


@pytest.mark.parametrize(
    ("launcher", "printed", "version"),
    [
        ("openmpi", "mpirun (Open MPI) 4.1.4\n\nReport bugs\n", "Open MPI 4.1.4"),
        ("mpich", "HYDRA build details:\n    Version:      4.0.2\n    Release Date: x\n", "MPICH 4.0.2"),
        ("slurm", "slurm-wlm 22.05.8\n", "Slurm 22.05.8"),
        ("mpich", "", ""),
        ("command", "anything 1.0", ""),
    ],
)
def test_versions(launcher: str, printed: str, version: str) -> None:
    assert LAUNCHERS[launcher].version_in(printed) == version


def test_a_node_is_asked_for_what_it_has() -> None:
    def answer(asks: list[str]) -> list[str]:
        words = ["python3", "-c", _ASK.text, json.dumps({"asks": asks, "mpi4py": False})]
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True)
        found: list[str] = json.loads(done.stdout)
        return found

    assert answer(["echo", "slurm 22.05"]) == ["slurm 22.05\n", ""]
    assert answer(["no-such-launcher", "--version"]) == ["", ""]
