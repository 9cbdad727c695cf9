"""Names of a switch's interfaces, however they are spelled: on the command line, in ifName, in ifDescr. Pure.

One interface has several spellings: `Gi0/1` and `GigabitEthernet0/1` (IOS), `gi1/0/1` and `gigabitethernet1/0/1` (ROS),
`1/0/1` and `Unit: 1 Slot: 0 Port: 1 Gigabit - Level` (FASTPATH), `1/g11` (PowerConnect 62xx). `interface_key` is equal
for two spellings of one interface. Numbers are never shortened or completed: `0/1` and `1/0/1` are two interfaces.
"""

import re
from collections.abc import Iterable, Mapping

InterfaceKey = tuple[str, str]
"""Kind of interface, empty where the name gives none, and number: ("gi", "1/0/1")."""

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "eth": ("eth", "et", "ethernet"),
    "app": ("app", "ap", "appgigabitethernet"),
    "fa": ("fa", "fe", "fastethernet"),
    "gi": ("gi", "g", "ge", "gig", "gige", "gigabitethernet"),
    "tw": ("tw", "twogigabitethernet", "twopointfivegigabitethernet"),
    "fi": ("fi", "fivegigabitethernet"),
    "te": ("te", "ten", "xg", "xe", "tengige", "tengigabitethernet"),
    "twe": ("twe", "twentyfivegige", "twentyfivegigabitethernet"),
    "fo": ("fo", "fortygige", "fortygigabitethernet"),
    "fif": ("fif", "fiftygige", "fiftygigabitethernet"),
    "hu": ("hu", "hundredgige", "hundredgigabitethernet"),
    "lag": ("lag", "po", "ch", "port-channel"),
    "vlan": ("vl", "vlan"),
}
"""Every spelling of each kind of interface, on any family. The drivers' own names are made from this table."""

_KINDS = {spelling: kind for kind, spellings in SPELLINGS.items() for spelling in spellings}

_PLAIN_NAME = re.compile(r"(?P<kind>[A-Za-z][A-Za-z-]*)?\s*(?P<number>\d+(?:[/.:]\d+)*)")
_UNIT_FIRST = re.compile(r"(?P<unit>\d+)/(?P<kind>[A-Za-z]+)(?P<number>\d+)")
_IN_WORDS = re.compile(r"(?:Unit: (?P<unit>\d+) )?Slot: (?P<slot>\d+) Port: (?P<port>\d+)\b.*")


def interface_key(name: str) -> InterfaceKey | None:
    """What all spellings of an interface have in common; None for a name of no known shape."""
    text = " ".join(name.split())
    if shape := _IN_WORDS.fullmatch(text):
        return "", "/".join(filter(None, (shape["unit"], shape["slot"], shape["port"])))
    if shape := _UNIT_FIRST.fullmatch(text):
        return _kind(shape["kind"]), f"{shape['unit']}/{shape['number']}"
    if shape := _PLAIN_NAME.fullmatch(text):
        return _kind(shape["kind"] or ""), shape["number"]
    return None


def _kind(text: str) -> str:
    return _KINDS.get(text.lower(), text.lower())


class Ambiguous(ValueError):
    """Several interfaces have a name."""


class NameColumn:
    """Interfaces by one column of names, such as ifName: ifIndex to name."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.names = {index: name.strip() for index, name in names.items() if name.strip()}
        self._exact: dict[str, list[int]] = {}
        self._keys: dict[InterfaceKey, list[int]] = {}
        for index, name in self.names.items():
            self._exact.setdefault(name.casefold(), []).append(index)
            if (key := interface_key(name)) is not None:
                self._keys.setdefault(key, []).append(index)

    def find(self, name: str) -> int | None:
        """The ifIndex of the interface of that name, in whichever spelling; Ambiguous if there are several."""
        key = interface_key(name)
        for indices in (self._exact.get(name.strip().casefold(), []), self._keys.get(key, []) if key else []):
            if len(indices) > 1:
                raise Ambiguous(", ".join(str(index) for index in indices))
            if indices:
                return indices[0]
        return None

    def holds_all(self, names: Iterable[str]) -> bool:
        """Whether every one of some names is that of exactly one interface."""
        try:
            return all(self.find(name) is not None for name in names)
        except Ambiguous:
            return False
