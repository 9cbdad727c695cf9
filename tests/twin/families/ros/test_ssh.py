"""The command line over SSH: netmiko, unchanged, and OpenSSH on a terminal."""

import asyncio
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncssh
import eee_engine
import netmiko
import pexpect
import pytest

from eee_testbed.twin.cli.session import Session
from eee_testbed.twin.cli.shell import Shell
from eee_testbed.twin.cli.ssh_face import SshFace
from eee_testbed.twin.families.ros import FAMILY, RosCli
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, Pace, User

PASSWORD = "lab-secret"


QUICK = {"fast_cli": True, "global_delay_factor": 0.2}  # netmiko sleeps less; its conversation is the same


class Served:
    """A switch on a real SSH listener, its loop in a thread of its own."""

    def __init__(self, spec: Any, *, address: Any = "127.0.0.1") -> None:
        self.engine = eee_engine.VirtualEngine(seed=1)
        self.device = SwitchDevice(spec, FAMILY, self.engine)
        self.device.power_on()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.face = SshFace(
            self.device,
            RosCli(self.device),
            address=address,
            port=0,
            host_key=asyncssh.generate_private_key("ssh-ed25519"),
        )
        self.call(self.face.start())

    def call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def close(self) -> None:
        self.call(self.face.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def netmiko(self, **options: Any) -> Any:
        given = {"username": "admin", "password": PASSWORD, **options}
        return netmiko.ConnectHandler(device_type="dell_powerconnect", host="127.0.0.1", port=self.face.port, **given)

    def ssh(self, *options: Any, user: Any = "admin") -> Any:
        command = [
            "-tt",
            "-F",
            "/dev/null",
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            "UserKnownHostsFile=/dev/null",
            "-o",
            "LogLevel=ERROR",
            "-p",
            str(self.face.port),
            *options,
            f"{user}@127.0.0.1",
        ]
        return pexpect.spawn("ssh", command, encoding="utf-8", timeout=20, dimensions=(24, 80))

    def logged_in(self) -> Any:
        child = self.ssh()
        child.expect_exact("User Name:")
        child.send("admin\r")
        child.expect_exact("Password:")
        child.send(PASSWORD + "\r")
        child.expect_exact("console# ")
        return child


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("keys")
    made = asyncssh.generate_private_key("ssh-ed25519")
    made.write_private_key(str(folder / "id"))
    (folder / "id").chmod(0o600)
    return folder / "id", made.export_public_key().decode()


@pytest.fixture
def served(key: tuple[Path, str]) -> Iterator[Any]:
    users = (User("admin", PASSWORD), User("keyed", "unused", keys=(key[1],)))
    spec = DeviceSpec(
        "sw1", "dell_powerconnect_55xx", "PowerConnect 5524", bytes.fromhex("02ee01000001"), users, boot_s=0.0
    )
    made = Served(spec)
    yield made
    made.close()


@pytest.mark.slow
def test_netmiko_finds_the_prompt_shows_configures_and_saves(served: Served) -> None:
    with served.netmiko() as switch:
        assert switch.find_prompt() == "console#"
        assert "SW version" in switch.send_command("show version")
        answer = switch.send_config_set(
            [
                "vlan database",
                "vlan 11-16",
                "exit",
                "interface range gi1/0/1-2",
                "switchport mode general",
                "switchport general allowed vlan add 11-16 untagged",
                "switchport general pvid 11",
                "exit",  # this driver takes only (config)# for configuration mode
            ]
        )
        assert "%" not in answer
        assert switch.find_prompt() == "console#"
        vlans = switch.send_command("show vlan")
        assert "gi1/0/1-2" in vlans
        assert "Copy succeeded" in switch.save_config(confirm=True, confirm_response="y")
    assert "switchport general pvid 11" in served.device.startup
    handle = served.device.switch
    first = served.device.ports[0].engine_port
    assert first in served.engine.vlans(handle)[16][1]
    assert served.engine.port(first)["pvid"] == 11


@pytest.mark.slow
def test_netmiko_sees_errors_in_a_configuration(served: Served) -> None:
    with served.netmiko(**QUICK) as switch, pytest.raises(netmiko.exceptions.ConfigInvalidException):
        switch.send_config_set(["interface gi1/0/99"], error_pattern="% bad parameter value")


@pytest.mark.slow
def test_netmiko_pages_through_by_hand_when_paging_is_on(served: Served) -> None:
    with served.netmiko(**QUICK) as switch:
        switch.send_command("no terminal datadump")
        shown = switch.send_command("show interfaces status", expect_string=r"More:|#")
        assert "gi1/0/1 " in shown
        assert "gi1/0/24" not in shown
        for _ in range(5):
            shown += switch.send_command(" ", expect_string=r"More:|#", normalize=False, strip_prompt=False)
            if "Po32" in shown:
                break
        assert "gi1/0/24" in shown
        assert shown.endswith("console# ") or shown.rstrip().endswith("console#")


@pytest.mark.slow
def test_netmiko_enters_with_a_key(served: Served, key: tuple[Path, str]) -> None:
    with served.netmiko(**QUICK, username="keyed", use_keys=True, key_file=str(key[0])) as switch:
        assert switch.find_prompt() == "console#"


def test_a_wrong_password_is_refused(served: Served) -> None:
    child = served.ssh()
    for _ in range(3):
        child.expect_exact("User Name:")
        child.send("admin\r")
        child.expect_exact("Password:")
        child.send("wrong\r")
        child.expect_exact("authentication failed")
    child.expect(pexpect.EOF)


def test_a_transcript_with_help_paging_and_editing(served: Served) -> None:
    child = served.logged_in()
    child.send("sh?")
    child.expect_exact("show")
    child.expect_exact("console# sh")
    child.send("ow interfaces st\t")
    child.expect_exact("status ")
    child.send("\r")
    child.expect_exact("More: <space>,  Quit: q, One line: <return> ")
    assert "gi1/0/1 " in child.before
    child.send("q")
    child.expect_exact("console# ")
    child.send("confgX\x7f\x1b[D\x1b[D\x1b[D\x1b[C\x05\x15configure\r")
    child.expect_exact("console(config)# ")
    child.send("interface gi1/0/1\r")
    child.expect_exact("console(config-if)# ")
    child.send("switchport general pvid 99\r")
    child.expect_exact("VLAN was not created by user.")
    child.expect_exact("console(config-if)# ")
    child.send("\x1a")
    child.expect_exact("console# ")
    child.send("exit\r")
    child.expect(pexpect.EOF)


def test_two_sessions_at_once_see_each_others_changes(served: Served) -> None:
    one, two = served.logged_in(), served.logged_in()
    one.send("configure\rhostname sw7\rend\r")
    one.expect_exact("sw7# ")
    two.send("\r")
    two.expect_exact("sw7# ")
    two.send("show users\r")
    two.expect(r"admin[^\n]*127.0.0.1[^\n]*\n[^\n]*admin[^\n]*127.0.0.1")
    one.close()
    two.close()


@pytest.mark.slow
def test_there_are_only_so_many_sessions(served: Served) -> None:
    children = [served.logged_in() for _ in range(5)]
    sixth = served.ssh()
    sixth.expect(pexpect.EOF)
    assert "User Name" not in sixth.before
    children[0].send("exit\r")
    children[0].expect(pexpect.EOF)
    served.logged_in().close()
    for child in children:
        child.close()


def test_ssh_password_authentication_can_be_switched_on(served: Served) -> None:
    with served.device.change():
        served.device.personality.config.ssh_password_auth = True
    child = served.ssh("-o", "PreferredAuthentications=password")
    child.expect(r"[Pp]assword: ")
    child.send(PASSWORD + "\r")
    child.expect_exact("console# ")
    child.close()


def test_an_unknown_key_is_refused(served: Served, tmp_path: Path) -> None:
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(tmp_path / "other"))
    (tmp_path / "other").chmod(0o600)
    child = served.ssh("-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-i", str(tmp_path / "other"), user="keyed")
    child.expect("Permission denied")
    child.close()


def test_a_command_without_a_session_is_refused(served: Served) -> None:
    assert shutil.which("ssh")
    child = pexpect.spawn(
        "ssh",
        [
            "-F",
            "/dev/null",
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            "UserKnownHostsFile=/dev/null",
            "-p",
            str(served.face.port),
            "admin@127.0.0.1",
            "show version",
        ],
        encoding="utf-8",
        timeout=20,
    )
    child.expect("exec request failed")
    child.expect(pexpect.EOF)


def test_dropping_sessions_closes_them_all_and_lets_new_ones_in(served: Served) -> None:
    child = served.logged_in()
    served.device.drop_sessions()
    child.expect(pexpect.EOF)
    served.logged_in().close()


def test_a_reload_closes_sessions_and_the_switch_comes_back(served: Served) -> None:
    child = served.logged_in()
    child.send("reload\r")
    child.expect_exact("(Y/N)[N] ")
    child.send("Y")
    child.expect(pexpect.EOF)
    assert served.device.ready
    served.logged_in().close()


def test_without_power_connections_are_refused(served: Served) -> None:
    served.device.power_off()
    for _ in range(50):
        child = served.ssh()
        if child.expect(["Connection refused", "User Name:", pexpect.EOF]) == 0:
            break
        child.close()
    else:
        pytest.fail("the listener stayed open without power")
    child.close()


@pytest.mark.slow
def test_an_idle_session_is_closed(served: Served) -> None:
    with served.device.change():
        served.device.personality.config.exec_timeout_s = 1
    child = served.logged_in()
    child.expect_exact("closed due to inactivity")
    child.expect(pexpect.EOF)


@pytest.mark.slow
def test_a_slow_switch_still_satisfies_netmiko() -> None:
    spec = DeviceSpec(
        "sw1",
        "dell_powerconnect_55xx",
        "PowerConnect 5548",
        bytes.fromhex("02ee01000002"),
        (User("admin", PASSWORD),),
        boot_s=0.0,
        pace=Pace(command_s=0.2, character_s=0.0005),
    )
    served = Served(spec)
    try:
        with served.netmiko() as switch:
            assert "gi1/0/48" in switch.send_command("show interfaces status")
    finally:
        served.close()


def test_links_and_neighbours_of_a_real_engine() -> Any:
    spec = DeviceSpec(
        "sw1",
        "dell_powerconnect_55xx",
        "PowerConnect 5524",
        bytes.fromhex("02ee01000001"),
        (User("admin", PASSWORD),),
        boot_s=0.0,
    )
    engine = eee_engine.VirtualEngine(seed=1)
    one = SwitchDevice(spec, FAMILY, engine)
    two = SwitchDevice(replace(spec, name="sw2", base_mac=bytes.fromhex("02ee01000003")), FAMILY, engine)
    for device in (one, two):
        device.power_on()
    engine.connect(one.ports[0].engine_port, two.ports[4].engine_port)
    engine.run_until(20 * 10**12)
    cli = RosCli(one)
    session = Session(one, cli.first_mode(), peer="127.0.0.1", number=1, page_rows=0)
    shell = Shell(cli, session, authenticated=User("admin", ""))
    shell.take()

    def do(line: str) -> Any:
        for character in line + "\r":
            shell.feed(character)
        return "".join(c.text for c in shell.take())

    assert "gi1/0/1  1G-Copper    Full    1000  Enabled  Off  Up " in do("show interfaces status gi1/0/1")
    assert "EEE Operational status is enabled on ports: gi1/0/1\r" in do("show eee")
    assert "Current port speed: 1000Mbps" in do("show eee gi1/0/1")
    assert "gi1/0/1   02:ee:01:00:00:03    gi1/0/5           sw2" in do("show lldp neighbors")
    assert "EEE LLDP Operational status is enabled on ports: gi1/0/1\r" in do("show eee")
    do("configure")
    do("interface gi1/0/1")
    do("no lldp receive")
    assert "sw2" not in do("do show lldp neighbors")
    do("lldp receive")
    do("shutdown")
    assert "Down" in do("do show interfaces status gi1/0/1")
    assert "none" in do("do show eee").split("Operational status is enabled on ports: ")[1]
