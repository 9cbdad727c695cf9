"""``show running-config`` of the FASTPATH families, read into the lines that matter here. Pure.

One reader for all dialects: their words do not clash. Lines that it does not know are passed over; a line that begins
like a known one and goes on otherwise is Unreadable, and so is a text without its heading or its end. Furniture
(remnants of paging, log lines, lists that were wrapped) is taken out before.

Simplification: a list of several advertised rates (``speed auto 100 1000``) reads as negotiated, and taking a fixed
speed back gives all rates; ``ifHighSpeed`` of the link would show it. Half duplex is not distinguished from full.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from eee_testbed.controller.drivers.fastpath.dialect import VID_MAX, Dialect
from eee_testbed.controller.drivers.leftovers import vlan_block
from eee_testbed.controller.model.config_text import WHOLE_SWITCH
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch

RUNNING = "show running-config"
_PAGER = re.compile(r"--More-- or \(q\)uit\s*")
_LOG_LINE = re.compile(r"<\d{1,3}>\s?[A-Za-z]{3} +\d")
_HEADING = "!Current Configuration:"
_LIST = re.compile(r"[\d,-]+")
_OPENERS = re.compile(r"vlan database|interface .+|line .+|stack|vlan [\d,-]+|class-map .+|policy-map .+|router .+")
_STRICT_LINE = re.compile(
    r"(no )?(vlan (participation|tagging|pvid|acceptframe|ingressfilter)|switchport (mode|access|general|trunk)|addport"
    r"|channel-group|green-mode eee(?!-)|port-security|mac address-table static|bridge address)\b"
)
_MBPS = {"10": 10, "100": 100, "1000": 1000, "2.5G": 2500, "5G": 5000, "10G": 10_000, "10000": 10_000}

Mode = Literal["access", "general", "trunk"]
EVERY_VID = frozenset(range(1, VID_MAX + 1))


@dataclass(frozen=True, slots=True)
class PortLines:
    """What one interface block says. The lines of a mode count only in that mode."""

    mode: Mode
    flow_control: bool
    shut: bool = False
    speed_mbps: int | None = None
    negotiates: bool = True
    stp: bool = True
    eee: bool = False
    hold_us: int | None = None
    lag: int | None = None
    lag_mode: str = ""
    static_lag: bool = False
    member_vids: frozenset[int] = frozenset({1})  # of general mode
    allowed_vids: frozenset[int] = EVERY_VID  # of trunk mode
    description: str = ""  # the whole line
    locked: bool = False
    locked_macs: frozenset[tuple[int, bytes]] = frozenset()


@dataclass(frozen=True, slots=True)
class Config:
    """Blocks by the inventory's names of ports (`lagN` for a LAG), and what stands outside of them."""

    ports: Mapping[str, PortLines]
    factory: PortLines
    stp: bool = True
    flow_control: bool = False
    port_security: bool = False
    statics: Mapping[tuple[int, bytes], str] = field(default_factory=dict)
    description: str = ""
    version: str = ""
    blocks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines by the block that they are in, as `controller.drivers.leftovers` names blocks."""

    def port(self, name: str) -> PortLines:
        """The lines of a port; those of the factory if it has no block."""
        return self.ports.get(name, self.factory)


class _Bad(ValueError):
    """A line that cannot be understood."""


def clean(text: str) -> list[str]:
    """Lines without furniture, blanks at both ends and empty lines."""
    lines: list[str] = []
    for raw in _PAGER.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n"):
        line = raw.strip()
        if not line or _LOG_LINE.match(line):
            continue
        if _LIST.fullmatch(line) and lines and lines[-1][-1] in ",-0123456789" and _ends_in_list(lines[-1]):
            lines[-1] += line
        else:
            lines.append(line)
    return lines


def _ends_in_list(line: str) -> bool:
    """Whether what was wrapped is a list of VLANs: the break is next to a comma or a dash."""
    return "vlan" in line and line[-1] in ",-"


def read_config(dialect: Dialect, switch: Switch, text: str) -> Config:
    """Understand a running configuration; Unreadable if it is none, is cut off, or holds a line that is garbled."""

    def bad(why: str) -> Unreadable:
        return Unreadable(switch.name, RUNNING, why)

    lines = clean(text)
    if _HEADING not in lines or "configure" not in lines:
        raise bad(f"this is not a running configuration: {' '.join(lines[:3])}")
    if any(not line.isprintable() for line in lines):
        raise bad(
            "the configuration has unprintable characters: " + next(line for line in lines if not line.isprintable())
        )
    reader = _Reader(dialect, switch)
    try:
        for line in lines[lines.index(_HEADING) + 1 :]:
            reader.take(line)
    except _Bad as why:
        raise bad(str(why)) from why
    if not reader.ended:
        raise bad("the configuration breaks off after: " + lines[-1])
    return replace(reader.config, blocks={name: tuple(own) for name, own in reader.blocks.items()})


class _Reader:
    """Takes line after line."""

    def __init__(self, dialect: Dialect, switch: Switch) -> None:
        self._dialect = dialect
        self._names = {port.name.casefold(): port.name for port in switch.ports}
        factory = PortLines(mode=dialect.factory_mode, flow_control=False)
        self.config = Config({}, factory, flow_control=dialect.flow_control_factory)
        self.blocks: dict[str, list[str]] = {}
        self.ended = False
        self._block = ""  # line that opened it
        self._configuring = False

    def take(self, line: str) -> None:
        if line.startswith("!"):
            self._comment(line)
        elif line == "exit":
            self.ended = not self._block and self._configuring
            self._block = ""
        elif not self._block and line == "configure":
            self._configuring = True
        elif not self._block and _OPENERS.fullmatch(line):
            self._block, self.ended = line, False
        else:
            self.ended = False
            self._content(line)

    def _comment(self, line: str) -> None:
        label, _, text = line.partition('"') if '"' in line else line.rpartition(" ")
        if label.startswith("!System Description"):
            self.config = replace(self.config, description=text.strip('"'))
        elif label.startswith("!System Software Version"):
            self.config = replace(self.config, version=text.strip('"'))

    def _content(self, line: str) -> None:
        block = self._named_block(line)
        if block:
            self.blocks.setdefault(block, []).append(line)
        if self._block.startswith("interface vlan"):
            self._vlan_interface(line)
        elif self._block.startswith("interface "):
            name = self._port(self._block.removeprefix("interface "))
            old = self.config.port(name)
            new = _read_line(_PORT_LINES, line, old)
            if name and new != old:
                self.config = replace(self.config, ports={**self.config.ports, name: new})
        elif not self._block:
            self._global(line)

    def _named_block(self, line: str) -> str:
        """The block of a line; empty for one that no driver writes to. A VLAN is named in its own, or in all VLANs'."""
        vlan = re.fullmatch(r"(?:interface )?vlan (\d+)", self._block) or re.match(r"vlan name (\d+) ", line)
        if vlan:
            return vlan_block(vlan[1])
        if self._block.startswith("interface "):
            return self._port(self._block.removeprefix("interface "))
        return "" if self._block else WHOLE_SWITCH

    def _global(self, line: str) -> None:
        if line in {"spanning-tree", "no spanning-tree"}:
            self.config = replace(self.config, stp=line == "spanning-tree")
        elif line in {"flowcontrol", "no flowcontrol"}:
            self.config = replace(self.config, flow_control=line == "flowcontrol")
        elif line == "port-security":
            self.config = replace(self.config, port_security=True)
        elif line.startswith("mac address-table static "):
            match = re.fullmatch(r"mac address-table static (\S+) vlan (\d+) interface (.+)", line)
            if not match:
                raise _Bad(line)
            self._static(int(match[2]), match[1], match[3])

    def _vlan_interface(self, line: str) -> None:
        if line.startswith("bridge address "):
            match = re.fullmatch(r"bridge address (\S+) (.+?)( permanent)?", line)
            vid = re.fullmatch(r"interface vlan (\d+)", self._block)
            if not match or not vid:
                raise _Bad(line)
            self._static(int(vid[1]), match[1], match[2])

    def _static(self, vid: int, mac: str, port: str) -> None:
        name = self._port(port)
        if name:
            self.config = replace(self.config, statics={**self.config.statics, (vid, _mac(mac)): name})

    def _port(self, text: str) -> str:
        """The inventory's name of an interface; empty for one that the inventory does not list."""
        lag = re.fullmatch(r"(?i)(?:lag|port-channel|ch|po) ?(\d+)", text)
        if lag:
            return f"lag{lag[1]}"
        word = self._dialect.interface_word
        bare = text.removeprefix(word).strip() if word else text
        return self._names.get(bare.casefold(), "")


# -- lines of an interface block

_Handler = Callable[[PortLines, "re.Match[str]"], PortLines]


def _vids(text: str) -> frozenset[int]:
    vids: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) > VID_MAX:
            raise _Bad(f"{text} is not a list of VLANs")
        vids |= set(range(int(first), int(last or first) + 1))
    return frozenset(vids)


def _mac(text: str) -> bytes:
    digits = re.sub(r"[:.-]", "", text)
    if not re.fullmatch(r"[0-9A-Fa-f]{12}", digits):
        raise _Bad(f"{text} is not a MAC address")
    return bytes.fromhex(digits)


def _participation(port: PortLines, match: "re.Match[str]") -> PortLines:
    vids = _vids(match[2])
    kept = port.member_vids | vids if match[1] == "include" else port.member_vids - vids
    return replace(port, member_vids=kept)


def _general(port: PortLines, match: "re.Match[str]") -> PortLines:
    vids = _vids(match[2])
    return replace(port, member_vids=port.member_vids | vids if match[1] == "add" else port.member_vids - vids)


def _allowed(port: PortLines, match: "re.Match[str]") -> PortLines:
    verb, text = match[1] or "", match[2]
    vids = EVERY_VID if text == "all" else _vids(text)
    now = port.allowed_vids
    results = {"": vids, "add ": now | vids, "remove ": now - vids, "except ": EVERY_VID - vids}
    return replace(port, allowed_vids=results[verb])


def _speed(port: PortLines, match: "re.Match[str]") -> PortLines:
    speeds = [word for word in match[1].split() if word not in {"auto", "full-duplex", "half-duplex"}]
    rates = [_MBPS.get(word) for word in speeds]
    if None in rates or (not rates and "auto" not in match[1]):
        raise _Bad(match[0])
    return replace(port, speed_mbps=rates[0] if len(rates) == 1 else None)


def _channel_group(port: PortLines, match: "re.Match[str]") -> PortLines:
    return replace(port, lag=int(match[1]), lag_mode="" if match[2] == "on" else match[2])


def _lock(port: PortLines, match: "re.Match[str]") -> PortLines:
    return replace(port, locked_macs=port.locked_macs | {(int(match[2]), _mac(match[1]))})


def _mode(port: PortLines, match: "re.Match[str]") -> PortLines:
    modes: dict[str, Mode] = {"access": "access", "general": "general", "trunk": "trunk"}
    return replace(port, mode=modes[match[1]])


_PORT_LINES: tuple[tuple[str, _Handler], ...] = (
    (r"vlan participation (include|exclude|auto) (\S+)", _participation),
    (r"switchport general allowed vlan (add|remove) (\S+)(?: (?:un)?tagged)?", _general),
    (r"switchport trunk allowed vlan (add |remove |except )?(\S+)", _allowed),
    (r"(?:no )?vlan (?:tagging|pvid) [\d,-]+|vlan acceptframe \w+|(?:no )?vlan ingressfilter", lambda port, _: port),
    (r"switchport (?:access vlan|trunk native vlan|general pvid) \d+", lambda port, _: port),
    (r"(?:no )?switchport general (?:ingress-filtering disable|acceptable-frame-type.*)", lambda port, _: port),
    (r"switchport mode (access|general|trunk)", _mode),
    (r"description .+", lambda port, found: replace(port, description=found[0])),
    (r"addport (?:lag |\d+/)(\d+)", lambda port, found: replace(port, lag=int(found[1]))),
    (r"channel-group (\d+) mode (\w+)", _channel_group),
    (r"(no )?port-channel static", lambda port, found: replace(port, static_lag=not found[1])),
    (r"(no )?shutdown", lambda port, found: replace(port, shut=not found[1])),
    (r"speed (.+)", _speed),
    (r"(no )?auto-negotiate", lambda port, found: replace(port, negotiates=not found[1])),
    (r"(no )?flowcontrol", lambda port, found: replace(port, flow_control=not found[1])),
    (r"(no )?spanning-tree port mode", lambda port, found: replace(port, stp=not found[1])),
    (r"(no )?spanning-tree disable", lambda port, found: replace(port, stp=bool(found[1]))),
    (r"(no )?green-mode eee", lambda port, found: replace(port, eee=not found[1])),
    (r"green-mode eee tx-idle-time (\d+)", lambda port, found: replace(port, hold_us=int(found[1]) or None)),
    (r"green-mode eee tx-wake-time \d+", lambda port, _: port),
    (r"(no )?port-security", lambda port, found: replace(port, locked=not found[1])),
    (r"port-security (?:max-static|max-dynamic) \d+", lambda port, _: port),
    (r"port-security mac-address (\S+) (\d+)", _lock),
)


def _read_line(table: tuple[tuple[str, _Handler], ...], line: str, port: PortLines) -> PortLines:
    for pattern, handler in table:
        match = re.fullmatch(pattern, line)
        if match:
            return handler(port, match)
    if _STRICT_LINE.match(line):
        raise _Bad(line)
    return port
