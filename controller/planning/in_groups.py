"""States on the way from old VLANs to new ones where a switch cannot hold all of both: hosts move in groups. Pure.

A plan makes the new before it removes the old. With a dozen trees a switch's table of VLANs, or of static entries on
one port, may be too small for both at once. A group of hosts that sends into VLANs of its own, before and after, can
move by itself, and its old VLANs go before the next group's come.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from eee_testbed.controller.model.state import PortState, State, SwitchState
from eee_testbed.lab.topology import Topology


def in_groups(topology: Topology, before: State, after: State) -> Iterator[tuple[State, ...]]:
    """The states after `before`, the last is `after`: first with the hosts in two groups, then in ever more.

    Nothing where spanning tree starts or stops: it knows no VLANs, so all of them come or go with it.
    """
    if any(switch.stp != after.switches[name].stp for name, switch in before.switches.items()):
        return
    groups = _groups(topology, before, after)
    count = 1
    while count < len(groups):
        count = min(2 * count, len(groups))
        shares = [groups[len(groups) * n // count : len(groups) * (n + 1) // count] for n in range(count)]
        moved: set[str] = set()
        states = []
        for share in shares[:-1]:
            moved.update(*share)
            states.append(_between(topology, before, after, moved))
        yield (*states, after)


def _groups(topology: Topology, before: State, after: State) -> list[frozenset[str]]:
    """Hosts that change their VLAN, so that no two groups have one in common, before or after."""
    groups: list[tuple[frozenset[str], frozenset[int]]] = []
    for host, end in topology.homes.items():
        old, new = (state.port(end.device, end.port).pvid for state in (before, after))
        if old == new:
            continue
        hosts, vids = frozenset({host}), frozenset({old, new})
        apart = [group for group in groups if group[1].isdisjoint(vids)]
        joined = [one for one in groups if not one[1].isdisjoint(vids)]
        together = (hosts.union(*(one[0] for one in joined)), vids.union(*(one[1] for one in joined)))
        groups = [*apart, together]
    return [hosts for hosts, _ in groups]


def _between(topology: Topology, before: State, after: State, moved: Collection[str]) -> State:
    """Only these hosts send into their new VLANs. VLANs of both states, and what restarts links, stay as they were.

    Links of either state are up.
    """
    used = {
        (after if host in moved else before).port(end.device, end.port).pvid for host, end in topology.homes.items()
    }
    old, new = (frozenset().union(*(switch.vids for switch in one.switches.values())) for one in (before, after))
    gone, come = (old - new) - used, (new - old) & used
    homes = {(topology.homes[host].device, topology.homes[host].port) for host in moved}

    def port_of(name: str, port: str) -> PortState:
        was, will = before.port(name, port), after.port(name, port)
        pvid = will.pvid if (name, port) in homes or was.pvid in gone else was.pvid
        return replace(
            was if was.admin_up else will,
            admin_up=was.admin_up or will.admin_up,
            untagged_vids=(was.untagged_vids - gone) | (will.untagged_vids & come),
            tagged_vids=(was.tagged_vids - gone) | (will.tagged_vids & come),
            pvid=pvid,
        )

    switches = {}
    for name, was in before.switches.items():
        will = after.switches[name]
        statics = {vid: table for vid, table in was.statics.items() if vid not in gone}
        statics |= {vid: table for vid, table in will.statics.items() if vid in come}
        ports = {port: port_of(name, port) for port in was.ports}
        switches[name] = SwitchState(ports, (was.vids - gone) | (will.vids & come), statics, was.stp)
    return State(switches)
