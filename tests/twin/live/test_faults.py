"""Every fault that can be injected: its effect, and its end."""

import json
import time
from collections.abc import Iterator

import pytest

from tests.support.labs.lab_client import DOWN, IF_ADMIN, UP, LabClient, eeectl, eventually, run
from tests.twin.live.test_power import APC_WATT, busy

SYS_NAME = "1.3.6.1.2.1.1.5.0"


@pytest.fixture(autouse=True)
def mended(lab: LabClient) -> Iterator[None]:
    yield
    if lab.status()["faults"]:
        lab.fault("clear")


def _down_ps(lab: LabClient, end: str) -> int:
    return int(lab.truth()["ports"][end]["time_in_state"]["down_ps"])


def test_cut_mend_and_clear(lab: LabClient) -> None:
    lab.fault("cut", "n01")
    lab.fault("cut", "sw1:gi1/0/13")
    assert not lab.reaches("n02", "n01")
    assert (lab.link_state("n01:eth0"), lab.link_state("sw1:gi1/0/13")) == ("cut", "cut")
    assert len(json.loads(lab.fault("list", "--json").stdout)) == 2
    lab.fault("mend", "n01")
    refused = lab.fault("mend", "n01", check=False)
    assert refused.returncode == 1
    assert "is not cut" in refused.stderr
    (left,) = json.loads(lab.fault("list", "--json").stdout)
    assert "mended" in lab.fault("clear", str(left["number"])).stdout
    assert json.loads(lab.fault("list", "--json").stdout) == []
    lab.await_link("sw1:gi1/0/13", "up")
    lab.await_ping("n02", "n01")


def test_flap(lab: LabClient) -> None:
    before = _down_ps(lab, "sw2:gi1/0/2")
    lab.fault("flap", "n04", "--times", "2", "--period-s", "0.5")
    eventually("the link was down", lambda: _down_ps(lab, "sw2:gi1/0/2") > before)
    lab.await_ping("n03", "n04")


def test_a_reboot_and_a_pulled_plug(lab: LabClient) -> None:
    with lab.terminal("sw4") as terminal:
        terminal.configure("interface gi1/0/24", "description forgotten")
        lab.fault("reboot", "sw4")
        terminal.closed()
    lab.fault("power", "sw6", "off")
    eventually("n11 is cut off", lambda: not lab.reaches("n12", "n11"))
    state = {switch["switch"]: switch["state"] for switch in lab.status()["switches"]}
    assert state["sw6"] == "off"
    lab.fault("power", "sw6", "on")
    lab.await_links()
    with lab.terminal("sw4") as terminal:
        assert "forgotten" not in terminal.type("show running-config")
    lab.await_ping("n07", "n01")
    lab.await_ping("n12", "n11")


def test_dropped_sessions(lab: LabClient) -> None:
    with lab.terminal("sw1") as one, lab.terminal("sw1") as two:
        lab.fault("drop", "sw1")
        one.closed()
        two.closed()
    with lab.terminal("sw1") as again:
        assert "gi1/0/1" in again.type("show vlan")


def test_ignored_writes(lab: LabClient) -> None:
    lab.fault("ignore", "sw1")
    with lab.terminal("sw1") as terminal:
        terminal.configure("interface gi1/0/2", "shutdown")
        assert "shutdown" not in terminal.type("show running-config interface gi1/0/2")
        lab.set("sw1", f"{IF_ADMIN}.2", "i", DOWN)
        assert lab.get("sw1", f"{IF_ADMIN}.2") == UP
        lab.await_ping("n01", "n02")
        lab.fault("clear")
        terminal.configure("interface gi1/0/2", "shutdown")
        assert not lab.reaches("n01", "n02")
        terminal.configure("interface gi1/0/2", "no shutdown")
    lab.await_ping("n01", "n02")


@pytest.mark.parametrize(("switch", "port"), [("sw2", "gi1/0/24"), ("sw5", "1/0/24")])
def test_a_refused_command(lab: LabClient, switch: str, port: str) -> None:
    lab.fault("refuse", switch, "description", "--words", "% not today")
    with lab.terminal(switch) as terminal:
        terminal.type("configure")
        terminal.type(f"interface {port}")
        assert "% not today" in terminal.type("description spare")
        lab.fault("clear")
        assert terminal.type("description spare").strip() == ""
        assert terminal.type("no description").strip() == ""


def test_a_slow_command_line(lab: LabClient) -> None:
    with lab.terminal("sw3") as terminal:
        lab.fault("slow", "sw3", "--command-s", "1.5")
        since_s = time.monotonic()
        terminal.type("show vlan")
        assert time.monotonic() - since_s >= 1.5  # what was ordered, not what the machine takes
        lab.fault("clear")
        assert "gi1/0/1" in terminal.type("show vlan")
    for wrong in ("-1", "nan", "1e9"):
        refused = lab.fault("slow", "sw3", "--command-s", wrong, check=False)
        assert (refused.returncode, "waits 0 to 3600 s per command" in refused.stderr) == (1, True)


@pytest.mark.parametrize("device", ["sw5", "pdu2"])
def test_lost_requests(lab: LabClient, device: str) -> None:
    once = ["snmpget", *lab.v2c(), "-r0", "-t1", lab.agent(device), SYS_NAME]
    lab.fault("lose", device, "1.0")
    assert "Timeout" in run(once, check=False).stderr
    lab.fault("clear")
    assert run(once).returncode == 0
    refused = lab.fault("lose", device, "1.5", check=False)
    assert refused.returncode == 1
    assert "from 0 to 1" in refused.stderr


def test_a_frozen_meter(lab: LabClient) -> None:
    def shown() -> int:
        return int(lab.get("pdu2", f"{APC_WATT}.6"))

    def true_watt() -> float:
        return float(lab.truth()["power"]["devices"]["n06"]["ac_watt"])

    eventually("n06 idles", lambda: 40 <= shown() <= 70)
    lab.fault("freeze", "pdu2", "--outlet", "6")
    held = shown()
    with busy(lab, "n06"):
        eventually("n06 works", lambda: true_watt() > held + 20)
        assert shown() == held
        lab.fault("clear")
        eventually("the meter follows", lambda: shown() > held + 15)


def test_faults_on_missing_targets_are_refused(lab: LabClient) -> None:
    for words in (["cut", "n99"], ["reboot", "sw9"], ["freeze", "pdu9"], ["lose", "n01", "0.5"], ["clear", "12345"]):
        done = lab.fault(*words, check=False)
        assert done.returncode == 1, words
        assert len(done.stderr.strip().splitlines()) >= 1
        assert "Traceback" not in done.stderr
    assert eeectl("lab", "status", lab.name, check=False).returncode == 0
