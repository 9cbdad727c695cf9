"""Cisco IOS as published samples show it (layouts of ntc-templates' tests/cisco_ios, values ours), and garbage."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.drivers.cisco_ios.names import interface_key, interface_name, read_vids, vid_lists
from eee_testbed.controller.drivers.cisco_ios.read import read_vlans
from eee_testbed.controller.drivers.driver import ASPECTS, Show
from eee_testbed.controller.model.state import PortState
from eee_testbed.lab.errors import Unreadable
from tests.controller.drivers.cisco_ios.test_ios_law import DRIVER, FULL, NAMES, switch_of
from tests.support.laws import law
from tests.support.switches.toy_ios import ToyIos

ALL = frozenset(ASPECTS)

RUNNING = """Building configuration...

Current configuration : 5022 bytes
!
! Last configuration change at 10:11:12 UTC Mon Mar 1 2021 by admin
!
version 15.2
service timestamps debug datetime msec
!
hostname core
!
boot-start-marker
boot-end-marker
!
spanning-tree mode rapid-pvst
spanning-tree extend system-id
no spanning-tree vlan 1-4094
!
interface Port-channel1
 switchport trunk allowed vlan 11-16
 switchport mode trunk
!
interface TenGigabitEthernet5/0/1
 description uplink
 switchport trunk allowed vlan 1,12,15,31-36,40-42,80,85,101,201,240,410,420,602,604
 switchport trunk allowed vlan add 900,910,920,930,940
 switchport mode trunk
 switchport nonegotiate
 power efficient-ethernet auto
!
interface TenGigabitEthernet5/0/2
 switchport access vlan 41
 shutdown
 speed 100
 flowcontrol receive desired
 spanning-tree bpdufilter enable
!
interface GigabitEthernet0/1/3
 switchport mode trunk
 channel-group 1 mode active
!
interface Vlan1
 no ip address
 shutdown
!
mac address-table static 02ee.0000.0001 vlan 12 interface TenGigabitEthernet5/0/1
mac address-table static 02ee.0000.0002 vlan 12 interface GigabitEthernet9/9/9
!
banner login ^C
 interface to be used by friends only
^C
!
line con 0
line vty 5 15
!
end
"""

SWITCHPORTS = """Name: Te5/0/1
Switchport: Enabled
Administrative Mode: trunk
Operational Mode: trunk
Administrative Trunking Encapsulation: dot1q
Operational Trunking Encapsulation: dot1q
Negotiation of Trunking: Off
Access Mode VLAN: 1 (default)
Trunking Native Mode VLAN: 1 (default)
Administrative Native VLAN tagging: disabled
Voice VLAN: none
Administrative private-vlan host-association: none
Administrative private-vlan trunk Native VLAN tagging: enabled
Operational private-vlan: none
Trunking VLANs Enabled: 1,12,15,31-36,40-42,80,85,101,201,240,410,420,602,604,
     900,910,920,930,940
Pruning VLANs Enabled: 2-1001
Capture Mode Disabled
Capture VLANs Allowed: ALL

Protected: false
Vepa Enabled: false
Appliance trust: none

Name: Te5/0/2
Switchport: Enabled
Administrative Mode: dynamic auto
Operational Mode: static access
Administrative Trunking Encapsulation: dot1q
Negotiation of Trunking: On
Access Mode VLAN: 41 (wirelessmgmt)
Trunking Native Mode VLAN: 1 (default)
Administrative Native VLAN tagging: disabled
Voice VLAN: none
Trunking VLANs Enabled: ALL
Pruning VLANs Enabled: 2-1001
Capture Mode Disabled
Capture VLANs Allowed: ALL

Name: Gi0/1/3
Switchport: Enabled
Administrative Mode: trunk
Operational Mode: trunk (member of bundle Po1)
Access Mode VLAN: 1 (default)
Trunking Native Mode VLAN: 1 (default)
Trunking VLANs Enabled: 11-16

Name: Po1
Switchport: Enabled
Administrative Mode: trunk
Operational Mode: trunk
Access Mode VLAN: 1 (default)
Trunking Native Mode VLAN: 1 (default)
Administrative Native VLAN tagging: disabled
Trunking VLANs Enabled: 11-16

Name: Gi0/0
Switchport: Disabled
"""

VLANS = """VLAN Name                             Status    Ports
---- -------------------------------- --------- -------------------------------
1    default                          active    Gi0/1
12   Management                       active
41   wirelessmgmt                     act/lshut Fa0/1, Fa0/2, Fa0/3, Fa0/4, Fa0/5, Fa0/6, Fa0/7, Fa0/8, Fa0/9
                                                Fa0/10, Fa0/11, Fa0/12
60   active fire suspended            suspended
1002 fddi-default                     act/unsup
1003 token-ring-default               act/unsup
1004 fddinet-default                  act/unsup
1005 trnet-default                    act/unsup
"""

CORE = switch_of(["Te5/0/1", "TenGigabitEthernet5/0/2", "gi0/1/3"])
ANSWERS = {
    Show("show running-config"): RUNNING,
    Show("show interfaces switchport"): SWITCHPORTS,
    Show("show vlan brief"): VLANS,
}


def test_samples_are_read() -> None:
    state = DRIVER.parse(CORE, ALL, ANSWERS, None)
    assert set(state.ports) == {"Te5/0/1", "TenGigabitEthernet5/0/2", "gi0/1/3", "lag1"}
    trunk = state.ports["Te5/0/1"]
    assert (trunk.untagged_vids, trunk.pvid, trunk.acceptance, trunk.eee) == ({1}, 1, "all", True)
    assert trunk.tagged_vids == {12, 15, *range(31, 37), 40, 41, 42, 80, 85, 101, 201, 240, 410, 420} | {
        602,
        604,
        900,
        910,
        920,
        930,
        940,
    }
    negotiates = state.ports["TenGigabitEthernet5/0/2"]
    assert negotiates.found_mode is not None
    assert negotiates.found_mode.lines[-1] == "switchport mode dynamic auto"
    assert replace(negotiates, found_mode=None) == PortState(
        admin_up=False,
        speed_mbps=100,
        untagged_vids=frozenset({41}),
        pvid=41,
        stp=False,
        flow_control=True,
    )
    assert state.ports["gi0/1/3"] == PortState(lag=1, lag_mode="active")
    bundle = state.ports["lag1"]
    assert (bundle.untagged_vids, bundle.tagged_vids, bundle.acceptance) == (set(), set(range(11, 17)), "tagged")
    assert state.vids == {1, 12, 41, 60}
    assert state.statics == {12: {bytes.fromhex("02ee00000001"): "Te5/0/1"}}
    assert not state.stp


@pytest.mark.parametrize(
    ("show", "old", "new"),
    [
        ("show running-config", "\nend\n", "\n"),
        ("show running-config", "interface TenGigabitEthernet5/0/2", "interface TenGigabitEthernet5/0/9"),
        ("show running-config", "vlan 12 interface TenGigabitEthernet5/0/1", "vlan 12 drop"),
        ("show running-config", "vlan 12 interface TenGigabitEthernet5/0/1", "vlan 12 interface Gi1/0/1 Gi1/0/2"),
        ("show running-config", "no spanning-tree vlan 1-4094", "no spanning-tree vlan many"),
        ("show interfaces switchport", "Administrative Mode: trunk\nOperational Mode: trunk\nAdmin", "Admin"),
        ("show interfaces switchport", "Name: Te5/0/2\nSwitchport: Enabled", "Name: Te5/0/2\nSwitchport: Disabled"),
        ("show interfaces switchport", "Mode: dynamic auto", "Mode: private-vlan host"),
        (
            "show interfaces switchport",
            "Native VLAN tagging: disabled\nVoice VLAN: none\nAdministrative",
            "Native VLAN tagging: enabled\nOperational Native VLAN tagging: enabled\nX",
        ),
        ("show interfaces switchport", "Voice VLAN: none\nTrunking", "Voice VLAN: 200 (v)\nTrunking"),
        ("show interfaces switchport", "604,\n     900", "604,\n     nine"),
        ("show interfaces switchport", "604,\n     900", "604,\n     5000"),
        ("show interfaces switchport", "Access Mode VLAN: 41", "Access Mode VLAN: unassigned"),
        ("show vlan brief", "VLAN Name", "No Name"),
        ("show vlan brief", "1    default ", "     default "),
    ],
)
def test_what_cannot_be_understood_is_told(show: str, old: str, new: str) -> None:
    text = ANSWERS[Show(show)]
    assert old in text
    with pytest.raises(Unreadable, match=show) as caught:
        DRIVER.parse(CORE, ALL, {**ANSWERS, Show(show): text.replace(old, new, 1)}, None)
    assert caught.value.device == "sw1"


@law(120)
@given(st.sampled_from(sorted(ANSWERS, key=str)), st.integers(0, 2000), st.integers(0, 400), st.text(max_size=12))
def test_damaged_answers_are_read_or_told_and_nothing_else(query: Show, start: int, length: int, put: str) -> None:
    text = ANSWERS[query]
    damaged = text[:start] + put + text[start + length :]
    try:
        DRIVER.parse(CORE, ALL, {**ANSWERS, query: damaged}, None)
    except Unreadable:
        return


@pytest.mark.parametrize("missing", sorted(ANSWERS, key=str))
def test_an_answer_that_is_missing_is_told(missing: Show) -> None:
    with pytest.raises(Unreadable, match=missing.command):
        DRIVER.parse(CORE, ALL, {query: text for query, text in ANSWERS.items() if query != missing}, None)


def test_spanning_tree_that_is_off_in_some_vlans_is_on() -> None:
    answers = {**ANSWERS, Show("show running-config"): RUNNING.replace("vlan 1-4094", "vlan 1-1000")}
    assert DRIVER.parse(CORE, ALL, answers, None).stp


def test_a_vlan_whose_name_is_wider_than_its_column_exists() -> None:
    """IOS XE takes names of up to 128 letters; the row then goes on below (layout of genieparser's sample)."""
    head = (
        "VLAN Name                             Status    Ports\n---- -------------------------------- --------- -----\n"
    )
    first, wide = (
        "1    default                          active    Gi1/0/2\n",
        "active-storage-of-the-racks-1-to-7-of-hall-2",
    )
    for below in ("active    Gi1/0/3, Gi1/0/4", "suspended", "act/lshut"):
        rows = f"{first}40   {wide}\n{'':38}{below}\n{'':48}Gi1/0/9\n41   {wide * 2}\n{'':38}active\n42   x   active\n"
        assert read_vlans(head + rows) == {1, 40, 41, 42}
    with pytest.raises(ValueError, match="VLAN 40"):
        read_vlans(f"{head}{first}40   storage-of-the-racks-1-to-7-of-hall-2\n41   x        active\n")
    with pytest.raises(ValueError, match="VLAN 40"):
        read_vlans(f"{head}{first}40   storage-of-the-racks-1-to-7-of-hall-2\n")


def test_eee_is_told_by_the_configuration_and_the_quirk() -> None:
    toy = ToyIos(FULL)
    plain, on = switch_of(NAMES), switch_of(NAMES, eee_default=True)
    answers = {Show("show running-config"): toy.type("show running-config")}
    assert not DRIVER.parse(plain, frozenset({"energy"}), answers, None).ports[NAMES[0]].eee
    assert DRIVER.parse(on, frozenset({"energy"}), answers, None).ports[NAMES[0]].eee
    name = FULL[0]
    shows = {
        **answers,
        Show(f"show eee capabilities interface {name}"): (
            "Gi1/0/1\n     EEE(efficient-ethernet):  yes (100-Tx and 1000T auto)\n     Link Partner           :  no\n"
        ),
        Show(f"show eee status interface {name}"): "Gi1/0/1 is up\n     EEE(efficient-ethernet):  Operational\n",
    }
    assert set(shows) < set(DRIVER.eee_queries(plain))
    found = DRIVER.eee(plain, shows)
    assert (found[NAMES[0]].supported, found[NAMES[0]].partner, found[NAMES[0]].active) == (True, False, True)
    assert (found[NAMES[1]].supported, found[NAMES[1]].active, found[NAMES[1]].enabled) == (None, None, False)


_TAGGING = "Administrative Native VLAN tagging"


@pytest.mark.parametrize(
    ("administrative", "operational", "whole_switch", "refused"),
    [
        ("enabled", "", False, False),  # the default of a Catalyst
        ("enabled", "disabled", True, False),
        ("enabled", "", True, True),
        ("disabled", "", True, False),
        ("disabled", "enabled", False, True),
    ],
)
def test_what_tags_a_native_vlan(administrative: str, operational: str, *, whole_switch: bool, refused: bool) -> None:
    lines = f"{_TAGGING}: {administrative}\n"
    if operational:
        lines += f"Operational Native VLAN tagging: {operational}\n"
    answers = {
        **ANSWERS,
        Show("show interfaces switchport"): SWITCHPORTS.replace(f"{_TAGGING}: disabled\n", lines),
        Show("show running-config"): RUNNING.replace("hostname", "vlan dot1q tag native\n!\nhostname")
        if whole_switch
        else RUNNING,
    }
    if refused:
        with pytest.raises(Unreadable, match="tags its native VLAN"):
            DRIVER.parse(CORE, ALL, answers, None)
    else:
        assert DRIVER.parse(CORE, ALL, answers, None).ports == DRIVER.parse(CORE, ALL, ANSWERS, None).ports


@pytest.mark.parametrize(
    "block",
    [
        "Name: Po2\nSwitchport: Enabled\nAdministrative Mode: dynamic auto\nOperational Mode: down\n",
        "Name: Po2\nSwitchport: Enabled\nAdministrative Mode: dynamic auto\nAccess Mode VLAN: unassigned\n",
        "Name: Gi0/9\nSwitchport: Enabled\nAdministrative Mode: private-vlan host\nOperational Mode: down\n",
        "Name: Gi0/9\nSwitchport: Enabled\nAdministrative Mode: tunnel\nOperational Mode: tunnel\n",
    ],
)
def test_ports_that_nobody_asked_for_are_no_error(block: str) -> None:
    answers = {**ANSWERS, Show("show interfaces switchport"): SWITCHPORTS + "\n" + block}
    assert DRIVER.parse(CORE, ALL, answers, None) == DRIVER.parse(CORE, ALL, ANSWERS, None)


_STACK = """Cisco IOS Software, Catalyst L3 Switch Software (CAT3K_CAA-UNIVERSALK9-M), Version 03.06.05E
cisco WS-C3850-48U (MIPS) processor with 4194304K bytes of physical memory.
Processor board ID FOC0000000A
Model Number                       : WS-C3850-48U
System Serial Number               : FOC0000000A

Switch 02
Model Number                       : WS-C3850-24T
System Serial Number               : FCW0000000B
"""
_SPECIAL = """Cisco IOS XE Software, Version V169_5_SR6893_2
Cisco IOS Software [Fuji], ISR Software (X86_64_LINUX_IOSD-UNIVERSALK9-M), Version 16.9.5, CUST-SPECIAL:V169_5_SR6893_2
cisco C9500-40X (X86) processor with 1419496K/6147K bytes of memory.
Processor board ID FCW0000000C
"""
_VIRTUAL = """Cisco IOS Software, IOSv Software (VIOS-ADVENTERPRISEK9-M), Version 15.8(3)M2, RELEASE SOFTWARE (fc2)
Cisco IOSv (revision 1.0) with  with 460137K/62464K bytes of memory.
Processor board ID 9A0000000
"""
_ROUTER = """Cisco IOS Software, C180X Software (C180X-ADVIPSERVICESK9-M), Version 12.4(6)T2, RELEASE SOFTWARE (fc1)
Cisco 1801 (MPC8500) processor (revision 0x400) with 118784K/12288K bytes of memory.
Processor board ID FHK000000D, with hardware revision 0000
"""


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        (_STACK, ("WS-C3850-48U", "03.06.05E", "FOC0000000A, FCW0000000B")),
        (_SPECIAL, ("C9500-40X", "16.9.5", "FCW0000000C")),
        (_VIRTUAL, ("IOSv", "15.8(3)M2", "9A0000000")),
        (_ROUTER, ("1801", "12.4(6)T2", "FHK000000D")),
    ],
)
def test_stacks_special_builds_and_virtual_switches(text: str, identity: tuple[str, str, str]) -> None:
    found = DRIVER.identity(switch_of(NAMES), {Show("show version"): text})
    assert (found.model, found.firmware, found.serial) == identity


def test_the_model_is_told() -> None:
    text = (
        "Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(2)E6, RELEASE SOFTWARE (fc1)\n"
        "cisco WS-C2960X-24TS-L (APM86XXX) processor (revision A0) with 524288K bytes of memory.\n"
        "Processor board ID FCW0000A000\n"
    )
    switch = switch_of(NAMES)
    found = DRIVER.identity(switch, {Show("show version"): text})
    assert (found.model, found.firmware, found.serial) == ("WS-C2960X-24TS-L", "15.2(2)E6", "FCW0000A000")
    with pytest.raises(Unreadable):
        DRIVER.identity(switch, {Show("show version"): "hello"})


def test_names_and_lists() -> None:
    assert interface_key("Gi1/0/1") == interface_key("GigabitEthernet1/0/1") == ("gi", "1/0/1")
    assert interface_key("TwentyFiveGigE1/1/1") != interface_key("TwoGigabitEthernet1/1/1")
    assert interface_name("lag3") == "Port-channel3"
    assert interface_key("Vlan1") is None
    assert interface_name("nvi0") == "nvi0"


@given(st.frozensets(st.integers(1, 4094), max_size=300), st.frozensets(st.integers(1, 4094), max_size=3))
def test_lists_of_vlans_come_back(vids: frozenset[int], first: frozenset[int]) -> None:
    lists = vid_lists(vids, first)
    assert frozenset().union(*map(read_vids, lists)) == vids
    assert all(len(text) <= 120 for text in lists)
    if first & vids:
        assert first & vids <= read_vids(lists[0])
