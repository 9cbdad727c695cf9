"""Learned addresses as command lines show them, for switches whose agents lack Q-BRIDGE-MIB's table (Cisco IOS). Pure.

IOS has several layouts (recordings of the public ntc-templates collection). In each a row of a learned address has the
address, the word `dynamic`, and an interface; columns between them differ.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from eee_testbed.controller.drivers.driver import Show
from eee_testbed.controller.drivers.interface_names import interface_key
from eee_testbed.lab.model import SwitchFamily

_SHOWS: Final[Mapping[SwitchFamily, Show]] = {"cisco_ios": Show("show mac address-table")}
_MAC: Final = re.compile(r"[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}|[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}")


def query(family: SwitchFamily) -> Show | None:
    """What to ask a family; None if SNMP is the way."""
    return _SHOWS.get(family)


def read(text: str, ports: Iterable[str]) -> Mapping[bytes, frozenset[str]]:
    """The ports, of some, where each address was learned, in any VLAN; a row that fits two of them is left out."""
    names = {interface_key(port): port for port in ports}
    ports_by_mac: dict[bytes, set[str]] = {}
    for row in text.splitlines():
        columns = row.split()
        macs = [word for word in columns if _MAC.fullmatch(word)]
        if len(macs) != 1 or "dynamic" not in map(str.lower, columns):
            continue
        at = {names[key] for word in columns if (key := interface_key(word)) in names and key is not None}
        if len(at) == 1:
            ports_by_mac.setdefault(bytes.fromhex(re.sub("[.:-]", "", macs[0])), set()).update(at)
    return {mac: frozenset(at) for mac, at in ports_by_mac.items()}
