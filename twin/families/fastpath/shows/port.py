"""``show port …`` and interface counters.

Columns of `show port all` and the lines of `show interface ethernet` as an M4300-24X prints them (firmware 12.0.13);
`show port status` and `show interface counters` follow the manual's wording, their columns are [M].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_testbed.twin.families.fastpath.config import MTU_DEFAULT_BYTE
from eee_testbed.twin.families.fastpath.layout import Column, dotted, enabled, span, table
from eee_testbed.twin.families.fastpath.ports import FORCIBLE_MBPS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eee_engine import PortCounters, PortState

    from eee_testbed.twin.families.fastpath.config import PortConfig
    from eee_testbed.twin.switch.personality import Port


@dataclass(frozen=True, slots=True)
class PortView:
    """A port for shows. `flow_control` is as configured, including the switch-wide setting."""

    port: Port
    config: PortConfig
    state: PortState
    flow_control: bool
    spanning_tree: bool


_STATUS_COLUMNS = (
    Column(("", "Intf"), 9),
    Column(("", "Type"), 6),
    Column(("Admin", "Mode"), 9),
    Column(("Physical", "Mode"), 10),
    Column(("Physical", "Status"), 10),
    Column(("Link", "Status"), 6),
    Column(("Link", "Trap"), 7),
    Column(("LACP", "Mode"), 6),
    Column(("Flow", "Mode"), 7),
    Column(("Stack", "Capable"), 8),
)
_STATUS = (
    Column(("", "Intf"), 9),
    Column(("Media", "Type"), 11),
    Column(("STP", "Mode"), 8),
    Column(("Physical", "Mode"), 10),
    Column(("Physical", "Status"), 10),
    Column(("Link", "Status"), 6),
    Column(("Loop", "Status"), 6),
    Column(("Partner", "Flow Control"), 12),
)
_NAMES = (
    Column(("Port",), 10),
    Column(("Name",), 32),
    Column(("Admin",), 6, 2),
    Column(("Link",), 6, 3),
    Column(("Speed",), 13, 3),
    Column(("Type",), 11),
)
_IN = tuple(
    Column((name,), w)
    for name, w in zip(
        ("Port", "InOctets", "InUcastPkts", "InMcastPkts", "InBcastPkts"), (10, 18, 16, 16, 16), strict=True
    )
)
_OUT = tuple(Column((c.heading[0].replace("In", "Out"),), c.width) for c in _IN)


def rate_text(mbps: int) -> str:
    """``1000 Full``, ``10G Full``."""
    return f"{mbps // 1000}G Full" if mbps >= 2500 else f"{mbps} Full"


def physical_mode(view: PortView) -> str:
    """Return ``Auto`` or the forced rate, also for members of a LAG; empty for a LAG."""
    if view.port.is_lag:
        return ""
    if view.config.autoneg:
        return "Auto"
    return rate_text(view.config.forced_mbps or FORCIBLE_MBPS[view.port.phy][-1])


def port_all(views: Iterable[PortView]) -> list[str]:
    """``show port all``."""
    rows = []
    for view in views:
        lag = view.port.is_lag
        state = view.state
        rows.append(
            (
                view.port.name,
                "PC Mbr" if view.config.lag is not None else "",
                enabled(not view.config.shutdown),
                physical_mode(view),
                rate_text(state["speed_mbps"]) if state["oper_up"] and not lag else "",
                "Up" if state["oper_up"] else "Down",
                "Disable" if lag else "Enable",
                "N/A" if lag else "Enable",
                enabled(view.flow_control),
                "No" if lag else "Yes",
            )
        )
    return table(_STATUS_COLUMNS, rows)


def port_status(views: Iterable[PortView]) -> list[str]:
    """``show port status all``."""
    rows = []
    for view in views:
        state = view.state
        up = state["oper_up"]
        rows.append(
            (
                view.port.name,
                "" if view.port.is_lag else "RJ45",
                enabled(view.spanning_tree),
                physical_mode(view),
                rate_text(state["speed_mbps"]) if up and not view.port.is_lag else "",
                "Up" if up else "Down",
                "Normal",
                enabled(up and (state["flow_control_rx"] or state["flow_control_tx"])),
            )
        )
    return table(_STATUS, rows)


def interface_names(views: Iterable[PortView]) -> list[str]:
    """``show interfaces status all``."""
    rows = []
    for view in views:
        up = view.state["oper_up"]
        speed = rate_text(view.state["speed_mbps"]) if up and not view.port.is_lag else ""
        kind = view.port.phy.replace("BASE", "Base") if up else "Unknown"
        rows.append(
            (
                view.port.name,
                view.config.description,
                enabled(not view.config.shutdown),
                "Up" if up else "Down",
                speed,
                kind,
            )
        )
    return ["", *table(_NAMES, rows)]


def port_description(view: PortView, mac: str) -> list[str]:
    """``show port description``."""
    return [
        dotted("Interface", view.port.name, width=16),
        dotted("ifIndex", view.port.if_index, width=16),
        dotted("Description", view.config.description, width=16).rstrip(),
        dotted("MAC address", mac, width=16),
        dotted("Bit Offset Val", view.port.if_index, width=16),
    ]


def interface_short(counters: PortCounters, cleared_s: float) -> list[str]:
    """``show interface 1/0/1``. Packets; `cleared_s` seconds since the counters were cleared."""
    received = counters["in_ucast"] + counters["in_mcast"] + counters["in_bcast"]
    sent = counters["out_ucast"] + counters["out_mcast"] + counters["out_bcast"]
    return [
        dotted("Packets Received Without Error", received),
        dotted("Packets Received With Error", counters["in_errors"]),
        dotted("Broadcast Packets Received", counters["in_bcast"]),
        dotted("Receive Packets Discarded", counters["in_discards"]),
        dotted("Packets Transmitted Without Errors", sent),
        dotted("Transmit Packets Discarded", counters["out_discards"]),
        dotted("Transmit Packet Errors", counters["out_errors"]),
        dotted("Collision Frames", 0),
        dotted("Time Since Counters Last Cleared", span(cleared_s)),
    ]


def interface_long(config: PortConfig, counters: PortCounters, cleared_s: float) -> list[str]:
    """``show interface ethernet 1/0/1``, octets with FCS.

    Simplification: the engine keeps no counts by frame size and no 300 s rates; those lines of the real output
    are left out rather than invented.
    """
    received = counters["in_ucast"] + counters["in_mcast"] + counters["in_bcast"]
    sent = counters["out_ucast"] + counters["out_mcast"] + counters["out_bcast"]
    mtu_byte = config.mtu_byte
    return [
        dotted("Total Packets Received (Octets)", counters["in_octets"]),
        "",
        dotted("Total Packets Received Without Errors", received),
        dotted("Unicast Packets Received", counters["in_ucast"]),
        dotted("Multicast Packets Received", counters["in_mcast"]),
        dotted("Broadcast Packets Received", counters["in_bcast"]),
        "",
        dotted("Receive Packets Discarded", counters["in_discards"]),
        "",
        dotted("Total Packets Received with MAC Errors", counters["in_errors"]),
        dotted("Jabbers Received", counters["in_too_long"]),
        "",
        dotted("Total Received Packets Not Forwarded", counters["in_discards"] + counters["in_pause"]),
        dotted("802.3x Pause Frames Received", counters["in_pause"]),
        "",
        dotted("Total Packets Transmitted (Octets)", counters["out_octets"]),
        dotted("Max Frame Size", 9216 if mtu_byte == MTU_DEFAULT_BYTE else mtu_byte),
        dotted("Maximum Transmit Unit", mtu_byte),
        "",
        dotted("Total Packets Transmitted Successfully", sent),
        dotted("Unicast Packets Transmitted", counters["out_ucast"]),
        dotted("Multicast Packets Transmitted", counters["out_mcast"]),
        dotted("Broadcast Packets Transmitted", counters["out_bcast"]),
        "",
        dotted("Transmit Packets Discarded", counters["out_discards"]),
        "",
        dotted("Total Transmit Errors", counters["out_errors"]),
        "",
        dotted("Total Transmit Packets Discarded", counters["out_discards"]),
        dotted("Single Collision Frames", 0),
        dotted("Multiple Collision Frames", 0),
        dotted("Excessive Collision Frames", 0),
        "",
        dotted("802.3x Pause Frames Transmitted", counters["out_pause"]),
        "",
        dotted("Time Since Counters Last Cleared", span(cleared_s)),
    ]


def interface_counters(rows: Iterable[tuple[str, PortCounters]]) -> list[str]:
    """``show interface counters``: two tables, in and out."""
    kept = list(rows)
    received = [(n, c["in_octets"], c["in_ucast"], c["in_mcast"], c["in_bcast"]) for n, c in kept]
    sent = [(n, c["out_octets"], c["out_ucast"], c["out_mcast"], c["out_bcast"]) for n, c in kept]
    return ["", *table(_IN, received), "", *table(_OUT, sent)]
