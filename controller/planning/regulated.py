"""From a choice of links to a plan: trees, trunks that are off, speeds and EEE, all set together and proved. Pure.

Traffic moves away from trunks before they go off or change speed, and comes back after (Koibuchi 2011, IV.B-D).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eee_testbed.controller.model.state import Draft, State
from eee_testbed.controller.model.vlans import Route, Tree
from eee_testbed.controller.planning.broadcast import is_up, working_members
from eee_testbed.controller.planning.desired import live_trees
from eee_testbed.controller.planning.flow_control import require_no_circle
from eee_testbed.controller.planning.members import members_on
from eee_testbed.controller.planning.proof import ProvedPlan, join_proved
from eee_testbed.controller.planning.regulate import (
    cables_with,
    eee,
    link_speeds,
    multi_tree,
    places_to_wake,
    set_ports,
)
from eee_testbed.controller.planning.site import Site, management_of
from eee_testbed.controller.planning.wishes import Regulated
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.regulation.choice import Choice
from eee_testbed.regulation.network import Network, links_of
from eee_testbed.regulation.traffic import Senders


def trunks_on(lab: Lab, state: State) -> frozenset[int]:
    """The trunks that are enabled at both ends."""
    topology, draft = Topology.of(lab), Draft(state)
    return frozenset(number for number in topology.trunks if is_up(topology, draft, number))


def regulable_network(lab: Lab, state: State) -> Network:
    """The trunks that are on, LAGs with their cables that are. Those with in-band management are not switchable."""
    topology, draft = Topology.of(lab), Draft(state)
    network = Network.of(topology, off=frozenset(topology.trunks) - trunks_on(lab, state))
    widths = {number: len(working_members(topology, draft, number)) for number in topology.lags}
    trunks = {n: replace(one, width=widths[n]) if n in widths else one for n, one in network.trunks.items()}
    network = replace(network, trunks=trunks)
    management = management_of(lab, None)
    if management is None:
        return network
    carrying = frozenset(
        number
        for number, link in topology.trunks.items()
        if all(management.vid in state.port(end.device, end.port).vids for end in (link.a, link.b))
    )
    return fixed(network, carrying)


def fixed(network: Network, numbers: frozenset[int]) -> Network:
    """A network in which some trunks are not to be changed."""
    trunks = {n: replace(one, switchable=one.switchable and n not in numbers) for n, one in network.trunks.items()}
    return replace(network, trunks=trunks)


def senders_of(lab: Lab, state: State) -> tuple[Senders, ...]:
    """The hosts of each switch by the tree that they send over now; PlanError if one sends into a VLAN without a tree.

    Hosts whose port is shut are left out.
    """
    topology, live = Topology.of(lab), live_trees(lab, state)
    hosts_by_tree: dict[tuple[str, int], list[str]] = {}
    for host, end in topology.homes.items():
        port = state.port(end.device, end.port)
        if not port.admin_up:
            continue
        if port.pvid not in live:
            raise PlanError(
                f"{host} sends into VLAN {port.pvid}, which belongs to no tree: run `eeectl apply` first, "
                "which sets up multi-tree routing."
            )
        hosts_by_tree.setdefault((end.device, port.pvid), []).append(host)
    return tuple(Senders(switch, tuple(hosts), live[vid]) for (switch, vid), hosts in hosts_by_tree.items())


def baseline_of(senders: Sequence[Senders], on: frozenset[int]) -> Regulated:
    """The lab's present routes and trunks, unchanged."""
    return Regulated(tuple((group.hosts, group.links) for group in senders), on)


def regulation_of(senders: Sequence[Senders], choice: Choice) -> Regulated:
    """What a choice sets."""
    speeds: dict[int, int | None] = {}
    sleeping: dict[int, bool] = {}
    cables: dict[int, int] = {}
    for number, level in choice.levels.items():
        if level.name.endswith("Mb/s"):
            speeds[number] = level.rate_mbps
        sleeping[number] = level.eee
        if " of " in level.name:
            cables[number] = level.cables
    routes = tuple((group.hosts, links_of(ways)) for group, ways in zip(senders, choice.trees, strict=True))
    on = frozenset(choice.levels) - choice.off
    return Regulated(routes, on, choice.off, speeds, sleeping if any(sleeping.values()) else {}, cables)


def covering(regulations: Mapping[str, Regulated], state: State, lab: Lab) -> dict[str, Regulated]:
    """Add to each regulation the present speeds, EEE settings and widths that another regulation changes."""
    topology, draft = Topology.of(lab), Draft(state)
    lags = {
        number
        for regulation in regulations.values()
        for number in (*regulation.cables, *(regulation.off & topology.lags.keys()))
    }
    speeds = {number for one in regulations.values() for number in one.speed_mbps}
    sleepers = {number for one in regulations.values() for number, on in one.eee.items() if on}

    def at(number: int) -> list[tuple[int | None, bool]]:
        places = cables_with(lab, topology.trunks[number])
        return [(state.port(*place).speed_mbps, state.port(*place).eee) for place in places]

    return {
        name: Regulated(
            one.routes,
            one.on,
            one.off,
            {number: one.speed_mbps.get(number, at(number)[0][0]) for number in sorted(speeds)},
            {number: one.eee.get(number, all(eee for _, eee in at(number))) for number in sorted(sleepers)},
            {
                number: one.cables.get(number, len(working_members(topology, draft, number)))
                for number in sorted(lags & one.on)
            },
        )
        for name, one in regulations.items()
    }


def regulated(site: Site, state: State, wish: Regulated) -> ProvedPlan:
    """The proved plan from a state to what a regulation sets; PlanError if none is safe.

    That includes flow control: where 802.3x is on, the trees must not let channels wait for each other in a circle.
    """
    lab, topology, keep = site.lab, Topology.of(site.lab), site.kept_vids
    routes = tuple(Route(hosts, Tree(topology.homes[hosts[0]].device, links)) for hosts, links in wish.routes)
    _, after = multi_tree(
        lab, state, lambda _t, _l: routes, off=wish.off, keep=keep, abilities=site.abilities, spared=wish.spared
    )
    woken: dict[tuple[str, str], Mapping[str, object]] = {}
    aim = Draft(after)
    for number in sorted(wish.on):
        link = topology.trunks[number]
        works = bool(working_members(topology, aim, number))  # a LAG's cables that are off may be meant to be
        ends = ((end.device, end.port) for end in (link.a, link.b))
        woken |= {place: {"admin_up": True} for place in (ends if works else places_to_wake(lab, after, link))}
    plans = [site.plan(state, set_ports(after, woken))]
    for number, count in wish.cables.items():
        if number not in wish.off:
            lag = next(lag for lag in lab.lags if lag.link.number == number)
            plans.append(members_on(site, plans[-1].end, lag, count))
    speeds = {topology.trunks[number]: mbps for number, mbps in wish.speed_mbps.items()}
    plans.append(link_speeds(site, plans[-1].end, speeds))
    for on in (False, True):
        links = [topology.trunks[number] for number, sleeps in wish.eee.items() if sleeps is on]
        hold_us = wish.hold_us if on else None
        plans.append(eee(site, plans[-1].end, links, on=on, hold_us=hold_us, may_flap=True))
    require_no_circle(lab, plans[-1].end)
    return join_proved(plans)
