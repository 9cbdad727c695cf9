"""``show vlan …`` and ``show interfaces switchport``: text from the configuration alone.

Columns of `show vlan`, `show vlan N` and `show vlan port all` as an M4300-24X prints them (firmware 12.0.13); that
firmware refuses `show vlan brief`, which older ones and ICOS have: the twin gives ICOS's table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_testbed.twin.cli.tokens import format_list
from eee_testbed.twin.families.fastpath.config import VID_MAX, membership
from eee_testbed.twin.families.fastpath.layout import Column, dotted, enabled, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eee_testbed.twin.families.fastpath.config import Config
    from eee_testbed.twin.switch.personality import Port

_ACCEPT = {"all": "Admit All", "tagged": "VLAN Only", "untagged": "Admit Untagged Only"}
_VLANS = (
    Column(("VLAN ID",), 7),
    Column(("VLAN Name",), 32),
    Column(("VLAN Type",), 19),
)
_MEMBERS = (
    Column(("Interface",), 10),
    Column(("Current",), 8, 2),
    Column(("Configured",), 11, 2),
    Column(("Tagging",), 8, 2),
)
_PORTS = (
    Column(("", "", "Interface"), 9),
    Column(("Port", "VLAN ID", "Configured"), 10),
    Column(("Port", "VLAN ID", "Current"), 8),
    Column(("Acceptable", "Frame Types"), 12),
    Column(("Ingress", "Filtering", "Configured"), 10),
    Column(("Ingress", "Filtering", "Current"), 9),
    Column(("GVRP",), 7),
    Column(("Default", "Priority"), 8),
)


def vlan_list(config: Config) -> list[str]:
    """``show vlan``."""
    return [
        dotted("Maximum VLAN Entries", VID_MAX),
        dotted("VLAN Entries Currently in Use", len(config.vlans)),
        "",
        *_vlan_table(config),
    ]


def vlan_brief(config: Config) -> list[str]:
    """``show vlan brief``."""
    return ["", *_vlan_table(config)]


def _vlan_table(config: Config) -> list[str]:
    rows = [(vid, name, "Default" if vid == 1 else "Static") for vid, name in sorted(config.vlans.items())]
    return table(_VLANS, rows)


def vlan_members(config: Config, ports: Sequence[Port], vid: int) -> list[str]:
    """``show vlan N``: Current is the effective membership, Configured and Tagging are the stored lines.

    In access and trunk mode Configured and Tagging show the effective membership [M].
    """
    vids = frozenset(config.vlans)
    rows = []
    for port in ports:
        port_config = config.ports[port.number]
        now = membership(port_config, vids)
        member = vid in now.member
        if port_config.mode in {"access", "trunk"}:
            configured = "Include" if member else "Autodetect"
        elif vid in port_config.exclude:
            configured = "Exclude"
        else:
            configured = "Include" if vid in port_config.include else "Autodetect"
        tagged = vid in (now.tagged if port_config.mode in {"access", "trunk"} else port_config.tagging)
        rows.append((port.name, "Include" if member else "Exclude", configured, "Tagged" if tagged else "Untagged"))
    return [
        f"VLAN ID: {vid}",
        f"VLAN Name: {config.vlans[vid]}",
        f"VLAN Type: {'Default' if vid == 1 else 'Static'}",
        "",
        *table(_MEMBERS, rows),
    ]


def vlan_ports(config: Config, ports: Iterable[Port]) -> list[str]:
    """``show vlan port``."""
    vids = frozenset(config.vlans)
    rows = []
    for port in ports:
        now = membership(config.ports[port.number], vids)
        filtering = enabled(now.ingress_filtering)
        rows.append((port.name, now.pvid, now.pvid, _ACCEPT[now.acceptable], filtering, filtering, "Disable", 0))
    return table(_PORTS, rows)


def switchport(config: Config, ports: Iterable[Port]) -> list[str]:
    """``show interfaces switchport``: every stored line; the mode says which are active."""
    lines: list[str] = []
    for port in ports:
        settings = config.ports[port.number]
        general_tagged = settings.include & settings.tagging
        allowed = "All" if settings.allowed is None else format_list(settings.allowed)
        lines += [
            f"Port: {port.name}",
            f"VLAN Membership Mode: {(settings.mode or 'general').capitalize()}",
            f"Access Mode VLAN: {_named(config, settings.access_vid)}",
            f"General Mode PVID: {_named(config, settings.pvid)}",
            f"General Mode Ingress Filtering: {'Enabled' if settings.ingress_filter else 'Disabled'}",
            f"General Mode Acceptable Frame Type: {_ACCEPT[settings.acceptable].capitalize()}",
            "General Mode Dynamically Added VLANs:",
            f"General Mode Untagged VLANs: {format_list(settings.include - general_tagged)}".rstrip(),
            f"General Mode Tagged VLANs: {format_list(general_tagged)}".rstrip(),
            f"General Mode Forbidden VLANs: {format_list(settings.exclude)}".rstrip(),
            f"Trunking Mode Native VLAN: {_named(config, settings.native_vid)}",
            "Trunking Mode Native VLAN tagging: Disable",
            f"Trunking Mode VLANs Enabled: {allowed}".rstrip(),
            "Protected Port: False",
            "",
        ]
    return lines


def _named(config: Config, vid: int) -> str:
    name = config.vlans.get(vid, "")
    return f"{vid} ({name})" if name else str(vid)
