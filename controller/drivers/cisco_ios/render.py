"""From changes to the lines that make them on Cisco IOS. Pure.

A port is in access mode if it is an untagged member of its PVID's VLAN and of nothing else; any other is a trunk whose
native VLAN is the PVID. Lines of the mode that a port is not in are stored and have no effect, so the lines of the mode
to come are typed first, and the mode last: what frames see is one end or the other. A trunk that surely is one already
is changed by what is added and removed. A port that was found in a mode that negotiates gets that mode back with the
lines that it had then. A port that leaves a LAG keeps the LAG's lines, and one that joins has to have them, so no line
of VLANs is typed with either (`Capabilities.lag_members_match`).
"""

from collections.abc import Iterator, Mapping, Sequence

from eee_testbed.controller.drivers.cisco_ios.names import interface_name, vid_lists
from eee_testbed.controller.drivers.driver import Command, Line
from eee_testbed.controller.model.port_forms import one_untagged
from eee_testbed.controller.model.state import Change, PortChange, PortState, StaticsChange, StpChange, VlanChange
from eee_testbed.lab.errors import NotExpressible
from eee_testbed.lab.model import Switch

EXEC = r"[^)]#\s*$"
CONFIG = r"\(config\)#\s*$"
INTERFACE = r"\(config-if\)#\s*$"
VLAN = r"\(config-vlan\)#\s*$"

ALL_VLANS = "1-4094"
COPY_REPLY = ((r"Destination filename \[startup-config\]\?", "\n"),)


def render(switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
    """The commands that make the changes, in their order, from privileged mode and back to it."""
    lines = [line for change in changes for line in _lines(switch, change)]
    if not lines:
        return ()
    return (Line("configure terminal", prompt=CONFIG), *lines, Line("end", prompt=EXEC))


def describe(lines: Mapping[str, str]) -> tuple[Command, ...]:
    """Lines of descriptions by port; an empty one takes the description away."""
    typed = [Line("configure terminal", prompt=CONFIG)]
    for port, line in lines.items():
        typed.append(Line(f"interface {interface_name(port)}", prompt=INTERFACE))
        typed.append(Line(line or "no description", prompt=INTERFACE))
        typed.append(Line("exit", prompt=CONFIG))
    return (*typed, Line("end", prompt=EXEC))


def _lines(switch: Switch, change: Change) -> Iterator[Line]:
    match change:
        case PortChange():
            texts = list(_port(switch, change))
            if texts:
                yield Line(f"interface {interface_name(change.port)}", prompt=INTERFACE)
                yield from (Line(text, prompt=INTERFACE) for text in texts)
                yield Line("exit", prompt=CONFIG)
        case VlanChange(after=True):
            yield Line(f"vlan {change.vid}", prompt=VLAN)
            yield Line("exit", prompt=CONFIG)
        case VlanChange():
            yield Line(f"no vlan {change.vid}", prompt=CONFIG)
        case StaticsChange():
            yield from (Line(text, prompt=CONFIG) for text in _statics(change))
        case StpChange():
            yield Line(f"{'' if change.after else 'no '}spanning-tree vlan {ALL_VLANS}", prompt=CONFIG)


def _port(switch: Switch, change: PortChange) -> Iterator[str]:
    before, after = change.before, change.after
    same_lag = (before.lag, before.lag_mode) == (after.lag, after.lag_mode)
    if not same_lag and before.admin_up and after.admin_up:
        raise NotExpressible(switch.name, switch.family, f"a change of the LAG of {change.port} while the port is up")
    if before.hold_us != after.hold_us:
        raise NotExpressible(switch.name, switch.family, f"setting a hold time, as on port {change.port}")
    if not after.admin_up and before.admin_up:
        yield "shutdown"
    yield from _membership(switch, change) if same_lag else _lag(after)
    if before.speed_mbps != after.speed_mbps:
        yield f"speed {after.speed_mbps or 'auto'}"
    if before.flow_control != after.flow_control:
        yield f"flowcontrol receive {'on' if after.flow_control else 'off'}"
    if before.eee != after.eee:
        yield f"{'' if after.eee else 'no '}power efficient-ethernet auto"
    if before.stp != after.stp:
        # A port cannot leave the spanning tree; it can be made deaf and mute to it. Simplification: one that hears
        # no BPDU forwards, which is what "without spanning tree" means here; a capture would show no BPDU. [M]
        yield f"{'no ' if after.stp else ''}spanning-tree bpdufilter{'' if after.stp else ' enable'}"
    if after.admin_up and not before.admin_up:
        yield "no shutdown"


def _lag(after: PortState) -> Iterator[str]:
    yield "no channel-group" if after.lag is None else f"channel-group {after.lag} mode {after.lag_mode or 'on'}"


def _membership(switch: Switch, change: PortChange) -> Iterator[str]:
    before, after = change.before, change.after
    if after.found_mode is not None and after.found_mode != before.found_mode:
        yield from after.found_mode.lines
        return
    if before.form == after.form and before.found_mode == after.found_mode:
        return
    if after != one_untagged(after):
        feature = f"port {change.port} in these VLANs: it untags the native VLAN only, and filters what comes in"
        raise NotExpressible(switch.name, switch.family, feature)
    if is_access(after):
        yield f"switchport access vlan {after.pvid}"
        yield "switchport mode access"
        return
    if before.tagged_vids and before.found_mode is None:  # surely a trunk
        yield from (f"switchport trunk allowed vlan add {vids}" for vids in vid_lists(after.vids - before.vids))
        if before.pvid != after.pvid:
            yield f"switchport trunk native vlan {after.pvid}"
        yield from (f"switchport trunk allowed vlan remove {vids}" for vids in vid_lists(before.vids - after.vids))
        return
    first, *more = vid_lists(after.vids, first=before.untagged_vids) or ["none"]
    yield f"switchport trunk allowed vlan {first}"
    yield from (f"switchport trunk allowed vlan add {vids}" for vids in more)
    yield f"switchport trunk native vlan {after.pvid}"
    if switch.quirks.get("trunk_encapsulation"):
        yield "switchport trunk encapsulation dot1q"
    yield "switchport mode trunk"
    yield "switchport nonegotiate"


def is_access(port: PortState) -> bool:
    """Whether the port is one of access mode."""
    return port.untagged_vids == {port.pvid} and not port.tagged_vids


def _statics(change: StaticsChange) -> Iterator[str]:
    """Entries that go or move are taken away before others are made, so that the table never holds more."""
    gone = [(mac, port) for mac, port in change.before.items() if change.after.get(mac) != port]
    added = [(mac, port) for mac, port in change.after.items() if change.before.get(mac) != port]
    yield from (f"no {_static(change.vid, mac, port)}" for mac, port in gone)
    yield from (_static(change.vid, mac, port) for mac, port in added)


def _static(vid: int, mac: bytes, port: str) -> str:
    digits = mac.hex()
    dotted = ".".join(digits[place : place + 4] for place in range(0, 12, 4))
    return f"mac address-table static {dotted} vlan {vid} interface {interface_name(port)}"
