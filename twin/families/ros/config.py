"""The running configuration of a ROS switch, and what it means on the wire.

Each switchport mode has its own settings; only those of the active mode take effect (55xx System User Guide, VLAN
chapter). VLAN membership in `general` mode may be untagged in any number of VLANs.

Defaults with their sources:

* access mode in VLAN 1;
* trunk with native VLAN 1 and nothing else [recording of a trunk port in the ntc-templates collection lists only what
  was added];
* general with PVID 1, untagged in VLAN 1, ingress filtering on, all frames admitted (User Guide);
* spanning tree on, RSTP [M];
* EEE on in the switch and on each port (administration guide of the sibling Cisco 350 series);
* ageing 300 s (recording).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal

from eee_testbed.twin.families.ros.models import LAG_COUNT
from eee_testbed.twin.switch.effect import Acceptable, PortEffect, SwitchEffect, VlanEffect
from eee_testbed.twin.switch.personality import Refused, User

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_testbed.twin.switch.personality import Port

SwitchportMode = Literal["access", "trunk", "general", "customer"]
DEFAULT_VLAN = 1
DISCARD_VLAN = 4095  # a PVID that drops untagged frames
JUMBO_BYTE = 9018  # largest frame without FCS under `port jumbo-frame` [M]
NORMAL_BYTE = 1518
ALL_SPEEDS_MBPS = (10, 100, 1000, 10_000)


@dataclass(slots=True)
class PortConfig:
    """Settings of one port or LAG."""

    description: str = ""
    shutdown: bool = False
    negotiation: bool = True
    advertised_mbps: tuple[int, ...] = ()  # () offers all speeds of the port
    speed_mbps: int | None = None  # used without negotiation; None: the fastest
    half_duplex: bool = False
    flow_control: Literal["off", "on", "auto"] = "off"
    back_pressure: bool = False
    mdix: Literal["auto", "on", "off"] = "auto"
    mode: SwitchportMode = "access"
    access_vid: int = DEFAULT_VLAN
    trunk_native_vid: int | None = DEFAULT_VLAN  # None: nothing untagged
    trunk_vids: set[int] = field(default_factory=set)
    general_pvid: int = DEFAULT_VLAN
    general_tagged: set[int] = field(default_factory=set)
    general_untagged: set[int] = field(default_factory=lambda: {DEFAULT_VLAN})
    general_ingress_filtering: bool = True
    general_acceptable: Acceptable = "all"
    customer_vid: int | None = None
    forbidden_default_vlan: bool = False
    forbidden_vids: set[int] = field(default_factory=set)
    eee: bool = True
    eee_lldp: bool = True
    energy_detect: bool = False
    short_reach: bool = False
    spanning_tree: bool = True
    portfast: bool = False
    stp_cost: int | None = None
    stp_priority: int = 128
    lag: int | None = None  # number of the port-channel, from 1
    lag_mode: Literal["on", "auto"] = "on"
    lldp_transmit: bool = True
    lldp_receive: bool = True

    def __deepcopy__(self, _memo: object) -> PortConfig:
        """Copy fast, because every change of configuration copies every port: only the sets are mutable."""
        copied = PortConfig(*_VALUES_OF(self))
        copied.trunk_vids = set(self.trunk_vids)
        copied.general_tagged = set(self.general_tagged)
        copied.general_untagged = set(self.general_untagged)
        copied.forbidden_vids = set(self.forbidden_vids)
        return copied


_VALUES_OF: Final = attrgetter(*(entry.name for entry in fields(PortConfig)))


@dataclass(slots=True)
class LocalUser:
    """A user; the password is kept as the digest that the configuration file shows."""

    digest: str
    privilege: int


@dataclass(slots=True)
class RosConfig:
    """The whole running configuration. `ports` is by bridge-port number, LAGs included."""

    ports: dict[int, PortConfig]
    vlans: dict[int, str] = field(default_factory=lambda: {DEFAULT_VLAN: ""})  # VID -> name, "" for none
    hostname: str = ""
    location: str = ""
    contact: str = ""
    users: dict[str, LocalUser] = field(default_factory=dict)
    enable_digest: str | None = None
    ageing_s: int = 300
    statics: dict[tuple[int, bytes], tuple[int, str]] = field(default_factory=dict)  # -> (port, kind)
    spanning_tree: bool = True
    stp_mode: Literal["stp", "rstp", "mst"] = "rstp"
    stp_priority: int = 32768
    eee: bool = True
    energy_detect: bool = False
    short_reach: bool = False
    jumbo: bool = False
    jumbo_active: bool = False  # since the last boot
    lldp: bool = True
    ssh_server: bool = True
    ssh_password_auth: bool = False
    ssh_pubkey_auth: bool = True
    pubkey_auto_login: bool = True
    exec_timeout_s: int = 600
    snmp_server: list[str] = field(default_factory=list)  # kept as written
    management_address: str = ""

    def __deepcopy__(self, memo: dict[int, object]) -> RosConfig:
        """Copy fast: the many static entries are tuples, which nothing changes."""
        return replace(
            self,
            ports={number: copy.deepcopy(port, memo) for number, port in self.ports.items()},
            vlans=dict(self.vlans),
            users={name: replace(user) for name, user in self.users.items()},
            statics=dict(self.statics),
            snmp_server=list(self.snmp_server),
        )


@dataclass(frozen=True, slots=True)
class Membership:
    """VLAN membership of one port by its active mode; the VLANs need not exist."""

    pvid: int  # DISCARD_VLAN: untagged frames are dropped
    tagged: frozenset[int]
    untagged: frozenset[int]
    ingress_filtering: bool
    acceptable: Acceptable


def membership(port: PortConfig) -> Membership:
    """Return the VLAN settings of the active mode, without forbidden VLANs.

    Simplification: `customer` (Q-in-Q) is an untagged member of its VLAN. A real one wraps tagged frames into a
    second tag instead of dropping them; a capture behind it could show it.
    """
    banned = set(port.forbidden_vids)
    if port.forbidden_default_vlan:
        banned.add(DEFAULT_VLAN)
    if port.mode == "access":
        pvid, tagged, untagged = port.access_vid, set[int](), {port.access_vid}
    elif port.mode == "trunk":
        native = port.trunk_native_vid
        pvid = DISCARD_VLAN if native is None else native
        untagged = set() if native is None else {native}
        tagged = port.trunk_vids - untagged
    elif port.mode == "general":
        pvid, tagged, untagged = port.general_pvid, set(port.general_tagged), set(port.general_untagged)
    else:
        pvid = DISCARD_VLAN if port.customer_vid is None else port.customer_vid
        tagged, untagged = set(), set() if port.customer_vid is None else {port.customer_vid}
    general = port.mode == "general"
    return Membership(
        pvid,
        frozenset(tagged - banned),
        frozenset(untagged - banned),
        port.general_ingress_filtering if general else True,
        port.general_acceptable if general else "all",
    )


def factory_config(ports: Sequence[Port]) -> RosConfig:
    """Return the factory configuration."""
    return RosConfig(ports={p.number: PortConfig() for p in ports})


def effect_of(config: RosConfig, ports: Sequence[Port]) -> SwitchEffect:
    """Return the effect for the engine."""
    in_lag = {n: len(ports) - LAG_COUNT + c.lag for n, c in config.ports.items() if c.lag is not None}
    members: dict[int, set[int]] = {vid: set() for vid in config.vlans}
    untagged: dict[int, set[int]] = {vid: set() for vid in config.vlans}
    effects: dict[int, PortEffect] = {}
    for port in ports:
        setting = config.ports[port.number]
        member = membership(setting)
        effects[port.number] = _port_effect(config, port, setting, member)
        if port.number in in_lag:
            continue
        for vid in (member.tagged | member.untagged) & config.vlans.keys():
            members[vid].add(port.number)
        for vid in member.untagged & config.vlans.keys():
            untagged[vid].add(port.number)
    return SwitchEffect(
        ports=effects,
        vlans={v: VlanEffect(frozenset(members[v]), frozenset(untagged[v])) for v in config.vlans},
        statics={key: port for key, (port, _) in config.statics.items()},
        lags={p.number: tuple(n for n, lag in in_lag.items() if lag == p.number) for p in ports if p.is_lag},
        ageing_s=float(config.ageing_s),
    )


def offered_mbps(port: Port, setting: PortConfig) -> tuple[int, ...]:
    """Return the speeds that the port offers, or its one forced speed."""
    able = tuple(s for s in ALL_SPEEDS_MBPS if s <= port.speed_mbps and (port.speed_mbps < 10_000 or s >= 1000))
    if setting.negotiation:
        return tuple(s for s in able if s in setting.advertised_mbps) or able
    return (setting.speed_mbps or able[-1],)


def eee_enabled(config: RosConfig, port: Port, setting: PortConfig) -> bool:
    """Whether EEE is on: it needs negotiation except at 1 or 10 Gb/s (administration guide of the Cisco 350 series)."""
    return config.eee and setting.eee and (setting.negotiation or offered_mbps(port, setting)[0] >= 1000)


def _port_effect(config: RosConfig, port: Port, setting: PortConfig, member: Membership) -> PortEffect:
    discards = member.pvid == DISCARD_VLAN or member.pvid not in config.vlans
    pvid = DEFAULT_VLAN if discards else member.pvid
    acceptable: Acceptable = "tagged" if discards else member.acceptable
    stp = config.spanning_tree and setting.spanning_tree
    if port.is_lag:
        return PortEffect(
            admin_up=not setting.shutdown,
            pvid=pvid,
            acceptable=acceptable,
            ingress_filtering=member.ingress_filtering,
            stp=stp,
        )
    lag = None if setting.lag is None else config.ports[len(config.ports) - LAG_COUNT + setting.lag]
    return PortEffect(
        admin_up=not setting.shutdown and not (lag is not None and lag.shutdown),
        autoneg=setting.negotiation,
        advertised_mbps=offered_mbps(port, setting),
        flow_control=setting.flow_control != "off",
        eee=eee_enabled(config, port, setting),
        mtu_byte=JUMBO_BYTE if config.jumbo_active else NORMAL_BYTE,
        stp=stp and setting.lag is None,
        pvid=pvid,
        acceptable=acceptable,
        ingress_filtering=member.ingress_filtering,
    )


def need_vlans(config: RosConfig, vids: Sequence[int]) -> None:
    """Raise `Refused` unless all these VLANs exist."""
    missing = [v for v in vids if v not in config.vlans]
    if missing:
        raise Refused(f"VLAN {missing[0]} does not exist: create it in the VLAN database first", reason="no-vlan")


def forget_vlan(config: RosConfig, vid: int) -> None:
    """Remove a VLAN and every reference to it; access ports fall back to VLAN 1, PVIDs to the discard VLAN [M]."""
    del config.vlans[vid]
    for port in config.ports.values():
        port.trunk_vids.discard(vid)
        port.general_tagged.discard(vid)
        port.general_untagged.discard(vid)
        port.forbidden_vids.discard(vid)
        if port.access_vid == vid:
            port.access_vid = DEFAULT_VLAN
        if port.trunk_native_vid == vid:
            port.trunk_native_vid = DEFAULT_VLAN
        if port.general_pvid == vid:
            port.general_pvid = DISCARD_VLAN
        if port.customer_vid == vid:
            port.customer_vid = None
    for key in [k for k in config.statics if k[0] == vid]:
        del config.statics[key]


def user_digests(config: RosConfig) -> dict[str, User]:
    """Return the users of the configuration, their passwords as `sha1:` digests."""
    return {n: User(n, f"sha1:{u.digest}", u.privilege) for n, u in config.users.items()}
