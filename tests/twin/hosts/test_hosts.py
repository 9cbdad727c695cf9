"""Virtual hosts, through the tools that a user has."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.needs import needs
from tests.support.waiting import eventually

Eeectl = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = pytest.mark.lab


@pytest.fixture
def on(eeectl: Eeectl, running_lab: tuple[Path, Path]) -> Callable[..., str]:
    """Run a command on a host and return its output."""
    folder, _ = running_lab

    def run(host: str, *command: str, root: bool = False) -> str:
        options = ["--root"] if root else []
        done = eeectl("lab", "exec", "--lab", folder.name, *options, host, "--", *command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_each_host_is_its_own_machine(on: Callable[..., str]) -> None:
    assert on("n01", "hostname").strip() == "n01"
    assert on("n01", "id", "-un").strip() == "lab"
    processes = on("n01", "ps", "-e", "-o", "pid=,comm=").splitlines()
    assert processes[0].split()[0] == "1"
    assert len(processes) < 10, "other hosts' or the machine's processes are seen"
    on("n01", "sh", "-c", "echo one > /tmp/mark; echo one > ~/mark")
    assert "mark" not in on("n02", "sh", "-c", "ls /tmp ~")
    assert not Path("/tmp/mark").exists()  # noqa: S108 - the machine's own
    assert not Path("/home/lab/mark").exists()


def test_root_writes_stay_in_the_host(on: Callable[..., str]) -> None:
    on("n01", "sh", "-c", "echo n01 > /etc/written-by-a-host; rm /etc/fstab || true", root=True)
    assert not Path("/etc/written-by-a-host").exists()
    assert "written-by-a-host" not in on("n02", "ls", "/etc")


def test_roots_home_is_the_hosts_own(on: Callable[..., str], running_lab: tuple[Path, Path]) -> None:
    """What the shell of the machine's root does at a login is no part of the lab."""
    _, state = running_lab
    argv = ["ssh", "-F", str(state / "ssh_config"), "-l", "root", "n01", "pwd; ls -A"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=30)
    assert (done.stdout, done.stderr) == ("/home/root\n.ssh\n", "")
    assert on("n01", "sh", "-c", "pwd; echo $HOME", root=True) == "/home/root\n/home/root\n"


def test_addresses_and_card(on: Callable[..., str], running_lab: tuple[Path, Path]) -> None:
    folder, _ = running_lab
    number = int(folder.name[1:])
    cards = {card["ifname"]: card for card in json.loads(on("n02", "ip", "-j", "addr"))}
    assert cards["eth0"]["address"] == f"02:ee:{number:02x}:00:00:02"
    assert [a["local"] for a in cards["eth0"]["addr_info"]] == [f"198.19.{number}.2"]
    assert [a["local"] for a in cards["mgmt0"]["addr_info"]] == [f"198.18.{number}.2"]
    assert set(cards) == {"lo", "eth0", "mgmt0"}


def test_data_network_reaches_over_both_switches(on: Callable[..., str]) -> None:
    assert " 0% packet loss" in on("n01", "ping", "-c", "3", "-i", "0.2", "n04")
    assert " 0% packet loss" in on("n01", "ping", "-c", "1", "n04-mgmt")


def test_hosts_know_each_others_keys(on: Callable[..., str]) -> None:
    assert on("n03", "ssh", "n01", "hostname").strip() == "n01"
    assert on("n03", "ssh", "n02-mgmt", "hostname").strip() == "n02"


def test_ssh_from_outside_checks_host_keys(running_lab: tuple[Path, Path]) -> None:
    _, state = running_lab
    argv = ["ssh", "-F", str(state / "ssh_config"), "n04", "cat /proc/sys/kernel/hostname"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "n04"
    strange = [*argv[:3], "-o", "UserKnownHostsFile=/dev/null", *argv[3:]]
    assert subprocess.run(strange, capture_output=True, check=False, timeout=30).returncode == 255


def test_exit_status_and_input_pass(eeectl: Eeectl, running_lab: tuple[Path, Path]) -> None:
    name = running_lab[0].name
    assert eeectl("lab", "exec", "--lab", name, "n01", "--", "sh", "-c", "exit 7").returncode == 7
    assert eeectl("lab", "exec", "--lab", name, "n01", "--", "sh", "-c", "kill -9 $$").returncode == 137
    assert eeectl("lab", "exec", "--lab", name, "n01", "--", "cat", input="said\n").stdout == "said\n"
    done = eeectl("lab", "exec", "--lab", name, "n77", "--", "true")
    assert done.returncode == 1
    assert "no host n77" in done.stderr
    assert "n01" in done.stderr


def test_orphans_are_reaped(on: Callable[..., str]) -> None:
    on("n01", "sh", "-c", "for i in 1 2 3 4 5; do (true &) ; done")
    eventually("no zombie is left", lambda: "Z" not in on("n01", "ps", "-e", "-o", "stat="))


def test_cpu_time_is_counted(eeectl: Eeectl, running_lab: tuple[Path, Path], on: Callable[..., str]) -> None:
    def used_s() -> float:
        shown = json.loads(eeectl("lab", "status", running_lab[0].name, "--json").stdout)
        return float(next(host["cpu_s"] for host in shown["hosts"] if host["host"] == "n02"))

    before_s = used_s()
    on("n02", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
    assert used_s() - before_s > 0.05


def test_power_cut_kills_and_power_brings_back(
    eeectl: Eeectl, running_lab: tuple[Path, Path], on: Callable[..., str]
) -> None:
    name = running_lab[0].name

    def state() -> str:
        shown = json.loads(eeectl("lab", "status", name, "--json").stdout)
        return str(next(host["state"] for host in shown["hosts"] if host["host"] == "n03"))

    on("n03", "sh", "-c", "echo kept > ~/on-disk; echo gone > /tmp/in-memory")
    assert eeectl("lab", "fault", "power", "n03", "off", "--lab", name).returncode == 0
    for _ in range(100):
        if state() == "off":
            break
    assert state() == "off"
    assert "mended" in eeectl("lab", "fault", "clear", "--lab", name).stdout
    for _ in range(100):
        if state() == "up":
            break
    assert on("n03", "cat", "on-disk").strip() == "kept"
    assert on("n03", "ls", "/tmp") == ""  # noqa: S108 - the host's


def test_mpi_from_a_host_and_from_outside(running_lab: tuple[Path, Path], on: Callable[..., str]) -> None:
    needs("mpicc")
    _, state = running_lab
    source = state / "shared" / "sum.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(int c,char**v){int r,n,s;MPI_Init(&c,&v);MPI_Comm_rank(MPI_COMM_WORLD,&r);"
        "MPI_Comm_size(MPI_COMM_WORLD,&n);MPI_Allreduce(&r,&s,1,MPI_INT,MPI_SUM,MPI_COMM_WORLD);"
        'char h[64];int l;MPI_Get_processor_name(h,&l);printf("%s %d %d\\n",h,n,s);MPI_Finalize();}\n',
        encoding="utf-8",
    )
    subprocess.run(["mpicc", "-o", source.with_suffix(""), source], check=True, timeout=60)
    wanted = [f"n0{n} 4 6" for n in range(1, 5)]

    def sent() -> int:
        return int(on("n01", "cat", "/sys/class/net/eth0/statistics/tx_packets"))

    before = sent()
    inside = on("n01", "mpirun", "--host", "n01,n02,n03,n04", "/shared/sum")
    assert sorted(inside.splitlines()) == wanted
    assert sent() > before, "the job did not use the data network"
    command = f". {state}/mpi/environment; cd /; mpirun --host n01,n02,n03,n04 /shared/sum"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60, env={**os.environ}
    )
    assert sorted(done.stdout.splitlines()) == wanted, done.stderr
