"""From changes to the lines and SETs that make them, for every FASTPATH dialect. Pure.

Entering general mode. A port in access or trunk mode may hold lines of general mode that take effect only then. So a
port that is not surely in general mode gets its whole membership written first, while it waits (`lines_wait`), and is
put into general mode when the lines say what it was before, plus what the change adds; what the change takes away goes
last. Frames see nothing but the two ends and what lies between them. Lines of VLANs that neither end knows cannot be
seen from here: `fastpath.read` refuses a port that has some. Where lines do not wait (62xx) the port passes through
VLAN 1, and `fastpath.read` refuses one for which that would be more than it was, unless it is shut.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from eee_testbed.controller.drivers.driver import AdminSet, Command, Line, aspects_of
from eee_testbed.controller.drivers.fastpath.dialect import (
    EXEC_PROMPT,
    HOLD_MAX_US,
    MAX_STATIC_OF_PORT,
    RATE_WORDS,
    Dialect,
    Pair,
)
from eee_testbed.controller.model.state import Change, PortChange, PortState, StaticsChange, StpChange, VlanChange
from eee_testbed.lab.errors import NotExpressible
from eee_testbed.lab.model import Switch, lag_port

LIST_MAX_CHARACTERS = 60
"""Of one list of VLANs in a line; how long a line FASTPATH takes is not documented."""

_MEMBERSHIP = ("untagged_vids", "tagged_vids", "pvid", "acceptance", "ingress_filtering")
_LAG = re.compile(r"lag([1-9]\d*)")


class Script:
    """Commands under construction, and the modes that the last line leaves the session in."""

    def __init__(self, dialect: Dialect) -> None:
        self.commands: list[Command] = []
        self._dialect = dialect
        self._modes: list[Pair] = []  # (line that entered it, its prompt)

    def at(self, *modes: Pair) -> None:
        """Go to the innermost of these modes, from privileged mode on: leave what is not on the way, enter the rest."""
        shared = 0
        while shared < min(len(modes), len(self._modes)) and modes[shared] == self._modes[shared]:
            shared += 1
        while len(self._modes) > shared:
            self._modes.pop()
            self.commands.append(Line("exit", prompt=self._prompt))
        for mode in modes[shared:]:
            self._modes.append(mode)
            self.commands.append(Line(mode[0], prompt=self._prompt))

    def type(self, *texts: str) -> None:
        """Lines that stay in the present mode."""
        self.commands += (Line(text, prompt=self._prompt) for text in texts)

    @property
    def _prompt(self) -> str:
        return self._modes[-1][1] if self._modes else EXEC_PROMPT


def render(dialect: Dialect, switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
    """The commands that make the changes, in their order; NotExpressible if one of them cannot be expressed."""
    script = Script(dialect)
    for kind, run in groupby(changes, key=_kind):
        several = tuple(run)
        if kind == "make":
            _make_vlans(dialect, switch, script, [change.vid for change in several if isinstance(change, VlanChange)])
        elif kind == "unmake":
            _unmake_vlans(dialect, script, [change.vid for change in several if isinstance(change, VlanChange)])
        for change in several:
            match change:
                case PortChange():
                    _change_port(dialect, switch, script, change)
                case StaticsChange():
                    _change_statics(dialect, switch, script, change)
                case StpChange():
                    script.at(config_mode(dialect))
                    script.type("spanning-tree" if change.after else "no spanning-tree")
                case VlanChange():
                    pass
    script.at()
    return tuple(script.commands)


def describe(dialect: Dialect, lines: Mapping[str, str]) -> tuple[Command, ...]:
    """Lines of descriptions by port; an empty one takes the description away."""
    script = Script(dialect)
    for port, line in lines.items():
        script.at(config_mode(dialect), interface_mode(dialect, port))
        script.type(line or "no description")
    script.at()
    return tuple(script.commands)


def _kind(change: Change) -> str:
    if isinstance(change, VlanChange):
        return "make" if change.after else "unmake"
    return "other"


def vid_lists(vids: Iterable[int]) -> tuple[str, ...]:
    """``11-13,20``, ascending, cut into lists that fit a line."""
    spans: list[list[int]] = []
    for vid in sorted(vids):
        if spans and spans[-1][1] == vid - 1:
            spans[-1][1] = vid
        else:
            spans.append([vid, vid])
    lists: list[str] = []
    for first, last in spans:
        text = str(first) if first == last else f"{first}-{last}"
        if lists and len(lists[-1]) + len(text) < LIST_MAX_CHARACTERS:
            lists[-1] += f",{text}"
        else:
            lists.append(text)
    return tuple(lists)


def config_mode(dialect: Dialect) -> Pair:
    """Global configuration."""
    return "configure", dialect.config_prompt


def interface_mode(dialect: Dialect, port: str) -> Pair:
    """The mode of a port or LAG, to be entered from global configuration."""
    lag = _LAG.fullmatch(port)
    if lag:
        return dialect.lag_interface.format(name=lag[1]), dialect.lag_prompt.format(name=lag[1])
    return dialect.interface.format(name=port), dialect.interface_prompt.format(name=re.escape(port))


def vlan_mode(dialect: Dialect, vid: int) -> tuple[Pair, ...]:
    """The modes in which an existing VLAN is named, from privileged mode."""
    if dialect.vlan_submode:
        return *dialect.vlan_modes, (f"vlan {vid}", dialect.vlan_prompt)
    if dialect.statics == "interface-vlan":
        return config_mode(dialect), _vlan_interface(vid)
    return dialect.vlan_modes


def _vlan_interface(vid: int) -> Pair:
    return f"interface vlan {vid}", rf"(?i).*\(config-if-vlan ?{vid}\)#\s*$"


# -- VLANs


def _make_vlans(dialect: Dialect, switch: Switch, script: Script, vids: Sequence[int]) -> None:
    if dialect.trim_trunks:
        for ports in _runs([port.name for port in switch.ports]):
            script.at(config_mode(dialect), interface_mode(dialect, ports))
            script.type(*(dialect.trim_trunks.format(vids=text) for text in vid_lists(vids)))
    for text in vid_lists(vids):
        if dialect.vlan_submode:
            script.at(*dialect.vlan_modes, (f"vlan {text}", dialect.vlan_prompt))
        else:
            script.at(*dialect.vlan_modes)
            script.type(f"vlan {text}")


def _unmake_vlans(dialect: Dialect, script: Script, vids: Sequence[int]) -> None:
    script.at(*dialect.vlan_modes)
    script.type(*(f"no vlan {text}" for text in vid_lists(vids)))


def _runs(names: Sequence[str]) -> list[str]:
    """Ports whose names count on, as ranges: ``1/0/1-1/0/28``."""
    runs: list[tuple[str, int, int]] = []
    for name in names:
        stem, _, number = name.rpartition("/")
        if runs and runs[-1][0] == stem and runs[-1][2] + 1 == int(number):
            runs[-1] = stem, runs[-1][1], int(number)
        else:
            runs.append((stem, int(number), int(number)))
    return [f"{s}/{first}" if first == last else f"{s}/{first}-{s}/{last}" for s, first, last in runs]


# -- ports


def _change_port(dialect: Dialect, switch: Switch, script: Script, change: PortChange) -> None:
    before, after = change.before, change.after
    aspects = aspects_of(change)
    _require_lag_change(dialect, switch, change)
    wakes = after.admin_up and not before.admin_up
    settle = wakes and after.lag is None and not dialect.lines_wait and not surely_general(before)
    only_admin = aspects == {"link"} and _same(before, after, "speed_mbps", "flow_control") and not settle
    if only_admin and sets_admin(switch) and not _LAG.fullmatch(change.port):
        script.at()
        script.commands.append(AdminSet(change.port, up=after.admin_up))
        return
    lines = [
        *_link_lines(dialect, switch, change),
        *_lag_lines(dialect, before, after, settle=settle),
    ]
    if before.stp != after.stp:
        lines.append(_pick(dialect.stp_port, yes=after.stp))
    if before.admin_up != after.admin_up:
        lines = [*lines, "no shutdown"] if after.admin_up else ["shutdown", *lines]
    if dialect.static_lag and after.lag is not None and after.lag != before.lag and not after.lag_mode:
        script.at(config_mode(dialect), interface_mode(dialect, lag_port(after.lag)))
        script.type(dialect.static_lag)
    if lines:
        script.at(config_mode(dialect), interface_mode(dialect, change.port))
        script.type(*lines)


def _require_lag_change(dialect: Dialect, switch: Switch, change: PortChange) -> None:
    before, after = change.before, change.after
    same = (before.lag, before.lag_mode) == (after.lag, after.lag_mode)
    if same and after.lag is not None and not _same(before, after, *_MEMBERSHIP):
        raise NotExpressible(switch.name, dialect.family, f"VLANs of a single LAG member ({change.port})")
    if not same and before.admin_up and after.admin_up:
        raise NotExpressible(switch.name, dialect.family, f"a change of the LAG of {change.port} while the port is up")


def _lag_lines(dialect: Dialect, before: PortState, after: PortState, *, settle: bool) -> list[str]:
    """Memberships, and the LAG: left before the port gets memberships of its own, joined after.

    What a port that leaves was before it joined comes back with it, so all of its memberships are written.
    """
    same = (before.lag, before.lag_mode) == (after.lag, after.lag_mode)
    leaves, joins = (not same and lag is not None for lag in (before.lag, after.lag))
    lines = [dialect.leave_lag.format(lag=before.lag)] if leaves else []
    lines += _membership_lines(dialect, before, after, settle=settle or (leaves and after.lag is None))
    return lines + ([dialect.join_lag.format(lag=after.lag, mode=after.lag_mode or "on")] if joins else [])


def sets_admin(switch: Switch) -> bool:
    """Whether admin status goes by SNMP."""
    return switch.snmp_write and (switch.snmp_user is not None or bool(switch.community))


def _same(before: PortState, after: PortState, *fields: str) -> bool:
    return all(getattr(before, field) == getattr(after, field) for field in fields)


def _pick(pair: Pair, *, yes: bool) -> str:
    return pair[0] if yes else pair[1]


def _link_lines(dialect: Dialect, switch: Switch, change: PortChange) -> list[str]:
    """Speed, flow control, EEE, hold. The hold goes first, so that EEE begins with the one that is wanted."""
    before, after = change.before, change.after
    lines: list[str] = []

    def need(what: str, *, known: bool) -> None:
        if not known:
            raise NotExpressible(switch.name, dialect.family, f"{what} on {change.port}")

    if before.speed_mbps != after.speed_mbps:
        if after.speed_mbps is None:
            lines += dialect.speed_auto
        else:
            rates = dialect.rates_mbps.get(switch.port(change.port).rate_mbps, ())
            need(f"a fixed speed of {after.speed_mbps} Mb/s", known=after.speed_mbps in rates)
            lines += (text.format(mbps=RATE_WORDS[after.speed_mbps]) for text in dialect.speed_fixed)
    if before.flow_control != after.flow_control:
        need("a change of flow control", known=dialect.flow_control is not None)
        lines.append(_pick(dialect.flow_control or ("", ""), yes=after.flow_control))
    if before.hold_us != after.hold_us:
        need("a hold time", known=dialect.hold is not None)
        need(f"a hold of {after.hold_us} us", known=after.hold_us is None or 0 < after.hold_us <= HOLD_MAX_US)
        lines.append(_pick(dialect.hold or ("", ""), yes=after.hold_us is not None).format(us=after.hold_us))
    if before.eee != after.eee:
        need("EEE", known=dialect.eee is not None)
        lines.append(_pick(dialect.eee or ("", ""), yes=after.eee))
    return lines


def surely_general(port: PortState) -> bool:
    """Whether no port in access or trunk mode is read like this one; see `fastpath.read`."""
    return len(port.untagged_vids) > 1 or not port.ingress_filtering or port.acceptance == "tagged"


def _membership_lines(dialect: Dialect, before: PortState, after: PortState, *, settle: bool) -> list[str]:
    """Join, PVID, filters, leave; in a port of unknown mode everything that either end has.

    `settle`: the port is about to be woken, after which it cannot enter general mode: lines also without a change.
    """
    if _same(before, after, *_MEMBERSHIP) and not settle:
        return []
    sure = surely_general(before)
    tagged = after.tagged_vids | (before.tagged_vids - after.vids)
    untagged = after.untagged_vids | (before.untagged_vids - after.vids)
    if sure:
        tagged, untagged = tagged - before.tagged_vids, untagged - before.untagged_vids
    lines: list[str] = []
    if not sure and not dialect.lines_wait:
        lines.append("switchport mode general")
    for pattern, vids in ((dialect.join_tagged, tagged), (dialect.join_untagged, untagged)):
        lines += (text.format(vids=some) for some in vid_lists(vids) for text in pattern)
    unwanted = frozenset({1}) - before.vids - after.vids
    if not sure:
        lines += (dialect.leave.format(vids=some) for some in vid_lists(unwanted))
    if not sure or before.pvid != after.pvid:
        lines.append(dialect.pvid.format(vid=after.pvid))
    if not sure or before.acceptance != after.acceptance:
        lines.append(_pick(dialect.tagged_only, yes=after.acceptance == "tagged"))
    if not sure or before.ingress_filtering != after.ingress_filtering:
        lines.append(_pick(dialect.ingress_filter, yes=after.ingress_filtering))
    if not sure and dialect.lines_wait:
        lines.append("switchport mode general")
    lines += (dialect.leave.format(vids=some) for some in vid_lists(before.vids - after.vids))
    return lines


# -- static entries


def _change_statics(dialect: Dialect, switch: Switch, script: Script, change: StaticsChange) -> None:
    """Entries that go or move are taken away first: an address is in one place of a VLAN."""
    before, after, vid = dict(change.before), dict(change.after), change.vid
    gone = sorted((port, mac) for mac, port in before.items() if after.get(mac) != port)
    new = sorted((port, mac) for mac, port in after.items() if before.get(mac) != port)
    config = config_mode(dialect)
    if dialect.statics == "port-security":
        if any(sum(p == port for p in after.values()) > MAX_STATIC_OF_PORT for port in after.values()):
            what = f"more than {MAX_STATIC_OF_PORT} static entries at a port"
            raise NotExpressible(switch.name, dialect.family, what)
        for port, entries in groupby(gone, key=lambda entry: entry[0]):
            script.at(config, interface_mode(dialect, port))
            script.type(*(f"no port-security mac-address {mac.hex(':')} {vid}" for _, mac in entries))
        if new:
            script.at(config)
            script.type("port-security")
        for port, entries in groupby(new, key=lambda entry: entry[0]):
            script.at(config, interface_mode(dialect, port))
            script.type("port-security", f"port-security max-static {MAX_STATIC_OF_PORT}")
            script.type(*(f"port-security mac-address {mac.hex(':')} {vid}" for _, mac in entries))
    elif dialect.statics == "interface-vlan":  # [M]
        script.at(config, _vlan_interface(vid))
        script.type(*(f"no bridge address {mac.hex(':')}" for _, mac in gone))
        script.type(*(f"bridge address {mac.hex(':')} {_operand(dialect, port)} permanent" for port, mac in new))
    else:  # [M]
        script.at(config)
        for word, entries_of in (("no mac", gone), ("mac", new)):
            script.type(
                *(
                    f"{word} address-table static {mac.hex(':')} vlan {vid} interface {_operand(dialect, port)}"
                    for port, mac in entries_of
                )
            )


def _operand(dialect: Dialect, port: str) -> str:
    """A port as an argument: as behind `interface`."""
    return interface_mode(dialect, port)[0].removeprefix("interface ")
