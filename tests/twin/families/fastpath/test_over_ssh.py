"""The family over SSH: netmiko's driver for it, unchanged, and OpenSSH under pexpect."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh
import netmiko
import pexpect
import pytest

from eee_testbed.twin.cli.ssh_face import SshFace
from eee_testbed.twin.switch.device import SwitchDevice

ADDRESS = "127.0.0.1"
CLIENT = (
    "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -F none"
    " -o IdentitiesOnly=yes -o PreferredAuthentications={how}"
)


@contextmanager
def served(device: SwitchDevice, cli: Any) -> Iterator[SshFace]:
    """An SSH face on a loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def call(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(timeout=20)

    key = asyncssh.generate_private_key("ssh-ed25519")
    face = SshFace(device, cli, address=ADDRESS, port=0, host_key=key)
    call(face.start())
    try:
        yield face
    finally:
        call(face.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=20)
        loop.close()


@pytest.fixture
def face(device: SwitchDevice, cli: Any) -> Iterator[SshFace]:
    with served(device, cli) as up:
        yield up


def connect(face: SshFace) -> Any:
    return netmiko.ConnectHandler(
        device_type="netgear_prosafe", host=ADDRESS, port=face.port, username="admin", password="secret"
    )


@pytest.mark.slow
def test_netmiko_reads_configures_and_saves(device: SwitchDevice, face: SshFace) -> None:
    with connect(face) as link:
        assert link.find_prompt() == "(M4300-28G) #"
        assert link.check_enable_mode()
        assert "Machine Model" in link.send_command("show version")
        sent = link.send_config_set(
            [
                "interface 1/0/4",
                "switchport mode general",
                "green-mode eee",
                "green-mode eee tx-idle-time 600",
                "exit",
            ]
        )
        assert "%" not in sent
        assert "ERROR" not in sent
        shown = link.send_command("show running-config interface 1/0/4")
        assert "green-mode eee tx-idle-time 600" in shown
        link.save_config()
    assert "green-mode eee tx-idle-time 600" in device.startup


@pytest.mark.slow
def test_netmiko_uses_the_vlan_database(device: SwitchDevice, face: SshFace) -> None:
    with connect(face) as link:
        lines = ["vlan database", "vlan 11-13", 'vlan name 11 "tree one"', "exit"]
        answers = [link.send_command(line, expect_string="#") for line in lines]
        assert [a.strip().replace("(M4300-28G) (Vlan)#", "").replace("(M4300-28G) #", "") for a in answers] == [""] * 4
        assert "tree one" in link.send_command("show vlan")
        assert "lag 128" in link.send_command("show vlan 11")  # paging is off
    assert set(device.personality.vlan_names()) == {1, 11, 12, 13}


@pytest.mark.slow
def test_several_sessions_at_once_see_one_configuration(device: SwitchDevice, face: SshFace) -> None:
    def work(vid: int) -> str:
        with connect(face) as link:
            link.send_command("vlan database", expect_string="#")
            link.send_command(f"vlan {vid}", expect_string="#")
            link.send_command("exit", expect_string="#")
            return str(link.send_command("show vlan"))

    with ThreadPoolExecutor(4) as pool:
        shown = list(pool.map(work, (11, 12, 13, 14)))
    assert all(f"\n{vid} " in text for vid, text in zip((11, 12, 13, 14), shown, strict=True))
    assert set(device.personality.vlan_names()) == {1, 11, 12, 13, 14}


def test_wrong_password_is_refused(face: SshFace) -> None:
    with pytest.raises(netmiko.NetmikoAuthenticationException):
        netmiko.ConnectHandler(
            device_type="netgear_prosafe", host=ADDRESS, port=face.port, username="admin", password="wrong"
        )


def ssh(face: SshFace, how: str, *more: str) -> Any:
    options = CLIENT.format(how=how).split()
    return pexpect.spawn(
        "ssh", [*options, *more, "-p", str(face.port), f"admin@{ADDRESS}"], timeout=20, encoding="utf8"
    )


def test_an_interactive_openssh_session(device: SwitchDevice, face: SshFace) -> None:
    child = ssh(face, "password")
    child.expect("assword:")
    child.sendline("secret")
    child.expect_exact("(M4300-28G) >")
    child.send("en\r")
    child.expect_exact("(M4300-28G) #")
    child.send("show vlan 1\r")
    child.expect_exact("--More-- or (q)uit")
    child.send("q")
    child.expect_exact("(M4300-28G) #")
    child.send("configure\r")
    child.expect_exact("(Config)#")
    child.send("vlan p?")  # help before the word's end
    child.expect_exact("participation")
    child.expect_exact("(Config)#vlan p")
    child.send("\x15no spanning-tree\r")
    child.expect_exact("(Config)#")
    child.send("\x1a")
    child.expect_exact("(M4300-28G) #")
    child.send("logout\r")
    child.expect_exact("Would you like to save them now? (y/n) ")
    child.send("y")
    child.expect(pexpect.EOF)
    child.close()
    assert "no spanning-tree" in device.startup


def test_public_key_and_reload(device: SwitchDevice, cli: Any, tmp_path: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    file = tmp_path / "id"
    file.write_bytes(key.export_private_key())
    file.chmod(0o600)
    user = device.spec.users[0]
    object.__setattr__(user, "keys", (key.export_public_key().decode().strip(),))
    try:
        with served(device, cli) as face:
            child = ssh(face, "publickey", "-i", str(file))
            child.expect_exact("(M4300-28G) >")
            child.send("enable\rreload\r")
            child.expect_exact("reset the system? (y/n) ")
            child.send("y")
            child.expect(pexpect.EOF)
            child.close()
    finally:
        object.__setattr__(user, "keys", ())
    assert not device.ready
