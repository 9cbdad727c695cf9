"""What configuration commands do to the engine, what they refuse, and the messages."""

from typing import Any

import pytest

from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import User

PORT_1, PORT_2, PO_1 = 0, 1, 26  # engine port ids in the fake


@pytest.mark.usefixtures("device")
def test_the_factory_has_every_port_untagged_in_vlan_1(engine: Any) -> None:
    members, untagged = engine.vlan_table[1]
    assert members == untagged == list(range(58))
    assert engine.ports[PORT_1]["pvid"] == 1
    assert engine.ports[PORT_1]["advertised_mbps"] == [10, 100, 1000]


def test_a_general_port_is_untagged_in_many_vlans(engine: Any, terminal: Any) -> None:
    assert not terminal.do(
        "configure",
        "vlan database",
        "vlan 11-13",
        "exit",
        "interface gi1/0/1",
        "switchport mode general",
        "switchport general allowed vlan add 11-13 untagged",
        "switchport general pvid 12",
    )
    for vid in (11, 12, 13):
        assert PORT_1 in engine.vlan_table[vid][1]
    assert engine.ports[PORT_1]["pvid"] == 12


def test_each_mode_keeps_its_own_settings(engine: Any, terminal: Any) -> Any:
    terminal.do("configure", "vlan database", "vlan 2-5", "exit", "interface gi1/0/1")
    terminal.do("switchport access vlan 2", "switchport trunk allowed vlan add 3", "switchport trunk native vlan 4")
    terminal.do("switchport general allowed vlan add 5", "switchport general pvid 5")

    def members() -> Any:
        return {v for v, (m, _) in engine.vlan_table.items() if PORT_1 in m}

    assert members() == {2}
    terminal.do("switchport mode trunk")
    assert members() == {3, 4}
    assert engine.ports[PORT_1]["pvid"] == 4
    terminal.do("switchport mode general")
    assert members() == {1, 5}
    assert PORT_1 not in engine.vlan_table[5][1]
    terminal.do("no switchport mode")
    assert members() == {2}


def test_a_trunk_is_tagged_in_all_but_its_native_vlan(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "vlan database", "vlan 11,12", "interface gi1/0/2", "switchport mode trunk")
    terminal.do("switchport trunk allowed vlan add all")
    assert PORT_2 in engine.vlan_table[11][0]
    assert PORT_2 not in engine.vlan_table[11][1]
    assert PORT_2 in engine.vlan_table[1][1]
    terminal.do("switchport trunk native vlan none", "switchport trunk allowed vlan remove 11")
    assert PORT_2 not in engine.vlan_table[11][0]
    assert engine.ports[PORT_2]["acceptable"] == "tagged"


def test_a_general_port_can_leave_the_default_vlan(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "vlan database", "vlan 11", "interface gi1/0/1", "switchport mode general")
    terminal.do("switchport general allowed vlan add 11 tagged", "switchport forbidden default-vlan")
    assert PORT_1 not in engine.vlan_table[1][0]
    terminal.do("no switchport forbidden default-vlan")
    assert PORT_1 in engine.vlan_table[1][0]
    terminal.do("switchport general allowed vlan remove 1")
    assert PORT_1 not in engine.vlan_table[1][0]


def test_filtering_and_frame_types_of_a_general_port(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "interface gi1/0/1", "switchport mode general")
    assert engine.ports[PORT_1]["ingress_filtering"]
    terminal.do("switchport general ingress-filtering disable", "switchport general acceptable-frame-type tagged-only")
    assert not engine.ports[PORT_1]["ingress_filtering"]
    assert engine.ports[PORT_1]["acceptable"] == "tagged"
    terminal.do("no switchport general ingress-filtering disable", "no switchport general acceptable-frame-type")
    assert engine.ports[PORT_1]["ingress_filtering"]
    assert engine.ports[PORT_1]["acceptable"] == "all"


def test_pvid_4095_drops_untagged_frames(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "interface gi1/0/1", "switchport mode general", "switchport general pvid 4095")
    assert engine.ports[PORT_1]["acceptable"] == "tagged"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("switchport access vlan 99", "VLAN was not created by user."),
        ("switchport general pvid 99", "VLAN was not created by user."),
        ("switchport general allowed vlan add 1,99 untagged", "VLAN was not created by user."),
        ("switchport general allowed vlan add 5000", "% bad parameter value"),
        ("switchport general allowed vlan", "% Incomplete command"),
        ("switchport general colour", "% Unrecognized command"),
        ("speed 10000", "% bad parameter value"),
        ("s", "% Ambiguous command"),
        ("shutdown now", "% Wrong number of parameters or invalid range, size or characters entered"),
        ("interface gi1/0/99", "% bad parameter value"),
        ("interface gi1/0/1-3", "% bad parameter value"),
        ("vlan 11", "% Unrecognized command"),
        ("do foo", "% Unrecognized command"),
    ],
)
def test_what_is_refused_and_how(device: SwitchDevice, terminal: Any, line: str, words: str) -> None:
    terminal.do("conf", "interface gi1/0/1")
    before = device.personality.render()
    assert terminal.do(line) == f"{words}\n"
    assert device.personality.render() == before


def test_a_refused_list_changes_nothing(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "vlan database", "vlan 11", "interface gi1/0/1", "switchport mode general")
    terminal.do("switchport general allowed vlan add 11,99 untagged")
    assert PORT_1 not in engine.vlan_table[11][0]


def test_removing_a_vlan_takes_its_members_along(engine: Any, device: SwitchDevice, terminal: Any) -> None:
    terminal.do("conf", "vlan database", "vlan 11", "interface gi1/0/1", "switchport access vlan 11")
    terminal.do("vlan database", "no vlan 11")
    assert 11 not in engine.vlan_table
    assert PORT_1 in engine.vlan_table[1][0]
    assert "11" not in device.personality.render().replace("1/0/11", "")
    assert "Default VLAN" in terminal.do("no vlan 1")
    assert "not created" in terminal.do("no vlan 77")


def test_physical_settings_reach_the_engine(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "interface gi1/0/1", "shutdown", "no negotiation", "speed 100", "flowcontrol on")
    now = engine.ports[PORT_1]
    assert not now["admin_up"]
    assert (now["autoneg"], now["advertised_mbps"]) == (False, [100])
    assert now["flow_control"]
    terminal.do("no shutdown", "negotiation 10f 100f", "no flowcontrol")
    now = engine.ports[PORT_1]
    assert now["admin_up"]
    assert (now["autoneg"], now["advertised_mbps"]) == (True, [10, 100])
    assert not now["flow_control"]


def test_speed_waits_until_negotiation_is_off(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "interface gi1/0/1", "speed 100")
    assert engine.ports[PORT_1]["advertised_mbps"] == [10, 100, 1000]
    terminal.do("no negotiation")
    assert engine.ports[PORT_1]["advertised_mbps"] == [100]


def test_eee_is_on_where_switch_and_port_enable_it(engine: Any, terminal: Any) -> None:
    assert engine.ports[PORT_1]["eee"]
    terminal.do("conf", "no eee enable")
    assert not engine.ports[PORT_1]["eee"]
    terminal.do("eee enable", "interface gi1/0/1", "no eee enable")
    assert not engine.ports[PORT_1]["eee"]
    assert engine.ports[PORT_2]["eee"]
    terminal.do("eee enable", "no negotiation", "speed 100")
    assert not engine.ports[PORT_1]["eee"]


def test_only_what_changes_is_sent(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "interface gi1/0/1")
    engine.calls.clear()
    terminal.do("description uplink")
    assert engine.calls == []
    terminal.do("no eee enable")
    assert engine.calls == [("set_port", PORT_1, {"eee": False})]


def test_static_addresses(engine: Any, terminal: Any) -> None:
    mac = bytes.fromhex("02ee00000001")
    terminal.do("conf", "vlan database", "vlan 11", "exit")
    assert not terminal.do("mac address-table static 02:ee:00:00:00:01 vlan 11 interface gi1/0/2 permanent")
    assert engine.statics == {(11, mac): PORT_2}
    table = terminal.do("do show mac address-table static vlan 11")
    assert table.splitlines()[-1].split() == ["11", "02:ee:00:00:00:01", "gi1/0/2", "static"]
    assert "bad parameter" in terminal.do("mac address-table static 01:00:5e:00:00:01 vlan 11 interface gi1/0/2")
    terminal.do("no mac address-table static 02:ee:00:00:00:01 vlan 11")
    assert engine.statics == {}


def test_a_lag_takes_its_members_out_of_their_vlans(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "vlan database", "vlan 11", "interface range gi1/0/1-2", "channel-group 1 mode on")
    terminal.do("interface po1", "switchport mode general", "switchport general allowed vlan add 11 tagged")
    assert engine.lags[PO_1] == [PORT_1, PORT_2]
    assert engine.vlan_table[11][0] == [PO_1]
    assert PORT_1 not in engine.vlan_table[1][0]
    terminal.do("interface gi1/0/1", "no channel-group")
    assert engine.lags[PO_1] == [PORT_2]
    assert PORT_1 in engine.vlan_table[1][0]


def test_a_port_moves_from_one_lag_to_another(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "interface range gi1/0/1-2", "channel-group 2 mode on")
    engine.calls.clear()
    terminal.do("interface gi1/0/1", "channel-group 1 mode on")
    assert engine.lags[PO_1] == [PORT_1]
    assert engine.lags[PO_1 + 1] == [PORT_2]
    assert engine.calls.index(("set_lag", PO_1 + 1, [PORT_2])) < engine.calls.index(("set_lag", PO_1, [PORT_1]))


def test_a_lag_has_eight_members_of_one_speed(terminal: Any) -> None:
    terminal.do("conf", "interface range gi1/0/1-8", "channel-group 1 mode on")
    assert "8 members" in terminal.do("interface gi1/0/9", "channel-group 1 mode on")
    assert "another speed" in terminal.do(
        "interface te1/0/1",
        "channel-group 1 mode on",
        "channel-group 2 mode on",
        "interface gi1/0/9",
        "channel-group 2 mode on",
    )


def test_shutting_a_lag_shuts_its_members(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "interface gi1/0/1", "channel-group 1 mode on", "interface po1", "shutdown")
    assert not engine.ports[PORT_1]["admin_up"]


def test_spanning_tree_flags_reach_the_tree_keeper(device: SwitchDevice, terminal: Any) -> None:
    assert 1 in device.stp_ports()
    terminal.do("conf", "interface gi1/0/1", "spanning-tree disable")
    assert 1 not in device.stp_ports()
    terminal.do("no spanning-tree")
    assert device.stp_ports() == frozenset()


def test_blocking_follows_set_blocked(engine: Any, device: SwitchDevice) -> None:
    device.set_blocked(frozenset({1, 2}))
    device.set_blocked(frozenset({2}))
    assert engine.blocked == {PORT_2}


def test_ageing(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "mac address-table aging-time 100")
    assert engine.calls[-1] == ("set_bridge", 100.0, None)
    assert "bad parameter" in terminal.do("mac address-table aging-time 5")


@pytest.mark.parametrize("name", ["gi1/0/3", "GigabitEthernet1/0/3", "gigabitethernet 1/0/3", "g1/0/3", "gi 1/0/3"])
def test_interfaces_in_every_spelling(engine: Any, terminal: Any, name: str) -> None:
    terminal.do("conf", f"interface {name}", "no eee enable")
    assert not engine.ports[2]["eee"]


def test_ranges_of_interfaces(engine: Any, terminal: Any) -> None:
    terminal.do("conf", "interface range gi1/0/1-3,gi1/0/7,te1/0/1-2", "shutdown")
    down = [n for n in range(26) if not engine.ports[n]["admin_up"]]
    assert down == [0, 1, 2, 6, 24, 25]


def test_prompts_of_every_mode(terminal: Any) -> None:
    assert terminal.prompt == "console# "
    seen = []
    for line in (
        "configure",
        "vlan database",
        "exit",
        "interface gi1/0/1",
        "interface range gi1/0/1-2",
        "interface vlan 1",
        "hostname sw7",
        "end",
        "disable",
        "enable",
    ):
        terminal.do(line)
        seen.append(terminal.prompt)
    assert seen == [
        "console(config)# ",
        "console(config-vlan)# ",
        "console(config)# ",
        "console(config-if)# ",
        "console(config-if-range)# ",
        "console(config-if)# ",
        "sw7(config)# ",
        "sw7# ",
        "sw7> ",
        "sw7# ",
    ]


def test_a_user_of_low_privilege_must_enable(make_terminal: Any) -> None:
    low = make_terminal(user=User("guest", "x", privilege=1))
    assert low.prompt == "console> "
    assert low.do("configure") == "% Unrecognized command\n"
    assert "SW version" in low.do("show version")


def test_the_enable_password_is_asked(make_terminal: Any) -> None:
    make_terminal().do("configure", "enable password level 15 sesame")
    low = make_terminal(user=User("guest", "x", privilege=1))
    assert low.keys("enable\r").endswith("Password:")
    assert "bad password" in low.keys("guess\r")
    low.keys("enable\rsesame\r")
    assert low.prompt == "console# "


def test_ignored_writes_are_acknowledged_but_change_nothing(engine: Any, device: SwitchDevice, terminal: Any) -> None:
    device.faults.ignore_writes = True
    assert not terminal.do("configure", "vlan database", "vlan 11", "exit", "interface gi1/0/1", "shutdown")
    assert engine.ports[PORT_1]["admin_up"]
    assert 11 not in engine.vlan_table
    assert device.personality.render() == ""


def test_observers_are_called_for_real_changes_only(device: SwitchDevice, terminal: Any) -> None:
    events = []
    device.observe(lambda _device, event: events.append(event))
    terminal.do("configure", "interface gi1/0/1", "shutdown", "shutdown", "do show vlan")
    assert events == ["config"]
