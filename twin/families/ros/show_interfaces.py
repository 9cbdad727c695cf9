"""`show interfaces …` of ROS.

Columns from recordings of the same software (ntc-templates `cisco_s300`, PowerConnect 3548, Linksys SPS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eee_testbed.twin.families.ros.columns import Align, ranges, row, rule
from eee_testbed.twin.families.ros.config import (
    DEFAULT_VLAN,
    DISCARD_VLAN,
    PortConfig,
    RosConfig,
    membership,
    offered_mbps,
)
from eee_testbed.twin.families.ros.render import interface

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Session
    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.personality import Port

NONE = "--"


def config_of(device: SwitchDevice) -> RosConfig:
    """Return the running configuration as this family's type."""
    config: RosConfig = device.personality.config
    return config


def shown_name(port: Port) -> str:
    """Return a port's name as shown: LAGs have a capital (recording: `Po1`)."""
    return f"P{port.name[1:]}" if port.is_lag else port.name


def chosen_ports(session: Session, match: Match[Any]) -> list[Port]:
    """Return the named interfaces, or all."""
    numbers = match.get("ports") or match.get("port")
    return list(session.device.ports) if numbers is None else [session.device.port(n) for n in numbers]


def _kind(port: Port) -> str:
    return "10G-Fiber" if port.speed_mbps >= 10_000 else "1G-Copper"


def lag_members(device: SwitchDevice, lag: Port) -> list[Port]:
    """Return the member ports of a LAG."""
    return [device.port(n) for n in device.effect.lags.get(lag.number, ())]


_STATUS = (8, 12, 6, 5, 8, 4, 11, 8, 7)
_STATUS_HEAD = (
    "                                             Flow Link          Back   Mdix\n"
    "Port     Type         Duplex  Speed Neg      ctrl State       Pressure Mode\n"
    "-------- ------------ ------  ----- -------- ---- ----------- -------- -------\n"
)
_LAG_STATUS_HEAD = (
    "                                          Flow    Link\n"
    "Ch       Type    Duplex  Speed  Neg      control  State\n"
    "-------- ------- ------  -----  -------- -------  -----------\n"
)


def status(session: Session, match: Match[Any]) -> str:
    """`show interfaces status [PORT]`."""
    ports = chosen_ports(session, match)
    text = ""
    if any(not p.is_lag for p in ports):
        text += _STATUS_HEAD + "".join(_status_row(session.device, p) for p in ports if not p.is_lag)
    if any(p.is_lag for p in ports):
        text += ("\n" if text else "") + _LAG_STATUS_HEAD
        text += "".join(_lag_status_row(session.device, p) for p in ports if p.is_lag)
    return text


def _status_row(device: SwitchDevice, port: Port) -> str:
    now = device.engine.port(port.engine_port)
    name = f"{port.name:<8} {_kind(port):<12}"
    if not now["oper_up"]:
        return f"{name}   --      --     --     --  Down           --     --\n"
    negotiated = "Enabled" if now["autoneg"] else "Disabled"
    flow = "On" if now["flow_control_rx"] or now["flow_control_tx"] else "Off"
    pressure = "Enabled" if config_of(device).ports[port.number].back_pressure else "Disabled"
    return f"{name} Full    {now['speed_mbps']:<5} {negotiated:<8} {flow:<4} {'Up':<11} {pressure:<8} Off\n"


def _lag_status_row(device: SwitchDevice, lag: Port) -> str:
    members = lag_members(device, lag)
    if not members:
        return f"{shown_name(lag):<8}    --     --      --      --       --    Not Present\n"
    states = [device.engine.port(p.engine_port) for p in members]
    up = [s for s in states if s["oper_up"]]
    kind = "10G" if members[0].speed_mbps >= 10_000 else "1G"
    if not up:
        return f"{shown_name(lag):<8} {kind:<7}   --      --      --       --    Down\n"
    flow = "On" if any(s["flow_control_rx"] for s in up) else "Off"
    negotiated = "Enabled" if up[0]["autoneg"] else "Disabled"
    return f"{shown_name(lag):<8} {kind:<7} Full    {up[0]['speed_mbps']:<6} {negotiated:<8} {flow:<7}  Up\n"


_CONFIGURATION_HEAD = (
    "                                               Flow    Admin     Back   Mdix\n"
    "Port     Type         Duplex  Speed  Neg      control  State   Pressure Mode\n"
    "-------- ------------ ------  -----  -------- -------  -----   -------- ----\n"
)
_LAG_CONFIGURATION_HEAD = (
    "                                  Flow    Admin\n"
    "Ch       Type    Speed  Neg      control  State\n"
    "-------- ------- -----  -------- -------  -----\n"
)


def configuration(session: Session, match: Match[Any]) -> str:
    """`show interfaces configuration [PORT]`."""
    ports = chosen_ports(session, match)
    settings = config_of(session.device).ports
    text = ""
    if any(not p.is_lag for p in ports):
        text += _CONFIGURATION_HEAD
        text += "".join(_configuration_row(p, settings[p.number]) for p in ports if not p.is_lag)
    if any(p.is_lag for p in ports):
        text += ("\n" if text else "") + _LAG_CONFIGURATION_HEAD
        for lag in (p for p in ports if p.is_lag):
            setting = settings[lag.number]
            state = "Down" if setting.shutdown else "Up"
            flow = setting.flow_control.capitalize()
            text += f"{shown_name(lag):<8} {NONE:^7} {NONE:<6} {'Enabled':<8} {flow:<7}  {state}\n"
    return text


def _configuration_row(port: Port, setting: PortConfig) -> str:
    speed = str(offered_mbps(port, setting)[-1])
    negotiated = "Enabled" if setting.negotiation else "Disabled"
    duplex = "Half" if setting.half_duplex else "Full"
    state = "Down" if setting.shutdown else "Up"
    pressure = "Enabled" if setting.back_pressure else "Disabled"
    flow = setting.flow_control.capitalize()
    return (
        f"{port.name:<8} {_kind(port):<12} {duplex:<7} {speed:<6} {negotiated:<8} {flow:<7}  {state:<7} "
        f"{pressure:<8} {setting.mdix.capitalize()}\n"
    )


def description(session: Session, match: Match[Any]) -> str:
    """`show interfaces description [PORT]` (recording)."""
    ports = chosen_ports(session, match)
    settings = config_of(session.device).ports
    text = ""
    for head, lags in (("Port", False), ("Ch", True)):
        rows = [p for p in ports if p.is_lag == lags]
        if rows:
            text += "\n" if text else ""
            text += f"{head:<9} Description\n-------   -----------\n"
            text += "".join(f"{shown_name(p):<9} {settings[p.number].description}".rstrip() + "\n" for p in rows)
    return text


_COUNTERS = (16, 12, 12, 12, 12)
_CENTRED: tuple[Align, ...] = ("^",) * 5


def counters(session: Session, match: Match[Any]) -> str:
    """`show interfaces counters [PORT]`; one port also gets the EtherLike counters (recording of a sibling)."""
    ports = chosen_ports(session, match)
    device = session.device
    counted = {p.number: device.engine.counters(p.engine_port) for p in ports}
    text = ""
    for head, direction in (
        (("InUcastPkts", "InMcastPkts", "InBcastPkts", "InOctets"), "in"),
        (("OutUcastPkts", "OutMcastPkts", "OutBcastPkts", "OutOctets"), "out"),
    ):
        text += "\n" + row(("Port", *head), _COUNTERS, _CENTRED) + "\n" + rule(_COUNTERS) + "\n"
        for port in ports:
            now: Any = counted[port.number]
            cells = [str(now[f"{direction}_{k}"]) for k in ("ucast", "mcast", "bcast", "octets")]
            text += row((shown_name(port), *cells), _COUNTERS, _CENTRED) + "\n"
    if len(ports) == 1 and not ports[0].is_lag:
        text += "\n" + _etherlike(counted[ports[0].number])
    return text


def _etherlike(now: Any) -> str:
    lines = (
        ("Alignment Errors", 0),
        ("FCS Errors", now["in_errors"]),
        ("Single Collision Frames", 0),
        ("Multiple Collision Frames", 0),
        ("SQE Test Errors", 0),
        ("Deferred Transmissions", 0),
        ("Late Collisions", 0),
        ("Excessive Collisions", 0),
        ("Carrier Sense Errors", 0),
        ("Oversize Packets", now["in_too_long"]),
        ("Internal MAC Rx Errors", 0),
        ("Symbol Errors", 0),
        ("Received Pause Frames", now["in_pause"]),
        ("Transmitted Pause Frames", now["out_pause"]),
    )
    return "".join(f"{name}: {value}\n" for name, value in lines)


_MEMBER = (4, 32, 11, 20)
_MEMBER_ALIGN: tuple[Align, ...] = ("<", "^", "^", "^")
_FORBIDDEN = (4, 32)
_ACCEPTABLE = {"all": "admitAll", "tagged": "admitOnlyVlanTagged", "untagged": "admitOnlyUntaggedAndPriority"}


def switchport(session: Session, match: Match[Any]) -> str:
    """`show interfaces switchport [PORT]` (recording)."""
    config = config_of(session.device)
    return "\n".join(_switchport(config, p) for p in chosen_ports(session, match))


def _switchport(config: RosConfig, port: Port) -> str:
    setting = config.ports[port.number]
    member = membership(setting)
    native = "None" if member.pvid == DISCARD_VLAN else str(member.pvid)
    text = (
        f"Port : {shown_name(port)}\n"
        f"Port Mode: {setting.mode.capitalize()}\n"
        "Gvrp Status: disabled\n"
        f"Ingress Filtering: {'true' if member.ingress_filtering else 'false'}\n"
        f"Acceptable Frame Type: {_ACCEPTABLE[member.acceptable]}\n"
        f"Ingress UnTagged VLAN ( NATIVE ): {native}\n\n"
        "Port is member in:\n\n"
        "Vlan               Name               Egress rule Port Membership Type\n" + rule(_MEMBER) + "\n"
    )
    for vid in sorted((member.tagged | member.untagged) & config.vlans.keys()):
        egress = "Untagged" if vid in member.untagged else "Tagged"
        kind = "System" if vid == DEFAULT_VLAN else "Static"
        name = config.vlans[vid] or str(vid)
        text += row((str(vid), name, egress, kind), _MEMBER, _MEMBER_ALIGN) + "\n"
    text += "\n\nForbidden VLANS:\nVlan               Name\n" + rule(_FORBIDDEN) + "\n"
    forbidden = set(setting.forbidden_vids) | ({DEFAULT_VLAN} if setting.forbidden_default_vlan else set())
    for vid in sorted(forbidden):
        text += row((str(vid), config.vlans.get(vid) or str(vid)), _FORBIDDEN, ("<", "^")) + "\n"
    return text + "\n\nClassification rules:\n\nMac based VLANs:\n  Group ID   Vlan ID\n------------ -------\n\n"


def port_channel(session: Session, match: Match[Any]) -> str:
    """`show interfaces port-channel` [M]."""
    device = session.device
    lines = ["Load balancing: src-dst-mac.", "", "Gathering information...", "", "Channel  Ports", "-------  -----"]
    for lag in (p for p in device.ports if p.is_lag):
        members = lag_members(device, lag)
        if not members and match.get("port") != (lag.number,):
            continue
        active = [p.name for p in members if device.engine.port(p.engine_port)["oper_up"]]
        inactive = [p.name for p in members if p.name not in active]
        parts = [f"{label}: {ranges(names)}" for label, names in (("Active", active), ("Inactive", inactive)) if names]
        lines.append(f"{shown_name(lag):<8} {', '.join(parts)}".rstrip())
    return "\n".join(lines) + "\n"


def running_of(ports: Sequence[Port], config: RosConfig) -> str:
    """`show running-config interface PORT`."""
    lines = [line for p in ports for line in interface(config.ports[p.number], p)]
    return "".join(f"{line}\n" for line in lines) or "Empty configuration\n"
