"""Who is a neighbour that announces itself by LLDP: which switch's port, or which host of the inventory. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from eee_testbed.controller.drivers.interface_names import interface_key
from eee_testbed.controller.drivers.lldp_shows import Neighbour
from eee_testbed.lab.model import End, Host
from eee_testbed.lab.plain_text import decoded

_MAC: Final = re.compile(rb"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}")
_MAC_BYTE: Final = 6


@dataclass(frozen=True, slots=True)
class Sight:
    """What one switch sees. Ports by the inventory's names; `link` only of ports that are not shut."""

    link: Mapping[str, bool]
    learned: Mapping[bytes, frozenset[str]]
    """MAC address to the ports where it was learned, in any VLAN."""

    neighbours: Mapping[str, Neighbour]
    chassis: bytes
    """Its own chassis ID, as its neighbours receive it; empty if it does not speak LLDP."""

    port_ids: Mapping[bytes, str]
    """Its ports by the port IDs that its neighbours receive."""


class Directory:
    """Everybody who may be at the other end of a cable."""

    def __init__(self, hosts: Iterable[Host], sights: Mapping[str, Sight]) -> None:
        self._sights = sights
        self._chassis = {sight.chassis: name for name, sight in sights.items() if sight.chassis}
        self._hosts = {host.name: host for host in hosts}
        self._macs = {host.mac: host for host in self._hosts.values()}

    def who(self, heard: Neighbour) -> End | None:
        """The neighbour's end of the cable, its port empty where a switch's cannot be told; None for a stranger."""
        switch = self._chassis.get(heard.chassis) or whole_name(heard.name, self._sights)
        if switch is not None:
            return End(switch, _port_of(self._sights[switch], heard.port))
        host = self._macs.get(as_mac(heard.port)) or self._macs.get(as_mac(heard.chassis))
        host = host or self._hosts.get(whole_name(heard.name, self._hosts) or "")
        return None if host is None else End(host.name, host.interface)


def as_mac(octets: bytes) -> bytes:
    """A MAC address that is written as text, as six octets; anything else as it is."""
    return bytes.fromhex(octets.decode().replace(":", "").replace("-", "")) if _MAC.fullmatch(octets) else octets


def as_text(octets: bytes) -> str:
    """A chassis or port ID for people: a MAC address with colons, or text."""
    mac = as_mac(octets)
    printable = len(mac) != _MAC_BYTE or all(0x20 <= octet < 0x7F for octet in mac)
    return decoded(mac) if printable else mac.hex(":")


def one_line(text: str) -> str:
    """What a device says, fit for a line of a file: a question mark for each character that cannot be printed."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def _port_of(sight: Sight, port_id: bytes) -> str:
    """The port that a neighbour's port ID means, in whichever spelling; empty if it is none of the inventory's."""
    if port_id in sight.port_ids:
        return sight.port_ids[port_id]
    key = interface_key(decoded(port_id))
    spelled = {interface_key(decoded(known)): port for known, port in sight.port_ids.items()}
    return spelled.get(key, "") if key is not None else ""


def whole_name(name: str, names: Iterable[str]) -> str | None:
    """The device of that name, also one with a domain behind it, or with that beginning if the name was cut."""
    start = name.removesuffix(" ...")
    cut = start != name
    whole = [one for one in names if one in (name, name.partition(".")[0]) or (cut and one.startswith(start))]
    return whole[0] if len(whole) == 1 else None
