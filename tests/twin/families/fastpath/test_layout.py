"""Columns and headings against what real switches of the family print."""

import re
from pathlib import Path
from typing import Any

from eee_testbed.twin.families.fastpath.config import factory_config
from eee_testbed.twin.families.fastpath.layout import span, uptime
from eee_testbed.twin.families.fastpath.shows.system import FdbRow, address_table, neighbours
from eee_testbed.twin.families.fastpath.shows.vlan import vlan_brief
from eee_testbed.twin.switch.personality import Neighbour, Port

RECORDINGS = Path(__file__).parent / "fixtures"


def recorded(name: Any) -> Any:
    return (RECORDINGS / f"{name}.txt").read_text().splitlines()


def heading(lines: Any, rule: Any) -> Any:
    """The rows of a table's heading, down to the dashes."""
    last = next(n for n, line in enumerate(lines) if re.fullmatch(r"[- ]*---[- ]*", line))
    return [line.rstrip() for line in lines[last - rule : last + 1]]


def columns(dashes: Any) -> Any:
    return [m.span() for m in re.finditer("-+", dashes)]


def port(number: Any, name: Any, if_index: Any) -> Any:
    return Port(number, name, "", if_index, number, "1000BASE-T", 1000, is_lag=False)


def test_vlan_brief_as_recorded() -> None:
    config = factory_config(1)
    config.vlans.update({100: "VLAN0100"})
    for name in ("show_vlan_brief", "edgeswitch_show_vlan"):
        assert heading(vlan_brief(config), 1) == heading(recorded(name), 1)
    assert "100     VLAN0100                         Static" in vlan_brief(config)
    assert "100     VLAN0100                         Static" in recorded("show_vlan_brief")


def test_address_table_as_recorded() -> None:
    row = FdbRow(150, bytes.fromhex("000430B3ADCA"), port(4, "0/4", 4), static=False)
    mine, theirs = address_table([row]), recorded("show_mac-addr-table")
    assert heading(mine, 1) == heading(theirs, 1)
    assert mine[-1] == "150      00:04:30:B3:AD:CA   0/4                    4        Learned"
    for line in theirs[3:]:
        for start, _ in columns(theirs[2])[1:]:
            assert line[start - 1] == " "
            assert line[start] != " "


def test_neighbours_as_recorded() -> None:
    found = Neighbour("84:3d:c6:00:12:e0", "Gi0", "abc-1-00001.yard.example", number=17)
    mine = neighbours([port(17, "0/1", 17), port(2, "0/25", 2)], lambda n: (found,) if n == 17 else ())
    theirs = recorded("show_lldp_remote-device_all")
    assert heading(mine, 2) == heading(theirs, 2)
    assert mine[-2] == "0/1        17      84:3D:C6:00:12:E0     Gi0                 abc-1-00001.ya ..."
    assert mine[-1] == "0/25"
    assert "0/25" in theirs
    for line in (mine[-2], next(row for row in theirs if row.startswith("0/1 "))):
        assert [m.start() for m in re.finditer(r"(?<= )\S", line[:62])] == [11, 19, 41, 61]


def test_dotted_lines_as_recorded(enabled: Any) -> None:
    mine = [line for line in enabled.do("show version").splitlines() if "..." in line]
    for name in ("show_version", "edgeswitch_show_version"):
        for theirs in (line for line in recorded(name) if re.match(r"[A-Z].*\.\.\. ", line)):
            assert theirs.index(". ") == 46
    assert {line.index(". ") for line in mine} == {46}
    labels = {line.rstrip().partition("..")[0] for line in recorded("edgeswitch_show_version")}
    for label in ("System Description", "Machine Model", "Serial Number", "Burned In MAC Address", "Software Version"):
        assert label in labels
        assert any(line.startswith(label + "..") for line in mine)
    assert enabled.do("show version").splitlines()[1] == "Switch: 1"


def test_show_port_all_columns(enabled: Any) -> None:
    lines = enabled.do("show port all").splitlines()
    assert lines[:3] == [
        "                 Admin     Physical   Physical   Link   Link    LACP   Flow    Stack",
        "Intf      Type   Mode      Mode       Status     Status Trap    Mode   Mode    Capable",
        "--------- ------ --------- ---------- ---------- ------ ------- ------ ------- --------",
    ]
    assert lines[3] == "1/0/1            Enable    Auto                  Down   Enable  Enable Disable Yes"
    assert lines[3 + 28] == "lag 1            Enable                          Down   Disable N/A    Disable No"


def test_show_vlan_furniture(enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11", "vlan name 11 net", "exit")
    assert enabled.do("show vlan").splitlines()[:6] == [
        "Maximum VLAN Entries........................... 4093",
        "VLAN Entries Currently in Use.................. 2",
        "",
        "VLAN ID VLAN Name                        VLAN Type",
        "------- -------------------------------- -------------------",
        "1       default                          Default",
    ]
    assert enabled.do("show vlan 11").splitlines()[:7] == [
        "VLAN ID: 11",
        "VLAN Name: net",
        "VLAN Type: Static",
        "",
        "Interface   Current   Configured   Tagging",
        "----------  --------  -----------  --------",
        "1/0/1       Exclude   Autodetect   Untagged",
    ]
    assert enabled.do("show vlan port all").splitlines()[:5] == [
        "          Port       Port                  Ingress    Ingress",
        "          VLAN ID    VLAN ID  Acceptable   Filtering  Filtering         Default",
        "Interface Configured Current  Frame Types  Configured Current   GVRP    Priority",
        "--------- ---------- -------- ------------ ---------- --------- ------- --------",
        "1/0/1     1          1        Admit All    Disable    Disable   Disable 0",
    ]
    assert "VLAN ID not found." in enabled.do("show vlan 12")


def test_running_config_header(enabled: Any) -> None:
    lines = enabled.do("show running-config").splitlines()
    assert lines[1:3] == ["!Current Configuration:", "!"]
    assert lines[3].startswith('!System Description "M4300-28G')
    assert lines[5] == '!System Up Time          "0 days 0 hrs 0 mins 30 secs"'
    assert lines[9:11] == ["vlan database", "exit"]


def test_spans_of_time() -> None:
    assert span(160_054) == "1 day 20 hr 27 min 34 sec"
    assert uptime(39 * 86400 + 3 * 3600 + 12 * 60 + 53.9) == "39 days 3 hrs 12 mins 53 secs"


def test_every_show_answers(enabled: Any) -> None:
    """No show fails on a factory switch, and each prints something."""
    shows = [
        "vlan",
        "vlan brief",
        "vlan 1",
        "vlan port 1/0/1",
        "interfaces switchport 1/0/1",
        "interfaces switchport",
        "port all",
        "port 1/0/1-1/0/4",
        "port status all",
        "port description 1/0/1",
        "interfaces status all",
        "interface 1/0/1",
        "interface lag 1",
        "interface ethernet 1/0/1",
        "interface counters",
        "green-mode",
        "green-mode 1/0/1",
        "green-mode eee-lpi-history interface 1/0/1",
        "mac-addr-table",
        "mac-addr-table interface 1/0/1",
        "mac-addr-table vlan 1",
        "mac-address-table static all",
        "port-security static 1/0/1",
        "running-config",
        "running-config interface 1/0/1-1/0/2",
        "startup-config",
        "version",
        "hardware",
        "sysinfo",
        "hosts",
        "environment",
        "users",
        "lldp remote-device all",
        "port-channel brief",
        "spanning-tree",
        "forwardingdb agetime",
    ]
    for show in shows:
        answer = enabled.do(f"show {show}")
        assert "% Invalid" not in answer, show
        assert "Command not found" not in answer, show
        assert answer.strip() or show == "startup-config", show
