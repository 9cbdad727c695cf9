"""The plan that grants a wish: the one way from what somebody wants of a lab's network to proved steps. Pure."""

from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.lag_setup import set_up_lag, take_down_lag
from eee_testbed.controller.planning.members import lag_with, member_off, member_on
from eee_testbed.controller.planning.multi_tree import multi_tree_plan
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import eee, flow_control, link_speeds, links_at, links_off, links_on
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.wishes import (
    Eee,
    FlowControl,
    LinkLevels,
    LinkOff,
    LinkOn,
    LinkSpeed,
    MultiTree,
    Regulated,
    SetUpLag,
    TakeDownLag,
    Wish,
)
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.named_links import cable_or_lag_named, lag_named


def plan_for(site: Site, state: State, wish: Wish) -> ProvedPlan:  # noqa: C901, PLR0911 - one case for each wish
    """The proved plan from a state to what is wished for; PlanError if no safe one is found."""
    match wish:
        case MultiTree():
            return multi_tree_plan(site, state, wish)
        case LinkOff():
            return _link_off(site, state, wish)
        case LinkOn():
            link = cable_or_lag_named(site.lab, wish.link)
            if (lag := lag_with(site.lab, link)) is not None:
                return member_on(site, state, lag, link, may_lose=wish.may_lose)
            return links_on(site, state, [link])
        case LinkLevels():
            return links_at(site, state, _links(site.lab, wish.links), wish.level)
        case LinkSpeed():
            return link_speeds(site, state, dict.fromkeys(_links(site.lab, wish.links), wish.speed_mbps))
        case Eee():
            links = _links(site.lab, wish.links)
            return eee(site, state, links, on=wish.on, hold_us=wish.hold_us, may_flap=wish.may_flap)
        case FlowControl():
            return flow_control(site, state, _links(site.lab, wish.links), on=wish.on, may_flap=wish.may_flap)
        case SetUpLag():
            return set_up_lag(site, state, lag_named(site.lab, wish.link))
        case TakeDownLag():
            return take_down_lag(site, state, lag_named(site.lab, wish.link))
        case Regulated():
            from eee_testbed.controller.planning.regulated import regulated  # noqa: PLC0415 - the one that loads numpy

            return regulated(site, state, wish)


def _link_off(site: Site, state: State, wish: LinkOff) -> ProvedPlan:
    link = cable_or_lag_named(site.lab, wish.link)
    if (lag := lag_with(site.lab, link)) is not None:
        return member_off(site, state, lag, link, leave=wish.leave, may_lose=wish.may_lose)
    if wish.leave:
        raise PlanError(f"{link.name} is not a cable of a LAG: leave --leave out, or name one by its own port.")
    return links_off(site, state, [link])


def _links(lab: Lab, names: tuple[str, ...]) -> tuple[Link, ...]:
    return tuple(cable_or_lag_named(lab, name) for name in names)
