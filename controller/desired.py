"""The state that a VLAN plan asks for, on top of the state that a lab is in. Pure.

Host ports: untagged member of every VLAN, PVID of the VLAN that the host's frames take. Trunks: tagged member of the
VLANs whose trees they are in, and of nothing else; only tagged frames get in. Spanning tree off. Koibuchi 2011, III.B.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace

from controller.errors import PlanError
from controller.model.lab import Lab, Link
from controller.model.state import PortState, State, SwitchState
from controller.model.topology import Topology
from controller.model.vlans import VlanPlan

DEFAULT_VLAN = 1
"""Exists on every switch and cannot be destroyed."""


def desired_state(
    lab: Lab, plan: VlanPlan, base: State, *, off: Collection[int] = (), keep: Collection[int] = ()
) -> State:
    """What the lab should be set to.

    `off` are the trunks, by number, to be shut; a trunk that is in a tree and was shut is woken; any other stays as it
    is. Speed, EEE, flow control and ports without a cable stay as in `base`. VLANs in `keep` (that of in-band
    management) stay on host ports and on trunks that are up. PlanError if a trunk that is not
    switchable has to be shut or woken.
    """
    topology = Topology.of(lab)
    trees: defaultdict[int, set[int]] = defaultdict(set)
    for vlan in plan.vlans:
        for number in vlan.links:
            trees[number].add(vlan.vid)
    vids = frozenset(vlan.vid for vlan in plan.vlans)
    kept = frozenset(keep)
    ports = {name: dict(switch.ports) for name, switch in base.switches.items()}
    for number, link in topology.trunks.items():
        inside = trees[number]
        if inside and number in off:
            raise PlanError(f"{link.name} is to be off and in the trees of VLANs {sorted(inside)}: choose other trees.")
        woken = True if inside else False if number in off else None
        was_up = all(ports[end.device][end.port].admin_up for end in (link.a, link.b))
        for end in (link.a, link.b):
            old = ports[end.device][end.port]
            up = old.admin_up if woken is None else woken
            _allow(link, old.admin_up, up)
            ports[end.device][end.port] = _trunk(old, frozenset(inside), kept if was_up else frozenset(), admin_up=up)
    for host, end in topology.homes.items():
        old = ports[end.device][end.port]
        ports[end.device][end.port] = replace(
            old,
            untagged_vids=vids | (old.untagged_vids & kept),
            tagged_vids=old.tagged_vids & kept - vids,
            pvid=plan.pvids[host],
            acceptance="all",
        )
    switches = {}
    for name, switch in base.switches.items():
        held = frozenset[int]().union(*(port.vids for port in ports[name].values()))
        gone = {vid for vid in _on_cables(topology, name, switch) if vid not in held | kept} - {DEFAULT_VLAN}
        statics = {vid: table for vid, table in switch.statics.items() if vid in kept or vid not in gone | vids}
        statics |= plan.statics.get(name, {})
        switches[name] = SwitchState(ports[name], (switch.vids | vids) - gone, statics, stp=False)
    return State(switches)


def _on_cables(topology: Topology, name: str, switch: SwitchState) -> Iterator[int]:
    """VLANs that a switch now has on cables of the lab: the ones that a plan may remove."""
    for link in topology.trunks.values():
        for end in (link.a, link.b):
            if end.device == name:
                yield from switch.ports[end.port].vids
    for end in topology.homes.values():
        if end.device == name:
            yield from switch.ports[end.port].vids


def _allow(link: Link, is_up: bool, up: bool) -> None:  # noqa: FBT001 - two states of one thing
    if is_up != up and not link.switchable:
        doing = "woken" if up else "shut"
        raise PlanError(f"{link.name} would have to be {doing}, which the inventory forbids: make it switchable there.")


def _trunk(old: PortState, tagged: frozenset[int], kept: frozenset[int], *, admin_up: bool) -> PortState:
    untagged = (old.untagged_vids & kept) - tagged
    return replace(
        old,
        admin_up=admin_up,
        untagged_vids=untagged,
        tagged_vids=tagged | (old.tagged_vids & kept),
        acceptance="all" if untagged else "tagged",
        ingress_filtering=True,
    )


def live_trees(lab: Lab, state: State) -> dict[int, frozenset[int]]:
    """VLANs that are built as a plan builds them, and their trees: tagged on trunks that are up, untagged on all hosts.

    Such a VLAN may be used again as it is; any other VID is left alone.
    """
    topology = Topology.of(lab)
    links: defaultdict[int, set[int]] = defaultdict(set)
    spoilt: set[int] = {DEFAULT_VLAN}
    for number, link in topology.trunks.items():
        one, other = (state.port(end.device, end.port) for end in (link.a, link.b))
        for vid in one.tagged_vids & other.tagged_vids:
            links[vid].add(number)
        spoilt |= (one.tagged_vids ^ other.tagged_vids) | one.untagged_vids | other.untagged_vids
        if not (one.admin_up and other.admin_up):
            spoilt |= one.vids | other.vids
    shared: frozenset[int] | None = None
    for end in topology.homes.values():
        untagged = state.port(end.device, end.port).untagged_vids
        shared = untagged if shared is None else shared & untagged
    everywhere = (shared or frozenset()).intersection(*(switch.vids for switch in state.switches.values()))
    return {vid: frozenset(links[vid]) for vid in sorted(everywhere - spoilt)}
