"""LLDP neighbours as command lines show them, for switches whose agents lack the LLDP-MIB.

Layouts: ROS and ICOS (of which the M4300's FASTPATH is a sibling) from recordings of the public ntc-templates
collection. Other families are asked over SNMP only.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from controller.drivers.driver import Show
from lab.model import SwitchFamily

_RULE: Final = re.compile(r"\s*-{2,}(?:\s+-{2,})+\s*")
_MAC: Final = re.compile(r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Who is at the other end: chassis and port as the neighbour itself writes them, and its system name.

    A name that a table cut short ends in ` ...`.
    """

    chassis: bytes
    port: bytes
    name: str


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


def query(family: SwitchFamily) -> Show | None:
    """What to ask a family; None if there is nothing."""
    return _TABLES[family].show if family in _TABLES else None


def read(family: SwitchFamily, text: str) -> Mapping[str, Neighbour]:
    """Neighbours by the switch's own port, as it names it; empty if the text has no table."""
    table = _TABLES[family]
    spans: list[tuple[int, int]] = []
    found = {}
    for row in text.splitlines():
        if _RULE.fullmatch(row):
            starts = [dashes.start() for dashes in re.finditer("-+", row)]
            spans = list(zip(starts, (*starts[1:], 10_000), strict=True))
        elif spans:
            cells = [row[start:end].strip() for start, end in spans]
            if cells[0] and cells[table.chassis]:
                found[cells[0]] = Neighbour(
                    _chassis(cells[table.chassis]), cells[table.port].encode(), cells[table.name]
                )
    return found


def _chassis(text: str) -> bytes:
    return bytes.fromhex(re.sub("[:-]", "", text)) if _MAC.fullmatch(text) else text.encode()
