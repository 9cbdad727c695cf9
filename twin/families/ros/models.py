"""Models of the Dell PowerConnect 55xx series and how they number their ports.

5524 and 5548 (System User Guide, regulatory models): 24 or 48 copper ports `gi1/0/N`, two SFP+ ports `te1/0/N`, and
LAGs `po1`…`po32`. Port names are in lower case, as in ifName. Interface indices: 1… for the unit's ports in
order, LAGs from 1000 [M: of the sibling Cisco SG350].

Simplification: an SFP+ port behaves as 10GBASE-T. A real one with a direct-attach cable or optics has no EEE, and
needs no time to negotiate; `show eee` and the link-up time could show it.
"""

from __future__ import annotations

from dataclasses import dataclass

from eee_testbed.twin.switch.personality import PortPlan

LAG_COUNT = 32
LAG_MEMBERS_MAX = 8


@dataclass(frozen=True, slots=True)
class Model:
    """What distinguishes one model from another. `object_id` is sysObjectID [M for the 5524]."""

    name: str
    copper_ports: int
    object_id: str


MODELS = {
    m.name: m
    for m in (
        Model("PowerConnect 5524", 24, "1.3.6.1.4.1.674.10895.3030"),
        Model("PowerConnect 5548", 48, "1.3.6.1.4.1.674.10895.3031"),
    )
}


def model_named(name: str) -> Model:
    """Return a model by its inventory name; `ValueError` lists the known models."""
    if name not in MODELS:
        raise ValueError(f"unknown PowerConnect 55xx model {name!r}: use one of {', '.join(sorted(MODELS))}")
    return MODELS[name]


def port_plans(model: Model) -> tuple[PortPlan, ...]:
    """Physical ports in bridge-port order."""
    copper = [
        PortPlan(f"gi1/0/{n}", f"gigabitethernet1/0/{n}", n, "1000BASE-T", 1000)
        for n in range(1, model.copper_ports + 1)
    ]
    fast = [
        PortPlan(f"te1/0/{n}", f"tengigabitethernet1/0/{n}", model.copper_ports + n, "10GBASE-T", 10_000)
        for n in (1, 2)
    ]
    return (*copper, *fast)


def lag_plans() -> tuple[PortPlan, ...]:
    """LAGs, which follow the ports."""
    return tuple(PortPlan(f"po{n}", f"port-channel{n}", 999 + n, "", 0) for n in range(1, LAG_COUNT + 1))
