"""LLDP of a switch (IEEE 802.1AB): what its ports announce, and what they hear.

The engine sends, receives and ages; here is what a port says of its switch, and how command lines write a neighbour.
The chassis ID is the switch's base address and the port ID the port's name, as both families' do [M].
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

from eee_testbed.twin.switch.personality import Neighbour

if TYPE_CHECKING:
    from eee_engine import Announcement, Heard

    from eee_testbed.twin.switch.personality import DeviceSpec, Personality, Port, PortLldp

INTERVAL_S: Final = 30.0
"""msgTxInterval, the default of both families [M]; neither family's command for it is in the twin."""

TTL_S: Final = 120
"""The interval times msgTxHold (4)."""

CHASSIS_MAC: Final = 4
PORT_MAC: Final = 3
INTERFACE_NAME: Final = 5
BRIDGE: Final = 1 << 2
STATION: Final = 1 << 7

_LETTERS: Final = ((0, "O"), (1, "r"), (2, "B"), (3, "W"), (4, "R"), (5, "T"), (6, "D"), (7, "H"))
"""Capability bits of table 8-4 and the letters of `show lldp neighbors` (recording)."""


def announcement(spec: DeviceSpec, personality: Personality, port: Port, setting: PortLldp) -> Announcement:
    """Return what a port announces."""
    announced: Announcement = {
        "chassis": (CHASSIS_MAC, spec.base_mac),
        "port": (INTERFACE_NAME, port.name.encode()),
        "ttl_s": TTL_S,
        "port_description": (personality.alias(port.number) or port.long_name).encode()[:255],
        "system_name": personality.hostname().encode()[:255],
        "system_description": personality.description().encode()[:255],
        "capabilities": (BRIDGE, BRIDGE),
        "eee": setting.eee,
    }
    if spec.address:
        announced["management"] = (socket.inet_aton(spec.address), 0)
    return announced


def host_announcement(name: str, mac: bytes, interface: str) -> Announcement:
    """Return what the NIC of a host announces, with the identifiers that lldpd chooses: both are MAC addresses."""
    return {
        "chassis": (CHASSIS_MAC, mac),
        "port": (PORT_MAC, mac),
        "ttl_s": TTL_S,
        "port_description": interface.encode(),
        "system_name": name.encode(),
        "capabilities": (STATION, STATION),
        "eee": True,
    }


def as_neighbour(heard: Heard) -> Neighbour:
    """Write a neighbour as command lines do."""
    chassis_kind, chassis = heard["chassis"]
    port_kind, port = heard["port"]
    return Neighbour(
        chassis=chassis.hex(":") if chassis_kind == CHASSIS_MAC else _text(chassis),
        port=port.hex(":") if port_kind == PORT_MAC else _text(port),
        system_name=_text(heard["system_name"]),
        capabilities=", ".join(letter for bit, letter in _LETTERS if heard["capabilities"] >> bit & 1),
        ttl_s=heard["ttl_s"],
        number=heard["index"],
        eee=heard["eee_us"] is not None,
    )


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")
