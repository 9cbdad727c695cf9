"""The running configuration of an M4300, in FASTPATH's own terms, and what it means on the wire.

Every accepted line is kept, whether or not it takes effect: which VLAN lines are active depends on
``switchport mode``. Without a mode line the port is in general mode (CLI manual 202-11997, "Default: General mode"; a
live M4300 returned to PVID 1 on ``no switchport mode`` although access and trunk lines were stored). So
``vlan participation``, ``vlan tagging``, ``vlan pvid``, ``vlan acceptframe`` and ``vlan ingressfilter`` are inactive in
access and trunk mode, and ``switchport access …`` and ``switchport trunk …`` are inactive outside their modes.

Values are frozen, so that a copy of a configuration is cheap.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from eee_testbed.twin.families.fastpath.ports import FORCIBLE_MBPS, OFFERED_MBPS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eee_testbed.twin.switch.effect import Acceptable
    from eee_testbed.twin.switch.personality import Port

SwitchportMode = Literal["access", "general", "trunk"]
StaticMac = tuple[int, bytes]  # VID, address

VID_MAX = 4093
MTU_DEFAULT_BYTE = 9198
AGEING_DEFAULT_S = 300
HISTORY_INTERVAL_DEFAULT_S = 3600
HISTORY_SAMPLES_DEFAULT = 168
MAX_STATIC_DEFAULT = 1


@dataclass(frozen=True, slots=True)
class PortConfig:
    """Lines of one interface block. VIDs; times in µs; rates in Mb/s."""

    description: str = ""
    shutdown: bool = False
    # -- negotiation
    autoneg: bool = True
    forced_mbps: int | None = None  # of `speed N full-duplex`; None: the fastest that can be forced
    advertised_mbps: frozenset[int] | None = None  # of `speed auto N …`; None: all
    flow_control: bool = False
    mtu_byte: int = MTU_DEFAULT_BYTE  # frame with FCS
    # -- general mode
    include: frozenset[int] = frozenset({1})
    exclude: frozenset[int] = frozenset()
    tagging: frozenset[int] = frozenset()
    pvid: int = 1
    acceptable: Acceptable = "all"
    ingress_filter: bool = False
    # -- switchport
    mode: SwitchportMode | None = None
    access_vid: int = 1
    native_vid: int = 1
    allowed: frozenset[int] | None = None  # None: all
    # -- green ethernet. A time that was never set is None, one that was reset is 0.
    eee: bool = False
    tx_idle_us: int | None = None
    tx_wake_us: int | None = None
    energy_detect: bool = False
    # -- LLDP; that both are on at first is from memory [M]
    lldp_transmit: bool = True
    lldp_receive: bool = True
    # -- spanning tree, LAG
    spanning_tree: bool = True
    lag: int | None = None  # number of the LAG that it was added to
    lag_static: bool = False  # of a LAG itself
    # -- port security
    locked: bool = False
    max_static: int = MAX_STATIC_DEFAULT
    static_macs: frozenset[StaticMac] = frozenset()


@dataclass(frozen=True, slots=True)
class MacFilter:
    """``macfilter``: bridge ports that may send frames to an address, and those that receive them."""

    sources: frozenset[int] = frozenset()
    destinations: frozenset[int] = frozenset()


@dataclass(slots=True)
class Config:
    """The whole running configuration. `ports` holds every bridge port, LAGs after the physical ones."""

    ports: dict[int, PortConfig]
    vlans: dict[int, str] = field(default_factory=lambda: {1: "default"})  # VID -> name
    hostname: str = ""
    users: dict[str, tuple[str, int]] = field(default_factory=dict)  # name -> (SHA-1 of the password, level)
    spanning_tree: bool = True
    flow_control: bool = False  # switch-wide
    ageing_s: int = AGEING_DEFAULT_S
    port_security: bool = False
    macfilters: dict[StaticMac, MacFilter] = field(default_factory=dict)
    history_interval_s: int = HISTORY_INTERVAL_DEFAULT_S
    history_samples: int = HISTORY_SAMPLES_DEFAULT
    exec_lines: dict[str, str] = field(default_factory=dict)  # stored, not interpreted: key -> line, before `configure`
    global_lines: dict[str, str] = field(default_factory=dict)  # likewise, inside `configure`

    def __deepcopy__(self, memo: dict[int, Any]) -> Config:
        """Copy the tables: all values are immutable."""
        del memo
        copied = copy.copy(self)
        for name in ("ports", "vlans", "users", "macfilters", "exec_lines", "global_lines"):
            setattr(copied, name, dict(getattr(self, name)))
        return copied

    def change(self, ports: Iterable[int], **values: Any) -> None:
        """Replace fields of some ports."""
        for number in ports:
            self.ports[number] = replace(self.ports[number], **values)

    def destroy_vlan(self, vid: int) -> None:
        """Remove a VLAN and every line that mentions it, as the switch does [M]."""
        del self.vlans[vid]
        gone = frozenset({vid})
        for number, port in self.ports.items():
            self.ports[number] = replace(
                port,
                include=port.include - gone,
                exclude=port.exclude - gone,
                tagging=port.tagging - gone,
                pvid=1 if port.pvid == vid else port.pvid,
                access_vid=1 if port.access_vid == vid else port.access_vid,
                native_vid=1 if port.native_vid == vid else port.native_vid,
                static_macs=frozenset(s for s in port.static_macs if s[0] != vid),
            )
        for key in [k for k in self.macfilters if k[0] == vid]:
            del self.macfilters[key]


def factory_config(port_count: int) -> Config:
    """All ports up in VLAN 1 untagged; `port_count` counts LAGs too."""
    return Config(ports=dict.fromkeys(range(1, port_count + 1), PortConfig()))


# -- effect of the lines ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Membership:
    """Effective VLAN membership of one port. `tagged` and `untagged` are disjoint."""

    pvid: int
    untagged: frozenset[int]
    tagged: frozenset[int]
    acceptable: Acceptable
    ingress_filtering: bool

    @property
    def member(self) -> frozenset[int]:
        """VIDs that the port is an egress member of."""
        return self.untagged | self.tagged


def membership(port: PortConfig, vids: frozenset[int]) -> Membership:
    """Return the effective VLAN membership of a port; `vids` are the VLANs that exist.

    Access: one VLAN, untagged, ingress filtered (tagged frames of that VLAN are accepted). Trunk: every existing VLAN
    in the allowed list, tagged except the native one; if that one is not in the list, untagged frames are dropped.
    """
    if port.mode == "access":
        only = frozenset({port.access_vid})
        return Membership(port.access_vid, only, frozenset(), "all", ingress_filtering=True)
    if port.mode == "trunk":
        allowed = vids if port.allowed is None else vids & port.allowed
        native = frozenset({port.native_vid})
        return Membership(port.native_vid, allowed & native, allowed - native, "all", ingress_filtering=True)
    member = port.include & vids
    tagged = member & port.tagging
    return Membership(port.pvid, member - tagged, tagged, port.acceptable, port.ingress_filter)


def offered_mbps(port: Port, config: PortConfig) -> tuple[int, ...]:
    """Return the speeds that autonegotiation offers, ascending, or the one forced speed."""
    if not config.autoneg:
        return (config.forced_mbps or FORCIBLE_MBPS[port.phy][-1],)
    every = OFFERED_MBPS[port.phy]
    chosen = tuple(m for m in every if config.advertised_mbps is None or m in config.advertised_mbps)
    return chosen or every


def lag_members(config: Config) -> dict[int, tuple[int, ...]]:
    """Return LAG number from 1 -> bridge ports added to it, ascending, without empty LAGs."""
    members: dict[int, tuple[int, ...]] = {}
    for number, port in sorted(config.ports.items()):
        if port.lag is not None:
            members[port.lag] = (*members.get(port.lag, ()), number)
    return members


def active_statics(config: Config) -> dict[StaticMac, int]:
    """Return the active static forwarding entries: (VID, address) -> bridge port.

    The only unicast entry of FASTPATH is the statically locked address of port security (``port-security mac-address``,
    at most 20 on a port), which is active while port security is on for the switch and the port [M].

    Simplification: port security drops no frame from an address that is not allowed, and ``macfilter`` (source ports of
    an address, destination ports of a multicast address) none either. Both are kept, shown and saved. A station on a
    wrong port, or multicast on a port outside its filter, could show it.
    """
    statics: dict[StaticMac, int] = {}
    if config.port_security:
        for number, port in sorted(config.ports.items()):
            if port.locked:
                statics.update(dict.fromkeys(sorted(port.static_macs), number))
    return {k: statics[k] for k in sorted(statics) if k[0] in config.vlans}
