"""Driver of Cisco IOS and IOS XE on Catalyst switches. Pure.

A port untags one VLAN only, its native one, so hosts' ports are trunks and the hosts pop tags (`pops_tags` in the
inventory). Everything goes over the command line: IOS has no writable Q-BRIDGE-MIB.

Refused rather than guessed: routed, private-VLAN and tunnel ports, and ports with a voice VLAN, if the inventory has
them; a native VLAN that is tagged (the operational line, else `vlan dot1q tag native`, decides);
static entries that drop frames or name several ports. VLANs 1002-1005 are left out of everything. LAGs count with
any protocol. Flow control is reception of PAUSE only: Catalyst ports do not send it [M].

EEE of a port is what its lines in the configuration say. Without one the default of the model holds, which the switch
shows port by port: it is on where it is operational or enabled in the ASIC.

Quirks: `trunk_encapsulation` (models that also know ISL need `dot1q` before trunk mode); `eee_default` (whether EEE is
on unless the configuration says otherwise: the ports are then not asked one by one for their state).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from eee_testbed.controller.drivers.cisco_ios import written
from eee_testbed.controller.drivers.cisco_ios.eee import PortEee, eee_commands
from eee_testbed.controller.drivers.cisco_ios.names import interface_key, interface_name
from eee_testbed.controller.drivers.cisco_ios.read import (
    UNUSABLE_VIDS,
    Configured,
    Fields,
    Key,
    Switchport,
    read_configuration,
    read_switchports,
    read_vlans,
    statics,
    stp_off,
    switchport_of,
    tags_native,
)
from eee_testbed.controller.drivers.cisco_ios.render import COPY_REPLY, EXEC, describe, render
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
from eee_testbed.controller.drivers.login import CISCO_IOS, Login
from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.config_text import ConfigText
from eee_testbed.controller.model.port_forms import one_untagged
from eee_testbed.controller.model.state import Change, FoundMode, PortState, SwitchState
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch, lag_port

RUNNING = Show("show running-config")
SWITCHPORTS = Show("show interfaces switchport")
VLANS = Show("show vlan brief")
VERSION = Show("show version")

_QUERIES: Mapping[Aspect, tuple[Query, ...]] = {
    "link": (RUNNING,),
    "vlan": (RUNNING, SWITCHPORTS, VLANS),
    "statics": (RUNNING,),
    "stp": (RUNNING,),
    "energy": (RUNNING,),
}
_CHANNEL = re.compile(r"channel-group (\d+) mode (\S+)")
_NO_SHOW = re.compile(r"^% ?(Invalid|Incomplete|Ambiguous|Unrecognized|Unknown|Authorization|Command)", re.IGNORECASE)
_HARMLESS_ANSWER = re.compile(r"% Access VLAN does not exist|%[A-Z0-9_]+-\d-[A-Z0-9_]+:|% ?Warning", re.IGNORECASE)
_REFUSAL = re.compile(r"^\s*%|^Command rejected|^ERROR|not allowed when|^\s*\^\s*$|^Bad |^Invalid ", re.IGNORECASE)

_IOS = re.compile(r"Cisco IOS|IOS-XE|IOS \(tm\)|Cisco Internetwork Operating System")
_MODEL = re.compile(r"^Model [Nn]umber\s*:\s*(\S+)|^[Cc]isco (\S+) \(.*(?:processor|revision)", re.MULTILINE)
_SERIAL = re.compile(r"^System [Ss]erial [Nn]umber\s*:\s*([^\s,]+)", re.MULTILINE)
_BOARD = re.compile(r"^Processor board ID ([^\s,]+)", re.MULTILINE)

_Found = TypeVar("_Found")


class CiscoIos:
    """See `controller.drivers.driver.Driver`."""

    description_query: ClassVar[Show] = RUNNING

    @property
    def login(self) -> Login:
        """How a terminal session begins."""
        return CISCO_IOS

    @property
    def capabilities(self) -> Capabilities:
        """What the family can express; how many VLANs and entries a model holds is for its `quirks` to say."""
        return Capabilities(
            multi_untagged=False,
            eee_settable=True,
            hold_settable=False,
            flow_control_settable=True,
            static_entries=None,
            static_entries_per_port=None,
            vlans=None,
            reserved_vids=UNUSABLE_VIDS,
            speeds_mbps=(10, 100, 1000),
            lags_settable=True,
            lag_members_match=True,  # Catalyst guides: ports of a channel have the same VLANs, or are suspended
        )

    def render(self, switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
        """The commands that make the changes, in their order; NotExpressible if the family cannot express one."""
        return render(switch, changes)

    def queries(self, switch: Switch, aspects: frozenset[Aspect]) -> tuple[Query, ...]:
        """What to ask to know these aspects."""
        queries = [query for aspect in _QUERIES if aspect in aspects for query in _QUERIES[aspect]]
        shown = self.eee_queries(switch) if "energy" in aspects and "eee_default" not in switch.quirks else ()
        return tuple(dict.fromkeys([*queries, *shown]))

    def parse(
        self, switch: Switch, aspects: frozenset[Aspect], answers: Answers, base: SwitchState | None
    ) -> SwitchState:
        """`base` with these aspects as the answers have them; None: all aspects are there."""
        if not aspects and base is not None:
            return base
        configured = _read(switch, RUNNING, answers, read_configuration)
        names = {key: port.name for port in switch.ports if (key := interface_key(port.name))}
        lags = {key: lag_port(int(key[1])) for key in configured.interfaces if key[0] == "po"}
        missing = [name for key, name in names.items() if key not in configured.interfaces]
        unknown = [port.name for port in switch.ports if interface_key(port.name) is None]
        if missing or unknown:
            reason = (
                f"interface {', '.join(missing)} is missing"
                if missing
                else f"{', '.join(unknown)} is not an interface name of IOS"
            )
            raise Unreadable(switch.name, RUNNING.command, f"{reason}: correct `ports` in hosts.yml")
        if len(names) != len(switch.ports):
            raise Unreadable(
                switch.name, RUNNING.command, "hosts.yml has one interface under two names: remove one from `ports`"
            )
        members = _members(configured, names)
        names |= {key: name for key, name in lags.items() if int(key[1]) in {number for number, _ in members.values()}}
        reading = _Reading(switch, configured, names, members, answers)
        state = base or SwitchState({name: PortState() for name in names.values()})
        ports = {name: state.ports.get(name, PortState()) for name in names.values()}
        for key, name in names.items():
            ports[name] = reading.port(ports[name], key, aspects)
        state = replace(state, ports=ports)
        if "vlan" in aspects:
            vids = _read(switch, VLANS, answers, read_vlans)
            switchports = _read(switch, SWITCHPORTS, answers, read_switchports)
            state = replace(state, ports=reading.memberships(ports, switchports), vids=vids)
        if "stp" in aspects:
            state = replace(state, stp=not _understood(switch, configured, stp_off))
        if "statics" in aspects:
            state = replace(state, statics=reading.statics())
        return state

    def refusal(self, line: Line, output: str) -> str:
        """What the switch says is wrong with a line; empty if it took it."""
        refused = _NO_SHOW if line.text.startswith("show ") else _REFUSAL
        wrong = [text for text in output.splitlines() if refused.search(text) and not _HARMLESS_ANSWER.search(text)]
        return "\n".join(wrong)

    def save(self, switch: Switch) -> tuple[Command, ...]:
        """What makes the running configuration the startup configuration."""
        del switch
        return (Line("copy running-config startup-config", COPY_REPLY, EXEC),)

    def text_queries(self, switch: Switch) -> tuple[Query, ...]:
        """The running configuration."""
        del switch
        return (RUNNING,)

    def text(self, switch: Switch, answers: Answers) -> ConfigText:
        """The lines that the driver may write and that no setting holds."""
        return written.read(switch, _read(switch, RUNNING, answers, read_configuration))

    def put_back(self, switch: Switch, now: ConfigText, wanted: ConfigText) -> tuple[Command, ...]:
        """What makes the lines those of `wanted` again."""
        del switch
        return tuple(written.put_back(now, wanted))

    def descriptions(self, switch: Switch, answers: Answers) -> Mapping[str, str]:
        """The line of each port's description, empty without one."""
        configured = _read(switch, RUNNING, answers, read_configuration)
        blocks = {
            port.name: configured.interfaces.get(interface_key(port.name) or ("", ""), []) for port in switch.ports
        }
        return {
            name: next((line for line in lines if line.startswith("description ")), "")
            for name, lines in blocks.items()
        }

    def describe(self, switch: Switch, lines: Mapping[str, str]) -> tuple[Command, ...]:
        """What gives ports these lines, an empty one taking the description away."""
        del switch
        return describe(lines)

    def eee_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask for `eee`: the configuration, and two shows for each port."""
        names = [interface_name(port.name) for port in switch.ports]
        return (RUNNING, *(Show(command, may_lack=True) for name in names for command in eee_commands(name)))

    def eee(self, switch: Switch, answers: Answers) -> Mapping[str, EeeStatus]:
        """EEE of each port as the switch shows it; what is not found is unknown."""
        configured = _read(switch, RUNNING, answers, read_configuration)
        states = {}
        for port in switch.ports:
            shown = PortEee.of(answers, interface_name(port.name))
            lines = configured.interfaces.get(interface_key(port.name) or ("", ""), [])
            states[port.name] = EeeStatus(
                supported=shown.supported,
                enabled=shown.enabled(lines, default=bool(switch.quirks.get("eee_default"))),
                active=shown.active,
                partner=shown.partner,
                hold_us=None,
                wake_us=None,
            )
        return states

    def identity_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask for `identity`."""
        del switch
        return (VERSION,)

    def identity(self, switch: Switch, answers: Answers) -> Identity:
        """What the switch says that it is; of a stack the first model, and every serial number.

        The version is the one behind the image's name: IOS XE writes its own otherwise (16.09.03 for 16.9.3), and
        special builds have names there (`Version V169_5_SR...`).
        """
        text = _text(switch, VERSION, answers)
        firmware = re.search(r"\), Version (\d[^,\s]*)", text) or re.search(r"\bVersion (\d[^,\s]*)", text)
        if not firmware or not _IOS.search(text) or "NX-OS" in text:
            raise Unreadable(switch.name, VERSION.command, text)
        model = _MODEL.search(text)
        serials = dict.fromkeys(_SERIAL.findall(text)) or dict.fromkeys(_BOARD.findall(text))
        return Identity(next(filter(None, model.groups()), "") if model else "", firmware[1], ", ".join(serials))


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reading of a switch: `names` of the lab's ports by interface, each member's LAG and mode, all answers."""

    switch: Switch
    configured: Configured
    names: Mapping[Key, str]
    members: Mapping[Key, tuple[int, str]]
    answers: Answers

    def port(self, port: PortState, key: Key, aspects: frozenset[Aspect]) -> PortState:
        lines = self.configured.interfaces[key]
        if "link" in aspects:
            speeds = [line.removeprefix("speed ") for line in lines if line.startswith("speed ")]
            speed = next((int(text) for text in speeds if text.isdecimal()), None)
            receives = any(line in {"flowcontrol receive on", "flowcontrol receive desired"} for line in lines)
            port = replace(port, admin_up="shutdown" not in lines, speed_mbps=speed, flow_control=receives)
        if "stp" in aspects:
            port = replace(port, stp="spanning-tree bpdufilter enable" not in lines)
        if "energy" in aspects:
            shown = PortEee.of(self.answers, interface_name(self.names[key]))
            default = bool(self.switch.quirks.get("eee_default"))
            port = replace(port, eee=key[0] != "po" and shown.enabled(lines, default=default), hold_us=None)
        return port

    def memberships(self, ports: Mapping[str, PortState], switchports: Mapping[Key, Fields]) -> Mapping[str, PortState]:
        made = {}
        for key, name in self.names.items():
            plain = PortState()
            if key in self.members:
                number, mode = self.members[key]
                held = replace(plain, lag=number, lag_mode=mode)
            elif key not in switchports:
                raise Unreadable(self.switch.name, SWITCHPORTS.command, f"{name} is missing, or is not a switchport")
            else:
                held = self._held(switchports[key])
            made[name] = replace(
                ports[name],
                untagged_vids=held.untagged_vids,
                tagged_vids=held.tagged_vids,
                pvid=held.pvid,
                acceptance=held.acceptance,
                ingress_filtering=held.ingress_filtering,
                lag=held.lag,
                lag_mode=held.lag_mode,
                found_mode=held.found_mode,
            )
        return made

    def _held(self, fields: Fields) -> PortState:
        try:
            port = switchport_of(fields, tags_native=tags_native(self.configured))
        except ValueError as error:
            raise Unreadable(self.switch.name, SWITCHPORTS.command, str(error)) from error
        held = _form_of(port)
        return replace(held, found_mode=FoundMode(port.dynamic_lines, held.form)) if port.dynamic_lines else held

    def statics(self) -> dict[int, dict[bytes, str]]:
        tables: dict[int, dict[bytes, str]] = {}
        for vid, mac, key in _understood(self.switch, self.configured, lambda found: list(statics(found))):
            if key is not None and key in self.names:
                tables.setdefault(vid, {})[mac] = self.names[key]
        return tables


def _form_of(port: Switchport) -> PortState:
    if not port.is_trunk:
        return PortState(untagged_vids=frozenset({port.access_vid}), pvid=port.access_vid)
    return one_untagged(PortState(untagged_vids=frozenset(), tagged_vids=port.allowed_vids, pvid=port.native_vid))


def _members(configured: Configured, names: Mapping[Key, str]) -> dict[Key, tuple[int, str]]:
    members = {}
    for key in names:
        for line in configured.interfaces[key]:
            channel = _CHANNEL.fullmatch(line)
            if channel:
                members[key] = int(channel[1]), channel[2].removeprefix("on")
    return members


def _text(switch: Switch, query: Show, answers: Answers) -> str:
    answer = answers.get(query)
    if not isinstance(answer, str):
        raise Unreadable(switch.name, query.command, "")
    return answer


def _read(switch: Switch, query: Show, answers: Answers, reader: Callable[[str], _Found]) -> _Found:
    text = _text(switch, query, answers)
    try:
        return reader(text)
    except ValueError as error:
        raise Unreadable(switch.name, query.command, f"{error}: {text}") from error


def _understood(switch: Switch, configured: Configured, reader: Callable[[Configured], _Found]) -> _Found:
    try:
        return reader(configured)
    except ValueError as error:
        raise Unreadable(switch.name, RUNNING.command, str(error)) from error


FAMILY = Family(
    title="Cisco IOS",
    driver=CiscoIos(),
    verified="a simulated switch written from Cisco's command references, and published samples of shows; no real "
    "switch",
    from_memory=(
        "that a change of EEE restarts the link by itself; `spanning-tree bpdufilter` as a port "
        "without spanning tree; that a port that leaves a channel keeps its VLANs; that PAUSE is received only; length "
        "of a list of VLANs in a line"
    ),
)
