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

from tests.support import ROOT
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.two_switches import Eeectl, write_two_switches
from twin.lab.lateness import Lateness
from twin.machine.lab_clock import environment

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
    argv = [sys.executable, "-m", "eeectl.cli", *words]
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
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        pytest.skip("a lab needs root and /dev/net/tun")
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
    assert lateness.pace() == "1/10 of the wall's pace"
