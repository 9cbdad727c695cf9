"""What plans have to know of a lab besides its state: cables, the way in, and what its switches can do. Pure."""

from dataclasses import dataclass, field
from typing import Self

from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.limits import UNLIMITED, Abilities
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab


@dataclass(frozen=True, slots=True)
class Site:
    """A lab as it is planned for. `management` None: out of band."""

    lab: Lab
    management: Management | None = None
    abilities: Abilities = field(default_factory=lambda: UNLIMITED)

    @classmethod
    def of(cls, lab: Lab, abilities: Abilities) -> Self:
        """With in-band management where the inventory has it."""
        return cls(lab, management_of(lab, None), abilities)

    @property
    def kept_vids(self) -> tuple[int, ...]:
        """VLANs that plans leave alone."""
        return (self.management.vid,) if self.management else ()

    def plan(self, before: State, after: State) -> ProvedPlan:
        """The proved plan from one state to another: `make_plan`, and its errors."""
        return make_plan(self.lab, before, after, self.management, self.abilities)


def management_of(lab: Lab, text: str | None) -> Management | None:
    """In-band management as given, or as in the inventory; PlanError if the lab has no such switch."""
    if text is None:
        return Management(*lab.way_in) if lab.way_in else None
    switch, _, vid = text.rpartition(":")
    if switch not in {known.name for known in lab.switches} or not vid.isdecimal() or not 1 <= int(vid) <= 4094:
        raise PlanError(
            f"invalid in-band management '{text}': give a switch and a VLAN, such as {lab.switches[0].name}:1."
        )
    return Management(switch, int(vid))
