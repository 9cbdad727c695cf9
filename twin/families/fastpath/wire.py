"""From the running configuration to its effect in the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_testbed.twin.families.fastpath.config import active_statics, lag_members, membership, offered_mbps
from eee_testbed.twin.families.fastpath.ports import LAG_COUNT
from eee_testbed.twin.switch.effect import PortEffect, SwitchEffect, VlanEffect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eee_testbed.twin.families.fastpath.config import Config, PortConfig
    from eee_testbed.twin.switch.personality import DeviceSpec, Port

FCS_BYTE = 4


def switch_effect(
    config: Config, ports: Sequence[Port], spec: DeviceSpec, phy_wake_us: Mapping[str, float]
) -> SwitchEffect:
    """Return the effect of the configuration; `phy_wake_us` is Tw by PHY name.

    A port in a LAG forwards with the LAG's VLANs, its own are inactive; shutting the LAG shuts its members.

    Simplifications: a LAG that is not ``port-channel static`` comes up as if its partner spoke LACP (captured LACPDUs,
    and a partner without LACP, could show it); an empty LAG is not a member of any VLAN in the engine (SNMP's egress
    port lists could show it).
    """
    physical = len(ports) - LAG_COUNT
    used = lag_members(config)
    lags = {physical + n: used.get(n, ()) for n in range(1, LAG_COUNT + 1)}
    vids = frozenset(config.vlans)
    port_effects: dict[int, PortEffect] = {}
    members: dict[int, set[int]] = {vid: set() for vid in vids}
    untagged: dict[int, set[int]] = {vid: set() for vid in vids}
    for port in ports:
        port_config = config.ports[port.number]
        vlan = membership(port_config, vids)
        in_lag = not port.is_lag and port_config.lag is not None
        if not in_lag and lags.get(port.number, (0,)):
            for vid in vlan.member:
                members[vid].add(port.number)
            for vid in vlan.untagged:
                untagged[vid].add(port.number)
        shut = port_config.shutdown or (
            in_lag and port_config.lag is not None and config.ports[physical + port_config.lag].shutdown
        )
        port_effects[port.number] = PortEffect(
            admin_up=not shut,
            autoneg=port_config.autoneg,
            advertised_mbps=() if port.is_lag else offered_mbps(port, port_config),
            flow_control=config.flow_control or port_config.flow_control,
            eee=port_config.eee,
            mtu_byte=port_config.mtu_byte - FCS_BYTE,
            pvid=vlan.pvid,
            acceptable=vlan.acceptable,
            ingress_filtering=vlan.ingress_filtering,
            stp=config.spanning_tree and port_config.spanning_tree,
            lpi_hold_us=hold_us(port_config, spec),
            lpi_wake_us=wake_us(port_config, spec, phy_wake_us.get(port.phy, 0.0)),
        )
    return SwitchEffect(
        ports=port_effects,
        vlans={vid: VlanEffect(frozenset(members[vid]), frozenset(untagged[vid])) for vid in sorted(vids)},
        statics=active_statics(config),
        lags=lags,
        ageing_s=float(config.ageing_s),
    )


def hold_us(port: PortConfig, spec: DeviceSpec) -> float | None:
    """Idle time before LPI. 0, the factory value of ``tx-idle-time``, means the hardware's own [D].

    None if it was never set: the transmitter keeps its default. A value beyond the hardware's limits is
    clipped silently.
    """
    if port.tx_idle_us is None:
        return None
    if port.tx_idle_us == 0:
        return spec.lpi_hold_us
    low, high = spec.hold_limit_us
    return min(max(float(port.tx_idle_us), low), high)


def wake_us(port: PortConfig, spec: DeviceSpec, phy_us: float) -> float | None:
    """Tw: ``tx-wake-time`` if it is longer than the hardware's; None if it was never set."""
    if port.tx_wake_us is None:
        return None
    port_us = phy_us if spec.lpi_wake_us is None else spec.lpi_wake_us
    low, high = spec.wake_limit_us
    return max(port_us, min(max(float(port.tx_wake_us), low), high)) if port.tx_wake_us else port_us
