"""Set up a LAG, and take it down: both ends in one plan, and every cable is shut while it joins or leaves. Pure.

A cable that is up with one end in the LAG swallows frames, and one that is up beside the LAG may close a loop. So the
cables are shut first, their ports join at both ends, and then those that were up are woken. Where hosts need one of the
cables meanwhile, as behind a spanning tree, it stays up until the LAG of the others works, and joins last. Where they
send over trees of a plan, they move to others meanwhile, and to trees with the LAG at the end.

A LAG is taken down when its traffic has moved to other paths; its cables stay shut, as they would close loops beside
each other. Both leave the VLANs of a LAG that has no members as from the factory.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Final

from eee_testbed.controller.model.lag_ports import new_lag
from eee_testbed.controller.model.state import PortState, State
from eee_testbed.controller.planning.members import VLAN_FIELDS, places_of
from eee_testbed.controller.planning.proof import ProvedPlan, join_proved
from eee_testbed.controller.planning.regulate import Settings, links_off, links_on, set_ports
from eee_testbed.controller.planning.site import Site
from eee_testbed.lab.errors import NotExpressible, NoTree, PlanError
from eee_testbed.lab.model import Lag, Link

_FACTORY_PORT: Final = PortState()
_SHUT_FIELDS: Final = {"admin_up": False}
_UP_FIELDS: Final = {"admin_up": True}
_VLANS: Final = {name: getattr(_FACTORY_PORT, name) for name in VLAN_FIELDS}


def set_up_lag(site: Site, state: State, lag: Lag) -> ProvedPlan:
    """Make all cables of a LAG members of it at both ends. Those that are shut stay shut.

    PlanError if it is set up already, if a port is in another LAG, or if every order that is known would cut hosts
    apart or close a loop; UnsafePlan if they are apart already; NotExpressible if a family sets up no LAGs.
    """
    _require_able(site, lag)
    held = {place: state.port(*place).lag for cable in lag.members for place in places_of(cable)}
    other = next((place for place, number in held.items() if number not in (None, lag.number)), None)
    if other is not None:
        raise PlanError(f"{other[0]}:{other[1]} is a member of LAG {held[other]}: take it out there first.")
    cables = [cable for cable in lag.members if any(held[place] is None for place in places_of(cable))]
    if not cables:
        raise PlanError(f"{lag.link.name} is set up already: nothing is left to do.")
    up = [cable for cable in cables if all(state.port(*place).admin_up for place in places_of(cable))]
    site.plan(state, state)
    if not up:
        return _join(site, state, lag, [cables], up)
    refused: list[PlanError] = []
    others = [cable for cable in cables if cable != up[0]]
    for groups in (None, [others, up[:1]], [cables]):
        try:
            return _join_aside(site, state, lag) if groups is None else _join(site, state, lag, groups, up)
        except PlanError as error:
            refused.append(error)
    raise PlanError(
        f"no safe order of steps sets up {lag.link.name} ({str(refused[-1]).rstrip('.')}): give hosts another path "
        "first, or shut those of its cables that no host needs."
    ) from refused[-1]


def take_down_lag(site: Site, state: State, lag: Lag) -> ProvedPlan:
    """Move a LAG's traffic away, shut its cables and take all of them out of it at both ends.

    PlanError if it is not set up; NoTree or UnsafePlan if hosts have no other path.
    """
    _require_able(site, lag)
    places = [place for cable in lag.members for place in places_of(cable) if state.port(*place).lag == lag.number]
    if not places:
        raise PlanError(f"{lag.link.name} is not set up: nothing is left to do.")
    plans = [_idle(site, state, lag)]
    bare: dict[tuple[str, str], Mapping[str, object]] = {}
    for end in (lag.link.a, lag.link.b):
        new = new_lag(site.abilities[end.device]) if end.device in site.abilities else PortState()
        bare[end.device, end.port] = {field.name: getattr(new, field.name) for field in fields(PortState)}
    out: Mapping[str, object] = {"lag": None, "lag_mode": "", **_VLANS}
    for settings in (bare, dict.fromkeys(places, out)):
        plans.append(_through(site, plans[-1].end, settings))
    return join_proved(plans)


def _join(site: Site, state: State, lag: Lag, groups: Sequence[Sequence[Link]], up: Collection[Link]) -> ProvedPlan:
    """Groups of cables join one after the other; those that were up are woken when theirs has joined."""
    plans = [site.plan(state, state)]
    for cables in filter(None, groups):
        places = [place for cable in cables for place in places_of(cable)]
        out = [place for place in places if state.port(*place).lag is None]
        woken = [place for cable in cables if cable in up for place in places_of(cable)]
        inside = {"lag": lag.number, "lag_mode": ""}
        for some, values in ((places, _SHUT_FIELDS), (out, _VLANS), (out, inside), (woken, _UP_FIELDS)):
            settings = dict.fromkeys(some, values)
            plans.append(_through(site, plans[-1].end, settings))
    return join_proved(plans)


def _join_aside(site: Site, state: State, lag: Lag) -> ProvedPlan:
    """Move traffic off each cable as off a link of its own; when all have joined, choose trees over the LAG, too."""
    apart = replace(site, lab=replace(site.lab, lags=tuple(other for other in site.lab.lags if other != lag)))
    plans = [apart.plan(state, state)]
    for cable in lag.members:
        plans.append(links_off(apart, plans[-1].end, [cable]))
    plans.append(_join(site, plans[-1].end, lag, [lag.members], ()))
    plans.append(links_on(site, plans[-1].end, [lag.link]))
    return join_proved(plans)


def _idle(site: Site, state: State, lag: Lag) -> ProvedPlan:
    """Shut a LAG and its cables. Hosts move to other trees; where they use none, a spanning tree has to have a path."""
    try:
        return links_off(site, state, [lag.link])
    except NoTree:
        raise
    except PlanError:  # no trees, or only a part of the LAG is set up
        shut = {place: _SHUT_FIELDS for cable in lag.members for place in places_of(cable)}
        return _through(site, state, shut)


def _through(site: Site, state: State, settings: Settings) -> ProvedPlan:
    return site.plan(state, set_ports(state, settings))


def _require_able(site: Site, lag: Lag) -> None:
    lab, abilities = site.lab, site.abilities
    for cable in lag.members:
        if not cable.switchable:
            raise PlanError(f"{cable.name} is not switchable: allow it in cables.csv, or set the LAG up by hand.")
    for end in (lag.link.a, lag.link.b):
        if end.device in abilities and not abilities[end.device].lags_settable:
            raise NotExpressible(end.device, lab.switch(end.device).family, f"setting up LAGs, as LAG {lag.number}")
