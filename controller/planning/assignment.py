"""From routes to VLANs: Koibuchi's assignment (2011, section III.B), static entries, path lengths. Pure."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from eee_testbed.controller.model.vlans import PathLengths, Route, Vlan, VlanPlan
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Link
from eee_testbed.lab.topology import Topology

FIRST_VID = 11
LAST_VID = 4094
"""802.1Q reserves 4095; families' own tables may be smaller."""

Statics = Literal["needed", "all", "none"]
"""Which static entries: those that prevent endless flooding, each host in each VLAN, or none."""


def assign_vlans(
    topology: Topology,
    routes: Sequence[Route],
    *,
    live: Mapping[int, frozenset[int]] | None = None,
    taken: Collection[int] = (),
    statics: Statics = "needed",
) -> VlanPlan:
    """Give each route a VLAN; a tree that equals or is contained in another shares its VLAN.

    The paper goes through the switches in order and shares with VLANs made before; here larger trees go first, so
    that a tree made early is shared too when a later one contains it. `live` are VLANs that exist with exactly these
    trees: they keep their VID. VIDs in `taken` are not given to new trees: a live VLAN's tree is never edited.
    """
    by_links = {links: vid for vid, links in sorted((live or {}).items(), reverse=True)}
    order = sorted(range(len(routes)), key=lambda n: (-len(routes[n].tree.links), n))
    trees: list[frozenset[int]] = []
    shared: dict[int, frozenset[int]] = {}
    for number in order:
        links = routes[number].tree.links
        holder = next((tree for tree in trees if links <= tree), None)
        if holder is None:
            trees.append(links)
        shared[number] = links if holder is None else holder
    used = set(taken) | set(live or {})
    free = (vid for vid in range(FIRST_VID, LAST_VID + 1) if vid not in used)
    vids: dict[frozenset[int], int] = {}
    users: defaultdict[int, dict[str, None]] = defaultdict(dict)
    pvids: dict[str, int] = {}
    for number, route in enumerate(routes):
        links = shared[number]
        if links not in vids:
            vid = by_links.get(links) or next(free, None)
            if vid is None:
                raise PlanError(f"{len(trees)} trees need more VLANs than are free: choose a policy with fewer trees.")
            vids[links] = vid
        for host in route.hosts:
            pvids[host] = vids[links]
            users[vids[links]][topology.homes[host].device] = None
    vlans = tuple(Vlan(vid, links, tuple(users[vid])) for links, vid in sorted(vids.items(), key=lambda item: item[1]))
    table = {} if statics == "none" else _statics(topology, vlans, pvids, every=statics == "all")
    return VlanPlan(vlans, pvids, table)


def _statics(
    topology: Topology, vlans: Sequence[Vlan], pvids: Mapping[str, int], *, every: bool
) -> dict[str, dict[int, dict[bytes, str]]]:
    """Entries at each switch that frames to a host pass in a VLAN that the host itself does not send into.

    A host that sends into the VLAN is learned there as on any Ethernet, on every switch that frames to it pass.
    """
    tables: dict[str, dict[int, dict[bytes, str]]] = {name: {} for name in topology.switches}
    for vlan in vlans:
        targets = {
            name: [host for host in hosts if every or pvids.get(host) != vlan.vid]
            for name, hosts in topology.residents.items()
        }
        entries: dict[str, dict[bytes, str]] = defaultdict(dict)
        starts = topology.switches if every else vlan.roots
        for start in starts:
            came = topology.ways(start, vlan.links)
            for there in (start, *came):
                hosts = targets[there]
                if not hosts:
                    continue
                entries[there].update((topology.hosts[host].mac, topology.homes[host].port) for host in hosts)
                at = there
                while at != start:
                    here, link = came[at]
                    port = link.other(at).port
                    entries[here].update((topology.hosts[host].mac, port) for host in hosts)
                    at = here
        for name, table in entries.items():
            tables[name][vlan.vid] = table
    return {name: entries for name, entries in tables.items() if entries}


def path_lengths(topology: Topology, plan: VlanPlan) -> PathLengths:
    """Switches between hosts over the plan's VLANs; zero without hosts."""
    total = longest = 0
    for vlan in plan.vlans:
        senders: defaultdict[str, int] = defaultdict(int)
        for host, vid in plan.pvids.items():
            if vid == vlan.vid:
                senders[topology.homes[host].device] += 1
        for root, count in senders.items():
            passed = {root: 1}
            for there, (here, _) in topology.ways(root, vlan.links).items():
                passed[there] = passed[here] + 1
            for there, switches in passed.items():
                if topology.residents[there]:
                    total += count * len(topology.residents[there]) * switches
                    longest = max(longest, switches)
    pairs = len(plan.pvids) * len(topology.hosts)
    return PathLengths(total / pairs if pairs else 0.0, longest)


def shared_learning_is_right(topology: Topology, plan: VlanPlan) -> bool:
    """Whether switches with one forwarding table for all VLANs would find every host without static entries.

    With shared learning, host A is learned on the ports through which its own frames, in A's VLAN, come in. A frame
    to A in X's VLAN is sent there, so that port's cable has to be part of X's tree, on the tree's path to A, at every
    switch that the frame passes: the reverse of A's path to X has to lie in X's tree.
    """
    users: dict[str, set[int]] = defaultdict(set)
    for host, vid in plan.pvids.items():
        users[topology.homes[host].device].add(vid)
    trees = {vlan.vid: vlan.links for vlan in plan.vlans}
    paths = {
        (name, vid): topology.ways(name, trees[vid]) for name, vids in users.items() for vid in vids
    }  # switch and VLAN of a sender -> how its frames reach each switch
    return all(
        _path(paths[a, v], a, b) == _path(paths[b, w], b, a)
        for a, vids in users.items()
        for b, others in users.items()
        for v in vids
        for w in others
    )


def _path(came: Mapping[str, tuple[str, Link]], start: str, end: str) -> set[int]:
    links = set()
    while end != start:
        end, link = came[end]
        links.add(link.number)
    return links
