"""What the switches of a lab can express; refuse a plan that needs more before anything is sent. Pure.

Checked are: VLANs at once, reserved VIDs, static entries, EEE and hold time, flow control, fixed speeds, and ports that
untag more than one VLAN. The limits are those of the family, or of a switch's `quirks`. An unknown limit is not
checked here: the settings are sent and read back.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.port_forms import one_untagged, without_bare_pvid
from eee_testbed.controller.model.state import (
    Change,
    Draft,
    PortChange,
    PortState,
    State,
    StaticsChange,
    StaticTable,
    VlanChange,
)
from eee_testbed.lab.errors import NotExpressible, TableFull
from eee_testbed.lab.model import Host, Lab, Switch
from eee_testbed.lab.topology import Topology

Abilities = Mapping[str, Capabilities]
"""What each switch can express, by name. A switch without an entry has no limits."""

UNLIMITED: Abilities = MappingProxyType({})
"""No switch has limits."""


def abilities_of(lab: Lab, capabilities_of: Callable[[Switch], Capabilities]) -> Abilities:
    """The capabilities of each switch, by name: its family's, overridden by its quirks."""
    return {switch.name: _with_quirks(capabilities_of(switch), switch) for switch in lab.switches}


def _with_quirks(can: Capabilities, switch: Switch) -> Capabilities:
    quirks = switch.quirks
    settable = {"eee": "eee_settable", "hold": "hold_settable", "flow_control": "flow_control_settable"}
    flags = {field: bool(quirks[name]) for name, field in settable.items() if name in quirks}
    limits = {name: quirks[name] for name in ("vlans", "static_entries", "static_entries_per_port") if name in quirks}
    reserved = {int(quirks["reserved_vid"])} if "reserved_vid" in quirks else set()
    return replace(can, **flags, **limits, reserved_vids=can.reserved_vids | reserved)  # type: ignore[arg-type]


def reserved_vids(abilities: Abilities) -> frozenset[int]:
    """VIDs that some switch reserves: no plan gives them to a tree."""
    return frozenset[int]().union(*(can.reserved_vids for can in abilities.values()))


def untags_one(abilities: Abilities, switch: str) -> bool:
    """Whether a port of the switch is untagged in one VLAN only, that of its PVID."""
    return switch in abilities and not abilities[switch].multi_untagged


def as_held(abilities: Abilities, switch: str, port: PortState) -> PortState:
    """The settings of a port in the form that the switch can hold."""
    if untags_one(abilities, switch):
        port = one_untagged(port)
    if switch in abilities and not abilities[switch].bare_pvid:
        port = without_bare_pvid(port)
    return port


def require_expressible(lab: Lab, state: State, changes: Sequence[Change], abilities: Abilities) -> None:
    """NotExpressible if a change exceeds what its family can express, TableFull if what a switch holds after it does.

    Only what the changes add is judged, not what a switch was found with.
    """
    switches = {switch.name: switch for switch in lab.switches}
    rates = {(switch.name, port.name): port.rate_mbps for switch in lab.switches for port in switch.ports}
    homes = {(end.device, end.port): lab.host(host) for host, end in Topology.of(lab).homes.items()}
    draft = Draft(state)
    for change in changes:
        draft.apply(change)
        if change.switch not in abilities:
            continue
        can = abilities[change.switch]
        place = (change.switch, getattr(change, "port", ""))
        lacking = full = ""
        match change:
            case PortChange():
                lacking = next(_lacking(change, can, rates.get(place), homes.get(place)), "")
            case VlanChange() if change.after:
                lacking = f"VLAN {change.vid}, which it reserves" if change.vid in can.reserved_vids else ""
                full = _too_many_vlans(can, len(draft.vids[change.switch]))
            case StaticsChange() if len(change.after) > len(change.before):
                full = _too_many_statics(can, draft.statics[change.switch])
        if lacking:
            raise NotExpressible(change.switch, switches[change.switch].family, lacking)
        if full:
            raise TableFull(change.switch, switches[change.switch].family, full)


def _lacking(change: PortChange, can: Capabilities, rate_mbps: int | None, host: Host | None) -> Iterator[str]:
    before, after, port = change.before, change.after, change.port
    if not can.multi_untagged and after != one_untagged(after):
        yield f"more than one untagged VLAN, or untagged frames outside that VLAN, on port {port}"
    if not can.bare_pvid and after != without_bare_pvid(after):
        yield f"a PVID without membership, or no ingress filtering, on port {port}"
    if not can.multi_untagged and host and not host.pops_tags and after.tagged_vids - before.tagged_vids:
        yield (
            f"more than one untagged VLAN on port {port}, and {host.name} does not accept frames with other tags "
            "(set `pops_tags` in the inventory if it does)"
        )
    if after.lag != before.lag and not can.lag_members_settable:
        yield f"taking port {port} into a LAG or out of it"
    if after.eee != before.eee and not can.eee_settable:
        yield f"switching EEE, as on port {port}"
    yield from _hold_lacking(change, can)
    if after.flow_control != before.flow_control and not can.flow_control_settable:
        yield f"switching flow control, as on port {port}"
    if after.speed_mbps not in (None, before.speed_mbps):
        if rate_mbps is not None and after.speed_mbps > rate_mbps:
            yield f"{after.speed_mbps} Mb/s on port {port}, whose fastest is {rate_mbps}"
        if after.speed_mbps not in can.speeds_mbps:
            yield f"a port fixed to {after.speed_mbps} Mb/s (it can fix {', '.join(map(str, can.speeds_mbps))})"


def _hold_lacking(change: PortChange, can: Capabilities) -> Iterator[str]:
    hold_us = change.after.hold_us
    if hold_us == change.before.hold_us:
        return
    if not can.hold_settable:
        yield f"setting a hold time, as on port {change.port}"
    elif hold_us is not None and hold_us < can.hold_least_us:
        yield f"a hold time of {hold_us} us on port {change.port} (the shortest is {can.hold_least_us} us)"


def _too_many_vlans(can: Capabilities, count: int) -> str:
    if can.vlans is not None and count > can.vlans:
        return f"{count} VLANs at once (it holds {can.vlans}; old ones are removed when the new ones are in use)"
    return ""


def _too_many_statics(can: Capabilities, tables: Mapping[int, StaticTable]) -> str:
    count = sum(map(len, tables.values()))
    if can.static_entries is not None and count > can.static_entries:
        return f"{count} static entries (it holds {can.static_entries})"
    if can.static_entries_per_port is not None:
        port, most = Counter(port for table in tables.values() for port in table.values()).most_common(1)[0]
        if most > can.static_entries_per_port:
            return f"{most} static entries on port {port} (it holds {can.static_entries_per_port})"
    return ""
