"""A lab comes up completely or not at all, and leaves nothing behind, whatever happens to it or to the machine.

These tests have a small lab of their own: a copy of `miwa` with addresses and a state folder of its own.
"""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.labs.lab_client import EEECTL, PATIENCE_S, ROOT, Done, LabClient, eeectl, eventually, run
from tests.support.labs.lab_numbers import reserve

NUMBER = reserve()


BIG_FRAMES = ("        ansible_user: lab\n", "        ansible_user: lab\n        mtu_byte: 9000\n")


@dataclass(frozen=True, slots=True)
class Own:
    """A lab of this test: its folder, and a state root that holds nothing else."""

    folder: Path
    state_root: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def state(self) -> Path:
        return self.state_root / self.name

    def up(self, *, check: bool = True) -> Done:
        return eeectl("lab", "up", str(self.folder), check=check)

    def down(self) -> str:
        return eeectl("lab", "down", str(self.folder)).stdout

    def daemon(self) -> int:
        return int(run(["jq", ".daemon.pid", str(self.state / "lab.json")]).stdout)

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Own]:
    name = f"own{NUMBER}"
    folder, state_root = tmp_path / name, tmp_path / "state"
    shutil.copytree(ROOT / "inventory" / "miwa", folder)
    made = Own(folder, state_root)
    for old, new in (
        ("127.19.", f"127.{NUMBER}."),
        ("198.18.1.", f"198.18.{NUMBER}."),
        ("198.19.1.", f"198.19.{NUMBER}."),
        ("testbed/miwa/", f"testbed/{name}/"),
    ):
        made.edit("hosts.yml", old, new)
    monkeypatch.setenv("EEE_STATE_DIR", str(state_root))
    yield made
    # Cleanup for the machine's sake: whatever failed, nothing is left.
    if made.state.exists():
        eeectl("lab", "down", name)


def _processes(own: Own) -> list[str]:
    """Every process that has the lab's state folder in its environment: the daemon and the processes that it forked."""
    mark = f"EEE_STATE_DIR={own.state_root}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) in (os.getpid(), os.getppid()):
            continue
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(f"{folder.name} {(folder / 'cmdline').read_bytes()!r}")
        except OSError:
            continue  # it has ended
    return found


def _interfaces(own: Own) -> list[str]:
    """The lab's bridge, and cables whose bridge is gone: they have the bridge's group in their name."""
    groups, cables = set(), []
    for folder in Path("/sys/class/net").iterdir():
        try:
            group = int((folder / "netdev_group").read_text(encoding="ascii"))
        except OSError:
            continue
        if folder.name.startswith("eee-"):
            groups.add(group)
        if folder.name.startswith("ev") and "." in folder.name:
            cables.append((group, folder.name))
    bridges = [path.name for path in Path("/sys/class/net").iterdir() if path.name.startswith(f"eee-{own.name}")]
    return bridges + [name for group, name in cables if group not in groups]


def _namespaces(own: Own) -> list[str]:
    """Network namespaces, as `lsns` sees them, of the lab's processes."""
    listed = run(["lsns", "--noheadings", "--type", "net", "--output", "PID,COMMAND"], check=False).stdout
    ours = {line.split()[0] for line in _processes(own)}
    return [line for line in listed.splitlines() if line.split()[0] in ours]


def _files(own: Own) -> list[str]:
    groups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/eee-testbed/{own.name}")]
    return groups + [str(path) for path in own.state_root.glob("**/*")]


def left(own: Own) -> list[str]:
    """Everything that a lab has left."""
    return _processes(own) + _namespaces(own) + _interfaces(own) + _files(own)


def nothing_is_left(own: Own) -> None:
    """Nothing is left once processes that may still be ending have ended."""
    eventually("nothing is left", lambda: not left(own), patience_s=15, shown=lambda: left(own))


def _sentence(done: Done) -> str:
    """The one sentence of an error."""
    assert done.returncode == 1, done
    assert done.stderr.startswith("eeectl: ")
    assert "Traceback" not in done.stderr
    assert done.stderr.rstrip().endswith(".")
    return done.stderr


def test_up_is_refused_twice_and_down_twice_does_no_harm(own: Own) -> None:
    """With frames of 9,000 bytes, and with a card without EEE."""
    own.edit("hosts.yml", *BIG_FRAMES)
    own.edit("twin/truth.yaml", "1000: 2.6", "1000: 0.2")
    own.edit("twin/truth.yaml", "interruption_s: 1.2", "interruption_s: 0.2")
    own.edit("twin/truth.yaml", "nodes:\n  defaults:", "nodes:\n  overrides: {n02: {eee_capable: false}}\n  defaults:")
    startup = own.folder / "twin/startup/sw1.cfg"
    startup.write_text("port jumbo-frame\n" + startup.read_text(encoding="utf-8"), encoding="utf-8")
    own.up()
    assert f"lab {own.name} is up already" in _sentence(own.up(check=False))
    lab = LabClient.of(own.folder, own.state_root)
    assert {host["host"]: host["eee_active"] for host in lab.status()["hosts"]} == {
        "n01": True, "n02": False, "n03": True, "n04": True,
    }  # fmt: skip
    lab.ssh("n01", "ping -q -n -c 2 -M do -s 8900 n02")
    assert lab.status()["switches"][0]["startup_lines_rejected"] == []
    assert "is down" in own.down()
    nothing_is_left(own)
    assert "was not up" in own.down()
    nothing_is_left(own)


def test_big_frames_are_lost_where_the_switch_does_not_take_them(own: Own) -> None:
    """A killed daemon leaves nothing once the lab is taken down or brought up again."""
    own.edit("hosts.yml", *BIG_FRAMES)
    own.edit("twin/truth.yaml", "1000: 2.6", "1000: 0.2")
    own.edit("twin/truth.yaml", "interruption_s: 1.2", "interruption_s: 0.2")
    own.up()
    lab = LabClient.of(own.folder, own.state_root)
    lab.ssh("n01", "ping -q -n -c 2 -M do -s 1400 n02")
    assert "100% packet loss" in lab.ssh("n01", "ping -q -n -c 2 -W 1 -M do -s 8900 n02", check=False).stdout
    os.kill(own.daemon(), signal.SIGKILL)
    eventually("all processes die with the daemon", lambda: not _processes(own))
    assert lab.status()["state"] == "crashed"
    assert "has crashed" in _sentence(eeectl("lab", "exec", "n01", "--lab", own.name, "--", "true", check=False))
    own.down()
    nothing_is_left(own)
    own.up()
    os.kill(own.daemon(), signal.SIGKILL)
    own.up()
    assert eeectl("lab", "exec", "n01", "--lab", own.name, "--", "ping", "-c1", "-w5", "n02").returncode == 0
    own.down()
    nothing_is_left(own)


def _begun(own: Own) -> bool:
    return own.state_root.exists()


def _journalled(own: Own) -> bool:
    return (own.state / "lab.json").exists()


def _hosts_made(own: Own) -> bool:
    return len(_interfaces_of(own)) > 2


def _interfaces_of(own: Own) -> list[str]:
    return [path.name for path in Path(f"/sys/class/net/eee-{own.name}/brif").glob("*")]


def _waits_for_links(own: Own) -> bool:
    if not (own.state / "ssh_config").exists():
        return False
    with socket.socket() as trial:
        return trial.connect_ex((f"127.{NUMBER}.1.1", 22)) == 0


@pytest.mark.parametrize("moment", [_begun, _journalled, _hosts_made, _waits_for_links])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_on_the_way_up(own: Own, moment: Callable[[Own], bool], number: signal.Signals) -> None:
    """Ctrl-C rolls back what was begun; after kill -9 of `lab up` the daemon rolls it back by itself."""
    coming = subprocess.Popen(
        [*EEECTL, "lab", "up", str(own.folder)],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        eventually("the moment has come", lambda: moment(own) or coming.poll() is not None)
        assert coming.poll() is None, "the moment was missed"
        coming.send_signal(number)
        _, said = coming.communicate(timeout=PATIENCE_S)
    finally:
        coming.kill()
        coming.wait()
    if number == signal.SIGINT:
        assert coming.returncode == 130
        assert "Traceback" not in said
        nothing_is_left(own)
        return
    own.down()
    nothing_is_left(own)


def test_only_root_may_bring_a_lab_up(own: Own) -> None:
    # The capability lets user `nobody` read the interpreter in root's home; it gives no other right.
    argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+dac_read_search"]
    argv += ["--ambient-caps=+dac_read_search", *EEECTL, "lab"]
    assert "only root" in _sentence(run([*argv, "up", str(own.folder)], check=False))
    assert "needs root" in _sentence(run([*argv, "down", str(own.folder)], check=False))
    nothing_is_left(own)


@pytest.mark.parametrize(
    ("kind", "port", "device", "address"),
    [
        (socket.SOCK_STREAM, 22, "sw1", "1.1"),
        (socket.SOCK_DGRAM, 161, "sw1", "1.1"),
        (socket.SOCK_DGRAM, 161, "pdu1", "2.1"),
    ],
)
def test_an_address_in_use(own: Own, kind: socket.SocketKind, port: int, device: str, address: str) -> None:
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind((f"127.{NUMBER}.{address}", port))
        if kind == socket.SOCK_STREAM:
            taken.listen()
        said = _sentence(own.up(check=False))
        assert f"127.{NUMBER}.{address}:{port}" in said
        assert device in said
        assert taken.getsockname() == (f"127.{NUMBER}.{address}", port)
    nothing_is_left(own)


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("cables.csv", "sw1:gi1/0/2,n02", "sw1:gi1/0/1,n02", "sw1:gi1/0/1"),
        ("cables.csv", "sw1:gi1/0/2,n02", "sw1:gi1/0/99,n02", "gi1/0/99"),
        ("hosts.yml", "family: dell_powerconnect_55xx", "family: dell_abacus", "family"),
        ("hosts.yml", "outlets: 12", "outlets: many", "outlets"),
        ("twin/truth.yaml", "seed: 2013", "sed: 2013", "sed"),
    ],
)
def test_an_impossible_inventory(own: Own, file: str, old: str, new: str, sentence: str) -> None:
    own.edit(file, old, new)
    done = own.up(check=False)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    nothing_is_left(own)


def test_without_tun(own: Own) -> None:
    """In a mount namespace whose /dev/net is empty."""
    hidden = f"mount -t tmpfs none /dev/net && exec {' '.join(EEECTL)} lab up {own.folder}"
    done = run(["unshare", "--mount", "--propagation", "private", "sh", "-c", hidden], check=False)
    assert "/dev/net/tun is missing" in _sentence(done)
    nothing_is_left(own)


def test_networks_of_others_are_not_touched(own: Own) -> None:
    """A foreign interface in the lab's management network: `lab up` is refused, and the interface stays."""
    name = f"oth{NUMBER}"
    run(["ip", "link", "add", name, "type", "bridge"])
    try:
        run(["ip", "addr", "add", f"198.18.{NUMBER}.200/24", "dev", name])
        assert name in _sentence(own.up(check=False))
        assert Path(f"/sys/class/net/{name}").exists()
    finally:
        run(["ip", "link", "delete", name])
    nothing_is_left(own)


def test_an_error_for_an_unwritable_capture_file_is_one_sentence(own: Own, tmp_path: Path) -> None:
    with (tmp_path / "nothing.pcap").open("wb") as stream:
        done = subprocess.run(
            [*EEECTL, "lab", "capture", "n01", "--lab", own.name],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
