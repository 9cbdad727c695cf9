"""What a switch's configuration means on the wire, and how it reaches the engine.

A family keeps its configuration in its own terms (modes whose settings are inactive, names, dialogues). What
forwards frames is the *effect*: a frozen value that every family can compute and the engine can apply. Bridge-port
numbers are used throughout (1-based; LAGs follow the physical ports); `apply_effect` translates to engine port ids and
sends only what differs, so that an unchanged port is never disturbed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eee_engine import LpiTiming, _Fabric

Acceptable = Literal["all", "tagged", "untagged"]


@dataclass(frozen=True, slots=True)
class PortEffect:
    """What one port does. `advertised_mbps` is the autonegotiation offer, or the one forced speed.

    For a LAG only `pvid`, `acceptable` and `ingress_filtering` reach the engine; its members carry the rest.
    `stp` says whether a spanning tree may block the port: a tree over all switches is computed elsewhere and set
    with `SwitchDevice.set_blocked`. `lpi_hold_us` and `lpi_wake_us` are for families whose command line sets them; None
    leaves the transmitter as it is.
    """

    admin_up: bool = True
    autoneg: bool = True
    advertised_mbps: tuple[int, ...] = ()
    flow_control: bool = False
    eee: bool = False
    mtu_byte: int = 1518
    pvid: int = 1
    acceptable: Acceptable = "all"
    ingress_filtering: bool = True
    stp: bool = False
    lpi_hold_us: float | None = None
    lpi_wake_us: float | None = None


@dataclass(frozen=True, slots=True)
class VlanEffect:
    """Egress of one VLAN; `untagged` is a subset of `members`."""

    members: frozenset[int] = frozenset()
    untagged: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class SwitchEffect:
    """What a whole switch does. `statics` maps (VID, MAC) to a port; `lags` maps a LAG to its member ports."""

    ports: Mapping[int, PortEffect] = field(default_factory=dict)
    vlans: Mapping[int, VlanEffect] = field(default_factory=dict)
    statics: Mapping[tuple[int, bytes], int] = field(default_factory=dict)
    lags: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    ageing_s: float = 300.0


def apply_effect(
    target: _Fabric,
    switch: int,
    engine_port: Mapping[int, int],
    before: SwitchEffect | None,
    after: SwitchEffect,
) -> None:
    """Bring the engine from `before` to `after`; `before` None means a switch that was just powered on.

    `engine_port` maps bridge ports (LAGs included) to engine port ids. What `before` lacks is sent completely. Removals
    come first (ports shut, static entries, VLANs), then LAGs, VLANs and their ports; ports are brought up last, so that
    no frame crosses an incomplete configuration. `FabricError` passes through.
    """
    old = before if before is not None else SwitchEffect(vlans={1: VlanEffect()}, ageing_s=-1.0)
    _apply_admin(target, engine_port, old, after, up=False)
    for vid, mac in sorted(old.statics.keys() - after.statics.keys()):
        target.remove_static(switch, vid, mac)
    for vid in sorted(old.vlans.keys() - after.vlans.keys()):
        target.remove_vlan(switch, vid)
    _apply_lags(target, engine_port, old, after)
    fresh = {v: e for v, e in after.vlans.items() if before is None or old.vlans.get(v) != e}
    for vid, vlan in sorted(fresh.items()):
        target.set_vlan(
            switch,
            vid,
            members=[engine_port[n] for n in sorted(vlan.members)],
            untagged=[engine_port[n] for n in sorted(vlan.untagged)],
        )
    for number, port in after.ports.items():
        _apply_port(target, engine_port[number], old.ports.get(number), port, is_lag=number in after.lags)
    for vid, mac in sorted(k for k, n in after.statics.items() if old.statics.get(k) != n):
        target.set_static(switch, vid, mac, engine_port[after.statics[vid, mac]])
    if old.ageing_s != after.ageing_s:
        target.set_bridge(switch, ageing_s=after.ageing_s)
    _apply_admin(target, engine_port, old, after, up=True)


def _apply_lags(target: _Fabric, engine_port: Mapping[int, int], old: SwitchEffect, new: SwitchEffect) -> None:
    """Let ports leave their LAG before they join another: a port is in at most one."""
    now = dict(old.lags)
    for lag, members in sorted(old.lags.items()):
        staying = tuple(m for m in members if m in new.lags.get(lag, ()))
        if staying != members:
            target.set_lag(engine_port[lag], [engine_port[m] for m in staying])
            now[lag] = staying
    for lag, members in sorted(new.lags.items()):
        if now.get(lag, ()) != members:
            target.set_lag(engine_port[lag], [engine_port[m] for m in members])


def _apply_admin(
    target: _Fabric, engine_port: Mapping[int, int], old: SwitchEffect, new: SwitchEffect, *, up: bool
) -> None:
    """Shut down or bring up the physical ports whose admin state changed to this one."""
    for number, port in new.ports.items():
        if number not in new.lags and port.admin_up is up and _differs(old.ports.get(number), port, "admin_up"):
            target.set_port(engine_port[number], admin_up=up)


def _differs(old: PortEffect | None, new: PortEffect, name: str) -> bool:
    return old is None or getattr(old, name) != getattr(new, name)


def _apply_port(target: _Fabric, port: int, old: PortEffect | None, new: PortEffect, *, is_lag: bool) -> None:
    """Send one port's differences except `admin_up`: VLAN settings for all, PHY settings for physical ports only."""
    if any(_differs(old, new, n) for n in ("pvid", "acceptable", "ingress_filtering")):
        target.set_port_vlan(port, pvid=new.pvid, acceptable=new.acceptable, ingress_filtering=new.ingress_filtering)
    if is_lag:
        return
    _apply_lpi(target, port, old, new)
    negotiation = _differs(old, new, "autoneg") or _differs(old, new, "advertised_mbps")
    rest = [n for n in ("flow_control", "eee", "mtu_byte") if _differs(old, new, n)]
    if negotiation or rest:
        target.set_port(
            port,
            autoneg=new.autoneg if negotiation else None,
            advertised_mbps=list(new.advertised_mbps) if negotiation else None,
            flow_control=new.flow_control if "flow_control" in rest else None,
            eee=new.eee if "eee" in rest else None,
            mtu_byte=new.mtu_byte if "mtu_byte" in rest else None,
        )


def _apply_lpi(target: _Fabric, port: int, old: PortEffect | None, new: PortEffect) -> None:
    """Send hold and wake times that are set and differ; the engine merges them into the rest of its timing."""
    timing: LpiTiming = {}
    if new.lpi_hold_us is not None and _differs(old, new, "lpi_hold_us"):
        timing["hold_us"] = new.lpi_hold_us
    if new.lpi_wake_us is not None and _differs(old, new, "lpi_wake_us"):
        timing["wake_us"] = new.lpi_wake_us
    if timing:
        target.set_lpi(port, timing=timing)
