"""What real ROS boxes printed, and what garbage they might: read right, or not at all.

Rows of shows are from the samples of networktocode/ntc-templates (tests/cisco_s300, Apache-2.0: an SF300, an SG300)
and from the recordings of ansible-collections/community.ciscosmb (tests/unit fixtures: SG350-28, SG500-52, SG550X-24MP,
CBS350-24P); the spanning tree of a stack of the 300/350 series is from a published network handbook. Where a table is
long some rows stand for all.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from eee_testbed.controller.drivers.driver import ASPECTS, AdminSet, Line, Query, Show, SnmpValue
from eee_testbed.controller.drivers.places import IF_ADMIN_STATUS, IF_ALIAS, IF_DESCR, IF_NAME
from eee_testbed.controller.drivers.ros import text
from eee_testbed.controller.drivers.ros.driver import (
    CISCO_SG_DRIVER,
    DELL_55XX_DRIVER,
    EEE,
    FLOW,
    RUNNING,
    STATICS,
    SYSTEM,
    TREE,
    VERSION,
)
from eee_testbed.controller.model.state import PortChange, PortState
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Port, Switch
from tests.support.switches.ros_face import SWITCH, RosFace

ALL = frozenset(ASPECTS)
SG: Switch = replace(
    SWITCH, name="sg", family="cisco_sg", ports=tuple(Port("sg", f"gi{n}", n, 1000) for n in range(1, 9))
)

SG500_FLOW = """\
                                               Flow    Admin     Back   Mdix
Port     Type         Duplex  Speed  Neg      control  State   Pressure Mode
-------- ------------ ------  -----  -------- -------  -----   -------- ----
gi1/1    1G-Copper    Full    1000   Enabled  Off      Up      Disabled Auto
gi1/51   1G-Fiber     Full    1000   Disabled Off      Up      Disabled Auto

                                  Flow    Admin 
Ch       Type    Speed  Neg      control  State 
-------- ------- -----  -------- -------  ----- 
Po1      1G      1000   Enabled  Off      Up      
Po2         --     --   Enabled  Off      Up      
"""  # noqa: W291  # as it was printed

SG300_ADDRESSES = """\
Flags: I - Internal usage VLAN
Aging time is 300 sec

    Vlan          Mac Address         Port       Type
------------ --------------------- ---------- ----------
     1         00:08:32:0f:00:61       0         self
    300        00:1d:9c:a1:46:86      gi7      dynamic
    400        00:0e:f0:4b:30:02      gi2       static

"""

TREE_OF_A_ROOT = """\
Spanning tree enabled mode RSTP
Default port cost method:  short


  Root ID    Priority    0
             Address     24:16:9d:aa:bb:23
             This switch is the root
             Hello Time  2 sec  Max Age 20 sec  Forward Delay 15 sec

  Number of topology changes 64 last change occurred 651:28:23 ago
  Times:  hold 1, topology change 35, notification 2
          hello 2, max age 20, forward delay 15

Interfaces
 Name   State   Prio.Nbr   Cost     Sts   Role PortFast       Type
------ -------- -------- --------- ------ ---- -------- -----------------
 1/e1  enabled   128.1      19      Frw   Desg    No       P2P (RSTP)
 1/e2  enabled   128.2      19      Frw   Desg    No       P2P (RSTP)
"""

SG500_CONFIGURATION = """\
config-file-header
sw-ab-cd-1
v1.4.8.6 / R800_NIK_1_4_202_008
CLI v1.0
set system mode switch queues-mode 4 

file SSD indicator encrypted
@
ssd-control-start
ssd config
ssd-control-end cb0a3fdb1f3a1af4e4430033719968c0
!
spanning-tree mode mst
port jumbo-frame
vlan database
vlan 7-8,30-31,100
exit
hostname sw-ab-cd-1
line ssh
exec-timeout 60
exit
!
interface vlan 7
 name IP
!
interface gigabitethernet1/1
 description "Wifi Controller"
 switchport mode general
 switchport general allowed vlan add 100 tagged
!
interface gigabitethernet1/11
 description "Plain VoIP"
 switchport mode access
 switchport access vlan 7
!
interface gigabitethernet1/23
 switchport mode general
 switchport general allowed vlan add 7 tagged
 no macro auto smartport
 !next command is internal.
 macro auto smartport dynamic_type unknown
!
interface gigabitethernet1/49
 description "Po1 to sw-ab-cdef-1"
 channel-group 1 mode auto
!
interface Port-channel1
 description "Trunk sw-ab-cdef-1"
 switchport trunk allowed vlan add 7-8,30-31,100
!
exit
macro auto disabled
ip default-gateway 11.23.0.1
"""  # noqa: W291

VERSIONS = {
    "SW version    1.3.7.18 ( date  12-Jan-2014 time  18:02:59 )\nBoot version    1.1.0.6 ( date  x )": "1.3.7.18",
    "Active-image: flash://system/images/image1.bin\n  Version: 2.4.5.71\n  MD5 Digest: 2dff\n"
    "Inactive-image: flash://x\n  Version: 2.2.8.4\n": "2.4.5.71",
}
SG350_SYSTEM = """\
System Description:                       SG350-28 28-Port Gigabit Managed Switch
System Up Time (days,hour:min:sec):       10,07:27:25
System Contact:                           
System Name:                              sw-ab-abcdefg-1
"""  # noqa: W291

MESSAGE = "21-Nov-2026 07:33:09 %LINK-W-Down:  gi1/0/7"


def test_flow_control_of_an_sg500() -> None:
    found = text.link_lines(SG, "x", SG500_FLOW)
    assert {name: port.flow_control for name, port in found.items()} == dict.fromkeys(
        ("gi1/1", "gi1/51", "lag1", "lag2"), False
    )


def test_addresses_of_an_sg300() -> None:
    assert text.statics(SG, "x", SG300_ADDRESSES) == {400: {bytes.fromhex("000ef04b3002"): "gi2"}}


def test_spanning_tree_of_a_root() -> None:
    assert text.spanning_tree(SG, "x", TREE_OF_A_ROOT) == text.SpanningTree(True, {"1/e1": True, "1/e2": True})


def test_configuration_of_an_sg500() -> None:
    found = text.port_lines(SG, "x", SG500_CONFIGURATION)
    assert found["gi1/1"] == text.PortLines(
        "general", None, ("switchport general allowed vlan add 100 tagged",), 'description "Wifi Controller"'
    )
    assert (found["gi1/11"].mode, found["gi1/11"].lag, found["gi1/11"].general) == ("access", None, ())
    assert found["gi1/23"].mode == "general"
    assert found["gi1/49"] == text.PortLines("", 1, (), 'description "Po1 to sw-ab-cdef-1"', "auto")
    assert found["lag1"] == text.PortLines("", None, (), 'description "Trunk sw-ab-cdef-1"')
    assert found.keys() == {"gi1/1", "gi1/11", "gi1/23", "gi1/49", "lag1"}


@pytest.mark.parametrize("version", VERSIONS)
def test_who_an_sg_is(version: str) -> None:
    answers: dict[Query, str | dict[str, SnmpValue]] = {
        VERSION: version,
        SYSTEM: SG350_SYSTEM,
        CISCO_SG_DRIVER.identity_queries(SG)[2]: {"1": b"", "2": b"DNI1"},
    }
    identity = CISCO_SG_DRIVER.identity(SG, answers)
    assert identity.model == "SG350-28 28-Port Gigabit Managed Switch"
    assert (identity.firmware, identity.serial) == (VERSIONS[version], "DNI1")
    with pytest.raises(Unreadable):
        CISCO_SG_DRIVER.identity(SG, {**answers, VERSION: "% Unrecognized command"})


def test_who_the_twin_is(face: RosFace) -> None:
    identity = DELL_55XX_DRIVER.identity(SWITCH, face.ask(DELL_55XX_DRIVER.identity_queries(SWITCH)))
    assert (identity.model, identity.firmware) == ("PowerConnect 5524", "4.1.0.19")


def test_eee_as_the_twin_shows_it(face: RosFace) -> None:
    face.setup("interface gi1/0/2", "no eee enable")
    shown = DELL_55XX_DRIVER.eee(SWITCH, face.ask(DELL_55XX_DRIVER.eee_queries(SWITCH)))
    assert shown.keys() == {port.name for port in SWITCH.ports}
    assert shown["gi1/0/1"].supported
    assert shown["gi1/0/1"].enabled
    assert not shown["gi1/0/1"].active
    assert not shown["gi1/0/2"].enabled


# -- what a terminal brings along


def spoilt(shown: str) -> str:
    """With a page prompt, escapes, carriage returns and a message of the switch in the middle."""
    lines = shown.splitlines()
    half = len(lines) // 2
    more = "More: <space>,  Quit: q, One line: <return> "
    paged = [*lines[:half], MESSAGE, f"\x1b[0m{more}\r{' ' * len(more)}\r{lines[half]}", *lines[half + 1 :]]
    return "\x1b[K" + "\r\n".join(paged) + "\r\n"


def test_furniture_is_not_read(face: RosFace) -> None:
    face.setup("vlan database", "vlan 11", "interface gi1/0/1", "switchport access vlan 11", "flowcontrol on")
    face.setup("mac address-table static 02:ee:00:00:00:01 vlan 11 interface gi1/0/1 permanent")
    answers = face.ask(DELL_55XX_DRIVER.queries(SWITCH, ALL))
    clean = DELL_55XX_DRIVER.parse(SWITCH, ALL, answers, None)
    noisy = {q: spoilt(a) if isinstance(a, str) else a for q, a in answers.items()}
    assert DELL_55XX_DRIVER.parse(SWITCH, ALL, noisy, None) == clean
    assert clean.statics


@pytest.mark.parametrize("show", [FLOW, RUNNING, STATICS, TREE, EEE])
@pytest.mark.parametrize(
    "said", ["", "   \n", "<html>503</html>", "% Unrecognized command", "console#", "\x00\xff\x1b["]
)
def test_garbage_is_not_read(face: RosFace, show: Show, said: str) -> None:
    answers = {**face.ask(DELL_55XX_DRIVER.queries(SWITCH, ALL)), show: said}
    with pytest.raises(Unreadable):
        DELL_55XX_DRIVER.parse(SWITCH, ALL, answers, None)


@pytest.mark.parametrize("show", [FLOW, TREE])
def test_tables_cut_off_are_not_read(face: RosFace, show: Show) -> None:
    answers = face.ask(DELL_55XX_DRIVER.queries(SWITCH, ALL))
    whole = answers[show]
    assert isinstance(whole, str)
    for end in range(0, whole.index("te1/0/1"), 97):
        with pytest.raises(Unreadable):
            DELL_55XX_DRIVER.parse(SWITCH, ALL, {**answers, show: whole[:end]}, None)


def test_walks_cut_off_are_not_read(face: RosFace) -> None:
    answers = face.ask(DELL_55XX_DRIVER.queries(SWITCH, ALL))
    for query in answers:
        if not isinstance(query, Show) and query not in (IF_NAME, IF_DESCR, IF_ALIAS):
            with pytest.raises(Unreadable):
                DELL_55XX_DRIVER.parse(SWITCH, ALL, {**answers, query: {}}, None)


def test_what_would_come_alive_is_refused(face: RosFace) -> None:
    face.setup("vlan database", "vlan 11", "interface gi1/0/1", "switchport general allowed vlan add 11 tagged")
    with pytest.raises(Unreadable, match="take effect in general mode"):
        DELL_55XX_DRIVER.parse(SWITCH, ALL, face.ask(DELL_55XX_DRIVER.queries(SWITCH, ALL)), None)
    face.setup("interface gi1/0/1", "switchport mode general")
    state = DELL_55XX_DRIVER.parse(SWITCH, ALL, face.ask(DELL_55XX_DRIVER.queries(SWITCH, ALL)), None)
    assert state.ports["gi1/0/1"].tagged_vids == {11}


def test_a_port_that_the_two_services_show_in_two_states_is_refused(face: RosFace) -> None:
    face.setup("interface gi1/0/1", "shutdown")
    answers = face.ask(DELL_55XX_DRIVER.queries(SWITCH, ALL))
    assert not DELL_55XX_DRIVER.parse(SWITCH, ALL, answers, None).ports["gi1/0/1"].admin_up
    status = answers[IF_ADMIN_STATUS]
    assert not isinstance(status, str)
    with pytest.raises(Unreadable, match="gi1/0/1 is shut, and SNMP has it up"):
        DELL_55XX_DRIVER.parse(SWITCH, ALL, {**answers, IF_ADMIN_STATUS: {**status, "1": 1, "2": 2}}, None)


# -- refusals


@pytest.mark.parametrize(
    "line",
    [
        "switchport access vlan 99",
        "switchport general allowed vlan add 99 tagged",
        "switchport general pvid 99",
        "interface gi1/0/99",
        "speed 10000",
        "switchport general colour",
        "no vlan 1",
    ],
)
def test_what_the_switch_refuses_is_heard(face: RosFace, line: str) -> None:
    face.type("configure")
    face.type("vlan database" if "no vlan" in line else "interface gi1/0/1")
    said = face.type(line)
    assert DELL_55XX_DRIVER.refusal(Line(line), said) == said.strip()


def test_words_in_a_show_are_no_refusal() -> None:
    shown = "interface gi1/0/1\n description not supported, failed\n"
    assert DELL_55XX_DRIVER.refusal(Line("show running-config"), shown) == ""
    assert DELL_55XX_DRIVER.refusal(Line("show eee"), "% Unrecognized command") == "% Unrecognized command"
    assert DELL_55XX_DRIVER.refusal(Line("shutdown"), f"{MESSAGE}\n") == ""


def test_saving(face: RosFace) -> None:
    face.setup("interface gi1/0/1", "shutdown")
    face.execute(DELL_55XX_DRIVER.save(SWITCH))
    assert "shutdown" in face.device.startup
    (line,) = CISCO_SG_DRIVER.save(SG)
    assert isinstance(line, Line)
    asked = "Overwrite file [startup-config].... (Y/N)[N] ?"
    assert CISCO_SG_DRIVER.refusal(line, f"{asked}Y\n{MESSAGE}") == ""
    assert CISCO_SG_DRIVER.refusal(line, "Copy operation failed") == "Copy operation failed"
    failed = "21-Nov-2026 07:33:09 %COPY-W-TRAP: The copy operation has failed"
    assert CISCO_SG_DRIVER.refusal(line, f"{asked}Y\n{failed}") == failed
    assert CISCO_SG_DRIVER.refusal(line, f"{asked}Y\n{failed.replace('has failed', 'was completed')}") == ""
    assert CISCO_SG_DRIVER.refusal(line, f"{asked}Y\n% No space left") == "% No space left"


def test_flap_prevention_goes_before_the_first_port_does() -> None:
    quirky = replace(SG, quirks={"link_flap_prevention": True})
    down = PortChange("sg", "gi1", PortState(), PortState(admin_up=False))
    orders = CISCO_SG_DRIVER.render(quirky, (down,))
    assert [o.text for o in orders if isinstance(o, Line)] == ["configure", "link-flap prevention disable", "end"]
    assert orders[-1] == AdminSet("gi1", up=False)
    assert CISCO_SG_DRIVER.render(quirky, (PortChange("sg", "gi1", PortState(), PortState(stp=False)),))[1:2] == (
        Line("interface gi1", prompt=r"\(config-if\)#"),
    )


def test_a_refused_interface_stops_before_its_lines(face: RosFace) -> None:
    """Between interfaces the prompt is another, so a lost `interface` line cannot pass for one that was taken."""
    gone = PortState(flow_control=True)
    changes = [PortChange("sw1", name, PortState(), gone) for name in ("gi1/0/1", "gi1/0/2")]
    orders = DELL_55XX_DRIVER.render(SWITCH, changes)
    face.device.faults.refuse = {"interface gi1/0/2": ""}
    with pytest.raises(AssertionError, match=r"interface gi1/0/2"):
        face.execute(orders)
    assert face.typed[-1] == "exit"
