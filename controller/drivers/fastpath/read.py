"""From what a FASTPATH switch answers to its state. Pure.

SNMP says what works (admin status, VLANs and memberships as they are in force), the running configuration says what
SNMP does not: modes, LAGs, speed, flow control, spanning tree, EEE, static entries. A port in access or trunk mode
filters and accepts untagged frames even if its dormant lines say otherwise, and is read so.

Refused before anything can be sent are ports from which `fastpath.render` could not come safely to what is wanted:
dormant lines that would take effect, ports that join every new VLAN by themselves, entries that wait.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from eee_testbed.controller.drivers import bridge_mib
from eee_testbed.controller.drivers.driver import Answers, Aspect, Query, Show
from eee_testbed.controller.drivers.fastpath.config import RUNNING, Config, PortLines, read_config
from eee_testbed.controller.drivers.fastpath.dialect import Dialect
from eee_testbed.controller.drivers.fastpath.render import vid_lists
from eee_testbed.controller.drivers.places import FINDERS, IF_ADMIN_STATUS, Place, places
from eee_testbed.controller.model.state import PortState, StaticTable, SwitchState
from eee_testbed.lab.errors import PortMismatch, Unreadable
from eee_testbed.lab.model import Switch, lag_port

_DYNAMIC = "dynamic"
"""The mode of members of a LAG that speaks LACP."""


@dataclass(frozen=True, slots=True)
class _View:
    """One reading: the dialect, the switch, its configuration, its ports, what it answered."""

    dialect: Dialect
    switch: Switch
    config: Config
    at: tuple[Place, ...]
    answers: Answers

    def refuse(self, why: str) -> Unreadable:
        return Unreadable(self.switch.name, RUNNING, why)


def queries(aspects: frozenset[Aspect]) -> tuple[Query, ...]:
    """What to ask to know these aspects."""
    walks = bridge_mib.VLAN_WALKS if "vlan" in aspects else ()
    admin = (IF_ADMIN_STATUS,) if aspects & {"link", "vlan"} else ()
    return (Show(RUNNING), *FINDERS, *walks, *admin)


def parse(
    dialect: Dialect, switch: Switch, aspects: frozenset[Aspect], answers: Answers, base: SwitchState | None
) -> SwitchState:
    """`base` with these aspects as the answers have them."""
    config = read_config(dialect, switch, show(switch, answers, RUNNING))
    lags = sorted({lag for port in switch.ports if (lag := config.port(port.name).lag) is not None})
    names = {f"lag{lag}": dialect.lag_if_name.format(name=lag) for lag in lags}
    at = places(switch, answers, names)
    view = _View(dialect, switch, config, at, answers)
    state = base if base is not None else SwitchState({place.name: PortState() for place in at})
    ports = {place.name: state.ports.get(place.name, PortState()) for place in at}
    if "link" in aspects:
        ports = _link(view, ports)
    if "vlan" in aspects:
        table = bridge_mib.vlan_table(switch, at, answers)
        ports = _vlans(view, ports, table)
        state = replace(state, vids=table.vids)
    if "stp" in aspects:
        ports = {name: replace(port, stp=config.port(name).stp) for name, port in ports.items()}
        state = replace(state, stp=config.stp)
    if "energy" in aspects:
        ports = {name: _energy(port, config.port(name)) for name, port in ports.items()}
    if "statics" in aspects:
        state = replace(state, statics=_statics(view))
    return replace(state, ports=ports)


def show(switch: Switch, answers: Answers, command: str) -> str:
    """The text of a show; Unreadable if it was not answered."""
    answer = answers.get(Show(command))
    if not isinstance(answer, str):
        raise Unreadable(switch.name, command, "no answer")
    return answer


def _link(view: _View, ports: Mapping[str, PortState]) -> dict[str, PortState]:
    numbers = {port.name for port in view.switch.ports}
    admin = bridge_mib.admin_up(view.switch, view.at, view.answers)
    links = {}
    for name, port in ports.items():
        lines = view.config.port(name)
        alone = name in numbers and lines.lag is None
        up = admin[name] if alone else not lines.shut  # what a LAG and its members show depends on one another
        if alone and up == lines.shut:
            words = {True: "up", False: "shut"}
            reason = f"{name} is {words[not lines.shut]}, and SNMP has it {words[up]}: they may mean different ports"
            raise PortMismatch(view.switch.name, RUNNING, reason)
        if not lines.negotiates and lines.speed_mbps is None:
            raise view.refuse(f"{name} neither negotiates nor has a fixed speed: set one")
        flow_control = lines.flow_control or (name in numbers and view.config.flow_control)  # a LAG's is its members'
        links[name] = replace(port, admin_up=up, speed_mbps=lines.speed_mbps, flow_control=flow_control)
    return links


def _energy(port: PortState, lines: PortLines) -> PortState:
    return replace(port, eee=lines.eee, hold_us=lines.hold_us)


def _vlans(view: _View, ports: Mapping[str, PortState], table: bridge_mib.VlanTable) -> dict[str, PortState]:
    admin = bridge_mib.admin_up(view.switch, view.at, view.answers)
    factory = PortState()
    vlans = {}
    for name, port in ports.items():
        lines, works = view.config.port(name), table.ports[name]
        in_lag = lines.lag is not None
        general = lines.mode == "general"
        vlans[name] = replace(
            port,
            untagged_vids=factory.untagged_vids if in_lag else works.untagged_vids,
            tagged_vids=factory.tagged_vids if in_lag else works.tagged_vids,
            pvid=factory.pvid if in_lag else works.pvid,
            acceptance=works.acceptance if general and not in_lag else "all",
            ingress_filtering=works.ingress_filtering if general and not in_lag else True,
            lag=lines.lag,
            lag_mode=lines.lag_mode or (_DYNAMIC if in_lag and _speaks_lacp(view, lines) else ""),
        )
        if not in_lag and not general:
            _require_path_to_general(view, name, lines, vlans[name], table.vids, shut=not admin[name])
    return vlans


def _speaks_lacp(view: _View, lines: PortLines) -> bool:
    """Whether a member's LAG is as from the factory where that means LACP."""
    return bool(view.dialect.static_lag) and not view.config.port(lag_port(lines.lag or 0)).static_lag


def _require_path_to_general(
    view: _View, name: str, lines: PortLines, port: PortState, vids: frozenset[int], *, shut: bool
) -> None:
    """Refuse a port in access or trunk mode that could not get to general mode, or that new VLANs would spill into."""
    dialect = view.dialect
    if lines.mode == "trunk" and not lines.allowed_vids <= vids:
        trimmed = dialect.trim_trunks and not name.startswith("lag")
        if dialect.trunks_follow and not trimmed:
            kept = ",".join(vid_lists(lines.allowed_vids & vids)) or "none"
            raise view.refuse(f"trunk {name} would join every new VLAN: allow only the existing VLANs on it ({kept})")
    if dialect.lines_wait:
        dormant = (lines.member_vids & vids) - port.vids - {1}
        if dormant:
            raise view.refuse(
                f"{name} is in {lines.mode} mode, and lines of general mode for VLAN {','.join(vid_lists(dormant))} "
                "would take effect: remove them first"
            )
    elif not shut and (port.untagged_vids, port.tagged_vids, port.pvid) != (frozenset({1}), frozenset(), 1):
        raise view.refuse(
            f"{name} is in {lines.mode} mode, from which this family passes through VLAN 1: shut it first, "
            "or put it into general mode"
        )


def _statics(view: _View) -> Mapping[int, StaticTable]:
    entries = dict(view.config.statics)
    for place in view.at:
        lines = view.config.port(place.name)
        if lines.locked_macs and not (lines.locked and view.config.port_security):
            raise view.refuse(
                f"{place.name} holds static addresses that wait for port-security: turn it on, or remove them"
            )
        entries |= dict.fromkeys(sorted(lines.locked_macs), place.name)
    statics: dict[int, dict[bytes, str]] = {}
    for (vid, mac), name in sorted(entries.items()):
        statics.setdefault(vid, {})[mac] = name
    return statics
