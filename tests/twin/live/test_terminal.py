"""A person at the switches' command lines: what is typed is seen in the frames and by the partner."""

import pexpect
import pytest

from tests.support.labs.lab_client import PATIENCE_S, LabClient, eeectl, eventually


@pytest.mark.parametrize(
    ("switch", "port", "hosts"),
    [
        pytest.param("sw1", "gi1/0/1", ("n01", "n02"), id="dell"),
        pytest.param("sw5", "1/0/1", ("n09", "n10"), id="netgear"),
    ],
)
def test_a_port_that_is_shut_carries_nothing_until_it_is_opened(
    lab: LabClient, switch: str, port: str, hosts: tuple[str, str]
) -> None:
    a, b = hosts
    lab.await_ping(a, b)
    with lab.terminal(switch) as terminal:
        terminal.configure(f"interface {port}", "shutdown")
        assert not lab.reaches(a, b)
        terminal.configure(f"interface {port}", "no shutdown")
        lab.await_ping(a, b)


def test_a_host_sees_the_carrier_go_and_come_back(lab: LabClient) -> None:
    def carrier() -> str:
        return lab.ssh("n02", "cat /sys/class/net/eth0/carrier").stdout.strip()

    assert carrier() == "1"
    with lab.terminal("sw1") as terminal:
        terminal.configure("interface gi1/0/2", "shutdown")
        try:
            eventually("the host's carrier is gone", lambda: carrier() == "0", patience_s=10)
        finally:
            terminal.configure("interface gi1/0/2", "no shutdown")
            lab.await_ping("n02", "n01")
    eventually("the host's carrier is back", lambda: carrier() == "1")


@pytest.mark.parametrize(
    ("switch", "trunk", "partner"),
    [
        pytest.param("sw1", "gi1/0/11", ("sw2", "gi1/0/11"), id="dell"),
        pytest.param("sw5", "1/0/11", ("sw1", "gi1/0/17"), id="netgear"),
    ],
)
def test_the_partner_sees_its_link_go_down_and_come_back(
    lab: LabClient, switch: str, trunk: str, partner: tuple[str, str]
) -> None:
    other, there = partner
    with lab.terminal(switch) as terminal, lab.terminal(other) as at_partner:

        def link() -> str:
            return at_partner.type(f"show interfaces status {there}").splitlines()[-1]

        assert " Up " in link()
        terminal.configure(f"interface {trunk}", "shutdown")
        assert " Down " in link()
        terminal.configure(f"interface {trunk}", "no shutdown")
        eventually("the partner's link is up", lambda: " Up " in link())
    lab.await_links()


def test_a_transcript_of_a_powerconnect(lab: LabClient) -> None:
    with lab.terminal("sw2") as terminal:
        assert "% Unrecognized command" in terminal.type("brew coffee")
        assert "VLAN was not created by user." in "".join(
            terminal.type(line)
            for line in ("configure", "interface gi1/0/24", "switchport mode general", "switchport general pvid 77")
        )
        terminal.type("no switchport mode")
        terminal.type("end")
        assert terminal.type("show running-config").splitlines()[0].strip()
        vlans = terminal.type("show vlan")
        assert "gi1/0/1-24" in vlans
    status = next(switch for switch in lab.status()["switches"] if switch["switch"] == "sw2")
    assert status["startup_lines_rejected"] == []


def test_a_transcript_of_an_m4300(lab: LabClient) -> None:
    with lab.terminal("sw6") as terminal:
        assert "% Invalid input detected at '^' marker." in terminal.type("brew coffee")
        shown = terminal.type("show vlan")
        assert "default" in shown
        terminal.type("vlan database")
        assert terminal.type("vlan 77") == ""
        terminal.type("exit")
        assert "77" in terminal.type("show vlan")
        terminal.type("vlan database")
        terminal.type("no vlan 77")
        terminal.type("exit")
        assert "77" not in terminal.type("show vlan")


def test_the_password_of_the_inventory_opens_a_powerconnect(lab: LabClient) -> None:
    config = ["-F", str(lab.config), "-o", "PubkeyAuthentication=no"]
    child = pexpect.spawn("ssh", ["-tt", *config, "admin@sw1"], encoding="utf-8", timeout=PATIENCE_S)
    try:
        child.expect_exact("User Name:")
        child.send("admin\r")
        child.expect_exact("Password:")
        child.send(lab.secret("cli_password") + "\r")
        child.expect_exact("sw1#")
    finally:
        child.close(force=True)


def test_the_password_of_the_inventory_opens_an_m4300(lab: LabClient) -> None:
    config = ["-F", str(lab.config), "-o", "PubkeyAuthentication=no"]
    child = pexpect.spawn("ssh", ["-tt", *config, "admin@sw5"], encoding="utf-8", timeout=PATIENCE_S)
    try:
        child.expect("[Pp]assword:")
        child.send("wrong\r")
        child.expect("[Pp]assword:")
        child.send(lab.secret("cli_password") + "\r")
        child.expect_exact("(sw5) >")
    finally:
        child.close(force=True)


def test_two_people_on_one_switch_see_each_others_changes(lab: LabClient) -> None:
    with lab.terminal("sw3") as one, lab.terminal("sw3") as two:
        one.configure("interface gi1/0/24", "description written by the first")
        assert "written by the first" in two.type("show running-config interface gi1/0/24")
        two.configure("interface gi1/0/24", "no description")
        assert "written by the first" not in one.type("show running-config interface gi1/0/24")


def test_eeectl_runs_commands_and_passes_on_their_status(lab: LabClient) -> None:
    done = eeectl("lab", "exec", "n03", "--lab", lab.name, "--", "sh", "-c", "hostname; id -un; exit 7", check=False)
    assert (done.returncode, done.stdout.split()) == (7, ["n03", "lab"])
    assert eeectl("lab", "exec", "n03", "--root", "--lab", lab.name, "--", "id", "-un").stdout.strip() == "root"
