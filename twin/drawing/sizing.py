"""From the numbers that a person gives to the plan of a lab: models with enough ports, strips with enough outlets."""

from collections.abc import Sequence
from typing import Final

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.drawing.models import APC, GUDE, MODELS, Model, StripModel
from eee_testbed.twin.drawing.plan import Plan, Shape, joined

MOST_HOSTS: Final = 250
"""A lab's hosts have addresses in one /24."""

MOST_SUBNET: Final = 237
"""The second byte of devices' addresses is 18 more."""

_FIRST_LOOPBACK: Final = 18
FAMILIES: Final = tuple(dict.fromkeys(model.family for model in MODELS))
"""Families that a drawn lab may have."""


def sized(
    name: str, *, switches: int, hosts: int, families: Sequence[str], links: int, shape: Shape, subnet: int
) -> Plan:
    """The plan of a lab; LabError for a size that no model and no network can hold.

    Switches are dealt to the families in equal parts, the first families first. Each is the smallest model of its
    family with ports for its hosts and for `links` links to each switch that it is joined to.
    """
    _require_possible(switches, hosts, families, links)
    degrees = [sum(index in pair for pair in joined(switches, shape)) for index in range(switches)]
    most_hosts = -(-hosts // switches)
    needed = most_hosts + max(degrees) * links
    models = [_model(families[index * len(families) // switches], needed) for index in range(switches)]
    plural = "switch" if switches == 1 else "switches"
    shown = f", {shape}, {links} link{'s'[: links != 1]} per pair" if switches > 1 else ""
    return Plan(
        name,
        f"{switches} {plural} of {', '.join(dict.fromkeys(families))}{shown}; {hosts} nodes",
        subnet=subnet,
        loopback=_FIRST_LOOPBACK + subnet,
        switches=tuple(models),
        strips=_strips(switches, hosts),
        hosts=hosts,
        first_trunk=most_hosts + 1,
        links_per_pair=links,
        shape=shape,
    )


def _require_possible(switches: int, hosts: int, families: Sequence[str], links: int) -> None:
    if unknown := [family for family in families if family not in FAMILIES]:
        raise LabError(f"family {unknown[0]} has no twin: use one or several of {', '.join(FAMILIES)}.")
    if not 1 <= switches <= MOST_HOSTS:
        raise LabError(f"a lab cannot have {switches} switches: give 1 to {MOST_HOSTS}.")
    if not families:
        raise LabError(f"no family is named: use one or several of {', '.join(FAMILIES)}.")
    if len(families) > switches:
        raise LabError(f"{len(families)} families need as many switches, not {switches}: give more, or fewer families.")
    if not 2 <= hosts <= MOST_HOSTS:
        raise LabError(f"a lab cannot have {hosts} hosts: give 2 to {MOST_HOSTS}.")
    if links < 1:
        raise LabError(f"{links} links would leave switches apart: give at least 1.")


def _model(family: str, needed: int) -> Model:
    """The smallest model of a family with so many copper ports."""
    models = [model for model in MODELS if model.family == family]
    for model in models:
        if model.copper_count >= needed:
            return model
    raise LabError(
        f"a switch would need {needed} ports, and the largest of {family}, {models[-1].name}, has "
        f"{models[-1].copper_count}: give fewer hosts or links, more switches, or another shape."
    )


def _strips(switches: int, hosts: int) -> tuple[StripModel, ...]:
    """One small strip if it can feed all; else strips for the switches, and others for the hosts."""
    if switches + hosts <= GUDE.outlet_count:
        return (GUDE,)
    return (APC,) * (-(-switches // APC.outlet_count) - (-hosts // APC.outlet_count))
