"""Power strips through net-snmp's tools: outlets that switch, and watts that follow the devices' activity."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.labs.lab_client import LabClient, eventually, run

GUDE = "1.3.6.1.4.1.28507.58.1"
GUDE_STATE, GUDE_WATT = f"{GUDE}.3.1.2.1.3", f"{GUDE}.5.5.2.1.4"
APC = "1.3.6.1.4.1.318.1.1.26.9"
APC_COMMAND, APC_STATE, APC_WATT = f"{APC}.2.4.1.5", f"{APC}.2.3.1.5", f"{APC}.4.3.1.7"
SYS_NAME = "1.3.6.1.2.1.1.5.0"
SAVE_QUESTION = r"Overwrite file .*\?"


@contextmanager
def busy(lab: LabClient, host: str) -> Iterator[None]:
    """Load one core of a host until the context ends."""
    burn = subprocess.Popen(
        ["ssh", "-tt", "-F", str(lab.config), host, "exec timeout 90 sh -c 'while :; do :; done'"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        burn.terminate()
        burn.wait()
        if burn.stdin is not None:
            burn.stdin.close()


def test_a_switch_without_power_is_gone_and_comes_back_with_what_was_saved(lab: LabClient) -> None:
    outlet = "3"  # pdu1 feeds sw3
    with lab.terminal("sw3") as terminal:
        terminal.configure("interface gi1/0/23", "description kept")
        said = terminal.ask("copy running-config startup-config", SAVE_QUESTION, "y")
        assert "succeeded" in said or "Saved" in said
        terminal.configure("interface gi1/0/24", "description lost")
    lab.await_ping("n05", "n06")
    eventually("the strip measures the switch", lambda: int(lab.get("pdu1", f"{GUDE_WATT}.{outlet}")) > 10)
    lab.set("pdu1", f"{GUDE_STATE}.{outlet}", "i", "0")
    try:
        eventually("the relay has switched", lambda: lab.get("pdu1", f"{GUDE_STATE}.{outlet}") == "0")
        eventually("the hosts of sw3 are cut off", lambda: not lab.reaches("n05", "n06"))
        silent = run(["snmpget", *lab.v2c(), "-r0", "-t1", lab.agent("sw3"), SYS_NAME], check=False)
        assert "Timeout" in silent.stderr
        refused = run(["ssh", "-F", str(lab.config), "-o", "ConnectTimeout=5", "sw3", "show"], check=False)
        assert refused.returncode == 255
        eventually("the strip measures nothing", lambda: int(lab.get("pdu1", f"{GUDE_WATT}.{outlet}")) <= 1)
    finally:
        lab.set("pdu1", f"{GUDE_STATE}.{outlet}", "i", "1")
        lab.await_links()
    lab.await_ping("n05", "n06")
    with lab.terminal("sw3") as terminal:
        running = terminal.type("show running-config")
        terminal.configure("interface gi1/0/23", "no description")
        terminal.ask("copy running-config startup-config", SAVE_QUESTION, "y")
    assert "kept" in running
    assert "lost" not in running
    eventually("the strip measures the switch", lambda: int(lab.get("pdu1", f"{GUDE_WATT}.{outlet}")) > 10)


def test_a_host_without_power_is_gone_and_comes_back(lab: LabClient) -> None:
    outlet = "8"  # pdu2 feeds n08
    lab.await_ping("n07", "n08")
    lab.set("pdu2", f"{APC_COMMAND}.{outlet}", "i", "2")
    try:
        eventually("n08 is cut off", lambda: not lab.reaches("n07", "n08"))
        eventually("the strip says off", lambda: lab.get("pdu2", f"{APC_STATE}.{outlet}") == "1")  # its MIB's number
    finally:
        lab.set("pdu2", f"{APC_COMMAND}.{outlet}", "i", "1")
    lab.await_ping("n07", "n08")
    eventually("n08 takes logins", lambda: lab.ssh("n08", "true", check=False).returncode == 0)


def test_watts_rise_while_a_host_works(lab: LabClient) -> None:
    def watt() -> int:
        return int(lab.get("pdu2", f"{APC_WATT}.5"))

    eventually("n05 idles", lambda: 40 <= watt() <= 60)
    with busy(lab, "n05"):  # which gets a part of a core only, beside other labs
        eventually("n05 takes more", lambda: watt() >= 68)


def test_a_port_that_is_shut_saves_power(lab: LabClient) -> None:
    def port_watt() -> float:
        return float(lab.truth()["power"]["devices"]["sw4"]["port_watt"])

    before = port_watt()
    with lab.terminal("sw4") as terminal:
        terminal.configure("interface range gi1/0/1-2", "shutdown")
        try:
            eventually("two sleeping ports of 0.18 W take nothing any more", lambda: port_watt() < before - 0.25)
        finally:
            terminal.configure("interface range gi1/0/1-2", "no shutdown")
    lab.await_ping("n07", "n08")
