"""A rendered configuration can be executed: a factory device that reads it has the same configuration."""

import copy
from collections.abc import Callable
from typing import Any

import eee_engine
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from eee_testbed.twin.families.fastpath import FAMILY
from eee_testbed.twin.families.fastpath.config import MacFilter, PortConfig
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, Port, Refused, User, password_digest
from tests.support.laws import law

PORT_COUNT = 28
VIDS = st.frozensets(st.integers(1, 30), max_size=6)
MACS = st.binary(min_size=6, max_size=6).filter(lambda m: not m[0] & 1 and any(m))
TEXT = st.text("abc XYZ019-_.,:;()'#!|", max_size=20)
DESCRIPTIONS = TEXT.filter(lambda t: not t.startswith("'"))

STORED = ("snmp-server community lab rw", "snmp-server sysname x", "sntp client mode unicast")


def build(startup: Any = "") -> Any:
    spec = DeviceSpec("sw5", "netgear_m4300", "M4300-28G", bytes.fromhex("02ee05000000"), (User("admin", "x"),))
    plans = (*FAMILY.ports(spec.model), *FAMILY.lags(spec.model))
    ports = [
        Port(n, p.name, p.long_name, p.if_index, n, p.phy, p.speed_mbps, n > PORT_COUNT)
        for n, p in enumerate(plans, start=1)
    ]
    made = FAMILY.personality(spec, ports)
    return made, made.load(startup)


@st.composite
def port_configs(draw: Any, vids: Any, *, lag: Any) -> Any:
    mine = st.frozensets(st.sampled_from(sorted(vids)))
    include, exclude = draw(mine), draw(mine)
    autoneg = lag or draw(st.booleans())
    advertised = draw(st.none() | st.frozensets(st.sampled_from((10, 100, 1000)), min_size=1, max_size=2))
    allowed = draw(st.none() | VIDS)
    times = st.none() if lag else st.none() | st.integers(1, 65_535)
    macs = draw(st.frozensets(st.tuples(st.sampled_from(sorted(vids)), MACS), max_size=3))
    return PortConfig(
        description=draw(DESCRIPTIONS),
        shutdown=draw(st.booleans()),
        autoneg=autoneg,
        forced_mbps=None if autoneg else draw(st.sampled_from((None, 10, 100))),
        advertised_mbps=advertised if autoneg and not lag else None,
        flow_control=draw(st.booleans()),
        mtu_byte=draw(st.sampled_from((1518, 9198, 9216))),
        include=include - exclude,
        exclude=exclude,
        tagging=draw(mine),
        pvid=draw(st.sampled_from(sorted(vids))),
        acceptable=draw(st.sampled_from(("all", "tagged", "untagged"))),
        ingress_filter=draw(st.booleans()),
        mode=draw(st.sampled_from((None, "access", "general", "trunk"))),
        access_vid=draw(st.sampled_from(sorted(vids))),
        native_vid=draw(st.integers(1, 30)),
        allowed=allowed,
        eee=False if lag else draw(st.booleans()),
        lldp_transmit=lag or draw(st.booleans()),
        lldp_receive=lag or draw(st.booleans()),
        tx_idle_us=draw(times),
        tx_wake_us=draw(times),
        energy_detect=False if lag else draw(st.booleans()),
        spanning_tree=draw(st.booleans()),
        lag=None if lag else draw(st.none() | st.integers(1, 128)),
        lag_static=draw(st.booleans()) if lag else False,
        locked=draw(st.booleans()),
        max_static=draw(st.integers(max(1, len(macs)), 20)),
        static_macs=macs,
    )


@st.composite
def configs(draw: Any) -> Any:
    config = build()[0].factory()
    vids = draw(VIDS) | {1}
    config.vlans = {vid: "default" if vid == 1 else draw(TEXT) for vid in sorted(vids)}
    for number in draw(st.sets(st.sampled_from((1, 2, 3, 24, 29, 30)), max_size=4)):
        config.ports[number] = draw(port_configs(vids, lag=number > PORT_COUNT))
    config.hostname = draw(TEXT)
    names = draw(st.sets(TEXT.filter(bool), max_size=2))
    config.users = {name: (password_digest(name), draw(st.integers(0, 15))) for name in sorted(names)}
    config.spanning_tree = draw(st.booleans())
    config.flow_control = draw(st.booleans())
    config.port_security = draw(st.booleans())
    config.ageing_s = draw(st.integers(10, 1_000_000))
    config.history_interval_s = draw(st.integers(30, 36_000))
    config.history_samples = draw(st.integers(1, 168))
    for mac in draw(st.sets(MACS, max_size=2)):
        sources = draw(st.frozensets(st.sampled_from((1, 2, 30))))
        config.macfilters[max(vids), mac] = MacFilter(sources=sources)
    stored = draw(st.sets(st.sampled_from(STORED)))
    for line in sorted(stored):
        config.global_lines[" ".join(line.split()[:2]) if "sysname" in line else line] = line
    if draw(st.booleans()):
        config.exec_lines["serviceport protocol"] = "serviceport protocol none"
    return config


@law(150, suppress_health_check=[HealthCheck.too_slow])
@given(configs())
def test_rendered_configuration_reads_back(config: Any) -> None:
    writer, _ = build()
    writer.config = config
    text = writer.render()
    reader, failed = build(text)
    assert failed == []
    assert reader.config == config
    assert reader.render() == text
    assert reader.effect() == writer.effect()


def test_factory_renders_no_interface() -> None:
    made, _ = build()
    assert made.render() == "vlan database\nexit\n\nconfigure\n\nexit\n"


def test_copy_of_a_configuration_is_its_own() -> None:
    made, _ = build()
    kept = copy.deepcopy(made.config)
    made.config.vlans[11] = ""
    made.config.change([1], shutdown=True)
    assert kept == made.factory()


def test_lines_that_fail_are_named_and_the_rest_is_executed() -> None:
    made, failed = build(
        "!comment\nvlan database\nvlan 11\nvlan 5000\nexit\nconfigure\ninterface 1/0/1\nnonsense\nshutdown\n"
        "vlan pvid 99\nspeed 1000 full-duplex\nexit\nno spanning-tree\nexit\n"
    )
    assert failed == ["vlan 5000", "nonsense", "vlan pvid 99", "speed 1000 full-duplex"]
    assert made.config.ports[1].shutdown
    assert made.config.ports[1].pvid == 1
    assert not made.config.spanning_tree
    assert 11 in made.config.vlans


def test_saved_configuration_survives_a_power_cut(
    device: SwitchDevice, enabled: Any, reboot: Callable[[], SwitchDevice]
) -> None:
    enabled.do("vlan database", "vlan 11-12", 'vlan name 11 "tree one"', "exit", "configure", "interface 1/0/7")
    enabled.do("vlan participation include 11-12", "vlan tagging 12", "vlan pvid 11", "end", "write memory confirm")
    enabled.do("configure", "interface 1/0/8", "shutdown", "end")
    effect = device.personality.effect()
    reboot()
    assert device.rejected_lines == ()
    assert device.engine.port(device.engine_port[8])["admin_up"]
    assert device.personality.effect().vlans == effect.vlans
    assert device.personality.vlan_names() == {1: "default", 11: "tree one", 12: ""}


def test_users_of_the_configuration_may_log_in(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("configure", 'username "eve" password "open sesame" level 15', "exit")
    assert device.users()["eve"].accepts("open sesame")
    assert not device.users()["eve"].accepts("sesame")
    line = next(row for row in enabled.do("show running-config").splitlines() if row.startswith("username"))
    assert line.endswith("level 15 encrypted")
    assert "open sesame" not in line
    enabled.do("configure", "no username eve")
    assert "eve" not in device.users()


def test_stored_lines_can_be_taken_back(device: SwitchDevice, enabled: Any) -> None:
    enabled.do("configure", 'snmp-server community "lab" rw', "snmp-server sysname a", "snmp-server sysname b")
    assert list(device.personality.config.global_lines.values()) == [
        "snmp-server community lab rw",
        "snmp-server sysname b",
    ]
    assert enabled.do("no snmp-server community lab", "no snmp-server sysname b") == ""
    assert device.personality.config.global_lines == {}


class TestNeutralOperations:
    def test_vlan_membership_from_any_mode(self, device: SwitchDevice) -> None:
        p = device.personality
        with device.change():
            p.create_vlan(11)
            p.config.change([1], mode="access")
            p.config.change([2], mode="trunk")
            p.set_vlan_ports(11, egress=frozenset({1, 2, 3}), untagged=frozenset({1, 3}))
        members, untagged = device.engine.vlans(device.switch)[11]
        assert sorted(members) == [device.engine_port[n] for n in (1, 2, 3)]
        assert sorted(untagged) == [device.engine_port[n] for n in (1, 3)]
        assert p.config.ports[1].mode == "general"
        assert p.config.ports[2].mode == "trunk"  # was right as it was
        reader, failed = build(p.render())
        assert failed == []
        assert reader.effect().vlans == p.effect().vlans

    def test_refusals(self, device: SwitchDevice) -> None:
        p = device.personality
        for refused, call in (
            ("no-vlan", lambda: p.set_pvid(1, 99)),
            ("default-vlan", lambda: p.destroy_vlan(1)),
            ("bad-value", lambda: p.create_vlan(4094)),
            ("bad-value", lambda: p.set_admin(999, up=True)),
            ("bad-value", lambda: p.set_speed(1, 1000)),
            ("bad-value", lambda: p.set_eee(29, on=True)),
            ("bad-value", lambda: p.set_ageing(9)),
            ("bad-value", lambda: p.set_alias(1, 'say "x"')),
            ("not-possible", lambda: p.add_static_mac(1, bytes.fromhex("020000000001"), 1)),
        ):
            with pytest.raises(Refused) as caught, device.change():
                call()
            assert caught.value.reason == refused
        assert p.config == p.factory()

    def test_operations_appear_in_the_configuration(self, device: SwitchDevice, enabled: Any) -> None:
        p = device.personality
        with device.change():
            p.create_vlan(11)
            p.rename_vlan(11, "tree")
            p.set_pvid(1, 11)
            p.set_acceptable(1, "tagged")
            p.set_ingress_filtering(1, on=True)
            p.set_admin(1, up=False)
            p.set_alias(1, "it's up")
            p.set_speed(1, 100)
            p.set_eee(None, on=True)
            p.set_stp(None, on=False)
            p.set_stp(1, on=False)
            p.set_ageing(600)
        assert enabled.do("show running-config interface 1/0/1").splitlines()[3:] == [
            "interface 1/0/1",
            "shutdown",
            'description "it\'s up"',
            "no auto-negotiate",
            "speed 100 full-duplex",
            "vlan pvid 11",
            "vlan acceptframe vlanonly",
            "vlan ingressfilter",
            "green-mode eee",
            "no spanning-tree port mode",
            "exit",
            "",
        ]
        assert "bridge aging-time 600" in enabled.do("show running-config")
        assert p.alias(1) == "it's up"
        assert p.hostname() == "sw5"

    def test_static_address_moves_between_locked_ports(self, device: SwitchDevice, enabled: Any) -> None:
        mac = bytes.fromhex("020000000001")
        enabled.do("configure", "port-security", "interface 1/0/1-1/0/2", "port-security")
        for port in (1, 2):
            with device.change():
                device.personality.add_static_mac(1, mac, port)
            assert [(e["mac"], e["port"]) for e in device.engine.fdb(device.switch)] == [
                (mac, device.engine_port[port])
            ]
        with device.change():
            device.personality.remove_static_mac(1, mac)
        assert device.engine.fdb(device.switch) == []


def test_unknown_model_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="M4300-28G"):
        FAMILY.ports("GS108")


def test_every_phy_is_known_to_the_engine() -> None:
    for model in ("M4300-28G", "M4300-52G", "M4300-24X", "M4300-48X"):
        assert {p.phy for p in FAMILY.ports(model)} <= set(eee_engine.phy_profiles())
