"""Linux switches: the kernel's bridge with VLAN filtering, set by iproute2 and ethtool (switchdev, Cumulus-like).

Commands are those of bridge(8), ip-link(8) and ethtool(8). Every line is a command of its own; its exit status says
whether it was taken. How the kernel's bridge is a `State`:

- A VLAN exists on the switch if a port or the bridge itself is a member of it, and VLAN 1 always. It is created by
  making the bridge a member (`bridge vlan add dev br0 vid V self`), whose processor then hears the VLAN's floods.
- The kernel keeps a PVID only where the port is a member of that VLAN, and knows no acceptable frame types: without a
  PVID untagged frames are dropped. Such a port is PVID 1 and acceptance "tagged" here
  (`controller.model.port_forms.without_bare_pvid`); a port with a PVID accepts "all".
- Ingress filtering comes with VLAN filtering and is always on. Spanning tree is of the whole bridge: ports have it on.
- `lagN` is the bond `bondN`, a port of the bridge. It is made when its first port joins (balance-xor over layers 3 and
  4, which is 802.1AX without LACP), in VLAN 1 and up, and deleted when its last one leaves; one without ports that is
  there already is made anew. A bond takes an interface in only while that is down, and brings it up.
- A device's own hold time cannot be distinguished from one that was set: they are shown and set only on a switch
  whose inventory has the quirk `hold: true`, and then are never None on a port with EEE.
- The kernel adds and deletes a static entry only while its port is a member of the VLAN. One whose port has left it
  is flushed, together with all others of that port and VLAN, which are as dead.

Quirks: `bridge` is the bridge's name, `br0` by default; `hold` as above. `controller.drivers.linux_bridge.save`
says what `save` writes.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from eee_testbed.controller.drivers import ethtool
from eee_testbed.controller.drivers.driver import (
    Answers,
    Aspect,
    Command,
    EeeStatus,
    Family,
    Identity,
    Line,
    Query,
    Show,
)
from eee_testbed.controller.drivers.linux_bridge.answers import (
    Interface,
    Membership,
    read_entries,
    read_interfaces,
    read_memberships,
)
from eee_testbed.controller.drivers.linux_bridge.save import save_command
from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.config_text import ConfigText
from eee_testbed.controller.model.port_forms import without_bare_pvid
from eee_testbed.controller.model.state import (
    Change,
    PortChange,
    PortState,
    StaticsChange,
    StpChange,
    SwitchState,
    VlanChange,
)
from eee_testbed.lab.errors import NotExpressible, Unreadable
from eee_testbed.lab.model import Switch

_DEFAULT_VLAN = 1
_MONITOR_MS = 100  # how often a bond asks its ports whether their link is up
_LAG = re.compile(r"lag(\d+)")
_BOND = re.compile(r"bond(\d+)")
_INTERFACES = Show("ip -j -d link show")
_VLANS = Show("bridge -j vlan show")
_IDENTITY = Show(
    'cd /sys/class/dmi/id 2>/dev/null; echo "model $(cat product_name 2>/dev/null)"; '
    'echo "firmware $(uname -sr)"; echo "serial $(cat product_serial 2>/dev/null)"'
)


def bridge_of(switch: Switch) -> str:
    """The name of the bridge."""
    return str(switch.quirks.get("bridge", "br0"))


def _entries_query(switch: Switch) -> Show:
    return Show(f"bridge -j fdb show br {shlex.quote(bridge_of(switch))} state static")


def _links_query(switch: Switch) -> Show:
    return Show(ethtool.show_links([port.name for port in switch.ports]))


def _eee_query(switch: Switch) -> Show:
    return Show(ethtool.show_eee([port.name for port in switch.ports]))


def _has_hold(switch: Switch) -> bool:
    return bool(switch.quirks.get("hold", False))


_CAPABILITIES = Capabilities(
    multi_untagged=True,
    eee_settable=True,
    hold_settable=False,
    flow_control_settable=True,
    static_entries=None,
    static_entries_per_port=None,
    vlans=None,
    bare_pvid=False,
    lags_settable=True,
)


@dataclass(frozen=True, slots=True)
class LinuxBridge:
    """The family's driver; it has no state of its own."""

    login: None = None
    capabilities: Capabilities = _CAPABILITIES

    def render(self, switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
        """One line for each change; NotExpressible for what the module's text says that the kernel cannot hold."""
        commands = (" && ".join(_commands(switch, change)) for change in changes)
        return tuple(Line(command) for command in commands if command)

    def queries(self, switch: Switch, aspects: frozenset[Aspect]) -> tuple[Query, ...]:
        """What to ask to know these aspects."""
        asked: list[Query] = []
        if aspects & {"link", "vlan", "stp"}:
            asked.append(_INTERFACES)
        if "link" in aspects:
            asked.append(_links_query(switch))
        if "vlan" in aspects:
            asked.append(_VLANS)
        if "statics" in aspects:
            asked.append(_entries_query(switch))
        if "energy" in aspects:
            asked.append(_eee_query(switch))
        return tuple(asked)

    def parse(
        self, switch: Switch, aspects: frozenset[Aspect], answers: Answers, base: SwitchState | None
    ) -> SwitchState:
        """`base` with these aspects as the answers have them; None: all aspects are there."""
        state = base or SwitchState({port.name: PortState() for port in switch.ports})
        ports = dict(state.ports)
        if aspects & {"link", "vlan", "stp"}:
            interfaces = read_interfaces(switch, _INTERFACES, answers)
            bridge = interfaces.get(bridge_of(switch))
            if bridge is None or not bridge.vlan_filtering:
                reason = f"no bridge {bridge_of(switch)} with vlan_filtering 1: set it up, or name it (quirk `bridge`)"
                raise Unreadable(switch.name, _INTERFACES.command, reason)
            if base is None or "vlan" in aspects:
                shown = _lags(switch, interfaces)
                ports = {name: port for name, port in ports.items() if name in shown or not _LAG.fullmatch(name)}
                ports |= {name: PortState() for name in shown if name not in ports}
            if "link" in aspects:
                _read_links(switch, interfaces, answers, ports)
            if "vlan" in aspects:
                members = read_memberships(switch, _VLANS, answers)
                _read_members(switch, interfaces, members, ports)
                here = {bridge_of(switch)} | {_device(name) for name in ports}
                state = replace(
                    state,
                    vids=frozenset({_DEFAULT_VLAN}).union(*(members[name].vids for name in here & members.keys())),
                )
            if "stp" in aspects:
                state = replace(state, stp=bridge.stp)
                ports = {name: replace(port, stp=True) for name, port in ports.items()}
        if "statics" in aspects:
            names = {_device(name): name for name in ports}
            entries = read_entries(switch, _entries_query(switch), answers, bridge_of(switch), names)
            state = replace(state, statics=entries)
        if "energy" in aspects:
            for name, eee in self.eee(switch, answers).items():
                hold_us = eee.hold_us if eee.enabled and _has_hold(switch) else None
                ports[name] = replace(ports[name], eee=eee.enabled, hold_us=hold_us)
        return replace(state, ports=ports)

    def refusal(self, line: Line, output: str) -> str:  # noqa: ARG002  # the exit status has decided
        """Nothing: iproute2 and ethtool fail where they are refused."""
        return ""

    def save(self, switch: Switch) -> tuple[Command, ...]:
        """Write what is running into a script that the machine is to run when it starts."""
        return (Line(save_command(bridge_of(switch))),)

    def text_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What ethtool says, which every whole reading asks for."""
        return _links_query(switch), _eee_query(switch)

    def text(self, switch: Switch, answers: Answers) -> ConfigText:
        """What no rollback sets again; else every setting is one of the state."""
        texts = (_text(switch, query, answers) for query in (_links_query(switch), _eee_query(switch)))
        return ConfigText(lost=ethtool.lost_lines(switch.name, [port.name for port in switch.ports], *texts))

    def put_back(self, switch: Switch, now: ConfigText, wanted: ConfigText) -> tuple[Command, ...]:  # noqa: ARG002
        """Nothing: what ethtool sets would restart links."""
        return ()

    def eee_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask for `eee`."""
        return (_eee_query(switch),)

    def eee(self, switch: Switch, answers: Answers) -> Mapping[str, EeeStatus]:
        """EEE of each port as ethtool shows it."""
        query = _eee_query(switch)
        return ethtool.read_eee(switch.name, [port.name for port in switch.ports], _text(switch, query, answers))

    def identity_queries(self, switch: Switch) -> tuple[Query, ...]:  # noqa: ARG002  # the same for all
        """What to ask for `identity`."""
        return (_IDENTITY,)

    def identity(self, switch: Switch, answers: Answers) -> Identity:
        """DMI's product and serial number, and the kernel."""
        lines = dict(line.partition(" ")[::2] for line in _text(switch, _IDENTITY, answers).splitlines())
        return Identity(*(lines.get(key, "").strip() for key in ("model", "firmware", "serial")))


# -- reading


def _text(switch: Switch, query: Show, answers: Answers) -> str:
    answer = answers.get(query)
    if not isinstance(answer, str):
        raise Unreadable(switch.name, query.command, "nothing")
    return answer


def _lags(switch: Switch, interfaces: Mapping[str, Interface]) -> list[str]:
    """LAGs that ports of the inventory are in."""
    masters = {interfaces[port.name].master for port in switch.ports if port.name in interfaces}
    return sorted(f"lag{match[1]}" for master in masters if (match := _BOND.fullmatch(master)))


def _device(port: str) -> str:
    """The interface of a port."""
    match = _LAG.fullmatch(port)
    return f"bond{match[1]}" if match else port


def _interface(switch: Switch, interfaces: Mapping[str, Interface], port: str) -> Interface:
    if _device(port) not in interfaces:
        raise Unreadable(switch.name, _INTERFACES.command, f"no interface {_device(port)}: correct the inventory")
    return interfaces[_device(port)]


def _read_links(
    switch: Switch, interfaces: Mapping[str, Interface], answers: Answers, ports: dict[str, PortState]
) -> None:
    query = _links_query(switch)
    links = ethtool.read_links(switch.name, [port.name for port in switch.ports], _text(switch, query, answers))
    for name, port in ports.items():
        ports[name] = replace(port, admin_up=_interface(switch, interfaces, name).admin_up)
    for name, link in links.items():
        ports[name] = replace(ports[name], speed_mbps=link.speed_mbps, flow_control=link.flow_control)


def _read_members(
    switch: Switch, interfaces: Mapping[str, Interface], members: Mapping[str, Membership], ports: dict[str, PortState]
) -> None:
    for name, port in ports.items():
        master = _interface(switch, interfaces, name).master
        bond = _BOND.fullmatch(master)
        if not bond and master != bridge_of(switch):
            reason = f"{name} is not in {bridge_of(switch)}: put it there"
            raise Unreadable(switch.name, _INTERFACES.command, reason)
        of = members.get(_device(name), Membership())
        held = Membership(frozenset({_DEFAULT_VLAN}), frozenset(), _DEFAULT_VLAN) if bond else of
        ports[name] = replace(
            port,
            untagged_vids=held.untagged,
            tagged_vids=held.tagged,
            pvid=held.pvid or _DEFAULT_VLAN,
            acceptance="all" if held.pvid else "tagged",
            ingress_filtering=True,
            lag=int(bond[1]) if bond else None,
        )


# -- writing


def _commands(switch: Switch, change: Change) -> Iterator[str]:
    bridge = shlex.quote(bridge_of(switch))
    match change:
        case PortChange():
            _require_expressible(switch, change)
            yield from _port_commands(bridge, change)
        case VlanChange(vid=vid, after=after):
            if vid == _DEFAULT_VLAN:
                raise NotExpressible(switch.name, switch.family, f"deleting or adding VLAN {vid}")
            yield f"bridge vlan {'add' if after else 'del'} dev {bridge} vid {vid} self"
        case StaticsChange():
            yield from _entry_commands(bridge, change)
        case StpChange(after=after):
            yield f"ip link set dev {bridge} type bridge stp_state {int(after)}"


def _require_expressible(switch: Switch, change: PortChange) -> None:
    before, after, port = change.before, change.after, change.port
    link = ("speed_mbps", "flow_control", "eee", "hold_us")
    lacking = ""
    if after != without_bare_pvid(after) and before.lag is None:
        lacking = f"a PVID without membership, or no ingress filtering, on port {port}"
    elif before.stp != after.stp:
        lacking = f"spanning tree on port {port} alone"
    elif before.lag != after.lag and before.admin_up and after.admin_up:
        lacking = f"a change of the LAG of port {port} while the port is up"
    elif before.hold_us != after.hold_us and not _has_hold(switch):
        lacking = f"a hold time on port {port} (add the quirk `hold: true` if its driver accepts one)"
    elif _LAG.fullmatch(port) and any(getattr(before, field) != getattr(after, field) for field in link):
        lacking = f"speed, flow control or EEE of the LAG {port} (set them on its members)"
    if lacking:
        raise NotExpressible(switch.name, switch.family, lacking)


def _port_commands(bridge: str, change: PortChange) -> Iterator[str]:
    before, after = change.before, change.after
    device = shlex.quote(_device(change.port))
    if before.admin_up and not after.admin_up:
        yield f"ip link set dev {device} down"
    if before.lag != after.lag:
        yield from _lag_commands(bridge, device, before, after)
    elif before.lag is None:
        yield from _member_commands(bridge, device, before, after)
    yield from ethtool.set_commands(_device(change.port), before, after)
    if after.admin_up and not before.admin_up:
        yield f"ip link set dev {device} up"


def _lag_commands(bridge: str, device: str, before: PortState, after: PortState) -> Iterator[str]:
    """Leave the bridge or the bond, and join the other one; the port is shut, and stays so."""
    yield f"ip link set dev {device} nomaster"
    if before.lag is not None:
        yield f"if {_has_members(before.lag)}; then true; else ip link del dev bond{before.lag}; fi"
    if after.lag is not None:
        new = "; ".join((f"ip link del dev bond{after.lag} 2>/dev/null", " && ".join(_new_bond(bridge, after.lag))))
        yield f"if {_has_members(after.lag)}; then true; else {new}; fi"
        yield f"ip link set dev {device} master bond{after.lag}"
        yield f"ip link set dev {device} down"
        return
    yield f"ip link set dev {device} master {bridge}"
    yield f"bridge vlan del dev {device} vid 1-4094"
    yield from _member_commands(bridge, device, PortState(untagged_vids=frozenset()), after)


def _has_members(lag: int) -> str:
    """A test of the shell's; a bond that is not there has none."""
    return f'ip -o link show master bond{lag} 2>/dev/null | grep -Eq " master bond{lag} "'


def _new_bond(bridge: str, lag: int) -> Iterator[str]:
    """A bond as from the factory: a port of the bridge that is up, in VLAN 1 alone."""
    bond = f"bond{lag}"
    yield f"ip link add {bond} type bond mode balance-xor xmit_hash_policy layer3+4 miimon {_MONITOR_MS}"
    yield f"ip link set dev {bond} master {bridge}"
    yield f"bridge vlan del dev {bond} vid 1-4094"
    yield f"bridge vlan add dev {bond} vid {_DEFAULT_VLAN} pvid untagged"
    yield f"ip link set dev {bond} up"


def _flags(port: PortState, vid: int) -> str:
    """How a port is in a VLAN, in bridge's words: empty if tagged."""
    pvid = " pvid" if port.acceptance == "all" and vid == port.pvid else ""
    return pvid + (" untagged" if vid in port.untagged_vids else "")


def _member_commands(bridge: str, device: str, before: PortState, after: PortState) -> Iterator[str]:
    """Join before leaving, and the PVID first: the kernel takes it from where it was in the same step."""
    was = {vid: _flags(before, vid) for vid in before.vids}
    wanted = {vid: _flags(after, vid) for vid in after.vids}
    changed = {vid: flags for vid, flags in wanted.items() if was.get(vid) != flags}
    if any("pvid" in flags for flags in changed.values()):
        changed = {vid: flags for vid, flags in changed.items() if was.get(vid) != f" pvid{flags}"}
    for first, last in sorted(_runs(changed), key=lambda run: "pvid" not in changed[run[0]]):
        yield f"bridge vlan add dev {device} vid {_span(first, last)}{changed[first]}"
    gone = dict.fromkeys(was.keys() - wanted.keys(), "")
    stay = [vid for vid in sorted(gone) if vid != _DEFAULT_VLAN]
    if stay:  # a VLAN that its last port leaves is to exist on, until it is destroyed
        of_bridge = f"{_is_member(bridge, '$v')} || bridge vlan add dev {bridge} vid $v self"
        yield f"for v in {' '.join(map(str, stay))}; do {of_bridge} || exit 1; done"
    for first, last in _runs(gone):
        yield f"bridge vlan del dev {device} vid {_span(first, last)}"


def _is_member(device: str, vid: int | str) -> str:
    """A test of the shell's."""
    return f'bridge vlan show dev {device} vid {vid} | grep -Eq " {vid}( |$)"'


def _span(first: int, last: int) -> str:
    return f"{first}-{last}" if last != first else f"{first}"


def _runs(flags: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """First and last of VIDs that follow each other and have the same flags; a PVID, of which is one, stands alone."""
    first = last = 0
    for vid in sorted(flags):
        if first and vid == last + 1 and flags[vid] == flags[last]:
            last = vid
            continue
        if first:
            yield first, last
        first = last = vid
    if first:
        yield first, last


def _entry_commands(bridge: str, change: StaticsChange) -> Iterator[str]:
    """An entry whose port has left the VLAN can only be flushed, with all others of that port and VLAN, as dead."""
    vid = change.vid
    for mac, port in sorted(change.before.items()):
        if mac not in change.after:
            device = shlex.quote(_device(port))
            yield (
                f"if {_is_member(device, vid)}; "
                f"then bridge fdb del {mac.hex(':')} dev {device} master vlan {vid}; "
                f"else bridge fdb flush dev {bridge} brport {device} vlan {vid} static; fi"
            )
    for mac, port in sorted(change.after.items()):
        if change.before.get(mac) != port:
            yield f"bridge fdb replace {mac.hex(':')} dev {shlex.quote(_device(port))} master static vlan {vid}"


FAMILY = Family(
    title="Linux bridge (switchdev, Cumulus-like)",
    driver=LinuxBridge(),
    verified=(
        "a real Linux kernel (Debian's 6.1, emulated by QEMU) with iproute2 6.1 over SSH: a multi-tree plan, a link "
        "off and its rollback, real frames over planned trees, a bond set up and taken down, the saved script; EEE, "
        "speed and flow control cannot be tried on its virtual NICs and were tried on a simulated switch only"
    ),
    from_memory=(
        "what ethtool prints and accepts for EEE, fixed speeds and flow control; that bonds forward like other "
        "ports; what an offloading switch chip refuses"
    ),
)
