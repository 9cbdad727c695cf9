"""Link regulation on a multi-tree lab: turn a link off, on, or to another speed without hosts noticing. Pure.

Koibuchi 2011, IV.B-D: away with the traffic first, back with it last. A VLAN whose tree the link is part of is never
edited: its hosts move to a new VLAN with another tree.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from controller.assignment import Statics, assign_vlans
from controller.check import Management
from controller.desired import desired_state, live_trees
from controller.errors import PlanError
from controller.model.lab import Lab, Link
from controller.model.state import State
from controller.model.topology import Topology
from controller.model.vlans import Route, Tree, VlanPlan
from controller.plan import Plan, join_plans, make_plan
from controller.trees import shortest_routes, shortest_tree

Policy = Callable[[Topology, Collection[int]], tuple[Route, ...]]
"""A policy of `controller.trees`, given the trunks that it may use."""


def trunks_off(lab: Lab, state: State) -> frozenset[int]:
    """Trunks with an end that is shut."""
    return frozenset(
        link.number
        for link in lab.trunks()
        if not all(state.port(end.device, end.port).admin_up for end in (link.a, link.b))
    )


def multi_tree(
    lab: Lab,
    state: State,
    policy: Policy,
    *,
    off: Collection[int] = (),
    keep: Collection[int] = (),
    statics: Statics = "needed",
) -> tuple[VlanPlan, State]:
    """VLANs by a policy over all trunks but those in `off`, which are shut, and the state to be reached."""
    topology = Topology.of(lab)
    routes = policy(topology, [number for number in topology.trunks if number not in off])
    live = _usable(lab, state, off, keep)
    vlans = assign_vlans(topology, routes, live=live, taken=_taken(state), statics=statics)
    return vlans, desired_state(lab, vlans, state, off=off, keep=keep)


def link_off(lab: Lab, state: State, link: Link, management: Management | None = None) -> Plan:
    """Move traffic off a trunk, then shut it; NoTree if some hosts have no other way.

    VLANs whose trees do not use the link stay as they are. One that does is replaced by a shortest-path tree from the
    same root over the links that are up.
    """
    _regulable(lab, link)
    keep = _kept(management)
    off = trunks_off(lab, state) | {link.number}
    vlans = _around(lab, state, off, keep)
    return make_plan(lab, state, desired_state(lab, vlans, state, off=off, keep=keep), management)


def link_on(
    lab: Lab, state: State, link: Link, policy: Policy = shortest_routes, management: Management | None = None
) -> Plan:
    """Wake a trunk, then choose trees anew over all trunks that are up, and move the hosts whose trees are others."""
    _regulable(lab, link)
    keep = _kept(management)
    off = trunks_off(lab, state) - {link.number}
    _, after = multi_tree(lab, state, policy, off=off, keep=keep)
    return make_plan(lab, state, _set_link(after, link, admin_up=True), management)


def link_speed(
    lab: Lab, state: State, link: Link, speed_mbps: int | None, management: Management | None = None
) -> Plan:
    """Move traffic off a trunk, set both ends to a speed (None: negotiate), and move the traffic back.

    The VLANs that use the link stay while nobody sends into them, so that the way back is a change of PVIDs only.
    """
    _regulable(lab, link)
    if speed_mbps is not None and speed_mbps > link.rate_mbps:
        raise PlanError(f"{link.name} carries {link.rate_mbps} Mb/s at most: choose a lower speed.")
    fast = _set_link(state, link, speed_mbps=speed_mbps)
    keep = _kept(management)
    vlans = _around(lab, state, trunks_off(lab, state) | {link.number}, keep)
    around = _beside(state, desired_state(lab, vlans, state, off=trunks_off(lab, state), keep=keep))
    slow = _set_link(around, link, speed_mbps=speed_mbps)
    ways = ((state, around), (around, slow), (slow, fast))
    return join_plans(make_plan(lab, one, other, management) for one, other in ways)


def _around(lab: Lab, state: State, off: Collection[int], keep: Collection[int]) -> VlanPlan:
    """The VLANs that hosts use now, with the trees that need a trunk of `off` replaced."""
    topology = Topology.of(lab)
    live = live_trees(lab, state)
    users: dict[int, list[str]] = {}
    for host, end in topology.homes.items():
        users.setdefault(state.port(end.device, end.port).pvid, []).append(host)
    if not users.keys() <= live.keys():
        strange = sorted(users.keys() - live.keys())
        raise PlanError(f"hosts send into VLANs {strange}, which are no trees of ours: apply a tree policy first.")
    allowed = [number for number in topology.trunks if number not in off]
    routes = []
    for vid, hosts in users.items():
        if live[vid].isdisjoint(off):
            routes.append(Route(tuple(hosts), Tree(topology.homes[hosts[0]].device, live[vid])))
            continue
        for name in dict.fromkeys(topology.homes[host].device for host in hosts):
            own = tuple(host for host in hosts if topology.homes[host].device == name)
            routes.append(Route(own, shortest_tree(topology, name, allowed)))
    return assign_vlans(topology, routes, live=_usable(lab, state, off, keep), taken=_taken(state))


def _beside(old: State, new: State) -> State:
    """The new state with everything of the old one left in place beside it: VLANs, memberships, entries."""
    switches = {}
    for name, switch in new.switches.items():
        was = old.switches[name]
        ports = {
            port: replace(
                now,
                untagged_vids=now.untagged_vids | was.ports[port].untagged_vids,
                tagged_vids=now.tagged_vids | was.ports[port].tagged_vids,
                acceptance=was.ports[port].acceptance,
            )
            for port, now in switch.ports.items()
        }
        statics = {
            vid: {**was.statics.get(vid, {}), **switch.statics.get(vid, {})}
            for vid in {**was.statics, **switch.statics}
        }
        switches[name] = replace(switch, ports=ports, vids=switch.vids | was.vids, statics=statics, stp=was.stp)
    return State(switches)


def _set_link(state: State, link: Link, **settings: object) -> State:
    switches = dict(state.switches)
    for end in (link.a, link.b):
        ports = dict(switches[end.device].ports)
        ports[end.port] = replace(ports[end.port], **settings)  # type: ignore[arg-type]
        switches[end.device] = replace(switches[end.device], ports=ports)
    return State(switches)


def _regulable(lab: Lab, link: Link) -> None:
    if link.number not in {trunk.number for trunk in lab.trunks()}:
        raise PlanError(f"{link.name} is a host's only way: only links between switches can be regulated.")
    if not link.switchable:
        raise PlanError(f"{link.name} is not switchable: allow it in the inventory's cables, or choose another link.")


def _kept(management: Management | None) -> tuple[int, ...]:
    return (management.vid,) if management else ()


def _taken(state: State) -> frozenset[int]:
    return frozenset[int]().union(*(switch.vids | switch.statics.keys() for switch in state.switches.values()))


def _usable(lab: Lab, state: State, off: Collection[int], keep: Collection[int]) -> dict[int, frozenset[int]]:
    return {vid: links for vid, links in live_trees(lab, state).items() if links.isdisjoint(off) and vid not in keep}
