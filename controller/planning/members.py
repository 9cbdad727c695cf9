"""Members of a LAG: take one cable of it out of use and put it back, while the others go on. Pure.

A static LAG has no message with which one end could ask the other to stop sending on a cable. Whichever end leaves
first, the frames that the other end still sends on that cable are lost until it has left, too. So the LAG's traffic
first moves to another path, as for a change of speed. It comes back last, after `disruption.MEMBER_S`, in which both
ends follow (`applying.actuation` waits that long). Then no frame is lost, whatever the family. Where hosts have no
other path, the cable leaves or joins under traffic only if that is allowed, and the steps show what it may cost.

A cable leaves the LAG while it is shut at both ends, and is switched on after both ends have joined. A cable that is
up with only one end in the LAG would swallow frames; with no end in it, it would be a link of its own beside the LAG.
Flows are hashed over the cables that are up, so flows of the other cables may move, too.
"""

from collections.abc import Mapping

from eee_testbed.controller.model.state import Draft, PortState, State
from eee_testbed.controller.planning.broadcast import is_member, is_up, working_members
from eee_testbed.controller.planning.lags import require_lags
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.planning.plan import Place
from eee_testbed.controller.planning.proof import ProvedPlan, join_proved
from eee_testbed.controller.planning.regulate import Settings, in_use, set_aside, set_ports
from eee_testbed.controller.planning.site import Site
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab, Lag, Link
from eee_testbed.lab.topology import Topology

VLAN_FIELDS = ("untagged_vids", "tagged_vids", "pvid", "acceptance", "ingress_filtering", "found_mode")
"""What a port of a LAG's cable has of VLANs: as from the factory while it is a member."""


def lag_with(lab: Lab, cable: Link) -> Lag | None:
    """The LAG that a cable is part of by the inventory; None if it is in none."""
    return next((lag for lag in lab.lags if cable in lag.members), None)


def member_off(
    site: Site, state: State, lag: Lag, cable: Link, *, leave: bool = False, may_lose: bool = False
) -> ProvedPlan:
    """Shut one cable of a LAG at both ends; `leave`: then take its ports out of the LAG, too.

    PlanError if it is the last one that works, if it may not be shut, or if hosts have no other path than the LAG and
    `may_lose` does not let frames be lost.
    """
    _require_regulable(site.lab, state, cable)
    if all(other == cable for other in working_members(Topology.of(site.lab), Draft(state), lag.link.number)):
        raise PlanError(
            f"{cable.name} is the last cable of {lag.link.name} that is up: name the LAG ({lag.link.a}) to switch it "
            "off as a whole."
        )
    shut: Settings = {place: {"admin_up": False} for place in places_of(cable)}
    down = _while_idle(site, state, lag, shut, may_lose=may_lose)
    if not leave:
        return down
    places = [place for place in places_of(cable) if state.port(*place).lag is not None]
    out, bare = (
        {place: _outside(down.end, lag, place, site.abilities, bare=bare) for place in places} for bare in (False, True)
    )
    return _through(site, [down], [out, bare])


def member_on(site: Site, state: State, lag: Lag, cable: Link, *, may_lose: bool) -> ProvedPlan:
    """Wake one cable of a LAG that works, its ports put back into the LAG first if they are out of it.

    PlanError if the LAG is off as a whole, if the cable may not be switched, or if hosts have no other path than the
    LAG and `may_lose` does not let frames be lost.
    """
    _require_regulable(site.lab, state, cable)
    if not is_up(Topology.of(site.lab), Draft(state), lag.link.number):
        raise PlanError(f"{lag.link.name} is off as a whole: `eeectl link on {lag.link.a}` turns it on first.")
    places = [place for place in places_of(cable) if state.port(*place).lag is None]
    ready = {place: _outside(state, lag, place, site.abilities, bare=False) for place in places}
    inside = {place: _inside(state, lag, place) for place in places}
    joined = _through(site, [site.plan(state, state)], [ready, inside])
    woken: Settings = {place: {"admin_up": True} for place in places_of(cable)}
    up = _while_idle(site, joined.end, lag, woken, may_lose=may_lose)
    return join_proved([joined, up])


def members_on(site: Site, state: State, lag: Lag, count: int) -> ProvedPlan:
    """Have `count` cables of a LAG on, first those that are on already, and its others off.

    Steps say where frames may be lost.
    PlanError if that is none, or more than it has as members.
    """
    topology, draft, number = Topology.of(site.lab), Draft(state), lag.link.number
    working = working_members(topology, draft, number)
    members = [cable for cable in lag.members if is_member(topology, draft, number, cable)]
    if not 0 < count <= len(members):
        raise PlanError(f"{lag.link.name} has {len(members)} cables: {count} of them cannot be on.")
    kept = sorted(members, key=lambda cable: cable not in working)[:count]
    settings: Settings = {place: {"admin_up": cable in kept} for cable in members for place in places_of(cable)}
    return _while_idle(site, state, lag, settings, may_lose=True)


def _require_regulable(lab: Lab, state: State, cable: Link) -> None:
    if not cable.switchable:
        raise PlanError(f"{cable.name} is not switchable: allow it in cables.csv, or choose another link.")
    require_lags(lab, state)


def places_of(cable: Link) -> tuple[Place, Place]:
    """The two ports of a cable."""
    return (cable.a.device, cable.a.port), (cable.b.device, cable.b.port)


def _outside(state: State, lag: Lag, place: Place, abilities: Abilities, *, bare: bool) -> Mapping[str, object]:
    """What a port is outside of its LAG: as from the factory, or, until it is `bare`, with the LAG's VLANs."""
    can = abilities.get(place[0])
    keeps = can is not None and can.lag_members_match and not bare
    held = state.port(place[0], lag.port) if keeps else PortState()
    return {"lag": None, "lag_mode": "", **{field: getattr(held, field) for field in VLAN_FIELDS}}


def _inside(state: State, lag: Lag, place: Place) -> Mapping[str, object]:
    """What a port is as a member: in the same way as another one there."""
    modes = [held.lag_mode for port in lag.ports_at(place[0]) if (held := state.port(place[0], port)).lag == lag.number]
    plain = PortState()
    return {"lag": lag.number, "lag_mode": modes[0], **{field: getattr(plain, field) for field in VLAN_FIELDS}}


def _through(site: Site, plans: list[ProvedPlan], settings: list[Settings]) -> ProvedPlan:
    """Plans, and on through states with these settings of ports that are shut."""
    for own in settings:
        here = plans[-1].end
        plans.append(site.plan(here, set_ports(here, own)))
    return join_proved(plans)


def _while_idle(site: Site, state: State, lag: Lag, settings: Settings, *, may_lose: bool) -> ProvedPlan:
    """Set ports of a LAG with its traffic moved away, or under traffic if there is no other path and frames may go."""
    number = lag.link.number
    if number in in_use(site.lab, state) and set_ports(state, settings) != state:
        try:
            return set_aside(site, state, (number,), settings)
        except PlanError as error:
            if not may_lose:
                raise PlanError(
                    f"the traffic of {lag.link.name} cannot move away: {str(error).rstrip('.')}; give --may-lose to "
                    "let frames on that cable be lost."
                ) from error
    return site.plan(state, set_ports(state, settings))
