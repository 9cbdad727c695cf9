"""Port names, VLANs and the like in a ROS command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_testbed.twin.cli.tokens import BadToken, Mac, Number, NumberList, Rest, Text, Token
from eee_testbed.twin.families.ros.models import LAG_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eee_testbed.twin.switch.personality import Port

TYPES = {"gigabitethernet": "gi", "tengigabitethernet": "te", "port-channel": "po"}


@dataclass(frozen=True, slots=True)
class PortNames:
    """`gi1/0/3`, `gigabitethernet 1/0/3`, `po1`; with `many` also `gi1/0/1-4,te1/0/2`. Value: tuple of bridge ports."""

    numbers: Mapping[str, int]  # short name -> bridge port
    many: bool
    placeholder: str = "<interface>"
    help: str = "gigabitethernet, tengigabitethernet or port-channel"

    def parse(self, words: Sequence[str]) -> tuple[tuple[int, ...], int]:
        """Take as many words as belong together: a blank may separate a type from its number."""
        ports: list[int] = []
        used = 0
        text = ""
        while True:
            if used == len(words):
                raise BadToken(f"{text!r} is not an interface")
            text += words[used]
            used += 1
            if not (text.endswith(",") or re.fullmatch(r"[a-zA-Z-]+", text.rpartition(",")[2])):
                break
        for part in text.split(","):
            ports.extend(self._range(part))
        if not self.many and len(ports) != 1:
            raise BadToken(f"{text!r} names more than one interface")
        return tuple(dict.fromkeys(ports)), used

    def _range(self, part: str) -> list[int]:
        shape = re.fullmatch(r"([a-zA-Z]+(?:-[a-zA-Z]+)?)((?:\d+/\d+/)?)(\d+)(?:-(\d+))?", part, re.ASCII)
        if shape is None:
            raise BadToken(f"{part!r} is not an interface")
        kinds = [short for long, short in TYPES.items() if long.startswith(shape[1].lower())]
        if len(kinds) != 1:
            raise BadToken(f"{shape[1]!r} is not a type of interface")
        last = shape[4] or shape[3]
        if len(last) > 4 or int(shape[3]) > int(last):
            raise BadToken(f"{part!r} is not a range of interfaces")
        names = [f"{kinds[0]}{shape[2]}{n}" for n in range(int(shape[3]), int(last) + 1)]
        missing = [n for n in names if n not in self.numbers]
        if missing:
            raise BadToken(f"unknown interface {missing[0]}")
        return [self.numbers[n] for n in names]


@dataclass(frozen=True, slots=True)
class Raw:
    """The rest of the line as written, quotes kept where they hold blanks. Value: str."""

    placeholder: str = "LINE"
    help: str = "Specify text"

    def parse(self, words: Sequence[str]) -> tuple[str, int]:
        """Take everything."""
        return " ".join(f'"{w}"' if " " in w or not w else w for w in words), len(words)


@dataclass(frozen=True, slots=True)
class Ipv4:
    """A dotted quad. Value: str."""

    placeholder: str = "A.B.C.D"
    help: str = "Specify an IP address"

    def parse(self, words: Sequence[str]) -> tuple[str, int]:
        """Take one word."""
        parts = words[0].split(".")
        if len(parts) != 4 or any(not p.isascii() or not p.isdigit() or int(p) > 255 for p in parts):
            raise BadToken(f"{words[0]!r} is not an IP address")
        return words[0], 1


def tokens(ports: Sequence[Port]) -> dict[str, Token]:
    """Return the tokens of one device, for its ports."""
    numbers = {p.name: p.number for p in ports}
    return {
        "port": PortNames(numbers, many=False),
        "ports": PortNames(numbers, many=True),
        "vid": Number(1, 4094, "VLAN ID"),
        "pvid": Number(1, 4095, "VLAN ID; 4095 drops untagged frames"),
        "vlans": NumberList(1, 4094, "VLAN-LIST", "VLAN list, for example 2,5-9"),
        "text": Text(160),
        "name": Text(58),
        "vlan-name": Text(32),
        "rest": Rest(160),
        "raw": Raw(),
        "mac": Mac(),
        "ip": Ipv4(),
        "lag": Number(1, LAG_COUNT, "Port-channel number"),
        "ageing": Number(10, 400, "Seconds"),
        "level": Number(1, 15, "Privilege level"),
        "minutes": Number(0, 65535, "Minutes"),
        "seconds": Number(0, 59, "Seconds"),
        "stp-priority": Number(0, 61440, "Bridge priority, in steps of 4096"),
        "stp-port-priority": Number(0, 240, "Port priority, in steps of 16"),
        "stp-cost": Number(1, 200_000_000, "Path cost"),
    }
