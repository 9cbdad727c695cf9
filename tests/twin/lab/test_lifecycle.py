"""Labs come up and go down completely: errors are sentences, and nothing is left behind, whatever happens."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eee_testbed.twin.machine.mgmt import interfaces_in
from eee_testbed.twin.machine.statedir import Journal, Process
from tests.support.waiting import eventually

Eeectl = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("rights")]


def _interfaces() -> set[str]:
    return {path.name for path in Path("/sys/class/net").iterdir()}


def _daemons() -> set[str]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"eee_testbed.twin.lab.daemon" in words:
            found.add(f"{path.parent.name} {words[words.index(b'eee_testbed.twin.lab.daemon') + 1].decode()}")
    return found


class Traces:
    """Everything that a lab may leave on the machine."""

    def __init__(self, folder: Path, state_root: Path) -> None:
        self.folder = folder
        self.state = state_root / folder.name

    def found(self) -> list[str]:
        """Everything that the lab has left on the machine."""
        found = [f"interface {name}" for name in _interfaces() if name == f"eee-{self.folder.name}"]
        found += [f"process {text}" for text in _daemons() if text.endswith(str(self.folder))]
        found += [str(path) for path in (self.state, self.state.parent / f".{self.folder.name}.lock") if path.exists()]
        found += [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/eee-testbed/{self.folder.name}")]
        return found


@pytest.fixture
def lab(make_lab: Callable[[], Path], eeectl: Eeectl, eeectl_environment: dict[str, str]) -> Iterator[Traces]:
    """A lab's folder, not brought up; taken down afterwards."""
    traces = Traces(make_lab(), Path(eeectl_environment["EEE_STATE_DIR"]))
    yield traces
    held = traces.state / "lab.json"
    group = Journal.model_validate_json(held.read_bytes()).group if held.exists() else None
    eeectl("lab", "down", str(traces.folder))
    assert traces.found() == []
    assert group is None or interfaces_in(group) == []


def _refused(done: "subprocess.CompletedProcess[str]", *words: str) -> None:
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr.startswith("eeectl: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_up_status_down(lab: Traces, eeectl: Eeectl) -> None:
    done = eeectl("lab", "up", str(lab.folder))
    assert done.returncode == 0, done.stderr
    shown = json.loads(eeectl("lab", "status", lab.folder.name, "--json").stdout)
    assert shown["state"] == "up"
    assert {switch["state"] for switch in shown["switches"]} == {"ready"}
    assert [switch["startup_lines_rejected"] for switch in shown["switches"]] == [[], []]
    assert [link["state"] for link in shown["links"]] == ["up"] * 5 + ["shut"]
    _refused(eeectl("lab", "up", str(lab.folder)), "is up already", "lab down")
    assert eeectl("lab", "check", str(lab.folder)).returncode == 0
    listed = json.loads(eeectl("lab", "list", "--json").stdout)
    assert {"lab": lab.folder.name, "state": "up", "folder": str(lab.folder)} in listed
    assert eeectl("lab", "down", lab.folder.name).returncode == 0
    assert lab.found() == []
    again = eeectl("lab", "down", str(lab.folder))
    assert again.returncode == 0
    assert "nothing to do" in again.stdout


@pytest.mark.parametrize("recover", ["down", "up"])
def test_kill_of_the_daemon_leaves_nothing_after_the_next_command(lab: Traces, eeectl: Eeectl, recover: str) -> None:
    assert eeectl("lab", "up", str(lab.folder)).returncode == 0
    journal = Journal.model_validate_json((lab.state / "lab.json").read_bytes())
    assert journal.daemon is not None
    journal.daemon.end(signal.SIGKILL)
    assert "crashed" in eeectl("lab", "status", lab.folder.name).stdout
    _refused(eeectl("lab", "exec", "--lab", lab.folder.name, "n01", "--", "true"), "has crashed", "lab up")
    done = eeectl("lab", recover, str(lab.folder))
    assert done.returncode == 0, done.stderr
    assert not any(process.alive() for process in journal.hosts.values())
    if recover == "up":
        assert eeectl("lab", "exec", "--lab", lab.folder.name, "n01", "--", "true").returncode == 0
    else:
        assert lab.found() == []


@pytest.mark.parametrize("after", ["making hosts", "starting switches", "waiting for links"])
def test_ctrl_c_in_up_leaves_nothing(lab: Traces, eeectl_environment: dict[str, str], after: str) -> None:
    script = (
        "import os, signal, sys\nfrom eee_testbed.eeectl import cli\n"
        "from eee_testbed.twin.lab import lifecycle as lab\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "real = lab.up\n"
        "def up(name, progress, rate):\n"
        "    def watched(doing, done, of):\n"
        f"        if doing == {after!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, watched, rate)\n"
        "lab.up = up\n"
        "sys.exit(cli.run(['lab', 'up', sys.argv[1]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(lab.folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=eeectl_environment,
    )
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    assert lab.found() == []


def test_killed_up_leaves_nothing(lab: Traces, eeectl: Eeectl, eeectl_environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "eee_testbed.eeectl.cli", "lab", "up", str(lab.folder)],
        env=eeectl_environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        eventually("its journal is there", (lab.state / "lab.json").exists, every_s=0.01)
        process.kill()
    assert eeectl("lab", "down", str(lab.folder)).returncode == 0
    assert lab.found() == []


def test_refusal_for_a_port_in_use(lab: Traces, eeectl: Eeectl) -> None:
    number = lab.folder.name[1:]
    with socket.create_server((f"127.{number}.1.2", 22)):
        _refused(eeectl("lab", "up", str(lab.folder)), f"127.{number}.1.2:22/tcp", "sw2", "hosts.yml")
    assert lab.found() == []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind((f"127.{number}.2.1", 161))
        _refused(eeectl("lab", "up", str(lab.folder)), "pdu1", "161/udp", "snmp_port")
    assert lab.found() == []


def test_refusal_for_a_network_in_use(lab: Traces, eeectl: Eeectl) -> None:
    number = lab.folder.name[1:]
    name = f"evtest{number}"
    subprocess.run(["ip", "link", "add", name, "type", "bridge"], check=True)
    try:
        subprocess.run(["ip", "addr", "add", f"198.18.{number}.77/30", "dev", name], check=True)
        _refused(eeectl("lab", "up", str(lab.folder)), name, "management_network")
        assert lab.found() == []
        assert name in _interfaces()
    finally:
        subprocess.run(["ip", "link", "delete", name], check=True)


def test_refusal_for_a_foreign_bridge(lab: Traces, eeectl: Eeectl) -> None:
    name = f"eee-{lab.folder.name}"
    subprocess.run(["ip", "link", "add", name, "type", "bridge"], check=True)
    try:
        _refused(eeectl("lab", "up", str(lab.folder)), name, "does not belong to this lab")
        assert name in _interfaces(), "another's interface was removed"
        assert not lab.state.exists()
    finally:
        subprocess.run(["ip", "link", "delete", name], check=True)


def test_two_labs_side_by_side_and_a_clash(
    lab: Traces, make_lab: Callable[[], Path], eeectl: Eeectl, eeectl_environment: dict[str, str]
) -> None:
    other = make_lab()
    clashing = shutil.copytree(lab.folder, other.parent / "copy")
    assert eeectl("lab", "up", str(lab.folder)).returncode == 0
    try:
        assert eeectl("lab", "up", str(other)).returncode == 0
        _refused(eeectl("lab", "up", str(clashing)), f"/run/eee-testbed/{lab.folder.name}", "copy/hosts.yml")
        hosts = clashing / "hosts.yml"
        own = hosts.read_text(encoding="utf-8").replace(f"eee-testbed/{lab.folder.name}/", "eee-testbed/copy/")
        hosts.write_text(own, encoding="utf-8")
        _refused(eeectl("lab", "up", str(clashing)), f"lab {lab.folder.name}", "lab down")
        assert eeectl("lab", "exec", "--lab", other.name, "n01", "--", "ping", "-c1", "n03").returncode == 0
    finally:
        assert eeectl("lab", "down", str(other)).returncode == 0
    assert eeectl("lab", "exec", "--lab", lab.folder.name, "n01", "--", "ping", "-c1", "n03").returncode == 0
    assert Traces(other, Path(eeectl_environment["EEE_STATE_DIR"])).found() == []


def test_refusal_for_others_than_root(lab: Traces, eeectl_environment: dict[str, str]) -> None:
    # Once as root, as the checkout may be in a folder of root's alone: everything is imported then.
    script = "import os, sys\nimport eee_testbed.controller.checking.lab_check, eee_testbed.eeectl.interactive\n"
    script += "import eee_testbed.twin.families.table\nfrom eee_testbed.eeectl import cli\n"
    script += "cli.run(['lab', 'up', '/nowhere'])\n"
    script += "os.setuid(65534)\nsys.exit(cli.run(sys.argv[1:]))\n"
    for verb in ("up", "down"):
        done = subprocess.run(
            [sys.executable, "-c", script, "lab", verb, str(lab.folder)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=eeectl_environment,
        )
        done.stderr = done.stderr.partition("\n")[2]
        _refused(done, "root", "sudo")


def test_refusal_for_a_truth_or_startup_that_does_not_fit(lab: Traces, eeectl: Eeectl) -> None:
    truth = lab.folder / "twin" / "truth.yaml"
    text = truth.read_text(encoding="utf-8")
    truth.write_text(text.replace("latency_us: 2.7", "latency_us: soon"), encoding="utf-8")
    _refused(eeectl("lab", "up", str(lab.folder)), "truth.yaml", "latency_us")
    truth.unlink()
    _refused(eeectl("lab", "up", str(lab.folder)), "truth.yaml")
    truth.write_text(text, encoding="utf-8")
    hosts = lab.folder / "hosts.yml"
    hosts.write_text(hosts.read_text(encoding="utf-8").replace("M4300-28G", "M4300-28Z"), encoding="utf-8")
    _refused(eeectl("lab", "up", str(lab.folder)), "sw2", "M4300-28Z", "M4300-28G")
    assert lab.found() == []


def test_a_process_is_not_mistaken_for_a_later_one() -> None:
    own = Process.of(os.getpid())
    assert own.alive()
    assert not own.model_copy(update={"start_ticks": own.start_ticks - 1}).alive()
    assert not own.model_copy(update={"boot": "another"}).alive()
    with subprocess.Popen(["sleep", "60"]) as child:
        seen = Process.of(child.pid)
        assert not seen.model_copy(update={"start_ticks": 1}).end(signal.SIGKILL) or child.poll() is None
        assert seen.end(signal.SIGTERM, timeout_s=10)
    assert not seen.alive()


def test_faults(lab: Traces, eeectl: Eeectl) -> None:
    name = lab.folder.name
    assert eeectl("lab", "up", str(lab.folder)).returncode == 0

    def fault(*words: str) -> str:
        done = eeectl("lab", "fault", *words, "--lab", name)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def link(number: int) -> str:
        shown = json.loads(eeectl("lab", "status", name, "--json").stdout)
        return str(shown["links"][number - 1]["state"])

    ping = ("lab", "exec", "--lab", name, "n01", "--", "ping", "-c1", "-W1", "n03")
    assert eeectl(*ping).returncode == 0
    fault("cut", "sw2:1/0/11")
    assert link(5) == "cut"
    assert eeectl(*ping).returncode == 1
    assert "1" in fault("list")
    fault("mend", "5")
    for _ in range(100):
        if link(5) == "up":
            break
    assert eeectl(*ping).returncode == 0
    _refused(eeectl("lab", "fault", "cut", "sw9:1", "--lab", name), "unknown cable 'sw9:1'")
    fault("ignore", "sw1")
    fault("slow", "sw1", "--command-s", "0.1")
    fault("refuse", "sw2", "vlan participation")
    fault("lose", "pdu1", "1.0")
    fault("freeze", "pdu1", "--outlet", "2")
    fault("drop", "sw1")
    assert len(json.loads(fault("list", "--json"))) == 5
    assert len(fault("clear").splitlines()) == 5
    assert json.loads(fault("list", "--json")) == []
    _refused(eeectl("lab", "fault", "lose", "pdu1", "2", "--lab", name), "from 0 to 1")
    _refused(eeectl("lab", "fault", "ignore", "n01", "--lab", name), "sw1")
    fault("power", "sw2", "off")
    assert eeectl(*ping).returncode == 1
    fault("power", "sw2", "on")


def test_a_factory_state_lab_does_not_loop_and_heals(lab: Traces, eeectl: Eeectl) -> None:
    for path in (lab.folder / "twin" / "startup").iterdir():
        path.unlink()
    name = lab.folder.name
    assert eeectl("lab", "up", str(lab.folder)).returncode == 0

    def trunks() -> list[str]:
        shown = json.loads(eeectl("lab", "status", name, "--json").stdout)
        return [str(link["state"]) for link in shown["links"][4:]]

    for _ in range(20):
        if "up" in trunks():
            break
    assert sorted(trunks()) == ["blocked", "up"]
    ping = ("lab", "exec", "--lab", name, "n01", "--", "ping", "-c5", "-i0.2", "-W1", "n03")
    assert " 0% packet loss" in eeectl(*ping).stdout
    shown = json.loads(eeectl("lab", "status", name, "--json").stdout)["engine"]["frames"]
    assert shown["offered"] + shown["copies"] < 200
    assert eeectl("lab", "fault", "cut", str(5 + trunks().index("up")), "--lab", name).returncode == 0
    for _ in range(20):
        if sorted(trunks()) == ["cut", "up"]:
            break
    assert " 0% packet loss" in eeectl(*ping).stdout


def test_capture_is_a_pcap_of_both_directions(lab: Traces, eeectl: Eeectl, tmp_path: Path) -> None:
    name = lab.folder.name
    assert eeectl("lab", "up", str(lab.folder)).returncode == 0
    file = tmp_path / "trunk.pcap"
    argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", "lab", "capture", "5", "-w", str(file), "--lab", name]
    environment = {**os.environ, "EEE_STATE_DIR": str(lab.state.parent)}
    with subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE, text=True) as recorder:
        assert recorder.stderr is not None
        assert "capturing sw1:gi1/0/11--sw2:1/0/11" in recorder.stderr.readline()
        eeectl("lab", "exec", "--lab", name, "n01", "--", "ping", "-c2", "-i0.2", "n03")
        eventually("four frames are written", lambda: file.stat().st_size > 24 + 4 * 100)
        recorder.terminate()
    shown = subprocess.run(["tcpdump", "-nner", str(file)], capture_output=True, text=True, check=True).stdout
    assert len(re.findall("ICMP echo request", shown)) == 2
    assert len(re.findall("ICMP echo reply", shown)) == 2


def test_truth_reports_timing_power_and_lateness(lab: Traces, eeectl: Eeectl) -> None:
    name = lab.folder.name
    assert eeectl("lab", "up", str(lab.folder)).returncode == 0
    eeectl("lab", "exec", "--lab", name, "n01", "--", "ping", "-c5", "-i0.2", "n03")
    shown = json.loads(eeectl("lab", "truth", name, "--json").stdout)
    assert shown["timing"]["sw1"]["lpi"]["hold_us"] == 1000.0
    assert shown["power"]["devices"]["sw1"]["outlets"] == ["pdu1:1"]
    assert shown["engine"]["lateness"]["count"] > 0
    for port in shown["ports"].values():
        spent = port["time_in_state"]
        parts = ("down_ps", "active_ps", "sleep_ps", "quiet_ps", "refresh_ps", "wake_ps", "fast_ps")
        assert sum(spent[part] for part in parts) == spent["total_ps"]
    assert "LATE BY" in eeectl("lab", "truth", name, "--histogram").stdout
