"""LLDP neighbours as command lines show them, for switches whose agents lack the LLDP-MIB.

Layouts: ROS, ICOS (of which the M4300's FASTPATH is a sibling) and IOS from recordings of the public ntc-templates
collection. Other families are asked over SNMP only.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eee_testbed.controller.drivers.column_table import table_rows
from eee_testbed.controller.drivers.driver import Show
from eee_testbed.lab.model import SwitchFamily

_MAC_BYTE: Final = 6
_MAC: Final = re.compile(r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2}")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Who is at the other end: chassis and port as the neighbour itself writes them, and its system name.

    A name that a table cut short ends in ` ...`. `several`: all that one port hears, if that is more than one; they
    have no chassis and no port together, and are nobody of the inventory.
    """

    chassis: bytes
    port: bytes
    name: str
    several: "tuple[Neighbour, ...]" = ()


def by_port(heard: Iterable[tuple[str, Neighbour]]) -> Mapping[str, Neighbour]:
    """What each port hears. A port may hear several: over a device that passes LLDP on, or one that has just left."""
    found: dict[str, dict[Neighbour, None]] = {}
    for port, neighbour in heard:
        found.setdefault(port, {})[neighbour] = None
    return {port: _together(tuple(neighbours)) for port, neighbours in found.items()}


def _together(neighbours: tuple[Neighbour, ...]) -> Neighbour:
    if len(neighbours) == 1:
        return neighbours[0]
    if (host := _one_host(neighbours)) is not None:
        return host
    several = tuple(sorted(neighbours, key=lambda one: (one.name, one.chassis, one.port)))
    return Neighbour(b"", b"", " and ".join(one.name or _text(one.chassis) for one in several), several)


def _one_host(neighbours: tuple[Neighbour, ...]) -> Neighbour | None:
    """A host that speaks for itself, beside the firmware of its card, which knows the card's MAC address alone."""
    chassis = {neighbour.chassis for neighbour in neighbours}
    names = {one.name for one in neighbours} - {""}
    spoken = [one for one in neighbours if one.port != one.chassis]
    return spoken[0] if len(chassis) == len(names) == len(spoken) == 1 else None


def _text(chassis: bytes) -> str:
    return chassis.hex(":") if len(chassis) == _MAC_BYTE else chassis.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Table:
    """Numbers of the columns, from 0; the first is the switch's own port."""

    show: Show
    chassis: int
    port: int
    name: int


_ROS: Final = _Table(Show("show lldp neighbors"), chassis=1, port=2, name=3)
_ICOS: Final = _Table(Show("show lldp remote-device all"), chassis=2, port=3, name=4)
_TABLES: Final[Mapping[SwitchFamily, _Table]] = {
    "dell_powerconnect_55xx": _ROS,
    "cisco_sg": _ROS,
    "netgear_m4300": _ICOS,
}
_IOS: Final = Show("show lldp neighbors detail")
_IOS_FIELD: Final = re.compile(r"^(Local Intf|Chassis id|Port id|System Name): (.*)$", re.MULTILINE)


def query(family: SwitchFamily) -> Show | None:
    """What to ask a family; None if there is nothing."""
    if family == "cisco_ios":
        return _IOS
    return _TABLES[family].show if family in _TABLES else None


def read(family: SwitchFamily, text: str) -> Mapping[str, Neighbour]:
    """Neighbours by the switch's own port, as it names it; empty if the text has no table.

    Old IOS lists details without the port that they belong to: nothing is read of those.
    """
    if family == "cisco_ios":
        return by_port(_ios(text))
    table = _TABLES.get(family)
    return {} if table is None else by_port(_rows(table, text))


def _rows(table: _Table, text: str) -> Iterator[tuple[str, Neighbour]]:
    for cells in table_rows(text):
        if len(cells) > table.name and cells[table.chassis]:
            yield cells[0], Neighbour(_chassis(cells[table.chassis]), cells[table.port].encode(), cells[table.name])


def _ios(text: str) -> Iterator[tuple[str, Neighbour]]:
    for block in re.split(r"^-{20,}\s*$", text, flags=re.MULTILINE):
        said = {name: value.strip() for name, value in _IOS_FIELD.findall(block)}
        if said.get("Local Intf") and said.get("Chassis id"):
            port, name = said.get("Port id", ""), said.get("System Name", "")
            yield said["Local Intf"], Neighbour(_chassis(said["Chassis id"]), port.encode(), name)


def _chassis(text: str) -> bytes:
    return bytes.fromhex(re.sub("[:.-]", "", text)) if _MAC.fullmatch(text) else text.encode()
