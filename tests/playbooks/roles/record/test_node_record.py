"""The record of what was found on a node: kept once, put back whole, and what others changed is left alone."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.ansible_play import PLAYBOOKS

_FILE = PLAYBOOKS / "roles" / "record" / "files" / "node_record.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("node_record", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


program: Any = _load()


class Machine:
    """A root folder, and commands that answer from a table; each call makes a Node as each Ansible task does."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.packages = ["bash", "libc6", "timesyncd"]
        self.eee = "disabled"
        self.ran: list[list[str]] = []
        (root / "etc").mkdir()
        (root / "etc" / "passwd").write_text("root:x:0:0::/root:/bin/bash\n")
        (root / "etc" / "group").write_text("root:x:0:\n")

    def run(self, argv: list[str]) -> "subprocess.CompletedProcess[str]":
        out = ""
        match argv:
            case ["dpkg-query", *_]:
                out = "".join(f"ii  {name}\n" for name in self.packages)
            case ["ethtool", "--show-eee", _]:
                out = f"EEE Settings for eth0:\n\tEEE status: {self.eee}\n"
            case ["apt-get", "-s", "purge", *names]:
                out = "".join(f"Purg {name} [1]\n" for name in (*names, *self.needing))
            case _:
                self.ran.append(argv)
                self._do(argv)
        return subprocess.CompletedProcess(argv, 0, out, "")

    needing: tuple[str, ...] = ()

    def _do(self, argv: list[str]) -> None:
        match argv:
            case ["ethtool", "--set-eee", _, "eee", word]:
                self.eee = {"on": "enabled - active", "off": "disabled"}[word]
            case ["apt-get", "-y", "-q", "purge", *names]:
                self.packages = [name for name in self.packages if name not in names]
            case ["apt-get", "-y", "-q", "install", "--no-install-recommends", *names]:
                self.packages += names
            case ["userdel", "--remove", name]:
                self.drop("passwd", name)
            case ["groupdel", name]:
                self.drop("group", name)
            case _:
                pytest.fail(f"unexpected: {argv}")

    def add(self, database: str, name: str) -> None:
        with (self.root / "etc" / database).open("a") as file:
            file.write(f"{name}:x:900:900::/nowhere:/bin/false\n")

    def drop(self, database: str, name: str) -> None:
        path = self.root / "etc" / database
        path.write_text("".join(line for line in path.open() if not line.startswith(f"{name}:")))

    def node(self, verb: str, *given: Any, check: bool = False, **options: Any) -> Any:
        node = program.Node(self.root, self.run, check=check)
        getattr(node, verb)(*given, **options)
        node.write()
        return node


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """One that has Debian's package manager, whatever this one has."""
    dpkg = tmp_path.with_name(f"{tmp_path.name}-programs") / "dpkg-query"
    dpkg.parent.mkdir()
    dpkg.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(dpkg.parent), prepend=os.pathsep)
    return Machine(tmp_path)


def _tree(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(root)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }


SPEC = {
    "files": ["/etc/keys", "/etc/new", "/etc/new/one", "/etc/link"],
    "users": ["bench"],
    "groups": ["agents"],
    "trees": ["/opt/ours"],
}


def test_everything_goes_back_as_it_was_found(machine: Machine) -> None:
    root = machine.root
    (root / "etc" / "keys").write_bytes(b"theirs\n\xff")
    (root / "etc" / "keys").chmod(0o640)
    (root / "etc" / "link").symlink_to("keys")
    value = root / "sys" / "cpu0" / "governor"
    value.parent.mkdir(parents=True)
    value.write_text("powersave\n")
    (root / "opt").mkdir()
    found = _tree(root)

    assert machine.node("keep", SPEC).changed
    assert not machine.node("keep", SPEC).changed
    machine.node("packages_before")
    machine.packages = ["bash", "chrony", "libc6"]
    machine.add("passwd", "_chrony")
    machine.node("packages_after")
    assert not machine.node("packages_after").changed
    for database, name in (("passwd", "bench"), ("group", "agents")):
        machine.add(database, name)
    (root / "etc" / "keys").write_text("ours\n")
    (root / "etc" / "keys").chmod(0o600)
    (root / "etc" / "link").unlink()
    (root / "etc" / "new").mkdir()
    (root / "etc" / "new" / "one").write_text("ours\n")
    (root / "opt" / "ours" / "deep").mkdir(parents=True)
    wanted = {"values": {"/sys/cpu*/governor": "performance", "/sys/nothing": "1"}, "eee": {"eth0": "on"}}
    foretold = machine.node("set", wanted, check=True)
    assert value.read_text() == "powersave\n"
    done = machine.node("set", wanted)
    assert (
        done.changed == foretold.changed == ["/sys/cpu0/governor: powersave -> performance", "EEE of eth0: off -> on"]
    )
    assert done.notes == ["/sys/nothing does not exist here: left out"]
    assert not machine.node("set", wanted).changed
    machine.node("settle")

    held = _tree(root)
    foretold = machine.node("put_back", force=False, check=True)
    assert _tree(root) == held
    done = machine.node("put_back", force=False)
    assert not done.problems
    assert done.changed == foretold.changed
    now = _tree(root)
    assert {name: one for name, one in now.items() if not name.startswith("var")} == found
    assert not (root / "var/lib/eee-testbed-node").exists()
    assert sorted(machine.packages) == ["bash", "libc6", "timesyncd"]
    assert machine.eee == "disabled"
    assert not machine.node("put_back", force=False).changed


def test_a_file_that_somebody_changed_since_is_named_and_left_unless_forced(machine: Machine) -> None:
    keys = machine.root / "etc" / "keys"
    keys.write_text("theirs\n")
    machine.node("keep", {"files": ["/etc/keys"]})
    keys.write_text("ours\n")
    machine.node("settle")
    keys.write_text("somebody's\n")
    done = machine.node("put_back", force=False)
    assert done.problems == ["/etc/keys was changed after provisioning and is left; with force it goes back."]
    assert keys.read_text() == "somebody's\n"
    assert not machine.node("put_back", force=True).problems
    assert keys.read_text() == "theirs\n"


def test_a_dry_run_cannot_tell_what_packages_leave_in_a_folder(machine: Machine) -> None:
    machine.node("keep", {"files": ["/etc/chrony"]})
    machine.node("packages_before")
    machine.packages.append("chrony")
    machine.node("packages_after")
    (machine.root / "etc" / "chrony").mkdir()
    (machine.root / "etc" / "chrony" / "of-the-package").write_text("")
    foretold = machine.node("put_back", force=False, check=True)
    assert not foretold.problems
    assert foretold.notes == ["/etc/chrony: removed if nothing is left in it by the packages that go"]
    done = machine.node("put_back", force=False)  # this purge leaves the file
    assert done.problems == ["/etc/chrony was made by provisioning, and something else is in it now: it stays."]


def test_packages_that_others_need_now_stay(machine: Machine) -> None:
    machine.node("packages_before")
    machine.packages = [*machine.packages, "chrony"]
    machine.node("packages_after")
    machine.needing = ("their-clock",)
    done = machine.node("put_back", force=False)
    assert done.problems == ["Packages stay, as others need them now: their-clock."]
    assert "chrony" in machine.packages
    machine.needing = ()
    assert not machine.node("put_back", force=False).problems
    assert "chrony" not in machine.packages


def test_an_installation_that_failed_halfway_is_ours_all_the_same(machine: Machine) -> None:
    machine.node("packages_before")
    machine.packages = [*machine.packages, "chrony"]  # and then apt failed
    machine.node("packages_before")
    machine.packages = [*machine.packages, "lldpd"]
    assert machine.node("packages_after").record["packages"] == ["chrony", "lldpd"]


@pytest.mark.parametrize(
    ("printed", "status", "state"),
    [
        ("EEE status: enabled - active", 0, "on"),
        ("EEE status: enabled - inactive", 0, "on"),
        ("EEE status: disabled", 0, "off"),
        ("EEE status: not supported", 0, None),
        ("", 95, None),
    ],
)
def test_what_ethtool_prints(printed: str, status: int, state: str | None) -> None:
    assert program.eee_of(subprocess.CompletedProcess([], status, printed, "")) == state


def test_a_value_that_cannot_be_written_is_a_problem_and_not_a_traceback(machine: Machine) -> None:
    if os.geteuid() == 0:
        target = Path("/proc/sys/kernel/version")  # read-only for everybody
    else:
        target = machine.root / "value"
        target.write_text("1\n")
        target.chmod(0o444)
    node = program.Node(Path("/"), machine.run, check=False)
    node.record = {name: {} for name in ("values", "eee")}
    node.set({"values": {str(target): "2"}})
    (problem,) = node.problems
    assert problem.startswith(f"{target} cannot be set to 2 (")


def test_the_command_line_answers_in_json() -> None:
    argv = ["python3", str(_FILE), "--check", "set", json.dumps({"values": {"/proc/no-such-value": "1"}})]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True)
    assert json.loads(done.stdout)["notes"] == ["/proc/no-such-value does not exist here: left out"]
