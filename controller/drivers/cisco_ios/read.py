"""What Cisco IOS shows, as settings. Pure; ValueError says what cannot be understood.

Layouts of `show interfaces switchport` and `show vlan brief` are those of the samples in the ntc-templates collection;
of the configuration only known lines are read.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from eee_testbed.controller.drivers.cisco_ios.names import interface_key, read_vids, vid_lists

Key = tuple[str, str]

UNUSABLE_VIDS = frozenset(range(1002, 1006))
"""VLANs of FDDI and Token Ring, which exist on every switch and carry nothing."""

EVERY_VID = frozenset(range(1, 4095)) - UNUSABLE_VIDS

_VLAN_HEAD = re.compile(r"^VLAN\s+Name\s+Status\b", re.MULTILINE)
_VLAN_ROW = re.compile(r"(\d+)\s+\S")
_VLAN_STATUS = re.compile(r"\s(active|act/lshut|suspended|sus/lshut|sus/ishut|act/unsup|act/ishut)\b")
_STATIC = re.compile(r"^mac[ -]address-table static (\S+) vlan (\d+) (?:interface (.+)|drop)$")
_STP_OFF = re.compile(r"^no spanning-tree vlan (\S+)$")


@dataclass(slots=True)
class Configured:
    """What the running configuration says of the whole switch, of each interface and of each VLAN, as lines."""

    lines: list[str] = field(default_factory=list)
    interfaces: dict[Key, list[str]] = field(default_factory=dict)
    vlans: dict[int, list[str]] = field(default_factory=dict)


def read_configuration(text: str) -> Configured:
    """Split a running configuration; ValueError if it is not one, or not whole."""
    if not re.search(r"^interface ", text, re.MULTILINE) or text.rsplit(maxsplit=1)[-1] != "end":
        raise ValueError("the running configuration is incomplete")
    configured = Configured()
    inside: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("interface "):
            key = interface_key(line.removeprefix("interface "))
            inside = configured.interfaces.setdefault(key, []) if key else []
        elif vlan := re.fullmatch(r"vlan (\d+)", line):
            inside = configured.vlans.setdefault(int(vlan[1]), [])
        elif line.startswith(" "):
            if inside is not None:
                inside.append(line.strip())
        else:
            inside = None
            configured.lines.append(line.strip())
    return configured


def tags_native(configured: Configured) -> bool:
    """Whether the switch is set to tag native VLANs."""
    return "vlan dot1q tag native" in configured.lines


def stp_off(configured: Configured) -> bool:
    """Whether spanning tree is off in every VLAN; off in some is not."""
    off: set[int] = set()
    for line in configured.lines:
        match = _STP_OFF.fullmatch(line)
        if match:
            off |= read_vids(match[1])
    return off >= EVERY_VID


def statics(configured: Configured) -> Iterator[tuple[int, bytes, Key | None]]:
    """VLAN, MAC address and interface of each static entry. Entries that drop, or of several ports, are refused."""
    for line in configured.lines:
        if not re.match(r"mac[ -]address-table static ", line):
            continue
        match = _STATIC.fullmatch(line)
        digits = match[1].replace(".", "") if match else ""
        if not match or not re.fullmatch(r"[0-9a-f]{12}", digits.lower()):
            raise ValueError(f"'{line}' is a static entry of an unknown form")
        if match[3] is None or (" " in match[3].strip() and interface_key(match[3]) is None):
            raise ValueError(f"'{line}' drops frames or names several ports: remove it")
        yield int(match[2]), bytes.fromhex(digits), interface_key(match[3])


def read_vlans(text: str) -> frozenset[int]:
    """The VLANs that exist, from `show vlan brief`; suspended ones count.

    A name that is wider than its column puts the status into the next row.
    """
    head = _VLAN_HEAD.search(text)
    if not head:
        raise ValueError("the table of VLANs is missing")
    vids: set[int] = set()
    begun: int | None = None
    for line in text[head.end() :].splitlines():
        row = _VLAN_ROW.match(line)
        if row and begun is not None:
            break
        if row:
            begun = int(row[1])
        if begun is not None and _VLAN_STATUS.search(line):
            vids.add(begun)
            begun = None
    if begun is not None:
        raise ValueError(f"the status of VLAN {begun} is unknown")
    if 1 not in vids:
        raise ValueError("VLAN 1 is missing")
    return frozenset(vids) - UNUSABLE_VIDS


@dataclass(frozen=True, slots=True)
class Switchport:
    """The memberships of a port; `dynamic_lines` lead back to a mode that negotiates, empty in any other."""

    is_trunk: bool
    access_vid: int
    native_vid: int
    allowed_vids: frozenset[int]
    dynamic_lines: tuple[str, ...] = ()


Fields = Mapping[str, str]
"""What `show interfaces switchport` says about one port."""


def read_switchports(text: str) -> Mapping[Key, Fields]:
    """Every port of `show interfaces switchport` that switches."""
    fields_by_port: dict[Key, Fields] = {}
    for block in re.split(r"^(?=Name: )", text, flags=re.MULTILINE)[1:]:
        fields = _fields(block)
        key = interface_key(fields["Name"])
        if key is not None and fields.get("Switchport") == "Enabled":
            fields_by_port[key] = fields
    if not fields_by_port:
        raise ValueError("no port is a switchport")
    return fields_by_port


def _fields(block: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    last = ""
    for line in block.splitlines():
        name, colon, value = line.partition(":")
        if line.startswith(" ") and last:
            fields[last] += line.strip()
        elif colon:
            last = name.strip()
            fields[last] = value.strip()
    return fields


def switchport_of(fields: Fields, *, tags_native: bool) -> Switchport:
    """The memberships of a port; ValueError for what no plan can work with. `tags_native`: the switch is set to do so.

    A port in a dynamic mode is what it has become; one that is down counts as access. Simplification: it may come up
    as a trunk if its partner asks for one, which nothing shows beforehand; ports that a plan sets are set to a mode.
    """
    name = fields["Name"]
    try:
        mode, state = fields["Administrative Mode"], fields["Operational Mode"]
        access, native = fields["Access Mode VLAN"], fields["Trunking Native Mode VLAN"]
        allowed = fields["Trunking VLANs Enabled"]
    except KeyError as error:
        raise ValueError(f"{name} lacks {error}") from error
    if mode not in {"trunk", "static access", "dynamic auto", "dynamic desirable"}:
        raise ValueError(f"{name} is in mode '{mode}', which plans do not support: set access or trunk")
    if allowed.upper() == "ALL":
        vids = EVERY_VID
    else:
        vids = frozenset[int]() if allowed.upper() == "NONE" else read_vids(allowed)
    is_trunk = mode == "trunk" or (mode.startswith("dynamic") and state.startswith("trunk"))
    if is_trunk and _tags_native(fields, tags_native=tags_native):
        raise ValueError(f"{name} tags its native VLAN: remove `vlan dot1q tag native`")
    if not is_trunk and fields.get("Voice VLAN", "none") != "none":
        raise ValueError(f"{name} has a voice VLAN, which plans do not support: remove it")
    switchport = Switchport(is_trunk, _vid(access, name), _vid(native, name), vids)
    return (
        replace(switchport, dynamic_lines=_dynamic_lines(fields, mode, switchport))
        if mode.startswith("dynamic")
        else switchport
    )


def _tags_native(fields: Fields, *, tags_native: bool) -> bool:
    """The operational line decides where there is one.

    The administrative one is `enabled` by default, and in force only if the whole switch tags native VLANs
    (`vlan dot1q tag native`).
    """
    operational = fields.get("Operational Native VLAN tagging")
    if operational is not None:
        return operational == "enabled"
    return tags_native and fields.get("Administrative Native VLAN tagging") != "disabled"


def _dynamic_lines(fields: Fields, mode: str, port: Switchport) -> tuple[str, ...]:
    """From whatever a plan made of the port. A port that negotiates may not refuse to: that line goes first."""
    first, *more = ["all"] if port.allowed_vids == EVERY_VID else vid_lists(port.allowed_vids) or ["none"]
    encapsulation = fields.get("Administrative Trunking Encapsulation")
    return (
        "no switchport nonegotiate",
        f"switchport access vlan {port.access_vid}",
        f"switchport trunk native vlan {port.native_vid}",
        f"switchport trunk allowed vlan {first}",
        *(f"switchport trunk allowed vlan add {vids}" for vids in more),
        f"switchport mode {mode}",
        *(("switchport trunk encapsulation negotiate",) if encapsulation == "negotiate" else ()),
    )


def _vid(text: str, name: str) -> int:
    match = re.match(r"(\d+)\b", text)
    if not match:
        raise ValueError(f"{name} has no VLAN in '{text}'")
    return int(match[1])
