"""Driver of ROS switches: Dell PowerConnect 55xx, Cisco SG, SF and CBS. Pure.

Changes go as command lines (`ros.commands`, `ros.vlan_lines`); a change of admin status alone is one SNMP SET. State is
read over SNMP where the standard MIBs are the surer way (admin status, speed, VLANs), and from shows where they are not
(`ros.text`): flow control, static addresses, spanning tree (dot1dStpPortEnable also says no where the whole switch is
off), EEE, LAGs.

Refused rather than guessed: a port that keeps general-mode settings behind another mode, as these
would take effect; a port that SNMP and the command line show in two admin states. EEE of a port is on if switch
and port want it; `eee enable` of the whole switch is never typed, as it would wake other ports' settings too, so a
switch where it is off takes an EEE change and is read back without it. A port that negotiates a restricted set of
speeds is read as negotiating.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from eee_testbed.controller.drivers import bridge_mib as mib
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
    Walk,
)
from eee_testbed.controller.drivers.login import Login
from eee_testbed.controller.drivers.mib_rows import rows_of, text_of
from eee_testbed.controller.drivers.places import FINDERS, IF_ADMIN_STATUS, IF_NAME, Place, places
from eee_testbed.controller.drivers.ros import text, written
from eee_testbed.controller.drivers.ros.commands import PRIVILEGED, commands, describe, lag_number
from eee_testbed.controller.drivers.ros.dialect import CISCO_SG, DELL_POWERCONNECT_55XX, Dialect
from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.config_text import ConfigText
from eee_testbed.controller.model.state import Change, PortState, SwitchState
from eee_testbed.lab.errors import PortMismatch, Unreadable
from eee_testbed.lab.model import Switch, lag_port

RUNNING = Show("show running-config")
FLOW = Show("show interfaces configuration")
STATICS = Show("show mac address-table static")
TREE = Show("show spanning-tree")
EEE = Show("show eee")
VERSION = Show("show version")
SYSTEM = Show("show system")
SERIALS = Walk("1.3.6.1.2.1.47.1.1.1.1.11")
"""entPhysicalSerialNum (ENTITY-MIB)."""

_LINK_WALKS = (IF_ADMIN_STATUS, mib.MAU_AUTONEG_ADMIN, mib.MAU_DEFAULT_TYPE)
_QUERIES: Mapping[Aspect, tuple[Query, ...]] = {
    "link": (*FINDERS, *_LINK_WALKS, FLOW),
    "vlan": (*FINDERS, *mib.VLAN_WALKS, RUNNING),
    "statics": (STATICS,),
    "stp": (TREE,),
    "energy": (EEE,),
}
_SAVE = "copy running-config startup-config"
_OVERWRITE = r"overwrite file .*|\(y/n\)"
_NOT_SAVED = re.compile(r"^.*(?:fail|error|abort|no space|not saved).*$", re.IGNORECASE | re.MULTILINE)
"""Also in messages such as `%COPY-W-TRAP: The copy operation has failed`, which are no answer to any other line."""

_EEE_COLUMNS = {"supported": "2.1.2", "partner": "2.1.3", "wake": "4.1.1"}
"""rlEeePortSupported, rlEeePortRemoteStatus, rlEeePortLldpLocalResolvedTx (us), below rlEee (CISCOSB-EEE-MIB)."""


@dataclass(frozen=True, slots=True)
class RosDriver:
    """See `controller.drivers.driver.Driver`."""

    dialect: Dialect
    description_query: ClassVar[Show] = RUNNING

    @property
    def login(self) -> Login:
        """How a terminal session begins."""
        return self.dialect.login

    @property
    def capabilities(self) -> Capabilities:
        """What the family can express. EEE is offered while a link is negotiated (300 series guide): it is bounced."""
        return Capabilities(
            multi_untagged=True,
            eee_settable=True,
            hold_settable=False,
            flow_control_settable=True,
            static_entries=self.dialect.static_entries,
            static_entries_per_port=None,
            vlans=self.dialect.vlans,
            speeds_mbps=self.dialect.speeds_mbps,
            lags_settable=True,
        )

    def render(self, switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
        """The commands that make the changes, in their order; NotExpressible if the family cannot express one."""
        return tuple(commands(switch, self.dialect, changes))

    def queries(self, switch: Switch, aspects: frozenset[Aspect]) -> tuple[Query, ...]:
        """What to ask to know these aspects."""
        del switch
        return tuple(dict.fromkeys(query for aspect in _QUERIES if aspect in aspects for query in _QUERIES[aspect]))

    def parse(
        self, switch: Switch, aspects: frozenset[Aspect], answers: Answers, base: SwitchState | None
    ) -> SwitchState:
        """`base` with these aspects as the answers have them; None: all aspects are there."""
        configured = _configured(switch, answers) if "vlan" in aspects else {}
        lags = _lags_of(switch, configured) if "vlan" in aspects else _lags_in(base)
        ports = _start(switch, lags, base)
        reading = _Reading(switch, answers, ports)
        state = SwitchState(ports) if base is None else replace(base, ports=ports)
        if "link" in aspects:
            reading.link()
        if "vlan" in aspects:
            state = replace(state, vids=reading.vlans(configured))
        if "stp" in aspects:
            state = replace(state, stp=reading.spanning_tree())
        if "energy" in aspects:
            reading.energy()
        if "statics" in aspects:
            entries = text.statics(switch, STATICS.command, shown(switch, answers, STATICS))
            kept = {vid: {mac: at for mac, at in table.items() if at in ports} for vid, table in entries.items()}
            state = replace(state, statics={vid: table for vid, table in kept.items() if table})
        return state

    def refusal(self, line: Line, output: str) -> str:
        """What the switch says is wrong with a line; empty if it took it.

        In shows only a percent sign at the start of a row is a refusal: they may hold any words.
        """
        if line.text == _SAVE and (failed := _NOT_SAVED.search(output)):
            return failed[0].strip()
        return text.complaint(output, strict=not line.text.startswith("show "))

    def save(self, switch: Switch) -> tuple[Command, ...]:
        """What makes the running configuration the startup configuration: a question that one key answers."""
        del switch
        return (Line(_SAVE, replies=((_OVERWRITE, "Y\n"),), prompt=PRIVILEGED),)

    def text_queries(self, switch: Switch) -> tuple[Query, ...]:
        """The running configuration."""
        del switch
        return (RUNNING,)

    def text(self, switch: Switch, answers: Answers) -> ConfigText:
        """The lines that the driver may write and that no setting holds."""
        return written.read(shown(switch, answers, RUNNING))

    def put_back(self, switch: Switch, now: ConfigText, wanted: ConfigText) -> tuple[Command, ...]:
        """What makes the lines those of `wanted` again."""
        del switch
        return tuple(written.put_back(now, wanted))

    def descriptions(self, switch: Switch, answers: Answers) -> Mapping[str, str]:
        """The line of each port's description, empty without one."""
        configured = _configured(switch, answers)
        return {port.name: lines.description if (lines := configured.get(port.name)) else "" for port in switch.ports}

    def describe(self, switch: Switch, lines: Mapping[str, str]) -> tuple[Command, ...]:
        """What gives ports these lines, an empty one taking the description away."""
        del switch
        return tuple(describe(lines))

    def eee_queries(self, switch: Switch) -> tuple[Query, ...]:
        """`show eee`, and what the EEE MIB adds where there is one."""
        del switch
        return (EEE, *FINDERS, *(self._eee_walk(name) for name in _EEE_COLUMNS))

    def eee(self, switch: Switch, answers: Answers) -> Mapping[str, EeeStatus]:
        """EEE of each port as the switch shows it."""
        energy = text.energy(switch, EEE.command, shown(switch, answers, EEE))
        columns = {name: rows_of(answers, self._eee_walk(name)) for name in _EEE_COLUMNS}
        states = {}
        for place in places(switch, answers):
            cells = {name: column.get(str(place.if_index)) for name, column in columns.items()}
            can, partner, wake = cells["supported"], cells["partner"], cells["wake"]
            states[place.name] = EeeStatus(
                supported=any(can) if isinstance(can, bytes) else None,
                enabled=energy.enabled and place.name in energy.ports,
                active=place.name in energy.active,
                partner=None if partner is None else partner == 1,
                hold_us=None,
                wake_us=wake if isinstance(wake, int) and wake > 0 else None,
            )
        return states

    def identity_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask for `identity`."""
        del switch
        return (VERSION, SYSTEM, SERIALS)

    def identity(self, switch: Switch, answers: Answers) -> Identity:
        """What the switch says that it is; of a stack the first unit."""
        version = "\n".join(text.rows(shown(switch, answers, VERSION)))
        system = "\n".join(text.rows(shown(switch, answers, SYSTEM)))
        firmware = re.search(r"^\s*(?:SW version|Version:)\s+(\S+)", version, re.MULTILINE)
        model = re.search(r"^System Description:[ \t]*(.*)$", system, re.MULTILINE)
        if firmware is None or model is None:
            raise Unreadable(switch.name, VERSION.command, f"{version}\n{system}")
        serials = [text_of(value).strip() for _, value in sorted(rows_of(answers, SERIALS).items())]
        return Identity(model[1].strip(), firmware[1], next((serial for serial in serials if serial), ""))

    def _eee_walk(self, name: str) -> Walk:
        return Walk(f"{self.dialect.eee_tree}.{_EEE_COLUMNS[name]}")


def shown(switch: Switch, answers: Answers, show: Show) -> str:
    """The text of a show; Unreadable if there is none."""
    answer = answers.get(show)
    if not isinstance(answer, str) or not answer.strip():
        raise Unreadable(switch.name, show.command, "nothing")
    return answer


# -- which ports there are


def _configured(switch: Switch, answers: Answers) -> Mapping[str, text.PortLines]:
    """The running configuration, by port."""
    return text.port_lines(switch, RUNNING.command, shown(switch, answers, RUNNING))


def _lags_of(switch: Switch, configured: Mapping[str, text.PortLines]) -> tuple[str, ...]:
    """LAGs that ports of the inventory are members of."""
    numbers = {lines.lag for port in switch.ports if (lines := configured.get(port.name)) is not None}
    return tuple(lag_port(number) for number in sorted(number for number in numbers if number is not None))


def _lags_in(base: SwitchState | None) -> tuple[str, ...]:
    return () if base is None else tuple(name for name in base.ports if lag_number(name) is not None)


def _start(switch: Switch, lags: Sequence[str], base: SwitchState | None) -> dict[str, PortState]:
    ports = {} if base is None else base.ports
    names = (*(port.name for port in switch.ports), *lags)
    if base is not None and any(name not in ports for name in names):
        new = ", ".join(name for name in names if name not in ports)
        raise Unreadable(switch.name, RUNNING.command, f"{new} is new on the switch: run the command again")
    return {name: ports.get(name, PortState()) for name in names}


@dataclass(frozen=True, slots=True)
class _Reading:
    """Answers being written into `ports`."""

    switch: Switch
    answers: Answers
    ports: dict[str, PortState]

    def places(self, walks: Sequence[Walk]) -> tuple[Place, ...]:
        """Where the MIBs keep the ports. LAGs go by `po1` or `Po1`. None of the walks may have come back empty."""
        for walk in walks:
            if not self.answers.get(walk):
                raise Unreadable(self.switch.name, f"a walk of {walk.oid}", "it is empty")
        lags = {name for name in self.ports if lag_number(name) is not None}
        names = map(text_of, rows_of(self.answers, IF_NAME).values())
        found = {text.short_name(name): name for name in names if text.short_name(name) in lags}
        missing = sorted(lags - found.keys())
        if missing:
            raise Unreadable(
                self.switch.name, "a walk of ifName", f"{', '.join(missing)} is missing, although it has members"
            )
        return places(self.switch, self.answers, found)

    def link(self) -> None:
        """Admin status, speed, flow control."""
        at = self.places(_LINK_WALKS)
        up = mib.admin_up(self.switch, at, self.answers)
        speeds = mib.speeds_mbps(self.switch, at, self.answers)
        lines = text.link_lines(self.switch, FLOW.command, shown(self.switch, self.answers, FLOW))
        for name in self.ports:
            self._need(name, lines, FLOW)
            if lag_number(name) is None:
                self._need(name, speeds, FLOW)
                self._require_same(name, up[name], lines[name].admin_up)
            self._set(name, admin_up=up[name], speed_mbps=speeds.get(name), flow_control=lines[name].flow_control)

    def vlans(self, configured: Mapping[str, text.PortLines]) -> frozenset[int]:
        """Memberships; returns the VLANs that there are. What a member of a LAG says of VLANs lies dormant."""
        table = mib.vlan_table(self.switch, self.places(mib.VLAN_WALKS), self.answers)
        for name in self.ports:
            lines = configured.get(name)
            if lines is not None and lines.general and lines.mode != "general" and lines.lag is None:
                reason = (
                    f"'{lines.general[0]}' for {name} in another mode, which would take effect in general mode: "
                    "give it switchport mode general, or remove the line"
                )
                raise Unreadable(self.switch.name, RUNNING.command, reason)
            self._set(name, **dict(_vlan_fields(table.ports[name], lines)))
        return table.vids

    def spanning_tree(self) -> bool:
        """Of each port as configured; returns that of the switch. Members of a LAG may have no row of their own."""
        tree = text.spanning_tree(self.switch, TREE.command, shown(self.switch, self.answers, TREE))
        for name, port in self.ports.items():
            if name in tree.ports or port.lag is None:
                self._need(name, tree.ports, TREE)
                self._set(name, stp=tree.ports[name])
        return tree.enabled

    def energy(self) -> None:
        """EEE of each port; a LAG as one has none."""
        energy_lines = text.energy(self.switch, EEE.command, shown(self.switch, self.answers, EEE))
        for name in self.ports:
            self._set(name, eee=energy_lines.enabled and name in energy_lines.ports, hold_us=None)

    def _require_same(self, name: str, by_snmp: bool, by_line: bool) -> None:  # noqa: FBT001 - two sides of one flag
        if by_snmp != by_line:
            shown_as = {True: "up", False: "shut"}
            reason = (
                f"{name} is {shown_as[by_line]}, and SNMP has it {shown_as[by_snmp]}: they may mean different ports"
            )
            raise PortMismatch(self.switch.name, FLOW.command, reason)

    def _need(self, name: str, values: Mapping[str, object], show: Show) -> None:
        if name not in values:
            raise Unreadable(self.switch.name, show.command, f"{name} is missing")

    def _set(self, name: str, **fields: Any) -> None:
        self.ports[name] = replace(self.ports[name], **fields)


_NEW_PORT = PortState()


def _vlan_fields(membership: mib.Membership, lines: text.PortLines | None) -> Iterator[tuple[str, object]]:
    lag = None if lines is None else lines.lag
    source: mib.Membership | PortState = membership if lag is None else _NEW_PORT
    for field in ("untagged_vids", "tagged_vids", "pvid", "acceptance", "ingress_filtering"):
        yield field, getattr(source, field)
    yield "lag", lag
    yield "lag_mode", "" if lines is None else lines.lag_mode


DELL_55XX_DRIVER = RosDriver(DELL_POWERCONNECT_55XX)
CISCO_SG_DRIVER = RosDriver(CISCO_SG)
DELL_55XX_FAMILY = Family(
    title="Dell PowerConnect 55xx (ROS)",
    driver=DELL_55XX_DRIVER,
    verified="the twin's PowerConnect 5524: every kind of change from every mode, checked after each line by the "
    "switch's output and by forwarded frames; published transcripts of related models; no real 55xx",
    from_memory="`speed`, `negotiation`, `flowcontrol`, `mac address-table static`, `no spanning-tree`, most words of "
    "`show eee`; that lines of general mode are kept in other modes, where a new port's are untagged VLAN 1; "
    "`channel-group` and `no channel-group` on a port that is shut, and that a port in VLAN 1 alone may join",
)
CISCO_SG_FAMILY = Family(
    title="Cisco SG, SF, CBS (ROS)",
    driver=CISCO_SG_DRIVER,
    verified="as Dell's 55xx, which takes the same commands; published outputs and configurations of SF300, SG300, "
    "SG350 and SG500 switches are parsed; no real switch",
    from_memory="as for the 55xx",
)
