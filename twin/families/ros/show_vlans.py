"""`show vlan`, `show mac address-table`, `show spanning-tree`, `show lldp` of ROS; from recordings where noted."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from eee_testbed.twin.families.ros.columns import Align, folded, ranges, row, rule
from eee_testbed.twin.families.ros.config import DEFAULT_VLAN
from eee_testbed.twin.families.ros.render import mac_text
from eee_testbed.twin.families.ros.show_interfaces import chosen_ports, config_of, shown_name

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Session
    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.personality import Port

_VLAN = (4, 17, 27, 16)
_VLAN_ALIGN: tuple[Align, ...] = ("^", "^", "^", "^")


def vlan(session: Session, match: Match[Any]) -> str:
    """`show vlan [tag VID | name NAME]` (recording): members by their active modes, without LAG members."""
    device = session.device
    config = config_of(device)
    vids = sorted(config.vlans)
    if match.get("vid") is not None:
        vids = [v for v in vids if v == match.get("vid")]
    elif match.get("vlan-name") is not None:
        vids = [v for v in vids if (config.vlans[v] or str(v)) == match.get("vlan-name")]
    if not vids:
        return "VLAN does not exist\n"
    text = "Created by: D-Default, S-Static, G-GVRP, R-Radius Assigned VLAN\n\n"
    text += row(("Vlan", "Name", "Ports", "Created by"), _VLAN, _VLAN_ALIGN) + "\n" + rule(_VLAN) + "\n"
    for vid in vids:
        members = device.effect.vlans[vid].members if vid in device.effect.vlans else frozenset()
        ports = ranges([shown_name(device.port(n)) for n in sorted(members)])
        created = "D" if vid == DEFAULT_VLAN else "S"
        names = folded(config.vlans[vid] or str(vid), _VLAN[1])
        columns = zip_longest((str(vid),), names, folded(ports, _VLAN[2]), (created,), fillvalue="")
        text += "".join(row(cells, _VLAN, _VLAN_ALIGN) + "\n" for cells in columns)
    return text


_FDB = (12, 21, 10, 10)


def mac_table(session: Session, match: Match[Any]) -> str:
    """`show mac address-table [dynamic|static] [vlan V] [interface P] [address M]` (recording)."""
    device = session.device
    text = f"Flags: I - Internal usage VLAN\nAging time is {config_of(device).ageing_s} sec\n\n"
    text += row(("Vlan", "Mac Address", "Port", "Type"), _FDB, ("^", "^", "^", "^")) + "\n" + rule(_FDB) + "\n"
    for vid, mac, port, kind in _entries(device, match):
        text += row((str(vid), mac_text(mac), port, kind), _FDB, ("^", "^", "^", "^")) + "\n"
    return text


def _entries(device: SwitchDevice, match: Match[Any]) -> list[tuple[int, bytes, str, str]]:
    """(VID, MAC, port, type) in order; the switch's own address comes first, as `self`."""
    one_port = match.get("port")
    entries = []
    for entry in device.engine.fdb(device.switch):
        port = device.port_of_engine(entry["port"])
        if port is None or (one_port is not None and port.number != one_port[0]):
            continue
        entries.append((entry["vid"], entry["mac"], shown_name(port), "static" if entry["static"] else "dynamic"))
    if one_port is None:
        entries.append((DEFAULT_VLAN, device.spec.base_mac, "0", "self"))
    kinds = {k for k in ("dynamic", "static") if match.has(k)}
    return sorted((e for e in entries if _fits(e, match, kinds)), key=lambda e: (e[0], e[1]))


def _fits(entry: tuple[int, bytes, str, str], match: Match[Any], kinds: set[str]) -> bool:
    vid, mac, _, kind = entry
    return match.get("vid") in {None, vid} and match.get("mac") in {None, mac} and (not kinds or kind in kinds)


def mac_count(session: Session, _match: Match[Any]) -> str:
    """`show mac address-table count` [M]."""
    device = session.device
    entries = device.engine.fdb(device.switch)
    static = sum(e["static"] for e in entries)
    return (
        "This may take some time.\n\n"
        "Capacity : 16384\n"
        f"Free     : {16384 - len(entries) - 1}\n"
        f"Used     : {len(entries) + 1}\n"
        f"  Dynamic addresses : {len(entries) - static}\n"
        f"  Static addresses  : {static}\n"
        "  Internal addresses: 1\n"
    )


def spanning_tree(session: Session, match: Match[Any]) -> str:
    """`show spanning-tree [PORT]` (layout from a transcript of a sibling).

    Simplification: the root and the timers are not those of an election; see `SwitchDevice.set_blocked`.
    """
    device = session.device
    config = config_of(device)
    head = "Spanning tree enabled" if config.spanning_tree else "Spanning tree disabled (BPDU flooding)"
    text = (
        f"{head} mode {config.stp_mode.upper()}\n"
        "Default port cost method:  short\n\n"
        f"  Bridge ID  Priority    {config.stp_priority}\n"
        f"             Address     {mac_text(device.spec.base_mac)}\n"
        "             Hello Time  2 sec  Max Age 20 sec  Forward Delay 15 sec\n\n"
        "Interfaces\n"
        "  Name     State   Prio.Nbr   Cost     Sts   Role PortFast       Type\n"
        "--------- -------- --------- --------- ---- ---- -------- -----------------\n"
    )
    for port in chosen_ports(session, match):
        if not port.is_lag or device.effect.lags.get(port.number):
            text += _tree_row(device, port)
    return text


def _tree_row(device: SwitchDevice, port: Port) -> str:
    setting = config_of(device).ports[port.number]
    on = "enabled" if setting.spanning_tree else "disabled"
    now = device.engine.port(port.engine_port)
    cost = setting.stp_cost or {10: 100, 100: 19, 1000: 4, 10_000: 2}.get(now["speed_mbps"], 100)
    blocked = port.number in device.blocked
    state = "Dscr" if blocked else "Frw" if now["oper_up"] else "Dsbl"
    role = "Altn" if blocked else "Desg" if now["oper_up"] else "Dsbl"
    fast = "Yes" if setting.portfast else "No"
    kind = "P2P (RSTP)" if now["oper_up"] else "-"
    number = f"{setting.stp_priority}.{port.if_index}"
    return (
        f"{shown_name(port):^9} {on:^8} {number:^9} {cost:^9} {state:^4} {role:^4} {fast:^8} {kind:^17}".rstrip() + "\n"
    )


_LLDP = (9, 17, 13, 17, 12, 5)


def lldp_neighbours(session: Session, match: Match[Any]) -> str:
    """`show lldp neighbors [PORT]` (recording)."""
    device = session.device
    text = (
        "\nSystem capability legend:\n"
        "B - Bridge; R - Router; W - Wlan Access Point; T - telephone;\n"
        "D - DOCSIS Cable Device; H - Host; r - Repeater;\n"
        "TP - Two Ports MAC Relay; S - S-VLAN; C - C-VLAN; O - Other\n\n"
        "  Port        Device ID        Port ID       System Name    Capabilities  TTL\n" + rule(_LLDP) + "\n"
    )
    for port in chosen_ports(session, match):
        for seen in () if port.is_lag else device.neighbours(port.number):
            cells = (port.name, seen.chassis, seen.port, seen.system_name, seen.capabilities, str(seen.ttl_s))
            text += row(cells, _LLDP, ("<", "^", "^", "^", "^", "^")) + "\n"
    return text
