"""What `ethtool` says and takes for ports of switches that are Linux machines: speed, flow control, EEE. Pure.

The layouts are those of ethtool 6.1, read in its output on virtual NICs and, where those have nothing to say, taken
from its documentation [M]. A NIC that cannot do something answers that it is not supported, in the words of its C
library: then the setting is the model's default, and setting it is refused by ethtool itself.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eee_testbed.controller.drivers.driver import EeeStatus
from eee_testbed.controller.model.config_text import LostLine
from eee_testbed.controller.model.state import PortState
from eee_testbed.lab.errors import Unreadable

_UNSUPPORTED = re.compile(r"not supported|no data available|function not implemented", re.IGNORECASE)
"""EOPNOTSUPP, ENODATA and ENOSYS in the words of glibc ("Operation not supported") and musl ("Not supported")."""

_MODULE = re.compile(r"^\s*Port: (?!Twisted Pair|MII|TP\b|AUI|BNC)\S", re.MULTILINE)
"""A cage or a direct-attach cable: what it can do is what is plugged in."""

_MODE = re.compile(r"\b(\d+)base\S+/(?:Full|Half)")


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """Speed (None: negotiated, or not to be chosen) and flow control of one NIC."""

    speed_mbps: int | None
    flow_control: bool


def show_links(ports: Sequence[str]) -> str:
    """One command that prints speed and flow control of all ports."""
    return _for_each(ports, 'ethtool "$p"; ethtool -a "$p"')


def show_eee(ports: Sequence[str]) -> str:
    """One command that prints EEE of all ports."""
    return _for_each(ports, 'ethtool --show-eee "$p"')


def _for_each(ports: Sequence[str], commands: str) -> str:
    # A NIC without the feature makes ethtool fail: what it says is the answer.
    return f'for p in {shlex.join(ports)}; do echo "== $p"; {commands}; done 2>&1; true'


def set_commands(port: str, before: PortState, after: PortState) -> Iterator[str]:
    """Commands for speed, flow control, EEE and hold time, where they differ.

    A fixed speed is the only one that is advertised: 1000BASE-T needs negotiation to choose its master.
    """
    name = shlex.quote(port)
    if before.speed_mbps != after.speed_mbps:
        fixed = "" if after.speed_mbps is None else f" speed {after.speed_mbps} duplex full"
        yield f"ethtool -s {name} autoneg on{fixed}"  # [M] that drivers advertise all modes again
    if before.flow_control != after.flow_control:
        word = "on" if after.flow_control else "off"
        yield f"ethtool -A {name} rx {word} tx {word}"
    if before.eee != after.eee or before.hold_us != after.hold_us:
        hold = "" if after.hold_us is None else f" tx-timer {after.hold_us}"
        yield f"ethtool --set-eee {name} eee {'on tx-lpi on' if after.eee else 'off'}{hold}"


def read_links(switch: str, ports: Sequence[str], text: str) -> dict[str, LinkSettings]:
    """What `show_links` printed."""
    links = {}
    for port, part in _sections(switch, ports, text).items():
        general, _, pause = part.partition("Pause parameters for")
        if "Settings for" not in general:
            _refuse(switch, f"ethtool {port}", part)
        if not pause and not _UNSUPPORTED.search(part):
            _refuse(switch, f"ethtool -a {port}", part)
        flows = {re.search(rf"^{way}:\s+(on|off)", pause, re.MULTILINE) is not None for way in ("RX", "TX")}
        if pause and flows != {True}:
            _refuse(switch, f"ethtool -a {port}", part)
        on = bool(pause) and all(re.search(rf"^{way}:\s+on", pause, re.MULTILINE) for way in ("RX", "TX"))
        links[port] = LinkSettings(_speed_mbps(general), on)
    return links


def _speed_mbps(text: str) -> int | None:
    """The only speed that a NIC may use; one that is its only one anyway counts as negotiated.

    It is a setting, so it does not depend on whether the link is up. A module that does not negotiate has one speed,
    which is not to be chosen. Simplification: a copper port without negotiation is at the only speed that it
    advertises, or else at the one that it shows, which some drivers do only while the link is up.
    """
    if not re.search(r"Supports auto-negotiation: Yes", text):
        return None
    supported, advertised = (_modes(text, f"{kind} link modes") for kind in ("Supported", "Advertised"))
    if re.search(r"^\s*Auto-negotiation: off", text, re.MULTILINE):
        if _MODULE.search(text):
            return None
        if len(advertised) == 1:
            return next(iter(advertised))
        speed = re.search(r"^\s*Speed: (\d+)Mb/s", text, re.MULTILINE)
        return int(speed[1]) if speed else None
    return next(iter(advertised)) if len(advertised) == 1 and advertised != supported else None


def lost_lines(switch: str, ports: Sequence[str], links: str, eee: str) -> dict[str, tuple[LostLine, ...]]:
    """By port, what `set_commands` would replace for good, out of what `show_links` and `show_eee` printed."""
    lost: dict[str, list[LostLine]] = {port: [] for port in ports}
    for port, part in _sections(switch, ports, links).items():
        general, _, pause = part.partition("Pause parameters for")
        if re.search(r"Supports auto-negotiation: Yes", general):
            supported, advertised = (_modes(general, f"{kind} link modes") for kind in ("Supported", "Advertised"))
            if re.search(r"^\s*Auto-negotiation: off", general, re.MULTILINE):
                lost[port].append(LostLine("speed_mbps", "autoneg off"))
            elif len(advertised) > 1 and advertised < supported:
                speeds = " ".join(map(str, sorted(advertised)))
                lost[port].append(LostLine("speed_mbps", f"advertise {speeds} Mb/s"))
        ways = dict(re.findall(r"^(RX|TX):\s+(on|off)", pause, re.MULTILINE))
        if len(set(ways.values())) > 1:
            lost[port].append(LostLine("flow_control", f"rx {ways['RX']} tx {ways['TX']}"))
    for port, part in _sections(switch, ports, eee).items():
        if re.search(r"EEE status: enabled", part) and re.search(r"Tx LPI: disabled", part):
            lost[port].append(LostLine("eee", "eee on tx-lpi off"))
    return {port: tuple(lines) for port, lines in lost.items() if lines}


def _modes(text: str, title: str) -> set[int]:
    """Speeds in a list that goes on in indented lines without a title."""
    block = re.search(rf"^\s*{title}:(.*(?:\n\s+[^:\n]*)*)$", text, re.MULTILINE)
    return {int(mode) for mode in _MODE.findall(block[1])} if block else set()


def read_eee(switch: str, ports: Sequence[str], text: str) -> dict[str, EeeStatus]:
    """What `show_eee` printed; ports that cannot do EEE are there, as not supported."""
    states = {}
    for port, part in _sections(switch, ports, text).items():
        status = re.search(r"EEE status: (.+)", part)
        if status is None or status[1].startswith("not supported"):
            if not _UNSUPPORTED.search(part):
                _refuse(switch, f"ethtool --show-eee {port}", part)
            states[port] = EeeStatus(False, False, None, None, None, None)
            continue
        if not re.match(r"disabled|enabled - (active|inactive)", status[1]):
            _refuse(switch, f"ethtool --show-eee {port}", part)
        timer = re.search(r"Tx LPI: (\d+) \(us\)", part)
        partner = re.search(r"Link partner advertised EEE link modes:\s*(.*)", part)
        states[port] = EeeStatus(
            supported=True,
            enabled=status[1].startswith("enabled"),
            active=status[1].startswith("enabled - active"),
            partner=bool(_MODE.search(partner[1])) if partner else None,
            hold_us=int(timer[1]) if timer else None,
            wake_us=None,
        )
    return states


def _sections(switch: str, ports: Sequence[str], text: str) -> Mapping[str, str]:
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if parts[0].strip() or set(sections) != set(ports):
        _refuse(switch, "ethtool", text)
    return sections


def _refuse(switch: str, command: str, text: str) -> None:
    raise Unreadable(switch, command, text)
