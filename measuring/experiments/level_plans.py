"""The plans that set a lab to the levels of an experiment's factors. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from eee_testbed.controller.model.state import State, diff
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.proof import ProvedPlan, join_proved, prove
from eee_testbed.controller.planning.regulate import eee, link_speeds, links_off, links_on
from eee_testbed.controller.planning.regulated import Regulation, regulated
from eee_testbed.controller.planning.routing_options import RoutingOptions, work_out
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.lab.model import Lab, Link
from eee_testbed.measuring.experiments.blocks import Levels
from eee_testbed.measuring.experiments.experiment import Experiment, Factor, Kind, LoopLevel, RegulationLevel, TreeLevel
from eee_testbed.measuring.experiments.validation import links_of

ORDER: Final[tuple[Kind, ...]] = ("routing", "regulation", "link", "speed_mbps", "eee", "hold_us")
"""The order in which kinds of factors are set: what moves traffic first, what restarts single links last."""


def plan_of(
    experiment: Experiment,
    name: str,
    levels: Levels,
    lab: Lab,
    state: State,
    management: Management | None,
    abilities: Abilities,
) -> ProvedPlan:
    """The proved plan from a state to the level of one factor; PlanError if no safe one is found."""
    factor, level = experiment.factors[name], levels[name]
    if factor.kind == "routing":
        routing = RoutingOptions(policy="one") if level == "one" else RoutingOptions()
        return work_out(lab, state, routing, abilities, "as the switches are now").plan
    if factor.kind == "regulation":
        return regulated(lab, state, regulation_at(factor.choices[str(level)]), management, abilities)
    links = links_of(lab, factor)
    if factor.kind in ("eee", "hold_us"):
        on, hold_us = _eee_of(experiment, factor, levels, level)
        return eee(lab, state, links, on=on, hold_us=hold_us, may_flap=True, management=management, abilities=abilities)
    if factor.kind == "link":
        plans = [prove(lab, state, Plan(()), management, abilities)]
        plans += _link_states(lab, state, links, str(level), management, abilities)
        return join_proved(plans)
    mbps = None if level == "auto" else int(level)
    return link_speeds(lab, state, dict.fromkeys(links, mbps), management, abilities)


def loop_at(experiment: Experiment, levels: Levels) -> LoopLevel | None:
    """The closed loop that one of the levels is; None if they set the lab to something."""
    factors = experiment.of_kind("regulation").items()
    return next((factor.choices[str(levels[name])].loop for name, factor in factors if name in levels), None)


def regulation_at(level: RegulationLevel) -> Regulation:
    """What a level of a regulation sets."""
    routes = tuple((tree.hosts, frozenset(tree.links)) for tree in level.trees)
    return Regulation(
        routes,
        frozenset(level.on),
        frozenset(level.off),
        level.speed_mbps,
        level.eee,
        level.cables,
        hold_us=level.hold_us,
    )


def level_of(regulation: Regulation) -> RegulationLevel:
    """The level that sets a regulation."""
    trees = tuple(TreeLevel(hosts=hosts, links=tuple(sorted(links))) for hosts, links in regulation.routes)
    on, off = (tuple(sorted(numbers)) for numbers in (regulation.on, regulation.off))
    return RegulationLevel(
        hold_us=regulation.hold_us,
        trees=trees,
        on=on,
        off=off,
        speed_mbps=dict(regulation.speed_mbps),
        eee=dict(regulation.eee),
        cables=dict(regulation.cables),
    )


def set_with(experiment: Experiment, name: str) -> tuple[str, ...]:
    """The factors that the same orders set: those of EEE also set the hold time of the same links."""
    factor = experiment.factors[name]
    if factor.kind != "eee":
        return (name,)
    holds = experiment.of_kind("hold_us")
    return (name, *(other for other, hold in holds.items() if hold.links == factor.links))


def half_open(experiment: Experiment, levels: Levels, lab: Lab) -> frozenset[tuple[str, str]]:
    """Ports of links that are enabled at one end only: no link comes up there."""
    return frozenset(
        end
        for name, factor in experiment.of_kind("link").items()
        if levels[name] == "half"
        for link in links_of(lab, factor)
        for end in _ends(lab, link)
    )


def _eee_of(experiment: Experiment, factor: Factor, levels: Levels, level: object) -> tuple[bool, int | None]:
    """On or off, and the hold time, from both kinds of factors over the same links."""
    others = experiment.of_kind("eee", "hold_us")
    fellow = {other.kind: levels[name] for name, other in others.items() if other.links == factor.links}
    on = fellow.get("eee", "on") == "on"
    hold = fellow.get("hold_us") if factor.kind == "eee" else level
    return on, int(str(hold)) if on and hold is not None else None


def _link_states(
    lab: Lab, state: State, links: Sequence[Link], level: str, management: Management | None, abilities: Abilities
) -> Iterator[ProvedPlan]:
    """The plans that bring trunks to `on`, `off` or `half`, all of them at once."""
    on = [link for link in links if all(state.port(*end).admin_up for end in _ends(lab, link))]
    if level == "on":
        if others := [link for link in links if link not in on]:
            yield links_on(lab, state, others, management=management, abilities=abilities)
        return
    if on:
        plan = links_off(lab, state, on, management, abilities)
        yield plan
        state = plan.end
    first = {(cable.a.device, cable.a.port) for link in links for cable in lab.cables_of(link)}
    ends = [end for link in links for end in _ends(lab, link)]
    wanted = _with_ports(state, {end: level == "half" and end in first for end in ends})
    if diff(state, wanted):
        yield make_plan(lab, state, wanted, management, abilities)


def _ends(lab: Lab, link: Link) -> frozenset[tuple[str, str]]:
    return frozenset((end.device, end.port) for cable in lab.cables_of(link) for end in (cable.a, cable.b))


def _with_ports(state: State, ups: Mapping[tuple[str, str], bool]) -> State:
    switches = dict(state.switches)
    for (name, port), up in ups.items():
        ports = dict(switches[name].ports)
        ports[port] = replace(ports[port], admin_up=up)
        switches[name] = replace(switches[name], ports=ports)
    return State(switches)
