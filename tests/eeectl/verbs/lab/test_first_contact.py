"""`eeectl lab first-contact`: what it shows, asks and refuses; and the whole way with a switch of the twin."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.twin.switch.personality import User
from tests.support import ROOT
from tests.support.labs.engineer import LONG_S
from tests.support.labs.lab_client import EEECTL
from tests.support.labs.two_switches import write_two_switches
from tests.support.switches.factory_switch import SNMP_PORT, SSH_PORT, FactorySwitch, addresses, factory_switch

_PASSWORD = "n3w-Passw0rd"
_COMMUNITY = "c0mmunity-of-ours"
_FACTORY = User("admin", "fact0ry-word", 15)


@pytest.fixture(name="folder")
def inventory(tmp_path: Path) -> Path:
    """An inventory of one M4300 in the network of the new address."""
    folder = tmp_path / "rack"
    folder.mkdir()
    for name, secret in (("password", _PASSWORD), ("community", _COMMUNITY), ("factory", _FACTORY.password)):
        (tmp_path / name).write_text(secret)
        (tmp_path / name).chmod(0o600)
    new = addresses()[1]
    switch = {
        "ansible_host": new, "ansible_port": SSH_PORT, "snmp_port": SNMP_PORT, "ansible_user": "lab",
        "password_file": str(tmp_path / "password"), "community_file": str(tmp_path / "community"),
        "known_hosts_file": str(tmp_path / "known_hosts"), "family": "netgear_m4300", "model": "M4300-28G",
        "ports": {"1/0/[1:24]": 1000},
    }  # fmt: skip
    networks = {"management_network": new.rpartition(".")[0] + ".0/24", "data_network": "198.51.100.0/24"}
    inventory = {
        "all": {"vars": networks, "children": {"switches": {"hosts": {"sw1": switch}}, "nodes": {"hosts": {}}}}
    }
    (folder / "hosts.yml").write_text(json.dumps(inventory))
    (folder / "cables.csv").write_text("end_a,end_b,rate_mbps,kind,switchable,lag\n")
    (folder / "outlets.csv").write_text("strip,outlet,feeds\n")
    return folder


def _words(folder: Path, *more: str) -> list[str]:
    old = addresses()[0]
    return ["lab", "first-contact", str(folder), "sw1", "--from", old, "--port", str(SSH_PORT), "--password-file",
            str(folder.parent / "factory"), *more]  # fmt: skip


def test_the_lines_are_printed_for_a_person_without_secrets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "first-contact", str(folder), "sw1", "--print", "--gateway", "192.0.2.1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "At the console of sw1 (from memory of the M4300's CLI manual):"
    assert "username lab password PASSWORD level 15" in printed
    assert "interface 1/0/1-1/0/24" in printed
    assert f"network parms {addresses()[1]} 255.255.255.0 192.0.2.1" in printed
    assert run(["lab", "first-contact", str(folder), "sw1", "--print", "--service", "snmp"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == ["enable", "configure", "snmp-server community COMMUNITY rw", "exit", "write memory"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sw9", "--print"], "has no switch sw9: it has sw1."),
        (["sw1"], "give either --from with the factory address, or --serial"),
        (["sw1", "--from", "192.0.2.1", "--serial", "/dev/null"], "give either --from"),
        (["sw1", "--serial", "/dev/null", "--telnet"], "a serial console has neither"),
        (["sw1", "--from", "somewhere"], "--from somewhere is not an IPv4 address"),
        (["sw1", "--from", "192.0.2.1", "--service", "snmp"], "without --print all are sent"),
        (["sw1", "--print", "--gateway", "1.2.3"], "--gateway 1.2.3 is not an IPv4 address"),
        (["sw1", "--serial", "/dev/null", "--password-file", "/x", "--password-env", "X"], "not both"),
        (["sw1", "--serial", "/dev/null", "--password-file", "/nowhere"], "/nowhere cannot be read"),
    ],
)
def test_what_is_refused_in_one_sentence(
    folder: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "first-contact", str(folder), *words]) == 1
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def _no_secret(text: str) -> None:
    assert not any(secret in text for secret in (_PASSWORD, _COMMUNITY, _FACTORY.password))


def _answering(answer: str, words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run eeectl for a person at a terminal who gives one answer."""
    person, terminal = pty.openpty()
    try:
        os.write(person, f"{answer}\n".encode())
        return subprocess.run(
            [*EEECTL, *words], stdin=terminal, capture_output=True, text=True, check=False, timeout=LONG_S, cwd=ROOT
        )
    finally:
        os.close(person)
        os.close(terminal)


@pytest.mark.slow
def test_a_switch_is_set_up_after_a_yes_and_not_after_a_no(folder: Path) -> None:
    question = "is this sw1, and shall it be set up so? [y/N] "
    with factory_switch("netgear_m4300", _FACTORY, communities={_COMMUNITY: "rw"}) as box:
        done = _answering("n", _words(folder))
        assert done.returncode == 1
        _no_secret(done.stdout + done.stderr)
        assert f"Its SSH host key is {box.fingerprint}" in done.stdout
        assert "username lab password PASSWORD level 15" in done.stdout
        assert done.stderr == f"{question}eeectl: nothing was sent.\n"
        assert not box.moved
        done = _answering("y", _words(folder))
        assert done.returncode == 0, done.stderr
        _set_up(box, folder, done.stdout)
        _no_secret(done.stdout + done.stderr)
        assert done.stderr.count("[y/N]") == 1
        assert done.stderr.startswith(question)
        assert "The factory's account 'admin' still has its factory password" in done.stdout


def _set_up(box: FactorySwitch, folder: Path, printed: str) -> None:
    assert f"sw1 is set up at {box.new} and saved: M4300-28G" in printed
    assert "over SNMP it is '" in printed
    assert box.device.users()["lab"].accepts(_PASSWORD)
    assert box.new in box.saved
    assert box.new in (folder.parent / "known_hosts").read_text()


@pytest.mark.slow
def test_what_went_wrong_after_the_first_line_says_how_to_undo_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with factory_switch("netgear_m4300", _FACTORY) as box:
        box.device.faults.refuse = {"lldp": "% Invalid input"}
        assert run(_words(folder, "--yes")) == 1
        assert box.saved == ""
    printed = capsys.readouterr()
    _no_secret(printed.out + printed.err)
    assert (
        "refused 'lldp transmit' with: % Invalid input; nothing was saved: power-cycle the switch to discard them"
        in printed.err
    )


def test_a_switch_of_a_virtual_lab_that_is_down_is_not_looked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EEE_STATE_DIR", str(tmp_path / "state"))
    down = write_two_switches(tmp_path, "t202", 202)
    assert run(["lab", "first-contact", str(down), "sw1", "--from", "127.0.0.1"]) == 1
    assert capsys.readouterr().err == f"eeectl: lab t202 is down: `eeectl lab up {down}` brings it up.\n"
