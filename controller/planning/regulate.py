"""Link regulation on a multi-tree lab: switch links off or on, set their speed or EEE, without hosts noticing. Pure.

Koibuchi 2011, IV.B-D: traffic moves away first and comes back last. A VLAN whose tree the link is part of is never
edited: its hosts move to a new VLAN with another tree.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from eee_testbed.controller.model.state import Draft, PortChange, State
from eee_testbed.controller.model.vlans import Route, Tree, VlanPlan
from eee_testbed.controller.planning.assignment import Statics, assign_vlans
from eee_testbed.controller.planning.broadcast import is_member, is_up
from eee_testbed.controller.planning.desired import desired_state, live_trees
from eee_testbed.controller.planning.flow_control import require_no_circle
from eee_testbed.controller.planning.limits import UNLIMITED, Abilities, as_held, reserved_vids
from eee_testbed.controller.planning.plan import Place
from eee_testbed.controller.planning.proof import ProvedPlan, join_proved
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import shortest_routes, shortest_tree
from eee_testbed.controller.planning.wishes import LinkLevel
from eee_testbed.lab.errors import NotExpressible, PlanError
from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.named_links import require_between_switches
from eee_testbed.lab.topology import Topology

Policy = Callable[[Topology, Collection[int]], tuple[Route, ...]]
"""A policy of `controller.planning.trees`, given the trunks that it may use."""

HOLD_US: Final = (0, 60_000_000)
"""Hold times that make sense, in microseconds: a probe's longest pause is as long, so a longer one is never seen."""

_NAMED_COUNT: Final = 3
"""Ports that a refusal names."""

Settings = Mapping[Place, Mapping[str, object]]
"""By port, new values of fields of `PortState`."""


def trunks_off(lab: Lab, state: State) -> frozenset[int]:
    """Trunks with an end that is shut."""
    topology, draft = Topology.of(lab), Draft(state)
    return frozenset(number for number in topology.trunks if not is_up(topology, draft, number))


def multi_tree(
    lab: Lab,
    state: State,
    policy: Policy,
    *,
    off: Collection[int] = (),
    keep: Collection[int] = (),
    statics: Statics = "needed",
    abilities: Abilities = UNLIMITED,
    spared: Collection[int] = (),
) -> tuple[VlanPlan, State]:
    """VLANs by a policy over all trunks but those in `off`, which are shut, and the state that they lead to.

    No new tree gets a VID of `spared`.
    """
    topology = Topology.of(lab)
    routes = policy(topology, [number for number in topology.trunks if number not in off])
    live = _usable(lab, state, off, keep)
    vlans = assign_vlans(topology, routes, live=live, taken=_taken(state, abilities).union(spared), statics=statics)
    return vlans, desired_state(lab, vlans, state, off=off, keep=keep, abilities=abilities)


def links_off(site: Site, state: State, links: Sequence[Link]) -> ProvedPlan:
    """Move traffic off trunks, then shut them; NoTree if some hosts have no other path.

    VLANs whose trees do not use the links stay as they are. One that does is replaced by a shortest-path tree from the
    same root over the links that are up. A LAG is shut as a whole, with each of its cables.
    """
    lab, keep = site.lab, site.kept_vids
    for link in links:
        _require_regulable(lab, link)
    off = trunks_off(lab, state) | {link.number for link in links}
    vlans = _around(site, state, off)
    after = desired_state(lab, vlans, state, off=off, keep=keep, abilities=site.abilities)
    require_no_circle(lab, after)
    return site.plan(state, after)


def links_on(site: Site, state: State, links: Sequence[Link]) -> ProvedPlan:
    """Wake trunks, then choose trees anew over all trunks that are up, and move hosts to their new trees."""
    lab, keep = site.lab, site.kept_vids
    for link in links:
        _require_regulable(lab, link)
    off = trunks_off(lab, state) - {link.number for link in links}
    _, after = multi_tree(lab, state, shortest_routes, off=off, keep=keep, abilities=site.abilities)
    places = [place for link in links for place in places_to_wake(lab, state, link)]
    after = set_ports(after, {place: {"admin_up": True} for place in places})
    require_no_circle(lab, after)
    return site.plan(state, after)


def links_at(site: Site, state: State, links: Sequence[Link], level: LinkLevel) -> ProvedPlan:
    """Bring trunks to a level, all of them at once; those that are there already stay as they are."""
    plans = [site.plan(state, state)]
    ends = {link: cables_with(site.lab, link) for link in links}
    on = [link for link in links if all(state.port(*end).admin_up for end in ends[link])]
    if level == "on":
        others = [link for link in links if link not in on]
        return links_on(site, state, others) if others else plans[0]
    if on:
        plans.append(links_off(site, state, on))
    first = {(cable.a.device, cable.a.port) for link in links for cable in site.lab.cables_of(link)}
    settings = {end: {"admin_up": level == "half" and end in first} for own in ends.values() for end in own}
    plans.append(site.plan(plans[-1].end, set_ports(plans[-1].end, settings)))
    return join_proved(plans)


def link_speeds(site: Site, state: State, speeds_mbps: Mapping[Link, int | None]) -> ProvedPlan:
    """Move traffic off trunks, set both ends to a speed (None: negotiate), and move the traffic back.

    The VLANs that use a link stay while no host sends into them, so moving back changes PVIDs only. As many as can be
    spared are set together. Of a LAG each cable gets the speed. NoTree if hosts have no other path.
    """
    settings: list[tuple[Link, Settings]] = []
    for link, speed_mbps in speeds_mbps.items():
        _require_regulable(site.lab, link)
        rate_mbps = site.lab.cables_of(link)[0].rate_mbps
        if speed_mbps is not None and speed_mbps > rate_mbps:
            raise PlanError(f"{link.name} carries at most {rate_mbps} Mb/s: choose a lower speed.")
        settings.append((link, {place: {"speed_mbps": speed_mbps} for place in cables_with(site.lab, link)}))
    return _restarted(site, state, settings, may_flap=False)


def eee(
    site: Site, state: State, links: Sequence[Link], *, on: bool, hold_us: int | None = None, may_flap: bool = False
) -> ProvedPlan:
    """Turn EEE on or off at the switch ends of links, and set the hold time where the switch can.

    A change of EEE takes effect when the link comes up anew. So a trunk in use is treated as in `link_speeds`: traffic
    moves away, both ends are set, traffic comes back, and no host loses another. NoTree if hosts have no other path
    (PlanError if their VLANs are not trees), unless `may_flap` lets that link restart under them. A host's own link has
    no other path: PlanError, too, unless it may flap; its steps then say so. Unused trunks come first, hosts' links
    last; of those in use as many are set together as can be spared.
    NotExpressible if an end cannot do EEE, or neither end of a link can set a hold time.
    """
    require_hold(hold_us)
    settings = [(link, _eee_settings(site, link, on=on, hold_us=hold_us)) for link in links]
    return _restarted(site, state, settings, may_flap=may_flap)


def flow_control(site: Site, state: State, links: Sequence[Link], *, on: bool, may_flap: bool = False) -> ProvedPlan:
    """Turn 802.3x flow control on or off at the switch ends of links; a change restarts links as one of `eee` does.

    Of a LAG the member ports are set. PlanError with the circle if it is to be on, and the lab's trees would let
    channels wait for each other in one; NotExpressible if an end cannot set it. A NIC's own setting is not touched: the
    two ends agree on what both offer when the link comes up.
    """
    settings: list[tuple[Link, Settings]] = [
        (link, {place: {"flow_control": on} for place in cables_with(site.lab, link)}) for link in links
    ]
    if on:
        aim = set_ports(state, {place: one for _, own in settings for place, one in own.items()})
        require_no_circle(site.lab, aim)
    return _restarted(site, state, settings, may_flap=may_flap)


def _restarted(site: Site, state: State, settings: Sequence[tuple[Link, Settings]], *, may_flap: bool) -> ProvedPlan:
    """Change settings that restart links: of unused trunks, of those in use with their traffic aside, of hosts' links.

    A cable of a LAG is set together with the others that are named.
    """
    lab = site.lab
    trunk_of = {cable.number: trunk.number for trunk in lab.trunks() for cable in lab.cables_of(trunk)}
    by_trunk: dict[int, dict[Place, Mapping[str, object]]] = {}
    last: dict[Place, Mapping[str, object]] = {}
    for link, own in settings:
        if link.number in trunk_of:
            by_trunk.setdefault(trunk_of[link.number], {}).update(own)
        else:
            last |= own
    plans: list[ProvedPlan] = []
    used = in_use(lab, state)
    idle = {place: values for number, own in by_trunk.items() if number not in used for place, values in own.items()}
    aside = {number: own for number, own in by_trunk.items() if number in used and set_ports(state, own) != state}
    plans.append(site.plan(state, set_ports(state, idle)))
    state = plans[-1].end
    for wave in _waves(Topology.of(lab), tuple(aside), trunks_off(lab, state)):
        together = {place: values for number in wave for place, values in aside[number].items()}
        try:
            plans.append(set_aside(site, state, wave, together))
        except PlanError:
            if not may_flap:
                raise
            plans.append(site.plan(state, set_ports(state, together)))
        state = plans[-1].end
    plans.append(site.plan(state, set_ports(state, last)))
    plan = join_proved(plans)
    if not may_flap:
        _require_no_flap(plan)
    return plan


def _require_no_flap(plan: ProvedPlan) -> None:
    """PlanError if a link restarts under hosts."""
    flaps = {
        f"{step.change.switch}:{step.change.port}": step.disruption
        for step in plan.steps
        if isinstance(step.change, PortChange) and step.disruption.kind == "flap"
    }
    if flaps:
        names = ", ".join([*flaps][:_NAMED_COUNT]) + (
            f" and {len(flaps) - _NAMED_COUNT} more" if len(flaps) > _NAMED_COUNT else ""
        )
        raise PlanError(
            f"the link at {names} restarts under hosts that have no other path ({next(iter(flaps.values()))}): give "
            "--may-flap to let it."
        )


def require_hold(hold_us: int | None) -> None:
    """PlanError for a hold time out of range."""
    if hold_us is not None and not HOLD_US[0] <= hold_us <= HOLD_US[1]:
        raise PlanError(f"a hold time of {hold_us} us is out of range: use {HOLD_US[0]} to {HOLD_US[1]} us.")


def _waves(topology: Topology, numbers: Sequence[int], off: Collection[int]) -> tuple[tuple[int, ...], ...]:
    """Trunks in groups, each as large as it may be while the others connect all hosts; one that is needed alone."""
    waves: list[tuple[int, ...]] = []
    left = list(numbers)
    while left:
        wave: list[int] = []
        for number in left:
            if joined(topology, topology.trunks.keys() - off - {*wave, number}):
                wave.append(number)
        wave = wave or left[:1]
        waves.append(tuple(wave))
        left = [number for number in left if number not in wave]
    return tuple(waves)


def joined(topology: Topology, links: Collection[int]) -> bool:
    """Whether a path connects every two switches with hosts."""
    homes = [name for name, hosts in topology.residents.items() if hosts]
    return not homes or {*homes[1:]} <= topology.ways(homes[0], links).keys()


def _eee_settings(site: Site, link: Link, *, on: bool, hold_us: int | None) -> Settings:
    lab, abilities = site.lab, site.abilities
    places = cables_with(lab, link)
    able = {place for place in places if place[0] not in abilities or abilities[place[0]].hold_settable}
    if hold_us is not None and not able:
        switch = places[0][0]
        raise NotExpressible(switch, lab.switch(switch).family, f"setting a hold time, at either end of {link.name}")
    return {
        place: {"eee": on} | ({"hold_us": hold_us} if hold_us is not None and place in able else {}) for place in places
    }


def in_use(lab: Lab, state: State) -> frozenset[int]:
    """Trunks that frames of hosts may be on: those of every VLAN that a host sends into."""
    topology, draft = Topology.of(lab), Draft(state)
    sent = {state.port(end.device, end.port).pvid for end in topology.homes.values()}
    return frozenset(
        number
        for number, link in topology.trunks.items()
        if is_up(topology, draft, number)
        and sent & state.port(link.a.device, link.a.port).vids & state.port(link.b.device, link.b.port).vids
    )


def set_aside(site: Site, state: State, numbers: Collection[int], settings: Settings) -> ProvedPlan:
    """Move traffic off trunks, change settings that restart them, and move the traffic back."""
    off, abilities = trunks_off(site.lab, state), site.abilities
    vlans = _around(site, state, off.union(numbers))
    aside = desired_state(site.lab, vlans, state, off=off, keep=site.kept_vids, abilities=abilities)
    around = _beside(state, aside, abilities)
    states = (state, around, set_ports(around, settings), set_ports(state, settings))
    return join_proved(site.plan(one, other) for one, other in pairwise(states))


def _around(site: Site, state: State, off: Collection[int]) -> VlanPlan:
    """The VLANs that hosts use now, with the trees that need a trunk of `off` replaced."""
    lab, topology = site.lab, Topology.of(site.lab)
    live = live_trees(lab, state)
    users: dict[int, list[str]] = {}
    for host, end in topology.homes.items():
        users.setdefault(state.port(end.device, end.port).pvid, []).append(host)
    if not users.keys() <= live.keys():
        unknown = sorted(users.keys() - live.keys())
        raise PlanError(
            f"hosts send into VLANs {unknown}, which are not trees of a plan: apply routing to the lab first."
        )
    allowed = [number for number in topology.trunks if number not in off]
    routes = []
    for vid, hosts in users.items():
        if live[vid].isdisjoint(off):
            routes.append(Route(tuple(hosts), Tree(topology.homes[hosts[0]].device, live[vid])))
            continue
        for name in dict.fromkeys(topology.homes[host].device for host in hosts):
            residents = tuple(host for host in hosts if topology.homes[host].device == name)
            routes.append(Route(residents, shortest_tree(topology, name, allowed)))
    live_now = _usable(lab, state, off, site.kept_vids)
    return assign_vlans(topology, routes, live=live_now, taken=_taken(state, site.abilities))


def _beside(old: State, new: State, abilities: Abilities) -> State:
    """The new state, with the VLANs, memberships and entries of the old one left in place."""
    switches = {}
    for name, switch in new.switches.items():
        was = old.switches[name]
        ports = {}
        for port, now in switch.ports.items():
            both = replace(
                now,
                untagged_vids=now.untagged_vids | was.ports[port].untagged_vids,
                tagged_vids=now.tagged_vids | was.ports[port].tagged_vids,
                acceptance=was.ports[port].acceptance,
            )
            ports[port] = as_held(abilities, name, both)
        statics = {
            vid: {**was.statics.get(vid, {}), **switch.statics.get(vid, {})}
            for vid in {**was.statics, **switch.statics}
        }
        switches[name] = replace(switch, ports=ports, vids=switch.vids | was.vids, statics=statics, stp=was.stp)
    return State(switches)


def cables_with(lab: Lab, link: Link) -> tuple[Place, ...]:
    """The physical ports of a link at switches: of a LAG all members."""
    switches = {switch.name for switch in lab.switches}
    ends = (end for cable in lab.cables_of(link) for end in (cable.a, cable.b))
    return tuple((end.device, end.port) for end in ends if end.device in switches)


def places_to_wake(lab: Lab, state: State, link: Link) -> tuple[Place, ...]:
    """The ports that a trunk needs: its ends, and of a LAG all cables that are members of it at both ends."""
    topology, draft = Topology.of(lab), Draft(state)
    cables = [cable for cable in lab.cables_of(link) if is_member(topology, draft, link.number, cable)]
    return tuple(dict.fromkeys((end.device, end.port) for one in (*cables, link) for end in (one.a, one.b)))


def set_ports(state: State, settings: Settings) -> State:
    """A state with other values of fields of some ports."""
    switches = dict(state.switches)
    for (name, port), values in settings.items():
        ports = dict(switches[name].ports)
        ports[port] = replace(ports[port], **values)  # type: ignore[arg-type]
        switches[name] = replace(switches[name], ports=ports)
    return State(switches)


def _require_regulable(lab: Lab, link: Link) -> None:
    if link not in tuple(lab.trunks()):
        if link in tuple(lab.trunk_cables()):
            raise PlanError(f"{link.name} is part of a LAG, which can only be regulated as a whole: name the LAG.")
        require_between_switches(lab, link)
    if not link.switchable:
        raise PlanError(f"{link.name} is not switchable: allow it in cables.csv, or choose another link.")


def _taken(state: State, abilities: Abilities) -> frozenset[int]:
    vids = (switch.vids | switch.statics.keys() for switch in state.switches.values())
    return reserved_vids(abilities).union(*vids)


def _usable(lab: Lab, state: State, off: Collection[int], keep: Collection[int]) -> dict[int, frozenset[int]]:
    return {vid: links for vid, links in live_trees(lab, state).items() if links.isdisjoint(off) and vid not in keep}
