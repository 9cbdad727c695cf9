"""SNMP agents of a lab: one per switch and strip, all with the lab's communities and its SNMPv3 user."""

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from eee_engine import SnmpAgent

from eee_testbed.lab.model import Strip as KnownStrip
from eee_testbed.lab.model import Switch as KnownSwitch
from eee_testbed.twin.families.table import FAMILIES
from eee_testbed.twin.machine.credentials import SNMP_USER, Credentials
from eee_testbed.twin.snmp.face import SnmpAccess, SnmpFace
from eee_testbed.twin.strips import Strip
from eee_testbed.twin.switch.device import SwitchDevice

if TYPE_CHECKING:
    from eee_engine import UsmUser

_ENTERPRISE = 0x8000_0000 | 61_509  # an engine id as in RFC 3411; the enterprise number is a high, unassigned one


def engine_id(name: str, address: str) -> bytes:
    """Return an SNMP engine id (RFC 3411, SnmpEngineID, format 5) that stays the same from start to start."""
    return _ENTERPRISE.to_bytes(4, "big") + b"\x05" + zlib.crc32(f"{name} {address}".encode()).to_bytes(4, "big")


def _communities(credentials: Credentials) -> Mapping[str, Literal["ro", "rw"]]:
    return {credentials.snmp_read_community: "ro", credentials.snmp_write_community: "rw"}


def _users(credentials: Credentials) -> "list[UsmUser]":
    return [
        {
            "name": SNMP_USER,
            "auth": "sha",
            "auth_password": credentials.snmp_auth_password,
            "priv": "aes",
            "priv_password": credentials.snmp_priv_password,
            "access": "rw",
        }
    ]


def switch_face(switch: KnownSwitch, device: SwitchDevice, credentials: Credentials) -> SnmpFace:
    """Make the agent of a switch; it answers whenever the switch is ready."""
    access = SnmpAccess(_communities(credentials), _users(credentials))
    profile = FAMILIES[switch.family].snmp
    return SnmpFace(device, profile, address=switch.address, port=switch.snmp_port, access=access)


def strip_agent(inventory_strip: KnownStrip, strip: Strip, credentials: Credentials) -> SnmpAgent:
    """Make the agent of a power strip, not started yet."""
    return SnmpAgent(
        address=inventory_strip.address,
        port=inventory_strip.snmp_port,
        engine_id=engine_id(inventory_strip.name, inventory_strip.address),
        communities=_communities(credentials),
        users=_users(credentials),
        on_set=strip.on_set,
    )
