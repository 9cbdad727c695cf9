"""Names of interfaces and lists of VLANs as Cisco IOS writes them. Pure."""

import re
from collections.abc import Collection, Mapping

from eee_testbed.controller.drivers.interface_names import interface_key as generic_key

_FULL: Mapping[str, str] = {
    "app": "AppGigabitEthernet",
    "eth": "Ethernet",
    "fa": "FastEthernet",
    "gi": "GigabitEthernet",
    "tw": "TwoGigabitEthernet",
    "fi": "FiveGigabitEthernet",
    "te": "TenGigabitEthernet",
    "twe": "TwentyFiveGigE",
    "fo": "FortyGigabitEthernet",
    "fif": "FiftyGigE",
    "hu": "HundredGigE",
    "lag": "Port-channel",
}
"""IOS's name in full of each kind of `interface_names.SPELLINGS` that it has."""

_NUMBER = re.compile(r"\d+(?:/\d+)*")
_ATOM = re.compile(r"(\d+)(?:-(\d+))?")

_LINE_CHARACTERS = 120
"""Of one list of VLANs; IOS itself wraps its lists earlier in what it shows."""


def interface_key(name: str) -> tuple[str, str] | None:
    """Type (abbreviated) and number of an interface, by whichever name; `lag3` is Port-channel3. None if it is none."""
    key = generic_key(name)
    if key is None or key[0] not in _FULL or not _NUMBER.fullmatch(key[1]):
        return None
    return "po" if key[0] == "lag" else key[0], key[1]


def interface_name(name: str) -> str:
    """The name to be typed: in full; a name of no known type stays as it is."""
    key = interface_key(name)
    return f"{_FULL['lag' if key[0] == 'po' else key[0]]}{key[1]}" if key else name


def read_vids(text: str) -> frozenset[int]:
    """The VLANs of a list such as `1,11-16`; ValueError if it is none."""
    vids: set[int] = set()
    for atom in filter(None, re.split(r"[,\s]+", text)):
        match = _ATOM.fullmatch(atom)
        if not match:
            raise ValueError(f"'{atom}' is not a VLAN number")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= 4094:  # before they are written out, which may take all memory
            raise ValueError(f"{first}-{last} is not a range of VLANs")
        vids.update(range(first, last + 1))
    return frozenset(vids)


def vid_lists(vids: Collection[int], first: Collection[int] = ()) -> list[str]:
    """The VLANs as lists that fit into a line each; VLANs of `first` are in the first list."""
    runs: list[list[int]] = []
    for vid in sorted(vids):
        if runs and vid == runs[-1][1] + 1:
            runs[-1][1] = vid
        else:
            runs.append([vid, vid])
    runs.sort(key=lambda run: not any(run[0] <= vid <= run[1] for vid in first))
    lines = [""]
    for start, end in runs:
        atom = str(start) if start == end else f"{start}-{end}"
        if len(lines[-1]) + len(atom) >= _LINE_CHARACTERS:
            lines.append("")
        lines[-1] += f",{atom}" if lines[-1] else atom
    return [line for line in lines if line]
