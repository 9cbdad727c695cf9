"""Plans that carry their proof: what may be applied to a lab. Pure.

Only the functions of this file make a `ProvedPlan` or a `ProvedRollback`. So a plan is proved once, and whoever applies
it has only to see that the lab still is in the state that the proof starts from.
"""

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from itertools import groupby

from eee_testbed.controller.model.state import (
    Change,
    PortChange,
    State,
    StaticsChange,
    StpChange,
    VlanChange,
    diff,
    replay,
)
from eee_testbed.controller.planning.check import Fault, Management, Watch, check, required_hosts
from eee_testbed.controller.planning.flow_control import require_no_new_circle
from eee_testbed.controller.planning.limits import Abilities, require_expressible
from eee_testbed.controller.planning.losses import HostPair, Losses
from eee_testbed.controller.planning.steps import Plan, join_plans
from eee_testbed.lab.errors import PlanError, UnsafePlan
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology

_SEAL = object()


@dataclass(frozen=True, slots=True)
class _Sealed(Plan):
    """The steps, the states that they lead from and to, and what they were proved with."""

    start: State = field(repr=False)
    end: State = field(repr=False)
    management: Management | None
    abilities: Abilities = field(repr=False)
    seal: InitVar[object] = field(kw_only=True)

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise AssertionError("a plan is proved by controller.planning.proof")


@dataclass(frozen=True, slots=True)
class ProvedPlan(_Sealed):
    """Safe after every prefix: no loop, no host and no management cut off; every switch can express it.

    At its end no channels wait for each other in a circle under flow control, unless they did at its start.
    """


@dataclass(frozen=True, slots=True)
class ProvedRollback(_Sealed):
    """Leads from a state that may already be unsafe, and makes nothing worse: `prove_rollback` says how.

    `parted`: hosts that reach each other at its start and may not do so for a time before its end.
    """

    parted: tuple[HostPair, ...]


def prove(lab: Lab, start: State, plan: Plan, management: Management | None, abilities: Abilities) -> ProvedPlan:
    """Prove a plan.

    NotExpressible if a switch cannot express it, UnsafePlan if `start` or a prefix is unsafe, PlanError if under flow
    control channels would wait for each other in a circle at its end, and did not at its start.
    """
    require_expressible(lab, start, plan.changes, abilities)
    check(lab, start, plan.changes, management)
    end = replay(plan.changes, start)
    require_no_new_circle(lab, start, end)
    return ProvedPlan(plan.steps, start, end, management, abilities, seal=_SEAL)


def join_proved(plans: Iterable[ProvedPlan]) -> ProvedPlan:
    """Proved plans one after the other, at least one; each has to start where the one before it ends."""
    first, *others = plans
    end = first.end
    for plan in others:
        if plan.start != end or (plan.management, plan.abilities) != (first.management, first.abilities):
            raise AssertionError("proved plans are joined where one ends and the next one starts")
        end = plan.end
    steps = join_plans((first, *others)).steps
    return ProvedPlan(steps, first.start, end, first.management, first.abilities, seal=_SEAL)


def prove_rollback(
    lab: Lab,
    found: State,
    plan: Plan,
    target: State,
    management: Management | None,
    abilities: Abilities,
    *,
    lost_switch: bool,
) -> ProvedRollback:
    """UnsafePlan if a prefix closes a loop, cuts a switch that answers off from its management, or cuts hosts apart.

    Each is compared with `found` by place and pair: a loop that it has already is no reason to refuse, another one is.
    If hosts are apart in it, or if a switch lost its settings (`lost_switch`), hosts may be apart until the end; which
    others than those is in `parted`. Where switches are managed in band, a round is judged in other orders, too.
    """
    watch = Watch(lab, found, required_hosts(Topology.of(lab), target), management)
    losses = Losses(watch)
    patient = lost_switch or any(fault.parts_hosts for fault in watch.faults)
    parted: set[HostPair] = set()
    number = 0
    for _, group in groupby(plan.steps, key=lambda step: step.round):
        changes = [step.change for step in group]
        if management is not None:
            _require_any_order(number, changes, losses)
        for change in changes:
            number += 1
            _require_kept(number, losses.apply(change))
            _require_kept(number, None if patient else next(filter(_parts_hosts, watch.faults), None))
            parted |= losses.parted()
    if watch.draft.freeze() != target:
        raise PlanError("the rollback does not end in the state that it should restore.")
    return ProvedRollback(plan.steps, found, target, management, abilities, tuple(sorted(parted)), seal=_SEAL)


def _require_any_order(before: int, changes: Sequence[Change], losses: Losses) -> None:
    """Judge a round with its switches in the reverse order, and with what takes away first; each keeps its own order.

    Simplification: these stand for all orders. Without spanning tree they do: nothing that is added takes a path away.
    """
    switches = tuple(dict.fromkeys(change.switch for change in changes))
    if len(switches) == 1:
        return
    taking = {name for name in switches if any(_takes(change) for change in changes if change.switch == name)}
    for order in (switches[::-1], sorted(switches, key=lambda name: name not in taking)):
        ordered = [change for name in order for change in changes if change.switch == name]
        done: list[Change] = []
        for number, change in enumerate(ordered, start=before + 1):
            _require_kept(number, losses.apply(change))
            done.append(change)
        losses.rewind(done)


def _takes(change: Change) -> bool:
    """Whether a change takes a path away, or may."""
    match change:
        case PortChange():
            now, then = change.before, change.after
            return bool(now.vids - then.vids) or (now.admin_up and not then.admin_up) or now.pvid != then.pvid
        case VlanChange():
            return not change.after
        case StpChange():
            return change.after
        case StaticsChange():
            return False


def _parts_hosts(fault: Fault) -> bool:
    return fault.parts_hosts


def _require_kept(number: int, fault: Fault | None) -> None:
    if fault is not None:
        raise UnsafePlan(number, fault.harm, fault.path)


def require_start(plan: ProvedPlan | ProvedRollback, state: State, abilities: Abilities) -> None:
    """PlanError if a plan was proved for another state than the one found, or for switches that can do other things."""
    changes = diff(plan.start, state)
    if changes or plan.abilities != abilities:
        raise PlanError(
            f"the plan was proved for another state of the lab ({len(changes)} settings differ): observe it and plan "
            "again."
        )
