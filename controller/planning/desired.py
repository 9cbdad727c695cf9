"""The state that a VLAN plan describes, based on the present state of a lab. Pure.

Host ports: untagged member of every VLAN, PVID of the VLAN that the host's frames take. Trunks: tagged member of the
VLANs whose trees they are in, and of nothing else; only tagged frames get in. Spanning tree off. Koibuchi 2011, III.B.

A switch that untags a port in one VLAN only sends its hosts the frames of the other VLANs with their tags, and the
hosts pop them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace

from eee_testbed.controller.model.port_forms import one_untagged
from eee_testbed.controller.model.state import Draft, PortState, State, SwitchState
from eee_testbed.controller.model.vlans import VlanPlan
from eee_testbed.controller.planning.broadcast import heard, is_up
from eee_testbed.controller.planning.lags import require_lags
from eee_testbed.controller.planning.limits import UNLIMITED, Abilities, as_held, untags_one
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import End, Lab, Link
from eee_testbed.lab.topology import Topology

DEFAULT_VLAN = 1
"""Exists on every switch and cannot be destroyed."""

Ports = dict[str, dict[str, PortState]]


def desired_state(
    lab: Lab,
    plan: VlanPlan,
    base: State,
    *,
    off: Collection[int] = (),
    keep: Collection[int] = (),
    abilities: Abilities = UNLIMITED,
) -> State:
    """The desired state of the lab.

    `off` are the trunks, by number, to be shut; a trunk that is in a tree and was shut is woken; any other stays as it
    is. Speed, EEE, flow control and ports without a cable stay as in `base`. VLANs in `keep` (that of in-band
    management) stay on host ports and on trunks that are up. PlanError if a trunk that is not
    switchable has to be shut or woken, or if the switches' LAGs are not the inventory's.
    """
    require_lags(lab, base)
    topology = Topology.of(lab)
    trees: defaultdict[int, set[int]] = defaultdict(set)
    for vlan in plan.vlans:
        for number in vlan.links:
            trees[number].add(vlan.vid)
    vids = frozenset(vlan.vid for vlan in plan.vlans)
    kept = frozenset(keep)
    ports: Ports = {name: dict(switch.ports) for name, switch in base.switches.items()}
    for number, link in topology.trunks.items():
        inside = trees[number]
        if inside and number in off:
            raise PlanError(
                f"{link.name} cannot be off, as the trees of VLANs {sorted(inside)} need it: choose other trees."
            )
        woken = True if inside else False if number in off else None
        was_up = all(ports[end.device][end.port].admin_up for end in (link.a, link.b))
        if woken is not None:
            _set_cables(ports, link, topology.cables[number], topology.lags.get(number), up=woken)
        for end in (link.a, link.b):
            old = ports[end.device][end.port]
            up = old.admin_up if woken is None else woken
            _allow(link, old.admin_up, up)
            trunk = _trunk(old, frozenset(inside), kept if was_up else frozenset(), admin_up=up)
            native = _as_native(trunk) if untags_one(abilities, end.device) else trunk
            ports[end.device][end.port] = as_held(abilities, end.device, native)
    for host, end in topology.homes.items():
        old = ports[end.device][end.port]
        held = vids | (old.vids & kept)
        tagged = held & old.tagged_vids if topology.hosts[host].pops_tags else old.tagged_vids & kept - vids
        trunk = replace(old, untagged_vids=held - tagged, tagged_vids=tagged, pvid=plan.pvids[host], acceptance="all")
        ports[end.device][end.port] = as_held(abilities, end.device, trunk)
    switches = {}
    for name, switch in base.switches.items():
        held = frozenset[int]().union(*(port.vids for port in ports[name].values()))
        unused = {vid for vid in _on_cables(topology, name, switch) if vid not in held | kept} - {DEFAULT_VLAN}
        statics = {vid: table for vid, table in switch.statics.items() if vid in kept or vid not in unused | vids}
        statics |= plan.statics.get(name, {})
        switches[name] = SwitchState(ports[name], (switch.vids | vids) - unused, statics, stp=False)
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
        doing = "enabled" if up else "shut"
        raise PlanError(
            f"{link.name} would have to be {doing}, which cables.csv does not allow: make it switchable there."
        )


def _set_cables(ports: Ports, link: Link, cables: Collection[Link], lag: int | None, *, up: bool) -> None:
    """Shut all cables of a LAG, or enable all members if none is up; those of a LAG that works stay as they are."""

    def at(end: End) -> PortState:
        return ports[end.device][end.port]

    members = [cable for cable in cables if cable != link and (not up or at(cable.a).lag == at(cable.b).lag == lag)]
    if up and any(at(cable.a).admin_up and at(cable.b).admin_up for cable in members):
        return
    for cable in members:
        for end in (cable.a, cable.b):
            _allow(link, at(end).admin_up, up)
            ports[end.device][end.port] = replace(at(end), admin_up=up)


def _as_native(trunk: PortState) -> PortState:
    """A trunk at a switch that untags the PVID's VLAN only: its PVID must not be a VLAN of a tree."""
    return one_untagged(replace(trunk, pvid=DEFAULT_VLAN) if trunk.pvid in trunk.tagged_vids else trunk)


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
    """VLANs that are built as a plan builds them, with their trees: tagged on trunks that are up, reaching all hosts.

    Such a VLAN may be used again as it is; any other VID is left alone.
    """
    topology = Topology.of(lab)
    links: defaultdict[int, set[int]] = defaultdict(set)
    spoilt: set[int] = {DEFAULT_VLAN}
    draft = Draft(state)
    for number, link in topology.trunks.items():
        one, other = (state.port(end.device, end.port) for end in (link.a, link.b))
        for vid in one.tagged_vids & other.tagged_vids:
            links[vid].add(number)
        spoilt |= (one.tagged_vids ^ other.tagged_vids) | one.untagged_vids | other.untagged_vids
        if not is_up(topology, draft, number):
            spoilt |= one.vids | other.vids
    shared: frozenset[int] | None = None
    for host, end in topology.homes.items():
        vids = heard(topology.hosts[host], state.port(end.device, end.port))
        shared = vids if shared is None else shared & vids
    everywhere = (shared or frozenset()).intersection(*(switch.vids for switch in state.switches.values()))
    return {vid: frozenset(links[vid]) for vid in sorted(everywhere - spoilt)}
