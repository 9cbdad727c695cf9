"""Answers as switches print them, with their furniture, cut off or garbled; documented sessions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.drivers.driver import Line, Show
from eee_testbed.controller.drivers.fastpath.config import RUNNING, read_config
from eee_testbed.controller.drivers.fastpath.dialect import M4300, POWERCONNECT_62XX
from eee_testbed.controller.drivers.fastpath.driver import DELL_POWERCONNECT_62XX, NETGEAR_M4300
from eee_testbed.controller.drivers.places import IF_ADMIN_STATUS
from eee_testbed.controller.model.state import PortChange, PortState
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Port, Switch
from tests.support import ROOT
from tests.support.switches.m4300_face import SWITCH, Face

FIXTURES = ROOT / "tests/twin/families/fastpath/fixtures"
SAMPLE = """
!Current Configuration:
!
!System Description "M4300-28G, 12.0.13.8, B1.0.0.15"
!System Software Version "12.0.13.8"
!
vlan database
vlan 11-16,20
vlan name 11 "tree one"
exit

configure
no spanning-tree
class-map match-all voice
match cos 5
exit
line console
exit

interface 1/0/1
description 'exit'
switchport mode general
vlan pvid 11
vlan participation exclude 1
vlan participation include 11-13,15
vlan tagging 12
green-mode eee
green-mode eee tx-idle-time 600
exit

interface 1/0/5
addport 3/1
speed auto 1000
exit

interface lag 1
port-channel static
exit

exit
"""
OLD = Switch(
    "sw1", "dell_powerconnect_62xx", "", "", 22, 161, "", "", "", tuple(Port("sw1", f"1/g{n}", n, 1000) for n in (1, 2))
)


def test_what_the_lines_say() -> None:
    config = read_config(M4300, SWITCH, SAMPLE)
    port = config.port("1/0/1")
    assert (port.mode, port.member_vids, port.eee, port.hold_us) == ("general", {11, 12, 13, 15}, True, 600)
    assert (config.port("1/0/5").lag, config.port("1/0/5").speed_mbps) == (1, 1000)
    assert not config.stp
    assert config.version == "12.0.13.8"


def test_furniture_is_taken_out() -> None:
    lines = SAMPLE.split("\n")
    more = "--More-- or (q)uit\r" + " " * 18 + "\r"
    log = "<189> Nov 21 07:00:00 sw5-1 TRAPMGR[trapTask]: traputil.c(721) 17 %% Link Up: 1/0/3"
    wrapped = SAMPLE.replace("include 11-13,15", "include 11-13,\n15")
    furnished = "\r\n".join([*lines[:20], more + lines[20], log, *lines[21:]])
    assert read_config(M4300, SWITCH, furnished) == read_config(M4300, SWITCH, SAMPLE)
    assert read_config(M4300, SWITCH, wrapped) == read_config(M4300, SWITCH, SAMPLE)


@given(cut=st.integers(0, len(SAMPLE.rstrip()) - 1))
def test_a_configuration_that_breaks_off_is_unreadable(cut: int) -> None:
    with pytest.raises(Unreadable, match="show running-config"):
        read_config(M4300, SWITCH, SAMPLE[:cut])


@pytest.mark.parametrize(
    ("found", "garbled"),
    [
        ("vlan pvid 11", "vlan pvid eleven"),
        ("vlan pvid 11", "vlan pv#d 11\x00"),
        ("vlan participation include 11-13,15", "vlan participation inc11-13,15"),
        ("include 11-13,15", "include 11-"),
        ("include 11-13,15", "include 11-x"),
        ("switchport mode general", "switchport mode gen"),
        ("green-mode eee\n", "green-mode eee on\n"),
        ("speed auto 1000", "speed auto 1001"),
        ("addport 3/1", "addport lag one"),
    ],
)
def test_a_garbled_line_is_unreadable(found: str, garbled: str) -> None:
    assert found in SAMPLE
    with pytest.raises(Unreadable):
        read_config(M4300, SWITCH, SAMPLE.replace(found, garbled))


@pytest.mark.parametrize("text", ["", "console#", "% Invalid input detected at '^' marker.", "\x00\xff", "exit\nexit"])
def test_what_is_no_configuration_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        read_config(M4300, SWITCH, text)


def test_an_answer_that_is_missing_is_unreadable(face: Face) -> None:
    everything = frozenset({"link", "vlan", "statics", "stp", "energy"})
    answers = dict(face.ask(NETGEAR_M4300.queries(SWITCH, everything)))
    for query in tuple(answers):
        rest = {asked: answer for asked, answer in answers.items() if asked != query}
        with pytest.raises(Unreadable):
            NETGEAR_M4300.parse(SWITCH, everything, rest, None)


def test_a_port_that_the_two_services_show_in_two_states_is_refused(face: Face) -> None:
    link = frozenset({"link"})
    face.setup("configure", "interface 1/0/1", "shutdown")
    answers = dict(face.ask(NETGEAR_M4300.queries(SWITCH, link)))
    assert not NETGEAR_M4300.parse(SWITCH, link, answers, None).ports["1/0/1"].admin_up
    answers[IF_ADMIN_STATUS] = {**answers[IF_ADMIN_STATUS], "1": 1, "5": 2}  # type: ignore[dict-item]
    with pytest.raises(Unreadable, match="1/0/1 is shut, and SNMP has it up"):
        NETGEAR_M4300.parse(SWITCH, link, answers, None)


def test_where_snmp_only_reads_a_port_is_shut_by_a_line(face: Face) -> None:
    read_only = replace(SWITCH, snmp_write=False)
    port = PortState()
    orders = NETGEAR_M4300.render(read_only, [PortChange("sw5", "1/0/1", port, replace(port, admin_up=False))])
    face.execute(orders)
    assert face.typed[2] == "shutdown"


def test_a_powerconnect_6224_as_published() -> None:
    """The shape and words of a configuration of firmware 3.3.4.1 that its owner published."""
    text = """
!Current Configuration:
!System Description "PowerConnect 6224, 3.3.4.1, VxWorks 6.5"
!System Software Version 3.3.4.1
!Cut-through mode is configured as disabled
!
configure
vlan database
vlan 12-13,30-31,2012-2013,2093
vlan routing 12 1
exit
stack
member 1 1
exit
ip address dhcp
interface vlan 12
routing
ip address 172.20.103.10 255.255.255.0
exit
!
interface ethernet 1/g1
switchport mode general
switchport general pvid 2093
switchport general allowed vlan add 2093
switchport general allowed vlan add 12-13,2012-2013 tagged
exit
!
interface ethernet 1/g2
channel-group 1 mode auto
exit
!
interface ethernet 1/g21
switchport mode trunk
switchport trunk allowed vlan add 12-13,30-31
exit
exit
"""
    config = read_config(POWERCONNECT_62XX, OLD, text)
    assert config.port("1/g1").member_vids == {1, 12, 13, 2012, 2013, 2093}
    assert (config.port("1/g1").mode, config.port("1/g2").mode) == ("general", "access")
    assert config.port("1/g2").lag == 1
    assert set(config.ports) == {"1/g1", "1/g2"}
    who = DELL_POWERCONNECT_62XX.identity(OLD, {Show(RUNNING): text})
    assert (who.model, who.firmware) == ("PowerConnect 6224", "3.3.4.1")


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("", False),
        ("\n\n", False),
        ("\r\n--More-- or (q)uit\r                  \r", False),
        ("<190> JAN 01 00:00:00 10.0.0.1-1 CLI_WEB[1]: cmd_logger_api.c(83) 1 %% CLI:admin:configure", False),
        ("          ^\n% Invalid input detected at '^' marker.\n", True),
        ("VLAN ID not found.\n", True),
        ("Interface not in Trunk Mode.\n", True),
        ("Port is not general port.\n", True),
        ("ERROR: This VLAN does not exist.\n", True),
        ("anything", True),
    ],
)
def test_any_text_is_a_refusal(said: str, refused: bool) -> None:  # noqa: FBT001
    for driver in (NETGEAR_M4300, DELL_POWERCONNECT_62XX):
        assert bool(driver.refusal(Line("vlan pvid 11"), said)) == refused


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        (SAMPLE, False),
        ("", False),
        ("          ^\n% Invalid input detected at '^' marker.\n", True),
        ("\nCommand not found / Incomplete command. Use ? to list commands.\n", True),
        ("\nAmbiguous command\n", True),
        ("\nERROR: Invalid input!\n", True),
    ],
)
def test_a_show_prints_what_it_likes(said: str, refused: bool) -> None:  # noqa: FBT001
    for driver in (NETGEAR_M4300, DELL_POWERCONNECT_62XX):
        assert bool(driver.refusal(Line(RUNNING), said)) == refused


def test_taken_with_a_warning_by_a_62xx() -> None:
    """As fake-switches (https://github.com/internap/fake-switches, Apache-2.0) has a PowerConnect 6224P say it."""
    warning = (
        "Warning: The use of large numbers of VLANs or interfaces may cause significant\r\n"
        "delays in applying the configuration.\r\n\r\n"
    )
    line = Line("switchport general allowed vlan add 11 tagged")
    assert DELL_POWERCONNECT_62XX.refusal(line, warning) == ""
    missing = "VLAN        11 ERROR: This VLAN does not exist."
    assert DELL_POWERCONNECT_62XX.refusal(line, warning + missing) == missing


def test_saving_needs_the_word_of_the_switch() -> None:
    for driver in (NETGEAR_M4300, DELL_POWERCONNECT_62XX):
        (line,) = driver.save(SWITCH)
        assert isinstance(line, Line)
        asked = "This operation may take a few minutes.\nAre you sure you want to save? (y/n) "
        assert driver.refusal(line, asked + "y\n\nConfiguration Saved!\n") == ""
        assert "Not Saved" in driver.refusal(line, asked + "n\n\nConfiguration Not Saved!\n")
        assert driver.refusal(line, "") == "no word that the configuration was saved"


def test_who_a_recorded_switch_is() -> None:
    """Recordings of an ICOS and an EdgeSwitch box from ntc-templates (Apache-2.0), which print as M4300 do."""
    for name, model, firmware in (
        ("show_version.txt", "Accton AS4610-54P", "3.2.2.42"),  # its machine model is the chip
        ("edgeswitch_show_version.txt", None, None),
    ):
        answers = {Show("show version"): (FIXTURES / name).read_text()}
        who = NETGEAR_M4300.identity(SWITCH, answers)
        assert who.serial
        assert (who.model, who.firmware) == (model or who.model, firmware or who.firmware)
    with pytest.raises(Unreadable):
        NETGEAR_M4300.identity(SWITCH, {Show("show version"): "Switch: 1"})


def test_eee_as_the_switch_shows_it(face: Face) -> None:
    face.setup("configure", "interface 1/0/2", "green-mode eee", "green-mode eee tx-idle-time 600")
    status = NETGEAR_M4300.eee(SWITCH, face.ask(NETGEAR_M4300.eee_queries(SWITCH)))
    assert set(status) == {port.name for port in SWITCH.ports}
    assert (status["1/0/1"].enabled, status["1/0/1"].hold_us) == (False, None)
    assert (status["1/0/2"].enabled, status["1/0/2"].hold_us, status["1/0/2"].partner) == (True, 600, None)
    with pytest.raises(Unreadable):
        NETGEAR_M4300.eee(SWITCH, dict.fromkeys(NETGEAR_M4300.eee_queries(SWITCH), "EEE Admin Mode....... On"))


def test_a_switch_says_who_it_is(face: Face) -> None:
    who = NETGEAR_M4300.identity(SWITCH, face.ask(NETGEAR_M4300.identity_queries(SWITCH)))
    assert (who.model, who.firmware) == ("M4300-28G", "12.0.13.8")
