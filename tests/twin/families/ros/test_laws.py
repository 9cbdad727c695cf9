"""Laws of the configuration: written and read back it is the same; neutral operations keep VLAN tables whole."""

import copy
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.twin.families.ros.config import LocalUser, PortConfig, RosConfig
from eee_testbed.twin.families.ros.models import lag_plans, model_named, port_plans
from eee_testbed.twin.families.ros.personality import RosPersonality
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, Port, Refused
from tests.support.laws import law

PLANS = (*port_plans(model_named("PowerConnect 5524")), *lag_plans())
PORTS = tuple(
    Port(n, p.name, p.long_name, p.if_index, n, p.phy, p.speed_mbps, not p.phy) for n, p in enumerate(PLANS, 1)
)
PHYSICAL = [p.number for p in PORTS if not p.is_lag]
SPEC = DeviceSpec("sw1", "dell_powerconnect_55xx", "PowerConnect 5524", bytes(6), ())
VIDS = (1, 2, 11, 12, 13, 4094)

vids = st.sampled_from(VIDS)
vid_sets = st.sets(vids, max_size=4)
flags = st.booleans()
words = st.text(
    st.characters(codec="ascii", categories=("L", "N", "P", "S", "Zs"), exclude_characters='"'), max_size=20
)


def _tidy(text: Any) -> str:
    return " ".join(text.split())


@st.composite
def port_configs(draw: Any, *, is_lag: Any, speed_mbps: Any) -> Any:
    tagged = draw(vid_sets)
    negotiation = draw(flags) or is_lag
    setting = PortConfig(
        description=draw(words),
        shutdown=draw(flags),
        flow_control=draw(st.sampled_from(("off", "on", "auto"))),
        back_pressure=draw(flags),
        mode=draw(st.sampled_from(("access", "trunk", "general", "customer"))),
        access_vid=draw(vids),
        trunk_native_vid=draw(st.none() | vids),
        trunk_vids=draw(vid_sets),
        general_pvid=draw(vids | st.just(4095)),
        general_tagged=tagged,
        general_untagged=draw(vid_sets) - tagged,
        general_ingress_filtering=draw(flags),
        general_acceptable=draw(st.sampled_from(("all", "tagged", "untagged"))),
        customer_vid=draw(st.none() | vids),
        forbidden_default_vlan=draw(flags),
        forbidden_vids=draw(vid_sets),
        eee=draw(flags),
        eee_lldp=draw(flags),
        energy_detect=draw(flags),
        short_reach=draw(flags),
        spanning_tree=draw(flags),
        portfast=draw(flags),
        stp_cost=draw(st.none() | st.integers(1, 200_000_000)),
        stp_priority=draw(st.integers(0, 15)) * 16,
        lldp_transmit=draw(flags),
        lldp_receive=draw(flags),
    )
    if not is_lag:
        setting.negotiation = negotiation
        able = [s for s in (10, 100, 1000, 10_000) if s <= speed_mbps]
        if negotiation:
            setting.advertised_mbps = tuple(s for s in able if draw(flags))
        setting.speed_mbps = draw(st.none() | st.sampled_from(able))
        setting.half_duplex = draw(flags)
        setting.mdix = draw(st.sampled_from(("auto", "on", "off")))
        setting.lag = draw(st.none() | st.just(1 if speed_mbps == 1000 else 2))
        setting.lag_mode = draw(st.sampled_from(("on", "auto"))) if setting.lag else "on"
    return setting


@st.composite
def configs(draw: Any) -> Any:
    ports = {p.number: PortConfig() for p in PORTS}
    for number in draw(st.sets(st.sampled_from(PHYSICAL), max_size=4)) | draw(st.sets(st.sampled_from((27, 28)))):
        port = PORTS[number - 1]
        ports[number] = draw(port_configs(is_lag=port.is_lag, speed_mbps=port.speed_mbps))
    unicast = st.binary(min_size=6, max_size=6).map(lambda m: bytes([m[0] & 0xFE, *m[1:]]))
    jumbo = draw(flags)
    return RosConfig(
        ports=ports,
        vlans={v: draw(words.filter(lambda t: len(t) <= 32)) for v in VIDS},
        hostname=draw(st.from_regex(r"[A-Za-z0-9._-]{0,20}", fullmatch=True)),
        location=draw(words.map(_tidy)),
        contact=draw(words),
        users=draw(
            st.dictionaries(
                st.from_regex(r"[a-z]{1,8}", fullmatch=True),
                st.builds(LocalUser, st.from_regex(r"[0-9a-f]{40}", fullmatch=True), st.integers(1, 15)),
                max_size=3,
            )
        ),
        enable_digest=draw(st.none() | st.from_regex(r"[0-9a-f]{40}", fullmatch=True)),
        ageing_s=draw(st.integers(10, 400)),
        statics=draw(
            st.dictionaries(
                st.tuples(vids, unicast),
                st.tuples(st.sampled_from([p.number for p in PORTS]), st.sampled_from(("permanent", "secure"))),
                max_size=4,
            )
        ),
        spanning_tree=draw(flags),
        stp_mode=draw(st.sampled_from(("stp", "rstp", "mst"))),
        stp_priority=draw(st.integers(0, 15)) * 4096,
        eee=draw(flags),
        energy_detect=draw(flags),
        short_reach=draw(flags),
        jumbo=jumbo,
        jumbo_active=jumbo,
        lldp=draw(flags),
        ssh_server=draw(flags),
        ssh_password_auth=draw(flags),
        ssh_pubkey_auth=True,
        pubkey_auto_login=draw(flags),
        exec_timeout_s=draw(st.integers(0, 65535 * 60)),
        snmp_server=["community public ro", "host 198.18.0.1 traps"] if draw(flags) else [],
        management_address=draw(st.sampled_from(("", "198.18.0.9 255.255.255.0"))),
    )


@pytest.mark.slow
@given(configs())
@law(60)
def test_a_configuration_rendered_and_loaded_is_the_same(config: Any) -> None:
    written = RosPersonality(SPEC, PORTS)
    written.config = config
    read = RosPersonality(SPEC, PORTS)
    assert read.load(written.render()) == []
    assert read.config == config
    assert read.render() == written.render()


@given(configs())
@law(30)
def test_the_effect_is_one_that_an_engine_can_have(config: Any) -> None:
    personality = RosPersonality(SPEC, PORTS)
    personality.config = config
    effect = personality.effect()
    in_lag = {n for members in effect.lags.values() for n in members}
    assert effect.vlans.keys() == config.vlans.keys()
    for vlan in effect.vlans.values():
        assert vlan.untagged <= vlan.members
        assert not vlan.members & in_lag
    for number, port in effect.ports.items():
        assert port.pvid in config.vlans
        if number in PHYSICAL:
            assert port.advertised_mbps
            assert port.autoneg or len(port.advertised_mbps) == 1


@given(configs(), vids, st.sets(st.sampled_from(PHYSICAL)), st.sets(st.sampled_from(PHYSICAL)))
@law(40)
def test_setting_a_vlans_ports_gives_exactly_those_and_spares_other_vlans(
    config: Any, vid: Any, egress: Any, some: Any
) -> None:
    personality = RosPersonality(SPEC, PORTS)
    personality.config = config
    for port in config.ports.values():
        port.lag = None
        port.forbidden_vids.discard(vid)
        port.forbidden_default_vlan = False
    before = personality.effect()
    lags = before.vlans[vid].members - set(PHYSICAL)
    untagged = frozenset(egress & some) | (before.vlans[vid].untagged & lags)
    personality.set_vlan_ports(vid, egress=frozenset(egress) | lags, untagged=untagged)
    after = personality.effect()
    assert after.vlans[vid].members == frozenset(egress) | lags
    assert after.vlans[vid].untagged == untagged
    for other in VIDS:
        if other != vid:
            assert after.vlans[other] == before.vlans[other]


@pytest.fixture
def personality() -> Any:
    return RosPersonality(SPEC, PORTS)


def test_neutral_operations_do_what_the_commands_do(personality: Any) -> None:
    by_hand = RosPersonality(SPEC, PORTS)
    by_hand.load(
        "vlan database\nvlan 11\nexit\ninterface vlan 11\nname red\nexit\nno eee enable\nspanning-tree\n"
        "mac address-table aging-time 99\nmac address-table static 02:00:00:00:00:01 vlan 11 interface gi1/0/2\n"
        "interface gi1/0/1\nshutdown\ndescription a b\nno negotiation\nspeed 100\nswitchport access vlan 11\n"
        "no eee enable\nspanning-tree disable\n"
    )
    personality.create_vlan(11)
    personality.rename_vlan(11, "red")
    personality.set_eee(None, on=False)
    personality.set_ageing(99)
    personality.add_static_mac(11, bytes.fromhex("020000000001"), 2)
    personality.set_admin(1, up=False)
    personality.set_alias(1, "a b")
    personality.set_speed(1, 100)
    personality.set_pvid(1, 11)
    personality.set_eee(1, on=False)
    personality.set_stp(1, on=False)
    assert personality.render() == by_hand.render()


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (lambda p: p.set_pvid(1, 99), "no-vlan"),
        (lambda p: p.destroy_vlan(1), "default-vlan"),
        (lambda p: p.destroy_vlan(99), "no-vlan"),
        (lambda p: p.create_vlan(4095), "bad-value"),
        (lambda p: p.set_vlan_ports(1, egress=frozenset({1}), untagged=frozenset({2})), "bad-value"),
        (lambda p: p.set_vlan_ports(1, egress=frozenset({999}), untagged=frozenset()), "bad-value"),
        (lambda p: p.set_speed(1, 10_000), "bad-value"),
        (lambda p: p.set_speed(27, 100), "in-lag"),
        (lambda p: p.set_ageing(9), "bad-value"),
        (lambda p: p.set_alias(1, 'say "hi"'), "bad-value"),
        (lambda p: p.add_static_mac(1, bytes.fromhex("010000000001"), 1), "bad-value"),
        (lambda p: p.set_admin(0, up=True), "bad-value"),
    ],
)
def test_neutral_operations_refuse(personality: Any, operation: Any, reason: Any) -> None:
    with pytest.raises(Refused) as refused:
        operation(personality)
    assert refused.value.reason == reason
    assert len(refused.value.sentence) > 10


def test_an_unknown_model_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="PowerConnect 5548"):
        model_named("PowerConnect 6248")


def test_a_copied_configuration_shares_nothing_that_can_change(device: SwitchDevice) -> None:
    config = device.personality.config
    config.users["meter"] = LocalUser("0" * 40, 15)
    config.snmp_server.append("snmp-server community lab ro")
    config.statics[1, bytes(6)] = (1, "permanent")
    config.ports[1].trunk_vids.add(7)
    copied = copy.deepcopy(config)
    assert copied == config
    assert not _mutable(copied) & _mutable(config)


def _mutable(value: object) -> set[int]:
    """Identities of all containers and records inside."""
    if is_dataclass(value):
        parts: list[object] = [getattr(value, entry.name) for entry in fields(value)]
    elif isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, list | set | tuple):
        parts = list(value)
    else:
        return set()
    own = set() if isinstance(value, tuple) else {id(value)}
    return own.union(*map(_mutable, parts))
