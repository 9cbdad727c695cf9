"""What is typed so that a configuration says again what it said, and in which order."""

from eee_testbed.controller.drivers.fastpath.written import M4300_LINES, POWERCONNECT_62XX_LINES
from eee_testbed.controller.drivers.ros.written import LINES as ROS_LINES
from eee_testbed.controller.model.config_text import ConfigText, LostLine, differences


def test_lists_of_vlans_are_compared_vlan_by_vlan() -> None:
    now = M4300_LINES.read({"1/0/1": ("vlan participation exclude 1,11-12", "vlan tagging 11")})
    wanted = M4300_LINES.read({"1/0/1": ("vlan participation include 11",)})
    assert M4300_LINES.back(now, wanted)["1/0/1"] == (
        "vlan participation include 1",
        "vlan participation auto 12",
        "no vlan tagging 11",
        "vlan participation include 11",
    )


def test_lines_of_the_mode_to_come_wait_for_it_and_all_others_follow() -> None:
    """A filter that fell before the port is a trunk again would let frames in."""
    now = M4300_LINES.read({"1/0/1": ("switchport mode general", "vlan ingressfilter")})
    wanted = M4300_LINES.read({"1/0/1": ("switchport mode trunk", "switchport trunk native vlan 7")})
    assert M4300_LINES.back(now, wanted)["1/0/1"] == (
        "switchport trunk native vlan 7",
        "switchport mode trunk",
        "no vlan ingressfilter",
    )


def test_where_a_change_of_mode_forgets_lines_they_are_not_taken_away() -> None:
    now = POWERCONNECT_62XX_LINES.read({"1/g1": ("switchport mode general", "switchport general pvid 11")})
    wanted = POWERCONNECT_62XX_LINES.read({"1/g1": ("switchport access vlan 11",)})
    typed = POWERCONNECT_62XX_LINES.back(now, wanted)["1/g1"]
    assert typed == ("switchport mode access", "switchport access vlan 11")


def test_names_of_vlans_come_back_and_are_never_taken_away() -> None:
    now, wanted = (ROS_LINES.read({f"vlan {vid}": (f"name {name}",)}) for vid, name in ((11, "new"), (12, "old")))
    assert ROS_LINES.back(now, wanted) == {"vlan 12": ("name old",)}


def test_lines_that_would_restart_a_link_are_named_and_not_typed() -> None:
    wanted = ROS_LINES.read({"gi1/0/1": ("negotiation 100f 1000f", "flowcontrol auto")})
    assert wanted.lost["gi1/0/1"] == (
        LostLine("speed_mbps", "negotiation 100f 1000f"),
        LostLine("flow_control", "flowcontrol auto"),
    )
    assert ROS_LINES.back(ConfigText(), wanted) == {}
    assert list(differences(ConfigText(), wanted)) == [
        "gi1/0/1: `negotiation 100f 1000f` is gone",
        "gi1/0/1: `flowcontrol auto` is gone",
    ]


def test_a_list_that_is_garbled_is_no_line_of_the_table() -> None:
    for garbled in ("11-", "-11", "1,,2", "99999", "11-12-13"):
        assert M4300_LINES.read({"1/0/1": (f"vlan tagging {garbled}",)}) == ConfigText()
