"""What a ROS switch prints, read. Every reader raises Unreadable for what it cannot understand; none guesses.

Tables are those of `show interfaces configuration`, `show mac address-table`, `show spanning-tree`, `show eee` and
`show running-config`. Around them may stand what terminals bring along: escapes, prompts for the next page, messages of
the switch's own, in the middle of everything.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from eee_testbed.controller.drivers.interface_names import SPELLINGS
from eee_testbed.controller.model.state import StaticTable
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch

_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78DEHM])|[\x00\x07]")
_PAGE = re.compile(r"\s*(?:More: *<space>.*?<return>|-+ *more *-+)\s*", re.IGNORECASE)
_MESSAGE = re.compile(r"\s*\S*.*%[A-Z][A-Z0-9_]*-[A-Z0-7]-\w+\s*:.*")
_REFUSAL = re.compile(r"\s*%(?![A-Z][A-Z0-9_]*-[A-Z0-7]-)")
_COMPLAINT = re.compile(
    r"was not created|can.?t be|cannot|could not|not (?:allowed|supported|possible|permitted|found)|does not|fail"
    r"|invalid|illegal|error|unrecogni[sz]ed|incomplete|ambiguous|bad |wrong ",
    re.IGNORECASE,
)
_ABBREVIATION = 4
_KINDS = ("fa", "gi", "tw", "fi", "te", "twe", "fo", "fif", "hu")
_PREFIXES = {word: kind for kind in _KINDS for word in SPELLINGS[kind] if len(word) > _ABBREVIATION} | {
    "port-channel": "po"
}
"""Names in full, which ROS itself abbreviates; short spellings such as `xg` are names of their own."""

_NAME = re.compile(r"(?P<kind>[A-Za-z][A-Za-z-]*)\s*(?P<slot>(?:\d+/)*)(?P<number>\d+)")
_SPAN = re.compile(rf"{_NAME.pattern}(?:-(?:[A-Za-z-]*(?:\d+/)*)(?P<last>\d+))?")
_NAME_PATTERN = rf"(?:{'|'.join(_KINDS)}|xg|g|e|po|ch)[a-z-]*\s?(?:\d+/)*\d+"


def rows(output: str) -> list[str]:
    """What a person would read: escapes, page prompts, messages of the switch and blanks at the end taken out."""
    table = []
    for raw in _ESCAPE.sub("", output).replace("\r\n", "\n").split("\n"):
        row = _PAGE.sub("", raw)
        row = row.rpartition("\r")[2] if "\r" in row.rstrip("\r") else row
        row = _PAGE.sub("", row).rstrip()
        if not _MESSAGE.fullmatch(row):
            table.append(row)
    return table


def complaint(output: str, *, strict: bool) -> str:
    """What the switch says is wrong; empty if nothing. `strict` also hears words without a percent sign before them."""
    for row in rows(output):
        if _REFUSAL.match(row) or (strict and _COMPLAINT.search(row)):
            return row.strip()
    return ""


def short_name(text: str) -> str:
    """`gi1/0/3` for `gigabitethernet1/0/3`, `GigabitEthernet 1/0/3` and itself; `lag1` for `Po1`, `port-channel 1`."""
    shape = _NAME.fullmatch(text.strip())
    if shape is None:
        return text.strip()
    kind = _PREFIXES.get(shape["kind"].lower(), shape["kind"].lower())
    return f"lag{int(shape['number'])}" if kind in {"po", "ch"} else f"{kind}{shape['slot']}{shape['number']}"


def listed(text: str) -> frozenset[str] | None:
    """`gi1/0/1-4,te1/0/2,Po1` as single names; empty for `none`; None if it is not a list."""
    names: set[str] = set()
    if text.strip().lower() in {"", "none", "--"}:
        return frozenset()
    for part in text.split(","):
        shape = _SPAN.fullmatch(part.strip())
        if shape is None:
            return None
        last = int(shape["last"] or shape["number"])
        if last < int(shape["number"]) or last > 9999:
            return None
        kind = shape["kind"]
        names |= {short_name(f"{kind}{shape['slot']}{n}") for n in range(int(shape["number"]), last + 1)}
    return frozenset(names)


# -- interfaces


@dataclass(frozen=True, slots=True)
class LinkLines:
    """What `show interfaces configuration` says about one port; `Auto` flow control counts as on."""

    flow_control: bool
    admin_up: bool


def link_lines(switch: Switch, command: str, output: str) -> Mapping[str, LinkLines]:
    """`show interfaces configuration`: flow control and admin status by port, LAGs included."""
    links = {}
    for row in rows(output):
        columns = row.split()
        if not columns or not re.fullmatch(_NAME_PATTERN, columns[0], re.IGNORECASE):
            continue
        name = short_name(columns[0])
        column = 4 if name.startswith("lag") else 5
        flow, admin = "".join(columns[column : column + 1]).lower(), "".join(columns[column + 1 : column + 2]).lower()
        if flow not in {"on", "off", "auto"} or admin not in {"up", "down"}:
            raise Unreadable(switch.name, command, row)
        links[name] = LinkLines(flow != "off", admin == "up")
    if not links:
        raise Unreadable(switch.name, command, output)
    return links


# -- static addresses


_MAC_ROW = re.compile(
    r"\s*(?P<vid>\d{1,4})\s+(?P<mac>[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})"
    r"\s+(?P<port>\S.*?)\s+(?P<kind>[a-z][a-z-]*)\s*",
    re.IGNORECASE,
)


def statics(switch: Switch, command: str, output: str) -> Mapping[int, StaticTable]:
    """`show mac address-table static` by VID, of all ports; the switch's own address is left out."""
    entries: dict[int, dict[bytes, str]] = {}
    table = _body(switch, command, output, r"\s*Vlan\s+Mac Address\s+\S+\s+Type\s*")
    for row in table:
        shape = _MAC_ROW.fullmatch(row)
        if shape is None:
            raise Unreadable(switch.name, command, row)
        if shape["kind"].lower() in {"self", "dynamic"}:
            continue
        mac = bytes.fromhex(re.sub(r"[^0-9A-Fa-f]", "", shape["mac"]))
        entries.setdefault(int(shape["vid"]), {})[mac] = short_name(shape["port"])
    return entries


def _body(switch: Switch, command: str, output: str, head: str) -> Iterator[str]:
    """Rows under a table's head and its dashes, up to the end; empty rows and repeated heads are skipped."""
    inside = False
    for row in rows(output):
        if re.fullmatch(head, row, re.IGNORECASE):
            inside = True
        elif inside and row.strip() and not re.fullmatch(r"[\s-]+", row):
            yield row
    if not inside:
        raise Unreadable(switch.name, command, output)


# -- spanning tree


@dataclass(frozen=True, slots=True)
class SpanningTree:
    """Of the switch, and by port as configured, whether or not it runs."""

    enabled: bool
    ports: Mapping[str, bool]


_TREE_HEAD = re.compile(r"\s*Spanning tree (enabled|disabled)\b.*", re.IGNORECASE)
_TREE_ROW = re.compile(r"\s*(\S+)\s+(enabled|disabled)\s+\d+\.\d+\s.*", re.IGNORECASE)


def spanning_tree(switch: Switch, command: str, output: str) -> SpanningTree:
    """`show spanning-tree`; of several instances the first, to which every port belongs."""
    enabled = None
    ports: dict[str, bool] = {}
    for row in rows(output):
        if head := _TREE_HEAD.fullmatch(row):
            enabled = head[1].lower() == "enabled" if enabled is None else enabled
        elif shape := _TREE_ROW.fullmatch(row):
            ports.setdefault(short_name(shape[1]), shape[2].lower() == "enabled")
    if enabled is None or not ports:
        raise Unreadable(switch.name, command, output)
    return SpanningTree(enabled, ports)


# -- EEE


@dataclass(frozen=True, slots=True)
class Energy:
    """`show eee`: the switch-wide setting; ports where it is set, and where it works."""

    enabled: bool
    ports: frozenset[str]
    active: frozenset[str]


_EEE_GLOBAL = re.compile(r"EEE (?:is )?globally (enabled|disabled)", re.IGNORECASE)
_EEE_LIST = re.compile(
    r"EEE (LLDP )?(Administrate|Operational) status is enabled on ports:\s*([^:]*?)\s*(?=EEE |$)", re.IGNORECASE
)


def energy(switch: Switch, command: str, output: str) -> Energy:
    """`show eee`; lists of ports may run over several rows."""
    text = " ".join(row.strip() for row in rows(output))
    state = _EEE_GLOBAL.search(text)
    lists = {kind.lower(): listed(ports.replace(" ", "")) for lldp, kind, ports in _EEE_LIST.findall(text) if not lldp}
    admin, active = lists.get("administrate"), lists.get("operational", frozenset())
    if state is None or admin is None or active is None:
        raise Unreadable(switch.name, command, output)
    return Energy(state[1].lower() == "enabled", admin, active)


# -- configuration


@dataclass(frozen=True, slots=True)
class PortLines:
    """What the running configuration says about one port."""

    mode: str
    lag: int | None
    general: tuple[str, ...]
    """Lines about general mode; they lie dormant in any other."""

    description: str = ""
    """The line of the port's description."""

    lag_mode: str = ""
    """As in `PortState`: empty for `on`."""


_NO_LINES = PortLines("", None, ())


def port_lines(switch: Switch, command: str, output: str) -> Mapping[str, PortLines]:
    """`show running-config`, by port; ports that it does not mention are left out."""
    lines_by_port: dict[str, PortLines] = {}
    ports: frozenset[str] = frozenset()
    known = False
    for row in rows(output):
        line = row.strip()
        head = re.fullmatch(r"interface (?:range )?(.+)", line, re.IGNORECASE)
        known = known or bool(
            head or re.match(r"(?:no )?(?:vlan|hostname|spanning-tree|snmp-server|ip|eee|line)\b", line)
        )
        if head:
            ports = _interfaces(switch, command, head[1])
        elif line in {"!", "exit"} or (line and not row.startswith((" ", "\t")) and not ports):
            ports = frozenset()
        for port in () if head else ports:
            lines_by_port[port] = _with(lines_by_port.get(port, _NO_LINES), line)
    if not known and not re.search(r"empty configuration", output, re.IGNORECASE):
        raise Unreadable(switch.name, command, output)
    return lines_by_port


def _interfaces(switch: Switch, command: str, text: str) -> frozenset[str]:
    if re.match(r"(?:vlan|loopback|tunnel|oob|ip)\b", text, re.IGNORECASE):
        return frozenset()
    names = listed(re.sub(r"^ethernet\s+", "", text, flags=re.IGNORECASE))
    if names is None:
        raise Unreadable(switch.name, command, f"interface {text} has an unknown name")
    return names


def _with(lines: PortLines, words: str) -> PortLines:
    if shape := re.fullmatch(r"switchport mode (\S+)", words):
        return replace(lines, mode=shape[1].lower())
    if shape := re.match(r"channel-group (\d+)\b(?: mode (\S+))?", words):
        return replace(lines, lag=int(shape[1]), lag_mode=(shape[2] or "on").lower().removeprefix("on"))
    if re.match(r"(?:no )?switchport general\b", words):
        return replace(lines, general=(*lines.general, words))
    if words.startswith("description "):
        return replace(lines, description=words)
    return lines
