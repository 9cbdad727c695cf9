"""Programs on nodes, Linux machines as switches, and the look at a whole lab."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.controller.drivers.driver import Line
from eee_testbed.controller.transports.command_line import CommandLine
from eee_testbed.controller.transports.hosts import Program, run_on_hosts
from eee_testbed.controller.transports.ssh import open_line
from eee_testbed.lab.errors import AccessDenied, HostKeyChanged, Rejected, Unreachable, Unreadable
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

_TELL = Program("tell", "import json, os, sys; print(json.dumps([json.loads(sys.argv[1]), os.uname().nodename]))")


def _pids(marker: str) -> list[int]:
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdecimal() and marker.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


# -- programs on nodes


def test_a_program_runs_on_every_node_with_its_argument(lab: Lab) -> None:
    answers = run_on_hosts(_TELL, {host: {"of": host.name} for host in lab.hosts}, timeout_s=30.0)
    assert answers == {host.name: [{"of": host.name}, host.name] for host in lab.hosts}


def test_each_node_s_failure_is_its_own(lab: Lab) -> None:
    n01, n02, n03, n04 = lab.hosts
    stranger = replace(
        n02, ssh_arguments="-F /dev/null -o GlobalKnownHostsFile=/dev/null -o UserKnownHostsFile=/dev/null"
    )
    keyless = replace(n03, ssh_arguments=f"{n03.ssh_arguments} -o PubkeyAuthentication=no")
    absent = replace(n04, ssh_port=2)
    answers = run_on_hosts(_TELL, {n01: 1, stranger: 2, keyless: 3, absent: 4}, timeout_s=30.0)
    assert answers["n01"] == [1, "n01"]
    assert isinstance(answers["n02"], HostKeyChanged)
    assert isinstance(answers["n03"], AccessDenied)
    assert type(answers["n04"]) is Unreachable


def test_programs_that_fail_or_print_no_json_are_said(lab: Lab) -> None:
    host = lab.hosts[0]
    failed = run_on_hosts(Program("fail", "raise SystemExit('out of paper')"), {host: 0}, timeout_s=30.0)[host.name]
    assert isinstance(failed, Rejected)
    assert "out of paper" in str(failed)
    assert isinstance(run_on_hosts(Program("talk", "print('hello')"), {host: 0}, timeout_s=30.0)[host.name], Unreadable)


_SLEEP = "import subprocess, time; subprocess.Popen(['sleep', '{0}']); subprocess.run(['sleep', '{0}'])"


def test_a_time_out_ends_the_program_and_what_it_started(lab: Lab) -> None:
    marker = f"7{os.getpid()}1"
    answer = run_on_hosts(Program("sleep", _SLEEP.format(marker)), {lab.hosts[0]: 0}, timeout_s=3.0)["n01"]
    assert isinstance(answer, Unreachable)
    assert "did not finish there within 3 s" in str(answer)
    eventually("none is left", lambda: not _pids(f"sleep\0{marker}"))


def test_ctrl_c_ends_what_was_started(lab: Lab) -> None:
    marker = f"7{os.getpid()}2"
    script = f"""
        from pathlib import Path
        from eee_testbed.lab.folder import load_lab
        from eee_testbed.controller.transports.hosts import Program, run_on_hosts
        lab = load_lab(Path({lab.folder!r}))
        run_on_hosts(Program("sleep", {_SLEEP.format(marker)!r}), {{host: 0 for host in lab.hosts}}, timeout_s=60.0)
    """
    started = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stderr=subprocess.PIPE, text=True)
    try:
        eventually("all run", lambda: len(_pids(f"sleep\0{marker}")) == 2 * len(lab.hosts))
        started.send_signal(signal.SIGINT)
        _, errors = started.communicate(timeout=20)
    finally:
        started.kill()
    assert started.returncode != 0
    assert "KeyboardInterrupt" in errors
    eventually("none is left", lambda: not _pids(f"sleep\0{marker}"))


# -- Linux machines as switches


class _Linux:
    login = None

    def refusal(self, line: Line, output: str) -> str:
        del line
        return output if "refused" in output else ""


@pytest.fixture
def linux(lab: Lab, running_lab: tuple[Path, Path]) -> Iterator[CommandLine]:
    host = lab.hosts[0]
    key = str(running_lab[1] / "keys" / "lab_ed25519")
    switch = replace(
        lab.switch("sw1"), name=host.name, address=host.management_address, user="lab", password_file="", key_file=key
    )
    line = open_line(switch, _Linux(), 2.0)  # type: ignore[arg-type]
    yield line
    line.close()


def test_a_linux_machine_obeys_one_command_at_a_time(linux: CommandLine) -> None:
    assert linux.show("hostname") == "n01\n"
    sent_ns, taken_ns = linux.execute(Line("true"))
    assert sent_ns < taken_ns
    with pytest.raises(Rejected, match=r"refused 'ls /nowhere' with: .*No such file"):
        linux.execute(Line("ls /nowhere"))
    with pytest.raises(Rejected, match="exit status 3"):
        linux.execute(Line("exit 3"))
    with pytest.raises(Rejected):
        linux.show("echo refused")
    assert linux.show("echo still here") == "still here\n"


def test_a_command_that_does_not_end_is_unreachable(linux: CommandLine) -> None:
    with pytest.raises(Unreachable, match="'sleep 60' did not end within 2 s"):
        linux.execute(Line("sleep 60"))


def test_a_linux_machine_that_knows_no_such_user_denies_access(lab: Lab, running_lab: tuple[Path, Path]) -> None:
    host = lab.hosts[0]
    key = str(running_lab[1] / "keys" / "lab_ed25519")
    switch = replace(lab.switch("sw1"), name="n01", address=host.management_address, user="nosuch", key_file=key)
    with pytest.raises(AccessDenied, match="does not let nosuch in"):
        open_line(switch, _Linux(), 2.0)  # type: ignore[arg-type]


# -- a whole lab


def _check(eeectl: Any, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    done = eeectl("lab", "check", str(folder), "--json", *options)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_lab_as_its_inventory_says_passes_and_is_left_as_it_was(eeectl: Any, lab: Lab) -> None:
    status, told = _check(eeectl, Path(lab.folder), "--probe")
    assert status == 0, told["problems"]
    assert len(told["devices"]) == 2 * 2 + 4 + 1
    assert {name: found["vlans_in_use"] for name, found in told["abilities"].items()} == {"sw1": 1, "sw2": 1}
    for found in told["abilities"].values():
        worked = {trial["what"] for trial in found["trials"] if trial["worked"]}
        assert {"multi_untagged", "static_entries", "eee_settable", "flow_control_settable"} <= worked
    by = {found["cable"]: (found["finding"], found["witness"]) for found in told["cables"]}
    assert [by[link.name] for link in lab.links if link.b.device.startswith("n")] == [("confirmed", "lldp")] * 4
    assert by["sw1:gi1/0/11--sw2:1/0/11"] == ("confirmed", "lldp")


def test_cables_written_from_nothing_are_those_of_the_lab_but_for_a_shut_one(
    eeectl: Any, lab: Lab, tmp_path: Path
) -> None:
    """Neighbours announce themselves when their link comes up, so there is nothing to wait for."""
    folder = tmp_path / lab.name
    shutil.copytree(lab.folder, folder)
    (folder / "cables.csv").unlink()
    done = eeectl("lab", "check", str(folder), "--write-cables", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    true = {(frozenset((link.a, link.b)), link.rate_mbps, link.kind, link.switchable) for link in lab.links[:-1]}
    written = load_lab(folder)
    assert {(frozenset((one.a, one.b)), one.rate_mbps, one.kind, one.switchable) for one in written.links} == true
    assert [remark["where"] for remark in told["remarks"]] == ["sw1", "sw2"]
    assert "# ? sw1 nothing can be seen of shut ports: gi1/0/12\n" in (folder / "cables.csv").read_text("utf-8")
    assert eeectl("lab", "check", str(folder), "--write-cables").returncode == 0
    assert (folder / "cables.seen.csv").read_text("utf-8") == (folder / "cables.csv").read_text("utf-8")
    again = eeectl("lab", "check", str(folder), "--write-cables")
    assert "cables.seen.csv exists already: look at it, then remove it or add --force" in again.stderr


def test_an_inventory_discovered_on_the_management_network_is_one_that_loads(
    eeectl: Any, lab: Lab, running_lab: tuple[Path, Path], tmp_path: Path
) -> None:
    number = lab.management_network.split(".")[2]
    secret = str(running_lab[1] / "secrets" / "snmp_read_community")
    folder = tmp_path / "found"
    words = ("lab", "discover", f"127.{number}.0.0/22", str(folder), "--community-file", secret, "--per-second", "200")
    done = eeectl(*words, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(one["kind"], one["name"]) for one in told["devices"]] == [
        ("switch", "sw1"),
        ("switch", "sw2"),
        ("strip", "pdu1"),
    ]
    found = load_lab(folder)
    for switch in found.switches:
        true = lab.switch(switch.name)
        assert (switch.family, switch.model, switch.address) == (true.family, true.model, true.address)
        assert [port.name for port in switch.ports] == [port.name for port in true.ports]
    assert [(strip.family, strip.outlet_count) for strip in found.strips] == [("gude", 12)]
    assert [link.name for link in found.links] == ["sw1:gi1/0/11--sw2:1/0/11"]
    assert {(one["name"], bytes.fromhex(one["mac"].replace(":", ""))) for one in told["hosts"]} == {
        (host.name, host.mac) for host in lab.hosts
    }
    cables = {frozenset((cable["a"], cable["b"])) for cable in told["cables"]}
    assert cables == {frozenset((str(link.a), str(link.b))) for link in lab.links[:-1]}
    assert "found holds hosts.yml, cables.csv, outlets.csv already" in eeectl(*words).stderr


def test_a_cable_that_is_elsewhere_and_a_device_that_is_away_are_said(eeectl: Any, lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / lab.name
    shutil.copytree(lab.folder, folder)
    cables = (folder / "cables.csv").read_text(encoding="utf-8")
    (folder / "cables.csv").write_text(cables.replace("gi1/0/1,n01", "gi1/0/3,n01"), encoding="utf-8")
    hosts = (folder / "hosts.yml").read_text(encoding="utf-8")
    number = lab.management_network.split(".")[2]
    (folder / "hosts.yml").write_text(
        hosts.replace(f"127.{number}.2.1", f"127.{number}.2.9").replace(
            f"02:ee:{int(number):02x}:00:00:04", "02:ee:00:00:00:44"
        ),
        encoding="utf-8",
    )
    status, told = _check(eeectl, folder)
    assert status == 1
    said = "\n".join(told["problems"])
    assert "n01 was seen at sw1:gi1/0/1, not at sw1:gi1/0/3" in said
    assert "pdu1: its SNMP agent" in said
    assert "n04:eth0 has the MAC address" in said
    assert len(told["problems"]) == 3
    assert told["unlisted"] == ["sw1:gi1/0/1"]
