"""Lab time on a live lab: whatever lives in the lab, and whatever joins it, reads one clock."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from eee_engine import read_lab_clock

from eee_testbed.twin.lab.lateness import Lateness
from eee_testbed.twin.machine.lab_clock import environment
from tests.support import ROOT
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.two_switches import Eeectl, write_two_switches
from tests.support.needs import needs_lab

pytestmark = pytest.mark.lab

_SLEEP = """
import json, select, threading, time
def took(wait):
    before = time.monotonic_ns()
    wait()
    return time.monotonic_ns() - before
began = time.monotonic_ns()
held = threading.Lock()
held.acquire()
waits = {
    "sleep": took(lambda: time.sleep(0.03)),
    "poll": took(lambda: select.poll().poll(30)),
    "select": took(lambda: select.select([], [], [], 0.03)),
    "epoll": took(lambda: select.epoll().poll(0.03)),
    "lock": took(lambda: held.acquire(timeout=0.03)),
    "event": took(lambda: threading.Event().wait(0.03)),
}
print(json.dumps({"began": began, "ended": time.monotonic_ns(), "waits": waits}))
"""
_SPINS = """
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static struct pollfd ours = {.events = POLLIN};
static long now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}
static void nothing(void) {}
static void compute(void) { for (volatile int step = 0; step < 50000; step++); }
static void yield(void) { sched_yield(); }
static int at_once(void (*between)(void)) {
    int found = 0;
    for (int number = 0; number < 150; number++) {
        between();
        long before = now_ns();
        poll(&ours, 1, 0);
        found += now_ns() - before < 1000;
    }
    return found;
}
int main(void) {
    int pair[2];
    char message = 'x';
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    ours.fd = pair[0];
    int first = at_once(nothing);
    if (write(pair[1], &message, 1) != 1 || poll(&ours, 1, 0) != 1 || read(pair[0], &message, 1) != 1) return 1;
    int again = at_once(nothing), computing = at_once(compute);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t busy = fork();
    if (busy == 0) for (;;);
    int yielding = at_once(yield);
    kill(busy, SIGKILL);
    printf("{\\"first\\": %d, \\"again\\": %d, \\"computing\\": %d, \\"yielding\\": %d}\\n",
           first, again, computing, yielding);
}
"""
_CONGESTION = "net.ipv4.tcp_congestion_control"
_ANSWERS = """
import json, socket, time
def delayed():
    names, values = [line.split() for line in open("/proc/net/netstat") if line.startswith("TcpExt")]
    return int(values[names.index("DelayedACKs")])
listening = socket.create_server((socket.gethostbyname(socket.gethostname()), 5000))
print(listening.getsockname()[0], flush=True)
peer, _ = listening.accept()
before, answers = delayed(), 0
while peer.recv(1):
    if answers >= 30:
        time.sleep(0.01)  # 100 ms of the wall, in which a delayed acknowledgement would pass
    peer.send(b"x")
    answers += 1
print(json.dumps({"answers": answers, "delayed": delayed() - before}))
"""
_ASKS = """
import socket, sys
with socket.create_connection((sys.argv[1], 5000)) as peer:
    for _ in range(40):
        peer.send(b"x")
        peer.recv(1)
"""


def _waits_hold(told: str, page: Path, before_ns: int) -> None:
    """What a process measured lies within what the page showed around it, and no wait was too short."""
    measured = json.loads(told.strip().splitlines()[-1])
    assert before_ns <= measured["began"] <= measured["ended"] <= read_lab_clock(page)[1]
    for kind, took_ns in measured["waits"].items():
        assert took_ns >= 30_000_000, kind


def test_the_rate_is_the_pages(clocked: tuple[str, Path, Path], eeectl: Eeectl) -> None:
    name, _, page = clocked
    shown = json.loads(eeectl("lab", "clock", name, "--json").stdout)
    assert shown["rate"] == "1/10"
    _, lab_ns, wall_ns = read_lab_clock(page)
    passed = (lab_ns - shown["lab_ns"]) / (wall_ns - shown["wall_ns"])
    assert passed == pytest.approx(0.1, rel=1e-6)


@pytest.mark.parametrize("rate", ["1/10", "1/3", "5"])
def test_processes_of_a_host_live_in_lab_time(
    at_a_tenth: tuple[str, Path, Path], eeectl: Eeectl, eeectl_environment: dict[str, str], rate: str
) -> None:
    name, _, page = at_a_tenth
    assert eeectl("lab", "clock", name, rate).returncode == 0
    before_ns = read_lab_clock(page)[1]
    done = eeectl("lab", "exec", "n01", "--lab", name, "--", "python3", "-c", _SLEEP)
    assert done.returncode == 0, done.stderr
    _waits_hold(done.stdout, page, before_ns)
    before_ns = read_lab_clock(page)[1]
    config = str(page.parent / "ssh_config")
    over_ssh = ["ssh", "-F", config, "n02", "python3", "-"]
    done = subprocess.run(over_ssh, input=_SLEEP, capture_output=True, text=True, check=True, env=eeectl_environment)
    _waits_hold(done.stdout, page, before_ns)


def test_a_program_that_joins_reads_the_labs_clock(clocked: tuple[str, Path, Path], eeectl: Eeectl) -> None:
    name, _, page = clocked
    before_ns = read_lab_clock(page)[1]
    done = eeectl("lab", "join", name, "--", sys.executable, "-c", _SLEEP)
    assert done.returncode == 0, done.stderr
    _waits_hold(done.stdout, page, before_ns)


def test_kernel_stamps_are_in_lab_time(clocked: tuple[str, Path, Path], eeectl: Eeectl) -> None:
    """ping subtracts its own clock from the kernel's stamp of the answer: mixed clocks would differ by days."""
    name, folder, _ = clocked
    address = re.findall(r"data_address: ([\d.]+)", (folder / "hosts.yml").read_text(encoding="utf-8"))[1]
    done = eeectl("lab", "exec", "n01", "--lab", name, "--", "ping", "-c", "5", "-i", "0.01", address)
    assert done.returncode == 0, done.stdout + done.stderr
    least_ms = float(re.search(r"= ([\d.]+)/", done.stdout)[1])  # type: ignore[index]
    assert 0 < least_ms < 100


@pytest.mark.parametrize(("rate", "slower"), [("1/10", 10), ("1", 1), ("1/100", 100), ("20", 0.05)])
def test_timers_of_the_hosts_kernels_follow_the_rate(
    at_a_tenth: tuple[str, Path, Path], eeectl: Eeectl, rate: str, slower: float
) -> None:
    name, _, _ = at_a_tenth
    assert eeectl("lab", "clock", name, rate).returncode == 0
    for host in ("n01", "n04"):
        routes = json.loads(eeectl("lab", "exec", host, "--lab", name, "--", "ip", "-j", "route").stdout)
        (metrics,) = next(route["metrics"] for route in routes if route["dev"] == "eth0")
        assert metrics["rto_min"] == 200 * slower
        shown = eeectl("lab", "exec", host, "--lab", name, "--", "ip", "ntable", "show", "dev", "eth0").stdout
        arp = shown.partition("inet arp_cache")[2]
        assert int(re.search(r"base_reachable (\d+)", arp)[1]) == 30_000 * slower  # type: ignore[index]
        assert int(re.search(r"delay_probe (\d+)", arp)[1]) == pytest.approx(5_000 * slower, abs=4)  # type: ignore[index]
    assert "metrics" not in next(route for route in routes if route["dev"] == "mgmt0")


def test_no_acknowledgement_comes_in_a_pause(
    clocked: tuple[str, Path, Path], eeectl: Eeectl, eeectl_environment: dict[str, str]
) -> None:
    """A kernel waits 40 ms of the wall for data to carry it: at 1/100 it would come after 0.4 ms, and wake links."""
    name, _, _ = clocked
    argv = [
        sys.executable,
        "-m",
        "eee_testbed.eeectl.cli",
        "lab",
        "exec",
        "n02",
        "--lab",
        name,
        "--",
        "python3",
        "-c",
        _ANSWERS,
    ]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=eeectl_environment) as served:
        assert served.stdout is not None
        address = served.stdout.readline().strip()
        asked = eeectl("lab", "exec", "n01", "--lab", name, "--", "python3", "-c", _ASKS, address)
        assert asked.returncode == 0, asked.stderr
        told = json.loads(served.stdout.read())
    assert told["answers"] == 40
    assert told["delayed"] == 0
    assert "reno" in eeectl("lab", "exec", "n01", "--lab", name, "--", "sysctl", _CONGESTION).stdout


@pytest.mark.parametrize("environment", [(), ("env", "OMPI_COMM_WORLD_LOCAL_SIZE=1")])
def test_a_program_that_spins_leaves_the_processor_and_one_that_computes_does_not(
    at_a_tenth: tuple[str, Path, Path], eeectl: Eeectl, tmp_path: Path, environment: tuple[str, ...]
) -> None:
    """MPI's ranks poll in vain: after 64 polls, and after a message soon again, most wait for 2 us of lab time.

    One that is alone on its host waits for longer. Time in which others run, as a rank yields to them, is not its own.
    """
    name, _, page = at_a_tenth
    source = tmp_path / "spins.c"
    source.write_text(_SPINS, encoding="utf-8")
    subprocess.run(["cc", "-O1", "-o", page.parent / "shared" / "spins", source], check=True)
    assert eeectl("lab", "clock", name, "1/100").returncode == 0
    done = eeectl("lab", "exec", "n01", "--lab", name, "--", *environment, "/shared/spins")
    assert done.returncode == 0, done.stderr
    polls_at_once = json.loads(done.stdout)
    assert 16 < polls_at_once["first"] < 95
    assert polls_at_once["again"] < 95
    assert polls_at_once["computing"] > 100
    assert polls_at_once["yielding"] < 95


def test_a_switchs_uptime_passes_at_the_labs_pace(clocked: tuple[str, Path, Path], eeectl: Eeectl) -> None:
    name, _, page = clocked

    def uptime_s() -> float:
        status = json.loads(eeectl("lab", "status", name, "--json").stdout)
        return float(status["switches"][0]["uptime_s"])

    early_ns = read_lab_clock(page)[1]
    first = uptime_s()
    between_ns = read_lab_clock(page)[1]
    second = uptime_s()
    late_ns = read_lab_clock(page)[1]
    assert second - first <= (late_ns - early_ns) / 1e9 + 0.2
    assert between_ns > early_ns


def test_a_command_that_addresses_the_lab_joins_it(clocked: tuple[str, Path, Path], eeectl: Eeectl) -> None:
    """At a tenth of the pace the switches take ten times as long to answer; timeouts of a lab's second hold."""
    _, folder, _ = clocked
    done = eeectl("power", "read", "--lab", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    done = eeectl("lab", "check", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr


def test_who_does_not_preload_the_clock_is_named(
    clocked: tuple[str, Path, Path], eeectl: Eeectl, eeectl_environment: dict[str, str]
) -> None:
    name, _, _ = clocked
    words = ["lab", "exec", "n03", "--lab", name, "--", "env", "-u", "LD_PRELOAD", "sleep", "1000"]
    argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", *words]
    with subprocess.Popen(argv, env=eeectl_environment, start_new_session=True) as alien:
        try:
            while "sleep" not in eeectl("lab", "clock", name).stdout:
                assert alien.poll() is None
            shown = json.loads(eeectl("lab", "clock", name, "--json").stdout)
            assert [process["name"] for process in shown["outside_lab_time"]["n03"]] == ["sleep"]
        finally:
            os.killpg(alien.pid, signal.SIGKILL)
            eeectl("lab", "exec", "n03", "--lab", name, "--root", "--", "pkill", "-x", "sleep")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("0",), "'0' is not a rate"),
        (("1/2000",), "'1/2000' is not a rate"),
        (("fast",), "'fast' is not a rate"),
        (("auto:2ms",), "'auto:2ms' is not a rate: write 1/10"),
    ],
)
def test_a_wrong_rate_is_refused(
    clocked: tuple[str, Path, Path], eeectl: Eeectl, words: tuple[str, ...], sentence: str
) -> None:
    done = eeectl("lab", "clock", clocked[0], *words)
    assert done.returncode == 1
    assert sentence in done.stderr
    done = eeectl("lab", "up", str(clocked[1]), "--rate", *words)
    assert done.returncode == 1
    assert sentence in done.stderr


def test_a_lab_without_a_clock_says_so(running_lab: tuple[Path, Path], eeectl: Eeectl) -> None:
    done = eeectl("lab", "clock", running_lab[0].name)
    assert done.returncode == 1
    assert "has no clock of its own" in done.stderr
    assert "--rate 1/10" in done.stderr


def test_a_lab_comes_down_at_the_slowest_rate_and_its_processes_go_on(
    eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path: Path
) -> None:
    needs_lab()
    number = reserve()
    folder = write_two_switches(tmp_path, f"c{number}", number)
    page = Path(eeectl_environment["EEE_STATE_DIR"]) / folder.name / "clock"
    assert eeectl("lab", "up", str(folder), "--rate", "1/1000").returncode == 0
    joined = {**eeectl_environment, **environment(str(page))}
    argv = [sys.executable, "-c", "import time; time.sleep(0.2); print('awake')"]
    sleeper = subprocess.Popen(argv, env=joined, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    done = eeectl("lab", "down", folder.name)
    assert done.returncode == 0, done.stderr
    out, _ = sleeper.communicate(timeout=60)
    assert out == "awake\n"
    assert not page.exists()


def test_the_lab_reports_its_pace(
    at_a_tenth: tuple[str, Path, Path], eeectl_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", eeectl_environment["EEE_STATE_DIR"])
    lateness = Lateness.of(at_a_tenth[0])
    assert lateness is not None
    assert lateness.pace() == "1/10 of real time"
