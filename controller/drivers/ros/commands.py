"""Commands that make changes on a ROS switch.

Command lines are those of the 55xx and Cisco 300/350 command-line guides. Every line names the prompt that it must
leave behind, and each interface is entered from global configuration, so that an interface that is not entered stops
everything instead of letting its lines fall on the interface before.
"""

from collections.abc import Iterator, Mapping, Sequence

from eee_testbed.controller.drivers.driver import AdminSet, Command, Line
from eee_testbed.controller.drivers.ros.dialect import Dialect
from eee_testbed.controller.drivers.ros.vlan_lines import DEFAULT_VID, vid_lists, vlan_lines
from eee_testbed.controller.model.state import Change, PortChange, PortState, StaticsChange, StpChange, VlanChange
from eee_testbed.lab.errors import NotExpressible
from eee_testbed.lab.model import Switch

CONFIG, INTERFACE, VLAN_DATABASE = r"\(config\)#", r"\(config-if\)#", r"\(config-vlan\)#"
PRIVILEGED = r"^[^()]*#"
FLAP_QUIRK = "link_flap_prevention"

_FACTORY_LINES = (
    "switchport general allowed vlan add 1 untagged",
    "switchport general pvid 1",
    "no switchport general ingress-filtering disable",
    "switchport general acceptable-frame-type all",
    "switchport mode general",
)
"""General mode with what a new port has: untagged in VLAN 1, filtered."""

_VLAN_FIELDS = ("untagged_vids", "tagged_vids", "pvid", "acceptance", "ingress_filtering")


def commands(switch: Switch, dialect: Dialect, changes: Sequence[Change]) -> Iterator[Command]:
    """Commands in the order of the changes; SNMP SETs are sent outside configuration mode."""
    inside = False
    if dialect.flap_guard and switch.quirks.get(FLAP_QUIRK) and any(_flaps(change) for change in changes):
        inside = True
        yield Line("configure", prompt=CONFIG)
        yield Line(dialect.flap_guard, prompt=CONFIG)
    for group in _grouped(changes):
        change = group[0]
        if isinstance(change, PortChange) and _is_admin_only(change) and _goes_by_snmp(switch, change.port):
            if inside:
                yield Line("end", prompt=PRIVILEGED)
                inside = False
            yield AdminSet(change.port, up=change.after.admin_up)
            continue
        lines = tuple(_lines(switch, group))
        if lines and not inside:
            yield Line("configure", prompt=CONFIG)
            inside = True
        yield from lines
    if inside:
        yield Line("end", prompt=PRIVILEGED)


def describe(lines: Mapping[str, str]) -> Iterator[Command]:
    """Lines of descriptions by port; an empty one takes the description away."""
    yield Line("configure", prompt=CONFIG)
    for port, line in lines.items():
        yield Line(f"interface {interface_name(port)}", prompt=INTERFACE)
        yield Line(line or "no description", prompt=INTERFACE)
        yield Line("exit", prompt=CONFIG)
    yield Line("end", prompt=PRIVILEGED)


def lag_number(port: str) -> int | None:
    """`N` of a port named `lagN`; None for any other port."""
    digits = port.removeprefix("lag")
    return int(digits) if port.startswith("lag") and digits.isdecimal() else None


def interface_name(port: str) -> str:
    """What the command line calls a port of the inventory."""
    number = lag_number(port)
    return port if number is None else f"port-channel {number}"


def _goes_by_snmp(switch: Switch, port: str) -> bool:
    return switch.snmp_write and bool(switch.community or switch.snmp_user) and lag_number(port) is None


def _is_admin_only(change: PortChange) -> bool:
    before, after = change.before, change.after
    others = ("speed_mbps", "flow_control", "eee", "hold_us", "stp", "lag", "lag_mode", *_VLAN_FIELDS)
    return before.admin_up != after.admin_up and all(getattr(before, f) == getattr(after, f) for f in others)


def _flaps(change: Change) -> bool:
    return isinstance(change, PortChange) and (
        change.before.admin_up != change.after.admin_up or change.before.eee != change.after.eee
    )


def _grouped(changes: Sequence[Change]) -> Iterator[tuple[Change, ...]]:
    """VLANs that come, or go, one after the other make one group; every other change is one by itself."""
    group: tuple[Change, ...] = ()
    for change in changes:
        last = group[-1] if group else None
        if isinstance(change, VlanChange) and isinstance(last, VlanChange) and last.after == change.after:
            group = (*group, change)
            continue
        if group:
            yield group
        group = (change,)
    if group:
        yield group


def _lines(switch: Switch, group: tuple[Change, ...]) -> Iterator[Line]:
    """From global configuration and back to it."""
    change = group[0]
    match change:
        case PortChange():
            yield from _port_lines(switch, change)
        case VlanChange():
            vids = [each.vid for each in group if isinstance(each, VlanChange)]
            yield from _vlan_database(switch, vids, exists=change.after)
        case StaticsChange():
            yield from _static_lines(change)
        case StpChange() if change.before != change.after:
            yield Line("spanning-tree" if change.after else "no spanning-tree", prompt=CONFIG)


def _vlan_database(switch: Switch, vids: list[int], *, exists: bool) -> Iterator[Line]:
    if DEFAULT_VID in vids:
        raise NotExpressible(switch.name, switch.family, "deleting or adding VLAN 1")
    yield Line("vlan database", prompt=VLAN_DATABASE)
    for text in vid_lists(vids):
        yield Line(f"vlan {text}" if exists else f"no vlan {text}", prompt=VLAN_DATABASE)
    yield Line("exit", prompt=CONFIG)


def _static_lines(change: StaticsChange) -> Iterator[Line]:
    """Entries that are new or at another port first, then those to delete. An entry that is written again moves [M]."""
    for mac, port in sorted(change.after.items()):
        if change.before.get(mac) != port:
            where = f"vlan {change.vid} interface {interface_name(port)} permanent"
            yield Line(f"mac address-table static {mac.hex(':')} {where}", prompt=CONFIG)
    for mac in sorted(change.before.keys() - change.after.keys()):
        yield Line(f"no mac address-table static {mac.hex(':')} vlan {change.vid}", prompt=CONFIG)


def _port_lines(switch: Switch, change: PortChange) -> Iterator[Line]:
    """Shut first, wake last; in between nothing counts on the link being up."""
    before, after = change.before, change.after
    _check(switch, change)
    inner = (*_link_lines(before, after), *_lag_lines(before, after))
    if before.stp != after.stp:
        inner = (*inner, "no spanning-tree disable" if after.stp else "spanning-tree disable")
    bounce = before.eee != after.eee and before.admin_up and after.admin_up
    lines: list[str] = []
    if bounce or (before.admin_up and not after.admin_up):
        lines.append("shutdown")
    if before.eee != after.eee:
        lines.append("eee enable" if after.eee else "no eee enable")
    lines += inner
    if bounce or (after.admin_up and not before.admin_up):
        lines.append("no shutdown")
    if lines:
        yield Line(f"interface {interface_name(change.port)}", prompt=INTERFACE)
        yield from (Line(line, prompt=INTERFACE) for line in lines)
        yield Line("exit", prompt=CONFIG)


def _check(switch: Switch, change: PortChange) -> None:
    before, after = change.before, change.after
    if before.lag != after.lag and before.admin_up and after.admin_up:
        raise NotExpressible(switch.name, switch.family, f"a change of the LAG of {change.port} while the port is up")
    if before.hold_us != after.hold_us:
        raise NotExpressible(switch.name, switch.family, "setting an EEE hold time")
    of_cables = (before.eee, before.speed_mbps) != (after.eee, after.speed_mbps)
    if lag_number(change.port) is not None and of_cables:
        raise NotExpressible(
            switch.name, switch.family, f"EEE or speed of the LAG {change.port} (set them on its members)"
        )


def _lag_lines(before: PortState, after: PortState) -> Iterator[str]:
    """VLANs, and the LAG: left before the port gets VLANs of its own, joined after.

    A port that leaves has the settings that it had before it joined, whatever they were: they are written anew. One
    that joins may be in no VLAN but VLAN 1 (administration guide of the Cisco 300 series).
    """
    same_lag = (before.lag, before.lag_mode) == (after.lag, after.lag_mode)
    if not same_lag and before.lag is not None:
        yield "no channel-group"
        yield from _FACTORY_LINES
    yield from vlan_lines(before, after)
    if not same_lag and after.lag is not None:
        yield f"channel-group {after.lag} mode {after.lag_mode or 'on'}"


def _link_lines(before: PortState, after: PortState) -> Iterator[str]:
    """A speed is set before negotiation ends, so that the link restarts once, and forgotten when it is back."""
    if before.speed_mbps != after.speed_mbps:
        if after.speed_mbps is None:
            yield "negotiation"
            yield "no speed"
        else:
            yield f"speed {after.speed_mbps}"
            yield "no negotiation"
    if before.flow_control != after.flow_control:
        yield "flowcontrol on" if after.flow_control else "flowcontrol off"
