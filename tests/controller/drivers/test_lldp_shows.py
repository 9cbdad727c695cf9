"""Tables of LLDP neighbours; the first is cut from a recording of an ICOS switch in ntc-templates (Apache-2.0)."""

import pytest

from eee_testbed.controller.drivers.lldp_shows import Neighbour, by_port, query, read
from eee_testbed.lab.model import SwitchFamily

_ICOS = """
LLDP Remote Device Summary

Local
Interface  RemID   Chassis ID            Port ID             System Name
--------- -------  --------------------  ------------------  ------------------
0/1        17      84:3D:C6:00:12:E0     Gi0                 abc-1-00001.y ...
0/5        20      F4:DB:E6:00:AC:FE     Te2/1               abc-1-00005M
0/25
0/35       8       6C:00:C5:4D:86:3A     6C:00:C5:4D:86:3B   abc-aa-acc-sw ...
"""

_ROS = """
System capability legend:
B - Bridge; R - Router; W - Wlan Access Point; T - telephone;

  Port        Device ID        Port ID       System Name    Capabilities  TTL
--------- ----------------- ------------- ----------------- ------------ -----
gi1/0/11  02:5c:78:c8:01:00     1/0/11           sw2             B        120
te1/0/1     10.0.0.7 unit   a-long-port-n                        B        120
"""


def test_what_an_icos_switch_was_recorded_to_show_is_read() -> None:
    assert read("netgear_m4300", _ICOS) == {
        "0/1": Neighbour(bytes.fromhex("843dc60012e0"), b"Gi0", "abc-1-00001.y ..."),
        "0/5": Neighbour(bytes.fromhex("f4dbe600acfe"), b"Te2/1", "abc-1-00005M"),
        "0/35": Neighbour(bytes.fromhex("6c00c54d863a"), b"6C:00:C5:4D:86:3B", "abc-aa-acc-sw ..."),
    }


def test_a_ros_table_is_read_by_its_rule_not_by_its_words() -> None:
    assert read("dell_powerconnect_55xx", _ROS) == {
        "gi1/0/11": Neighbour(bytes.fromhex("025c78c80100"), b"1/0/11", "sw2"),
        "te1/0/1": Neighbour(b"10.0.0.7 unit", b"a-long-port-n", ""),
    }


_WRAPPED = """
  Port        Device ID        Port ID       System Name    Capabilities  TTL
--------- ----------------- ------------- ----------------- ------------ -----
gi10      02:b1:56:ac:07:64 02:b1:56:ac:0                        O       3482
                            7:64
gi21      02:6f:7f:0b:75:a0      Gi0      lastwordofthename      B        105
                                          of-AP03.net.examp
                                          le.org
gi22      02:e0:af:ec:e9:d0 02:e0:af:ec:e                        B        118
                            9:d0

gi23      02:e0:af:ec:e9:d1      Gi1             ap              B        118
"""


def test_cells_that_go_on_in_the_next_rows_are_whole() -> None:
    """The shape of a recording of an SG350 in ntc-templates."""
    assert read("cisco_sg", _WRAPPED) == {
        "gi10": Neighbour(bytes.fromhex("02b156ac0764"), b"02:b1:56:ac:07:64", ""),
        "gi21": Neighbour(bytes.fromhex("026f7f0b75a0"), b"Gi0", "lastwordofthenameof-AP03.net.example.org"),
        "gi22": Neighbour(bytes.fromhex("02e0afece9d0"), b"02:e0:af:ec:e9:d0", ""),
        "gi23": Neighbour(bytes.fromhex("02e0afece9d1"), b"Gi1", "ap"),
    }


_IOS = """
------------------------------------------------
Local Intf: Gi1/0/1
Chassis id: 02bb.cc00.0300
Port id: Gi2/0/24
Port Description: to the roof
System Name: core.example.org

------------------------------------------------
Local Intf: Te1/1/1
Chassis id: a phone of 1998
Port id: 502
System Name - not advertised
------------------------------------------------
Chassis id: 02bb.cc00.0301
Port id: Gi0/1
System Name: without-a-port

Total entries displayed: 3
"""


def test_details_of_an_ios_switch() -> None:
    assert read("cisco_ios", _IOS) == {
        "Gi1/0/1": Neighbour(bytes.fromhex("02bbcc000300"), b"Gi2/0/24", "core.example.org"),
        "Te1/1/1": Neighbour(b"a phone of 1998", b"502", ""),
    }


@pytest.mark.parametrize("family", ["cisco_ios", "cisco_sg", "netgear_m4300"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_port_that_hears_two_has_both_in_whichever_order(family: SwitchFamily, *, turned: bool) -> None:
    heard = [("02:00:00:00:00:07", "gi7", "sw7"), ("02:00:00:00:00:08", "gi8", "")]
    heard = heard[::-1] if turned else heard
    if family == "cisco_ios":
        blocks = (f"Local Intf: Gi1/0/1\nChassis id: {a}\nPort id: {b}\nSystem Name: {c}\n" for a, b, c in heard)
        text = "".join(f"{'-' * 40}\n{block}" for block in blocks)
    elif family == "cisco_sg":
        rule = f"{'-' * 9} {'-' * 17} {'-' * 13} {'-' * 17} {'-' * 12} -----\n"
        text = rule + "".join(f"{'Gi1/0/1':9} {a:17} {b:13} {c:17} {'B':12} 120\n" for a, b, c in heard)
    else:
        rule = f"{'-' * 9} {'-' * 7}  {'-' * 20}  {'-' * 18}  {'-' * 18}\n"
        text = rule + "".join(f"{'Gi1/0/1':9} {7:7}  {a:20}  {b:18}  {c:18}\n" for a, b, c in heard)
    (found,) = read(family, text).values()
    assert [(one.chassis.hex(":"), one.port, one.name) for one in found.several] == [
        ("02:00:00:00:00:08", b"gi8", ""),
        ("02:00:00:00:00:07", b"gi7", "sw7"),
    ]
    assert found.name == "02:00:00:00:00:08 and sw7"
    assert (found.chassis, found.port) == (b"", b"")


def test_text_without_a_table_has_no_neighbours() -> None:
    assert read("cisco_sg", "LLDP is disabled.\n") == {}
    assert query("linux_bridge") is None


@pytest.mark.parametrize("name", ["", "n01"])
def test_a_host_and_the_firmware_of_its_card_are_one_neighbour(name: str) -> None:
    mac, other = bytes(6), bytes((2, 0, 0, 0, 0, 1))
    daemon, card = Neighbour(mac, b"eth0", "n01"), Neighbour(mac, mac, name)
    for heard in ((daemon, card), (card, daemon)):
        assert by_port(("gi1", one) for one in heard) == {"gi1": daemon}
    for stranger in (Neighbour(other, other, ""), Neighbour(mac, b"eth1", "n01"), Neighbour(mac, mac, "n02")):
        assert by_port([("gi1", daemon), ("gi1", stranger)])["gi1"].several
