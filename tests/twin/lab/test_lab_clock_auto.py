"""A lab that sets the rate of its own clock, and hosts that compute in proportion to lab time."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.lab import lifecycle
from eee_testbed.twin.lab.lateness import DaemonOf, Lateness
from eee_testbed.twin.machine.cgroups import find_cpu_hierarchy
from eee_testbed.twin.machine.statedir import Journal, StateDir
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.two_switches import Eeectl, cap_host, write_two_switches
from tests.support.needs import lacking, needs_lab

pytestmark = [pytest.mark.lab, pytest.mark.alone]  # beside other labs the rate would be far lower

_RATIO = 0.5
_BOUND_US = 20.0

_BURN = """
import time
began, used = time.monotonic(), 0.0
while time.monotonic() - began < 0.4:
    cpu = time.thread_time()
    for _ in range(20_000):
        pass
    used += time.thread_time() - cpu
print(used / (time.monotonic() - began))
"""
"""Work alone, by lab time that passed: what a thread's waits cost a processor is none of it."""

_STRETCHES = """
import time
for _ in range(10):
    time.sleep(0.02)
    began, cpu = time.monotonic(), time.thread_time()
    for _ in range(20_000):
        pass
    used = time.thread_time() - cpu
    print(used, time.monotonic() - began)
"""
"""Short stretches of computing after pauses: processor time, and lab time that passed."""


_ANSWERS = """
import socket
with socket.create_server(("", 5000)) as server, server.accept()[0] as peer:
    while word := peer.recv(1):
        peer.send(word)
"""
_ASKS = """
import contextlib, socket, struct, sys, time
peer = None
while peer is None:
    with contextlib.suppress(ConnectionRefusedError):
        peer = socket.create_connection((sys.argv[1], 5000))
for _ in range(20):
    peer.send(b"x")
    peer.recv(1)
(rto_us,) = struct.unpack_from("I", peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 8)
print(rto_us / 1e6)
"""
"""How long TCP waits before it sends again (`tcpi_rto`), seconds of the wall."""


class _Lab:
    def __init__(self, folder: Path, eeectl: Eeectl, environment: dict[str, str]) -> None:
        self._environment = environment
        self.state_root = environment["EEE_STATE_DIR"]
        self.folder = folder
        self.name = folder.name
        self._eeectl = eeectl

    def clock(self, *rate: str) -> Any:
        """The clock's rate as a number, and whether it is automatic."""
        done = self._eeectl("lab", "clock", self.name, *rate, "--json")
        assert done.returncode == 0, done.stderr
        shown = json.loads(done.stdout)
        lab, _, wall = shown["rate"].partition("/")
        return float(lab) / float(wall or 1), shown["automatic"]

    def pace(self, *rate: str) -> Any:
        """What sets the rate."""
        return json.loads(self._eeectl("lab", "clock", self.name, *rate, "--json").stdout)["pace"]

    def tell(self) -> str:
        """What `lab clock` prints for people."""
        return self._eeectl("lab", "clock", self.name).stdout

    def run(self, host: str, *words: str) -> str:
        done = self._eeectl("lab", "exec", host, "--lab", self.name, "--", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return str(done.stdout)

    def login(self, host: str, *words: str) -> str:
        argv = ["ssh", "-F", str(Path(self.state_root) / self.name / "ssh_config"), host, *words]
        return subprocess.run(argv, env=self._environment, check=True, capture_output=True, text=True).stdout

    def start(self, host: str, *words: str) -> "subprocess.Popen[str]":
        argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", "lab", "exec", host, "--lab", self.name, "--", *words]
        return subprocess.Popen(argv, env=self._environment, stdout=subprocess.DEVNULL, text=True)

    def address(self, host: int) -> str:
        text = (self.folder / "hosts.yml").read_text(encoding="utf-8")
        return re.findall(r"data_address: ([\d.]+)", text)[host]

    def journal(self) -> Journal:
        """What the lab has made; its state root is this process's."""
        journal = StateDir(self.name).load()
        assert journal is not None
        return journal

    def lateness(self) -> dict[str, Any]:
        shown = json.loads(self._eeectl("lab", "truth", self.name, "--json").stdout)
        return dict(shown["engine"]["lateness"])


def _without_cpu_controller() -> str:
    """Why no host can be capped here, as inside a container whose host keeps the controller; empty if one can."""
    why = ""
    try:
        find_cpu_hierarchy()
    except LabError as error:
        why = str(error)
    return why


@pytest.fixture(scope="module")
def lab(eeectl: Eeectl, eeectl_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Lab]:
    """n01 has a cpu_ratio where control groups can keep it, the others have none."""
    needs_lab()
    number = reserve()
    folder = write_two_switches(tmp_path_factory.mktemp("labs"), f"a{number}", number)
    if not _without_cpu_controller():
        cap_host(folder, "n01", _RATIO)
    done = eeectl("lab", "up", str(folder), "--rate", "auto")
    assert done.returncode == 0, done.stderr
    yield _Lab(folder, eeectl, eeectl_environment)
    done = eeectl("lab", "down", folder.name)
    assert done.returncode == 0, done.stderr
    assert not list(Path("/sys/fs/cgroup").glob(f"**/eee-testbed/{folder.name}"))


def test_a_lab_that_is_used_by_hand_runs_at_the_walls_pace_and_says_so(lab: _Lab) -> None:
    with lab.start("n02", "ping", "-q", "-i", "0.002", lab.address(3)) as busy:
        try:
            assert {lab.clock() for _ in range(5)} == {(1.0, True)}
            assert busy.poll() is None
        finally:
            busy.send_signal(signal.SIGINT)
    shown = lab.tell()
    assert "1 lab seconds per real second" in shown
    assert "nothing is measured" in shown


def test_frames_of_a_trial_are_late_by_less_than_the_bound(lab: _Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some that were late, if any: those that a trial is tried again for."""
    monkeypatch.setenv("EEE_STATE_DIR", lab.state_root)
    with _worker() as worker:
        monitor = Lateness(DaemonOf(lab.name), worker)
        while True:
            before = lab.lateness()
            monitor.begin(timed=True)
            lab.run("n02", "ping", "-q", "-i", "0.002", "-c", "25", lab.address(3))  # at 1/1000 that takes 50 s
            after = lab.lateness()
            if monitor.end() is None:
                break
    counts = _delivered(before, after)
    uppers_us = [*after["bucket_upper_us"], float("inf")]
    late = sum(count for count, upper_us in zip(counts, uppers_us, strict=True) if upper_us > 2 * _BOUND_US)
    assert sum(counts) >= 50
    assert late <= 0.05 * sum(counts), (late, counts)


def test_trials_meet_one_rate_and_between_them_time_is_the_walls(lab: _Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", lab.state_root)
    with _worker() as worker:
        monitor = Lateness(DaemonOf(lab.name), worker)
        assert lab.clock() == (1.0, True)
        _measure(lab, monitor)


def test_a_connection_is_made_for_the_rate_of_the_trial_that_is_prepared(
    lab: _Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its time before TCP sends again: 200 ms of the wall would be 20 ms of the trial, or 2."""
    monkeypatch.setenv("EEE_STATE_DIR", lab.state_root)
    with _worker() as worker:
        monitor = Lateness(DaemonOf(lab.name), worker)
        assert lab.clock() == (1.0, True)
        with lab.start("n04", "python3", "-c", _ANSWERS) as answers:
            again_s = float(lab.run("n02", "python3", "-c", _ASKS, lab.address(3)))
            answers.wait(60)
        assert lab.clock() == (1.0, True)
        monitor.begin(timed=True)
        held, _ = lab.clock()
        monitor.end()
    assert 0.2 / held <= again_s < 0.4 / held


def test_a_lost_arp_request_is_repeated_soon_while_a_slow_trial_is_prepared(
    lab: _Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a cable that was down. By the time of the trial to come it would be after 1,000 s."""
    monkeypatch.setenv("EEE_STATE_DIR", lab.state_root)
    arp = (*_in_network("n04", lab), "ip", "link", "set", "eth0", "arp")
    try:
        assert lab.pace("auto:0.1us") == "auto:0.1us"
        with _worker() as worker:
            Lateness(DaemonOf(lab.name), worker)
            subprocess.run([*arp, "off"], check=True)
            subprocess.run([*_in_network("n03", lab), "ip", "neigh", "flush", "dev", "eth0"], check=True)
            with lab.start("n03", "ping", "-q", "-c", "1", "-w", "30", lab.address(3)) as asks:
                while "INCOMPLETE" not in lab.run("n03", "ip", "neigh", "show", lab.address(3)):
                    assert asks.poll() is None
                subprocess.run([*arp, "on"], check=True)
                answered = asks.wait(120)
    finally:
        subprocess.run([*arp, "on"], check=True)
        lab.pace("auto")
    assert answered == 0


def test_a_run_begins_at_the_usual_rate_whatever_the_one_before_it_met(
    lab: _Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lab's frames are late as its process is stopped during a trial."""
    monkeypatch.setenv("EEE_STATE_DIR", lab.state_root)
    process = lab.journal().daemon
    assert process is not None
    daemon = process.pid
    with _worker() as worker:
        monitor = Lateness(DaemonOf(lab.name), worker)
        monitor.begin(timed=True)
        usual, _ = lab.clock()
        with lab.start("n02", "ping", "-q", "-i", "0.002", "-c", "200", lab.address(3)) as busy:
            while _lasts(busy):
                os.kill(daemon, signal.SIGSTOP)
                _lasts(busy)
                os.kill(daemon, signal.SIGCONT)
        assert monitor.end() is not None
        monitor.begin(timed=True)
        slower, _ = lab.clock()
        monitor.end()
        anew = Lateness(DaemonOf(lab.name), worker)
        anew.begin(timed=True)
        again, _ = lab.clock()
        anew.end()
    assert slower < usual == again


def _in_network(host: str, lab: _Lab) -> tuple[str, ...]:
    """Before a command: as root, in a host's network."""
    return "nsenter", f"--target={lab.journal().hosts[host].pid}", "--net"


def _lasts(program: "subprocess.Popen[str]") -> bool:
    """Whether it still runs a tenth of a second later."""
    try:
        program.wait(0.1)
    except subprocess.TimeoutExpired:
        return True
    return False


@contextmanager
def _worker() -> Iterator[int]:
    """A process that measures in a lab."""
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def _measure(lab: _Lab, monitor: Lateness) -> None:
    """A timed trial meets one rate; between trials it is the wall's, while meters are read it is faster."""
    monitor.begin(timed=True)
    held, _ = lab.clock()
    assert held <= 0.1
    with lab.start("n02", "ping", "-q", "-i", "0.002", lab.address(3)) as busy:
        try:
            assert {lab.clock() for _ in range(5)} == {(held, True)}
        finally:
            busy.send_signal(signal.SIGINT)
    assert monitor.pace().startswith(f"1/{round(1 / held)} ")
    monitor.end()
    with lab.start("n02", "ping", "-q", "-i", "0.002", lab.address(3)) as busy:
        try:
            assert {lab.clock() for _ in range(5)} == {(1.0, True)}
        finally:
            busy.send_signal(signal.SIGINT)
    monitor.begin(timed=False)
    while lab.clock()[0] < 1.5:
        pass
    monitor.end()
    assert lab.clock() == (1.0, True)


def test_a_trial_that_dies_lets_go(lab: _Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", lab.state_root)
    with subprocess.Popen(["sleep", "600"]) as dies:
        lifecycle.order(lab.name, "begin_trial", process=dies.pid, timed=True)
        assert lab.clock()[0] <= 0.1
        dies.kill()
    while lab.clock()[0] < 1.0:
        pass


def _delivered(before: dict[str, Any], after: dict[str, Any]) -> list[int]:
    """Frames between two looks, by bucket of lateness."""
    return [b - a for a, b in zip(before["bucket_count"], after["bucket_count"], strict=True)]


def test_nobody_at_a_terminal_sees_haste(
    lab: _Lab, eeectl_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While meters are read."""
    monkeypatch.setenv("EEE_STATE_DIR", lab.state_root)
    config = Path(eeectl_environment["EEE_STATE_DIR"]) / lab.name / "ssh_config"
    argv = ["ssh", "-F", str(config), "-tt", "n03"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with _worker() as worker:
        monitor = Lateness(DaemonOf(lab.name), worker)
        monitor.begin(timed=False)
        while lab.clock()[0] < 1.5:
            pass
        with subprocess.Popen(argv, env=eeectl_environment, text=True, **pipes) as terminal:  # type: ignore[call-overload]
            assert terminal.stdin is not None
            assert terminal.stdout is not None
            terminal.stdin.write("echo he''re\n")
            terminal.stdin.flush()
            while "here" not in terminal.stdout.readline():
                pass
            while lab.clock()[0] > 1.0:
                pass
            assert max(lab.clock()[0] for _ in range(3)) <= 1.0
            terminal.stdin.write("exit\n")
            terminal.stdin.close()
            terminal.wait(60)
        monitor.end()


def test_a_fixed_rate_ends_it(lab: _Lab) -> None:
    try:
        assert lab.clock("1/3") == (pytest.approx(1 / 3), False)
        assert lab.clock() == (pytest.approx(1 / 3), False)
    finally:
        assert lab.clock("auto")[1]


def test_another_bound_on_lateness_is_shown_and_begins_slower(lab: _Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", lab.state_root)
    try:
        assert lab.pace("auto:2us") == "auto:2us"
        with _worker() as worker:
            monitor = Lateness(DaemonOf(lab.name), worker)
            monitor.begin(timed=True)
            assert lab.clock() == (0.01, True)
            monitor.end()
    finally:
        assert lab.pace("auto") == "auto"


@pytest.mark.parametrize("rate", ["1/2", "1/8"])
def test_a_host_computes_in_proportion_to_lab_time(lab: _Lab, rate: str) -> None:
    if why := _without_cpu_controller():
        lacking(why)
    try:
        lab.clock(rate)
        capped = float(lab.run("n01", "python3", "-c", _BURN))
        free = float(lab.run("n02", "python3", "-c", _BURN))
    finally:
        lab.clock("auto")
    assert capped <= _RATIO * 1.1, (capped, free)
    assert free > capped


@pytest.mark.parametrize(("rate", "by"), [("1/2", "exec"), ("1/8", "ssh"), ("1/50", "exec")])
def test_short_stretches_of_computing_take_as_long_as_on_a_slow_processor(lab: _Lab, rate: str, by: str) -> None:
    """A quota alone lets them pass at the machine's full speed. A thread that was late for a processor may catch up."""
    if why := _without_cpu_controller():
        lacking(why)
    try:
        lab.clock(rate)
        words = ("python3", "-c", shlex.quote(_STRETCHES) if by == "ssh" else _STRETCHES)
        printed = lab.login("n01", *words) if by == "ssh" else lab.run("n01", *words)
    finally:
        lab.clock("auto")
    stretches = [tuple(map(float, line.split())) for line in printed.splitlines()]
    assert median(passed_s * _RATIO / used_s for used_s, passed_s in stretches) > 0.9
