"""Open vSwitch on a Linux machine, one bridge, forwarding by OpenFlow alone. Pure.

Commands are run as root, one at a time: `ovs-ofctl`, `ovs-vsctl`, `ethtool`. The bridge is `br0`, or the switch's
quirk `bridge`; a port of the inventory is an interface of it, and its number there is its OpenFlow port number. The
bridge is made ready once, by the lines that `eeectl lab first-contact --print` shows; from then on it is an 802.1Q
switch whose ports may be untagged in many VLANs (`controller.drivers.openvswitch.flows`), which `ovs-vsctl`'s own `tag`
and `trunks` cannot.

Every change of flows is one OpenFlow bundle: frames see all of it or nothing. (One that would not fit into a command of
64 kB, some 400 VLANs at once, is several.) A command ends when the data path's caches have followed: until then frames
may go the old way, which must not be taken away. A port is shut by OpenFlow, which takes its NIC down: the partner sees
its link go. Bonds of Open vSwitch are not known: a flow to a member passes the bond by.

Open vSwitch keeps its database over a restart, but neither flows nor ports that are shut. `save` writes a script that
sets both again; the unit `UNIT` has to run it at boot, and `save` is refused where it is not enabled. What ethtool set
(speed, flow control, EEE) is not saved: it belongs into the machine's own network configuration. What learned
addresses cannot do is written in `controller.drivers.openvswitch.flows`.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

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
from eee_testbed.controller.drivers.openvswitch.flows import (
    ForeignFlowError,
    all_flows,
    edits,
    forget,
    port_flows,
    read_flows,
    static_flows,
    vlan_flow,
)
from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.config_text import WHOLE_SWITCH, ConfigText, LostLine
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

_OFCTL: Final = "ovs-ofctl -O OpenFlow14"  # the first version with bundles
_VSCTL: Final = "ovs-vsctl --timeout=10"
_WAIT_COMMAND: Final = "ovs-appctl -t ovs-vswitchd revalidator/wait"  # until the data path's caches follow the flows
_BUNDLE_BYTE: Final = 64_000  # a shell's argument has 131,072 at most
_VERSION: Final = Show("ovs-ofctl --version")
_MODEL: Final = Show("cat /sys/class/dmi/id/product_name 2>/dev/null || true")

_CAPABILITIES: Final = Capabilities(
    multi_untagged=True,
    eee_settable=True,  # by NICs that can; ethtool refuses for the others
    hold_settable=True,
    flow_control_settable=True,
    static_entries=None,
    static_entries_per_port=None,
    vlans=None,
    lag_members_settable=False,  # a flow sends to one port
)

UNIT: Final = """\
[Unit]
Description=Flows and ports of Open vSwitch bridge %i as eeectl saved them
After=openvswitch-switch.service
Requires=openvswitch-switch.service

[Service]
Type=oneshot
ExecStart=/bin/sh /etc/openvswitch/%i.startup

[Install]
WantedBy=multi-user.target
"""
"""/etc/systemd/system/eee-bridge@.service; `systemctl enable eee-bridge@br0` once."""


def bridge_of(switch: Switch) -> str:
    """The name of the bridge that is this switch."""
    return str(switch.quirks.get("bridge", "br0"))


def set_up(switch: Switch) -> tuple[Line, ...]:
    """Make (or take over) the bridge: all ports up, untagged in VLAN 1, RSTP on.

    That interrupts what the bridge forwards. No NORMAL flow is left.
    """
    bridge = shlex.quote(bridge_of(switch))
    ports = [
        f"--may-exist add-port {bridge} {shlex.quote(port.name)} -- set Interface {shlex.quote(port.name)} "
        f"ofport_request={port.number}"
        for port in switch.ports
    ]
    settings = f"set Bridge {bridge} fail_mode=secure stp_enable=false rstp_enable=true"
    factory = SwitchState({port.name: PortState() for port in switch.ports})
    flows = all_flows(factory, _numbers(switch)).values()
    lines = shlex.join(flow.adding.removeprefix("add ") for flow in flows)
    return (
        Line(f"{_VSCTL} --may-exist add-br {bridge} -- {settings} -- {' -- '.join(ports)}"),
        Line(f"printf '%s\\n' {lines} | {_OFCTL} --bundle replace-flows {bridge} -"),
        *(Line(f"{_OFCTL} mod-port {bridge} {port.number} up") for port in switch.ports),
    )


@dataclass(frozen=True, slots=True)
class OpenVSwitch:
    """The driver."""

    login: None = None
    capabilities: Capabilities = _CAPABILITIES

    def render(self, switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
        """The commands that make the changes, in their order; flows of consecutive changes share a bundle."""
        commands: list[Command] = []
        flows: list[str] = []
        for change in changes:
            for step in _steps(switch, change):
                if isinstance(step, str):
                    flows.append(step)
                    continue
                commands += _bundles(switch, flows)
                flows.clear()
                commands.append(step)
        return (*commands, *_bundles(switch, flows))

    def queries(self, switch: Switch, aspects: frozenset[Aspect]) -> tuple[Query, ...]:
        """What to ask to know these aspects."""
        queries = [_show_ports(switch)]
        if aspects & {"vlan", "statics"}:
            queries.append(_show_flows(switch))
        if aspects & {"vlan", "statics", "stp"}:
            queries.append(_show_bridge(switch))
        if "stp" in aspects:
            queries.append(_show_port_settings())
        if "link" in aspects:
            queries.append(Show(ethtool.show_links(_names(switch))))
        if "energy" in aspects:
            queries.append(Show(ethtool.show_eee(_names(switch))))
        return tuple(queries)

    def parse(
        self, switch: Switch, aspects: frozenset[Aspect], answers: Answers, base: SwitchState | None
    ) -> SwitchState:
        """`base` with these aspects as the answers have them; Unreadable where a flow is not as ours would be."""
        state = base or SwitchState({name: PortState() for name in _names(switch)})
        shut = _read_ports(switch, answers)
        ports = dict(state.ports)
        if aspects & {"vlan", "statics"}:
            flows = _read_flows(switch, answers)
            if "statics" in aspects:
                state = replace(state, statics=flows.statics)
            if "vlan" in aspects:
                state = replace(state, vids=flows.vids)
                ports = {name: _with_vlans(port, flows.ports[name]) for name, port in ports.items()}
        if "stp" in aspects:
            on, off_ports = _read_stp(switch, answers)
            state = replace(state, stp=on)
            ports = {name: replace(port, stp=name not in off_ports) for name, port in ports.items()}
        if "link" in aspects:
            links = ethtool.read_links(switch.name, _names(switch), _text(answers, ethtool.show_links(_names(switch))))
            ports = {
                name: replace(
                    port,
                    admin_up=name not in shut,
                    speed_mbps=links[name].speed_mbps,
                    flow_control=links[name].flow_control,
                )
                for name, port in ports.items()
            }
        if "energy" in aspects:
            eee = self.eee(switch, answers)
            ports = {n: replace(port, eee=eee[n].enabled, hold_us=eee[n].hold_us) for n, port in ports.items()}
        return replace(state, ports=ports)

    def refusal(self, line: Line, output: str) -> str:  # noqa: ARG002 - the exit status says it all
        """Nothing: a command that fails says so by its exit status."""
        return ""

    def save(self, switch: Switch) -> tuple[Command, ...]:
        """Write what Open vSwitch would forget to a script that `UNIT` runs at boot; refused where that is not on."""
        name = bridge_of(switch)
        bridge, unit = shlex.quote(name), shlex.quote(f"eee-bridge@{name}.service")
        down = f"{_OFCTL} mod-port {name} "
        shut = f"""awk '/addr:/ {{n = $1 + 0}} /config:.*PORT_DOWN/ && n {{print "{down}" n " down"}}'"""
        guard = f"systemctl is-enabled --quiet {unit}"
        script = (
            f"{guard} || {{ echo {unit} is not enabled, so nothing is saved >&2; exit 1; }}",
            f"file=${{OVS_SYSCONFDIR:-/etc/openvswitch}}/{bridge}.startup",
            f"ports=$({_OFCTL} --no-names show {bridge}) || exit 1",
            f"flows=$({_OFCTL} --no-stats --no-names dump-flows {bridge}) || exit 1",
            f"{{ echo set -e; printf '%s\\n' \"$ports\" | {shut}",
            f"echo \"{_OFCTL} --bundle replace-flows {name} - <<'EOF'\"",
            "printf '%s\\n' \"$flows\" | grep -v 'cookie=0xeee6[0-9a-f]*, table=3'; echo EOF; } >\"$file.new\"",
            'sync "$file.new" && mv "$file.new" "$file"',
        )
        return (Line("; ".join(script)),)

    def text_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What ethtool and the bridge say, which every whole reading asks for."""
        names = _names(switch)
        return Show(ethtool.show_links(names)), Show(ethtool.show_eee(names)), _show_bridge(switch)

    def text(self, switch: Switch, answers: Answers) -> ConfigText:
        """What no rollback sets again; else every setting is one of the state."""
        names = _names(switch)
        texts = (_text(answers, show) for show in (ethtool.show_links(names), ethtool.show_eee(names)))
        lost = dict(ethtool.lost_lines(switch.name, names, *texts))
        if _record(switch, _show_bridge(switch), answers)["stp_enable"] is True:
            lost[WHOLE_SWITCH] = (LostLine("stp", "stp_enable=true"),)  # it comes back as RSTP
        return ConfigText(lost=lost)

    def put_back(self, switch: Switch, now: ConfigText, wanted: ConfigText) -> tuple[Command, ...]:  # noqa: ARG002
        """Nothing: it would restart links, or spanning tree."""
        return ()

    def eee_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask for `eee`."""
        return (Show(ethtool.show_eee(_names(switch))),)

    def eee(self, switch: Switch, answers: Answers) -> Mapping[str, EeeStatus]:
        """EEE of each port, as its NIC says."""
        names = _names(switch)
        return ethtool.read_eee(switch.name, names, _text(answers, ethtool.show_eee(names)))

    def identity_queries(self, switch: Switch) -> tuple[Query, ...]:  # noqa: ARG002 - the same for all
        """What to ask for `identity`."""
        return (_VERSION, _MODEL)

    def identity(self, switch: Switch, answers: Answers) -> Identity:
        """The machine's model, and the version of Open vSwitch (of its tools)."""
        said = str(answers[_VERSION])
        version = re.search(r"Open vSwitch\) (\S+)", said)
        if version is None:
            raise Unreadable(switch.name, _VERSION.command, said)
        return Identity(str(answers[_MODEL]).strip(), f"Open vSwitch {version[1]}", "")


def _names(switch: Switch) -> list[str]:
    return [port.name for port in switch.ports]


def _numbers(switch: Switch) -> dict[str, int]:
    return {port.name: port.number for port in switch.ports}


def _text(answers: Answers, command: str) -> str:
    return str(answers[Show(command)])


def _show_flows(switch: Switch) -> Show:
    return Show(f"{_OFCTL} --no-stats --no-names dump-flows {shlex.quote(bridge_of(switch))}")


def _show_ports(switch: Switch) -> Show:
    return Show(f"{_OFCTL} --no-names show {shlex.quote(bridge_of(switch))}")


def _show_bridge(switch: Switch) -> Show:
    columns = "name,fail_mode,controller,stp_enable,rstp_enable"
    return Show(f"{_VSCTL} -f json --columns={columns} list Bridge {shlex.quote(bridge_of(switch))}")


def _show_port_settings() -> Show:
    return Show(f"{_VSCTL} -f json --columns=name,other_config list Port")


def _steps(switch: Switch, change: Change) -> Iterator[str | Line]:
    """Lines for a bundle (text) and commands, in the order in which they are to take effect."""
    numbers = _numbers(switch)
    match change:
        case PortChange():
            if change.port not in numbers:
                raise NotExpressible(switch.name, switch.family, f"changes of {change.port}, which is a LAG")
            yield from _port_steps(switch, change, numbers[change.port])
        case VlanChange():
            flow = vlan_flow(change.vid)
            # What was learned before is of another tree that had this number.
            yield from (forget(vid=change.vid), flow.adding if change.after else flow.deleting)
        case StaticsChange():
            before, after = (static_flows(change.vid, table, numbers) for table in (change.before, change.after))
            yield from edits(before, after)
        case StpChange():
            on = "true" if change.after else "false"
            bridge = shlex.quote(bridge_of(switch))
            yield Line(f"{_VSCTL} set Bridge {bridge} stp_enable=false rstp_enable={on}")


def _port_steps(switch: Switch, change: PortChange, number: int) -> Iterator[str | Line]:
    """A port is shut before its other changes, and woken after them."""
    before, after = change.before, change.after
    if before.lag != after.lag:
        raise NotExpressible(switch.name, switch.family, "a change of link aggregation")
    turn = f"{_OFCTL} mod-port {shlex.quote(bridge_of(switch))} {number}"
    if before.admin_up and not after.admin_up:
        yield Line(f"{turn} down")
        yield forget(port=number)
    yield from edits(port_flows(number, before), port_flows(number, after))
    yield from (forget(port=number, vid=vid) for vid in sorted(before.vids - after.vids))
    if before.stp != after.stp:
        name = shlex.quote(change.port)
        yield Line(
            f"{_VSCTL} remove Port {name} other_config stp-enable -- remove Port {name} other_config rstp-enable"
            if after.stp
            else f"{_VSCTL} set Port {name} other_config:stp-enable=false other_config:rstp-enable=false"
        )
    yield from (Line(command) for command in ethtool.set_commands(change.port, before, after))
    if after.admin_up and not before.admin_up:
        yield Line(f"{turn} up")


def _bundles(switch: Switch, lines: Iterable[str]) -> Iterator[Line]:
    """As few commands as the length of a command allows; each is one OpenFlow bundle."""
    batch: list[str] = []
    size_byte = 0
    for line in lines:
        if batch and size_byte + len(line) + 3 > _BUNDLE_BYTE:
            yield _bundle(switch, batch)
            batch, size_byte = [], 0
        batch.append(line)
        size_byte += len(line) + 3
    if batch:
        yield _bundle(switch, batch)


def _bundle(switch: Switch, lines: Iterable[str]) -> Line:
    target = shlex.quote(bridge_of(switch))
    return Line(f"printf '%s\\n' {shlex.join(lines)} | {_OFCTL} --bundle add-flows {target} - && {_WAIT_COMMAND}")


def _read_ports(switch: Switch, answers: Answers) -> set[str]:
    """Ports that are shut; Unreadable if OpenFlow numbers the ports otherwise than the inventory."""
    query = _show_ports(switch)
    text = str(answers[query])
    rows = re.findall(r'^\s*(\d+)\("?([^()"]+)"?\): addr:.*\n\s+config:\s+(.*)$', text, re.MULTILINE)
    numbers = {name: int(number) for number, name, _ in rows}
    for name, number in _numbers(switch).items():
        if numbers.get(name) != number:
            shown = f"port {numbers[name]} of" if name in numbers else "missing on"
            raise Unreadable(
                switch.name,
                query.command,
                f"{name} is {shown} the switch, but port {number} in the inventory: set its ofport_request",
            )
    return {name for _, name, config in rows if "PORT_DOWN" in config.split()}


def _read_flows(switch: Switch, answers: Answers) -> SwitchState:
    bridge = _record(switch, _show_bridge(switch), answers)
    if bridge["fail_mode"] != "secure" or bridge["controller"] not in ([], ["set", []]):
        reason = "other rules could change its flows: set its fail_mode to secure and remove its OpenFlow controller"
        raise Unreadable(switch.name, _show_bridge(switch).command, reason)
    query = _show_flows(switch)
    try:
        return read_flows(str(answers[query]), _numbers(switch))
    except ForeignFlowError as error:
        reason = f"{error}; remove these flows, or set the bridge up again, which interrupts traffic"
        raise Unreadable(switch.name, query.command, reason) from error


def _read_stp(switch: Switch, answers: Answers) -> tuple[bool, set[str]]:
    """Whether spanning tree runs, and the ports that have no part in it."""
    bridge = _record(switch, _show_bridge(switch), answers)
    key = "stp-enable" if bridge["stp_enable"] is True else "rstp-enable"
    settings = {row["name"]: dict(row["other_config"][1]) for row in _records(switch, _show_port_settings(), answers)}
    off = {name for name in _names(switch) if settings.get(name, {}).get(key) == "false"}
    return bridge["stp_enable"] is True or bridge["rstp_enable"] is True, off


def _records(switch: Switch, query: Show, answers: Answers) -> list[dict[str, Any]]:
    """Rows of a table as `ovs-vsctl -f json` prints them (RFC 7047, section 5.1)."""
    text = str(answers[query])
    try:
        table = json.loads(text[text.index("{") :])  # warnings of the tool come first
        return [dict(zip(table["headings"], row, strict=True)) for row in table["data"]]
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(switch.name, query.command, text) from error


def _record(switch: Switch, query: Show, answers: Answers) -> dict[str, Any]:
    rows = _records(switch, query, answers)
    if len(rows) != 1:
        raise Unreadable(switch.name, query.command, str(answers[query]))
    return rows[0]


def _with_vlans(port: PortState, read: PortState) -> PortState:
    return replace(
        port,
        untagged_vids=read.untagged_vids,
        tagged_vids=read.tagged_vids,
        pvid=read.pvid,
        acceptance=read.acceptance,
        ingress_filtering=read.ingress_filtering,
        lag=None,
    )


FAMILY: Final = Family(
    title="Open vSwitch (OpenFlow)",
    driver=OpenVSwitch(),
    verified="a real Open vSwitch 3.1.0 (userspace datapath): states read back after every change, frames in all "
    "directions, planned trees, links off and on under traffic, spanning tree, reload of the saved state",
    from_memory="what ethtool prints for NICs with negotiation, flow control and EEE, and that they take it: virtual "
    "NICs have none of them; the systemd unit; other versions; the kernel's datapath",
)
