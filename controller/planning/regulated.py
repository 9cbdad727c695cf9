"""From a choice of links to a plan: trees, trunks that are off, speeds and EEE, all set together and proved. Pure.

Traffic moves away from trunks before they go off or change speed, and comes back after (Koibuchi 2011, IV.B-D).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from eee_testbed.controller.model.state import Draft, State
from eee_testbed.controller.model.vlans import Route, Tree
from eee_testbed.controller.planning.broadcast import is_up, working_members
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.desired import live_trees
from eee_testbed.controller.planning.flow_control import require_no_circle
from eee_testbed.controller.planning.limits import UNLIMITED, Abilities
from eee_testbed.controller.planning.members import members_on
from eee_testbed.controller.planning.plan import Place, make_plan
from eee_testbed.controller.planning.proof import ProvedPlan, join_proved
from eee_testbed.controller.planning.regulate import (
    cables_with,
    eee,
    link_speeds,
    multi_tree,
    places_to_wake,
    set_ports,
)
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.regulation.choice import Choice
from eee_testbed.regulation.network import Network, links_of
from eee_testbed.regulation.traffic import Senders


@dataclass(frozen=True, slots=True)
class Regulation:
    """What links and hosts are set to. Trunks by number; those that are not named stay as they are.

    `routes`: hosts of one switch, and the trunks of the tree that they send over. `speed_mbps` None: negotiated.
    `hold_us`: the hold time of links whose EEE is switched on, where an end can set it; None: as it is.
    `cables`: of a LAG that is on, how many of its cables are.
    """

    routes: tuple[tuple[tuple[str, ...], frozenset[int]], ...]
    on: frozenset[int]
    off: frozenset[int] = frozenset()
    speed_mbps: Mapping[int, int | None] = field(default_factory=dict)
    eee: Mapping[int, bool] = field(default_factory=dict)
    cables: Mapping[int, int] = field(default_factory=dict)
    hold_us: int | None = None


def trunks_on(lab: Lab, state: State) -> frozenset[int]:
    """The trunks that are enabled at both ends."""
    topology, draft = Topology.of(lab), Draft(state)
    return frozenset(number for number in topology.trunks if is_up(topology, draft, number))


def regulable_network(lab: Lab, state: State, management: Management | None) -> Network:
    """The trunks that are on, LAGs with their cables that are. Those with in-band management are not switchable."""
    topology, draft = Topology.of(lab), Draft(state)
    network = Network.of(topology, off=frozenset(topology.trunks) - trunks_on(lab, state))
    widths = {number: len(working_members(topology, draft, number)) for number in topology.lags}
    trunks = {n: replace(one, width=widths[n]) if n in widths else one for n, one in network.trunks.items()}
    network = replace(network, trunks=trunks)
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
    found: dict[tuple[str, int], list[str]] = {}
    for host, end in topology.homes.items():
        port = state.port(end.device, end.port)
        if not port.admin_up:
            continue
        if port.pvid not in live:
            raise PlanError(
                f"{host} sends into VLAN {port.pvid}, which belongs to no tree: run `eeectl apply` first, "
                "which sets up multi-tree routing."
            )
        found.setdefault((end.device, port.pvid), []).append(host)
    return tuple(Senders(switch, tuple(hosts), live[vid]) for (switch, vid), hosts in found.items())


def baseline_of(senders: Sequence[Senders], on: frozenset[int]) -> Regulation:
    """The lab as it is found."""
    return Regulation(tuple((group.hosts, group.links) for group in senders), on)


def regulation_of(senders: Sequence[Senders], choice: Choice) -> Regulation:
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
    return Regulation(routes, on, choice.off, speeds, sleeping if any(sleeping.values()) else {}, cables)


def covering(regulations: Mapping[str, Regulation], found: State, lab: Lab) -> dict[str, Regulation]:
    """The same, each naming every speed, EEE setting and width that another one changes, as the lab was found."""
    topology, draft = Topology.of(lab), Draft(found)
    lags = {number for one in regulations.values() for number in (*one.cables, *(one.off & topology.lags.keys()))}
    speeds = {number for one in regulations.values() for number in one.speed_mbps}
    sleepers = {number for one in regulations.values() for number, on in one.eee.items() if on}

    def at(number: int) -> list[tuple[int | None, bool]]:
        places = cables_with(lab, topology.trunks[number])
        return [(found.port(*place).speed_mbps, found.port(*place).eee) for place in places]

    return {
        name: Regulation(
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


def regulated(
    lab: Lab,
    state: State,
    regulation: Regulation,
    management: Management | None = None,
    abilities: Abilities = UNLIMITED,
    spared: Collection[int] = (),
) -> ProvedPlan:
    """The proved plan from a state to a regulation; PlanError if none is safe. No new tree gets a VID of `spared`.

    That includes flow control: where 802.3x is on, the trees must not let channels wait for each other in a circle.
    """
    topology = Topology.of(lab)
    routes = tuple(Route(hosts, Tree(topology.homes[hosts[0]].device, links)) for hosts, links in regulation.routes)
    keep = (management.vid,) if management else ()
    _, after = multi_tree(
        lab, state, lambda _t, _l: routes, off=regulation.off, keep=keep, abilities=abilities, spared=spared
    )
    woken: dict[Place, Mapping[str, object]] = {}
    aim = Draft(after)
    for number in sorted(regulation.on):
        link = topology.trunks[number]
        works = bool(working_members(topology, aim, number))  # a LAG's cables that are off may be meant to be
        ends = ((end.device, end.port) for end in (link.a, link.b))
        woken |= {place: {"admin_up": True} for place in (ends if works else places_to_wake(lab, after, link))}
    plans = [make_plan(lab, state, set_ports(after, woken), management, abilities)]
    for number, count in regulation.cables.items():
        if number not in regulation.off:
            lag = next(lag for lag in lab.lags if lag.link.number == number)
            plans.append(members_on(lab, plans[-1].end, lag, count, management, abilities))
    speeds = {topology.trunks[number]: mbps for number, mbps in regulation.speed_mbps.items()}
    plans.append(link_speeds(lab, plans[-1].end, speeds, management, abilities))
    for on in (False, True):
        links = [topology.trunks[number] for number, sleeps in regulation.eee.items() if sleeps is on]
        plans.append(
            eee(
                lab,
                plans[-1].end,
                links,
                on=on,
                hold_us=regulation.hold_us if on else None,
                may_flap=True,
                management=management,
                abilities=abilities,
            )
        )
    require_no_circle(lab, plans[-1].end)
    return join_proved(plans)
