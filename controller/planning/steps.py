"""Steps from one state of a lab to another, and plans of them. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from eee_testbed.controller.model.state import Change
from eee_testbed.controller.planning.disruption import Disruption

Stage = Literal["wake", "move", "sleep"]


@dataclass(frozen=True, slots=True)
class Step:
    """One change, its stage and round, the reason for it, and what it costs those who use the network."""

    stage: Stage
    round: int
    change: Change
    reason: str
    disruption: Disruption


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps from one state to another. Only `controller.planning.proof` makes plans that may be applied."""

    steps: tuple[Step, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The steps' changes, for replay and check."""
        return tuple(step.change for step in self.steps)


def join_plans(plans: Iterable[Plan]) -> Plan:
    """Plans one after the other; their rounds are numbered on."""
    steps: list[Step] = []
    for plan in plans:
        first = steps[-1].round + 1 if steps else 0
        steps += (replace(step, round=step.round + first) for step in plan.steps)
    return Plan(tuple(steps))
