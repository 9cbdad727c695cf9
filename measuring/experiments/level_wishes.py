"""What the levels of an experiment's factors set on a lab, as wishes. Pure."""

from collections.abc import Mapping
from typing import Final

from eee_testbed.controller.planning.regulate import cables_with
from eee_testbed.controller.planning.wishes import Eee, LinkLevel, LinkLevels, LinkSpeed, MultiTree, Regulated, Wish
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.experiments.blocks import Levels
from eee_testbed.measuring.experiments.experiment import Experiment, Factor, Kind, LoopLevel, RegulationLevel, TreeLevel
from eee_testbed.measuring.experiments.validation import links_of
from eee_testbed.record.trial_events import Level

ORDER: Final[tuple[Kind, ...]] = ("routing", "regulation", "link", "speed_mbps", "eee", "hold_us")
"""The order in which kinds of factors are set: what moves traffic first, what restarts single links last."""

_LINK_LEVELS: Final[Mapping[Level, LinkLevel]] = {"on": "on", "off": "off", "half": "half"}


def wish_of(experiment: Experiment, name: str, levels: Levels, lab: Lab) -> Wish:
    """What the level of one factor sets."""
    factor, level = experiment.factors[name], levels[name]
    if factor.kind == "routing":
        return MultiTree(policy="one") if level == "one" else MultiTree()
    if factor.kind == "regulation":
        return regulation_at(factor.choices[str(level)])
    links = tuple(link.name for link in links_of(lab, factor))
    if factor.kind in ("eee", "hold_us"):
        on, hold_us = _eee_of(experiment, factor, levels, level)
        return Eee(links, on, hold_us, may_flap=True)
    if factor.kind == "link":
        return LinkLevels(links, _LINK_LEVELS[level])
    return LinkSpeed(links, None if level == "auto" else int(level))


def loop_at(experiment: Experiment, levels: Levels) -> LoopLevel | None:
    """The closed loop that one of the levels is; None if they set the lab to something."""
    factors = experiment.of_kind("regulation").items()
    return next((factor.choices[str(levels[name])].loop for name, factor in factors if name in levels), None)


def regulation_at(level: RegulationLevel) -> Regulated:
    """What a level of a regulation sets."""
    routes = tuple((tree.hosts, frozenset(tree.links)) for tree in level.trees)
    return Regulated(
        routes,
        frozenset(level.on),
        frozenset(level.off),
        level.speed_mbps,
        level.eee,
        level.cables,
        hold_us=level.hold_us,
    )


def level_of(regulation: Regulated) -> RegulationLevel:
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
        for end in cables_with(lab, link)
    )


def _eee_of(experiment: Experiment, factor: Factor, levels: Levels, level: object) -> tuple[bool, int | None]:
    """On or off, and the hold time, from both kinds of factors over the same links."""
    others = experiment.of_kind("eee", "hold_us")
    fellow = {other.kind: levels[name] for name, other in others.items() if other.links == factor.links}
    on = fellow.get("eee", "on") == "on"
    hold = fellow.get("hold_us") if factor.kind == "eee" else level
    return on, int(str(hold)) if on and hold is not None else None
