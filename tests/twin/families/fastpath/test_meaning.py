"""Which lines are active: a port's VLAN lines take effect in their own mode and are inactive in others."""

from typing import Any

from eee_testbed.twin.families.fastpath.config import PortConfig, membership
from eee_testbed.twin.switch.device import SwitchDevice

VIDS = frozenset({1, 11, 12, 13})


def lines(**values: Any) -> Any:
    return membership(PortConfig(**values), VIDS)


def wire(device: SwitchDevice, number: Any, vid: Any) -> Any:
    """(member, untagged) of a port in the engine."""
    members, untagged = device.engine.vlans(device.switch)[vid]
    port = device.engine_port[number]
    return port in members, port in untagged


def test_factory_is_vlan_1_untagged() -> None:
    now = lines()
    assert (now.pvid, now.untagged, now.tagged, now.ingress_filtering) == (1, {1}, set(), False)


def test_general_lines_are_inactive_in_access_and_trunk_mode() -> None:
    general = {
        "include": frozenset({11, 12}),
        "tagging": frozenset({12}),
        "pvid": 11,
        "acceptable": "tagged",
        "ingress_filter": False,
    }
    for mode in ("access", "trunk"):
        assert lines(mode=mode, **general) == lines(mode=mode)
    now = lines(mode="general", **general)
    assert (now.pvid, now.untagged, now.tagged, now.acceptable) == (11, {11}, {12}, "tagged")
    assert lines(**general) == now  # without a mode line the port is in general mode


def test_switchport_lines_are_inactive_in_general_mode() -> None:
    assert lines(access_vid=11, native_vid=12, allowed=frozenset({12})) == lines()


def test_access_is_one_vlan_with_ingress_filtering() -> None:
    now = lines(mode="access", access_vid=11)
    assert (now.pvid, now.untagged, now.tagged, now.ingress_filtering) == (11, {11}, set(), True)


def test_trunk_carries_every_vlan_that_exists_and_is_allowed() -> None:
    now = lines(mode="trunk", native_vid=11)
    assert (now.pvid, now.untagged, now.tagged) == (11, {11}, {1, 12, 13})
    now = lines(mode="trunk", native_vid=11, allowed=frozenset({12, 99}))
    assert (now.pvid, now.untagged, now.tagged) == (11, set(), {12})  # untagged frames are dropped


def test_excluded_and_auto_ports_are_not_members() -> None:
    assert lines(include=frozenset(), exclude=frozenset({1})).member == set()


def test_inactive_lines_stay_in_the_running_configuration(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11-13", "exit", "configure", "interface 1/0/4")
    enabled.do("switchport mode access", "vlan participation include 11", "vlan tagging 11", "vlan pvid 11", "end")
    shown = enabled.do("show running-config interface 1/0/4")
    for line in ("vlan participation include 11", "vlan tagging 11", "vlan pvid 11", "switchport mode access"):
        assert line in shown.splitlines()
    assert "1/0/4       Exclude   Autodetect" in enabled.do("show vlan 11")
    assert wire(device, 4, 11) == (False, False)
    assert device.engine.port(device.engine_port[4])["pvid"] == 1
    enabled.do("configure", "interface 1/0/4", "switchport mode general", "end")
    assert "1/0/4       Include   Include      Tagged" in enabled.do("show vlan 11")
    assert wire(device, 4, 11) == (True, False)
    assert device.engine.port(device.engine_port[4])["pvid"] == 11


def test_no_switchport_mode_is_the_true_undo(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("vlan database", "vlan 10-11", "exit", "configure", "interface 1/0/4", "switchport access vlan 10")
    before = enabled.do("show running-config interface 1/0/4")
    effect = device.personality.effect()
    enabled.do("switchport mode general")
    assert device.personality.effect() == effect
    enabled.do("switchport mode access")  # wakes the stale access line
    assert device.engine.port(device.engine_port[4])["pvid"] == 10
    enabled.do("no switchport mode")
    assert device.engine.port(device.engine_port[4])["pvid"] == 1
    assert wire(device, 4, 1) == (True, True)
    assert enabled.do("show running-config interface 1/0/4") == before


def test_port_untagged_in_many_vlans_with_one_pvid(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11-16", "exit", "configure", "interface 1/0/1", "switchport mode general")
    assert enabled.do("vlan participation include 11-16", "vlan pvid 12", "vlan participation exclude 1") == ""
    for vid in range(11, 17):
        assert wire(device, 1, vid) == (True, True)
    assert wire(device, 1, 1) == (False, False)
    assert device.engine.port(device.engine_port[1])["pvid"] == 12


def test_vlan_takes_its_lines_along(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11", "exit", "configure", "interface 1/0/1")
    enabled.do("vlan participation include 11", "vlan tagging 11", "vlan pvid 11", "end", "vlan database", "no vlan 11")
    assert device.personality.render() == device.personality.render().replace("11", "")
    assert device.engine.port(device.engine_port[1])["pvid"] == 1


def test_lag_forwards_in_place_of_its_members(device: SwitchDevice, enabled: Any) -> None:
    lag = 28 + 1
    enabled.do(
        "vlan database", "vlan 11", "exit", "configure", "interface 1/0/5-1/0/6", "vlan participation include 11"
    )
    enabled.do(
        "addport lag 1", "exit", "interface lag 1", "port-channel static", "vlan participation include 11", "end"
    )
    assert wire(device, 5, 11) == (False, False)
    assert wire(device, lag, 11) == (True, True)
    assert device.engine.port(device.engine_port[5])["lag"] == device.engine_port[lag]
    assert "1/0/5     PC Mbr Enable" in enabled.do("show port all")
    assert "already a member" in enabled.do("configure", "interface 1/0/5", "addport lag 2")
    enabled.do("exit", "interface lag 1", "shutdown", "exit")
    assert not device.engine.port(device.engine_port[5])["admin_up"]
    enabled.do("interface 1/0/5", "deleteport lag 1", "end")
    assert wire(device, 5, 11) == (True, True)


def test_forced_speed_and_flow_control_reach_the_engine(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("configure", "interface 1/0/2", "speed 100 full-duplex", "flowcontrol", "mtu 1518", "shutdown")
    state = device.engine.port(device.engine_port[2])
    assert (state["autoneg"], state["advertised_mbps"], state["admin_up"]) == (False, [100], False)
    assert "Disable   100 Full" in enabled.do("show port 1/0/2")
    enabled.do("speed auto 1000", "no shutdown")
    state = device.engine.port(device.engine_port[2])
    assert (state["autoneg"], state["advertised_mbps"], state["admin_up"]) == (True, [1000], True)


def test_static_addresses_need_a_locked_port_and_have_a_limit(device: SwitchDevice, enabled: Any) -> None:
    def statics() -> Any:
        return {(e["vid"], e["mac"].hex(), e["port"]) for e in device.engine.fdb(device.switch) if e["static"]}

    enabled.do("vlan database", "vlan 11", "exit", "configure", "interface 1/0/3", "vlan participation include 11")
    assert enabled.do("port-security mac-address 02:00:00:00:00:01 11") == ""
    assert "Table is full" in enabled.do("port-security mac-address 02:00:00:00:00:02 11")
    assert "% Invalid input" in enabled.do("port-security max-static 21")
    assert enabled.do("port-security max-static 2", "port-security mac-address 02:00:00:00:00:02 11") == ""
    assert statics() == set()
    enabled.do("port-security", "exit")
    assert statics() == set()
    enabled.do("port-security")
    port = device.engine_port[3]
    assert statics() == {(11, "020000000001", port), (11, "020000000002", port)}
    assert "11       02:00:00:00:00:01   1/0/3                  3        Static" in enabled.do("show mac-addr-table")
    enabled.do("interface 1/0/3", "no port-security mac-address 02:00:00:00:00:01 11")
    assert statics() == {(11, "020000000002", port)}


def test_macfilter_takes_destinations_for_multicast_only(enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11", "exit", "configure")
    assert enabled.do("macfilter 01:00:5e:00:00:05 11", "macfilter 02:00:00:00:00:01 11") == ""
    enabled.do("interface 1/0/3")
    assert enabled.do("macfilter adddest 01:00:5e:00:00:05 11", "macfilter addsrc 02:00:00:00:00:01 11") == ""
    assert "% Invalid input" in enabled.do("macfilter adddest 02:00:00:00:00:01 11")
    assert "Entry does not exist" in enabled.do("macfilter addsrc 02:00:00:00:00:09 11")
    assert "1/0/3" in enabled.do("show mac-address-table static all")


def test_lines_for_all_ports(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("vlan database", "vlan 11", "exit", "configure")
    assert (
        enabled.do(
            "vlan participation all include 11",
            "vlan port tagging all 11",
            "vlan port pvid all 11",
            "vlan port acceptframe all vlanonly",
            "vlan port ingressfilter all",
        )
        == ""
    )
    members, untagged = device.engine.vlans(device.switch)[11]
    assert sorted(members) == [device.engine_port[n] for n in range(1, 29)]
    assert untagged == []
    state = device.engine.port(device.engine_port[28])
    assert (state["pvid"], state["acceptable"], state["ingress_filtering"]) == (11, "tagged", True)
    enabled.do("no vlan port tagging all 11", "no vlan port pvid all", "no vlan port acceptframe all")
    assert enabled.do("no vlan port ingressfilter all", "vlan participation all auto 11") == ""
    assert device.personality.render() == device.personality.render().replace("interface", "")
