"""Plans that roll a lab back from the state that it is found in, or that finish a rollback that was cut short. Pure.

The usual rollback is the journal's steps in reverse order: each setting goes from what it is to what it was before the
step. So it passes the states that the forward pass passed. A switch that is in none of them (it rebooted into its
startup configuration, or somebody else changed it) is first taken out of the network by shutting its own trunks, is set
up while nothing can pass it, and has its trunks opened again last. Every candidate is proved before anything is sent;
the first that parts no hosts is used, else the first that passes.

Where switches are managed in band, such a switch stays in the network, at least by the trunks that may carry its own
frames of management or those of switches behind it. These are set up last, the one that it is reached by last of all.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise

from eee_testbed.controller.model.state import (
    Change,
    Draft,
    PortChange,
    PortState,
    State,
    StaticsChange,
    StaticTable,
    StpChange,
    VlanChange,
    diff,
    replay,
)
from eee_testbed.controller.planning.check import Management, Watch
from eee_testbed.controller.planning.disruption import disruption_of
from eee_testbed.controller.planning.limits import UNLIMITED, Abilities, as_held, require_expressible, untags_one
from eee_testbed.controller.planning.management import ManagementPaths
from eee_testbed.controller.planning.plan import Place, invert, order_changes
from eee_testbed.controller.planning.proof import ProvedRollback, prove_rollback
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.steps import Plan, Stage, Step, join_plans
from eee_testbed.lab.errors import LockOut, PlanError, UnsafePlan, UnsafeRollback
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology


@dataclass(frozen=True, slots=True)
class Position:
    """How far a pass got: the lab is in `low`, in `high` or between them; `rest` leads to the target."""

    low: State
    high: State
    rest: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Return:
    """Back to a state that a lab had before, from wherever a pass got: what a rollback that nothing forces aims at."""

    place: Position
    target: State


def position(lab: Lab, start: State, steps: Sequence[Step], sent: int, verified: int, *, backward: bool) -> Position:
    """How far a pass from `start` got if rounds up to `sent` may have been sent and those up to `verified` were read.

    `backward`: the rest leads back to `start`, else on to the end of the steps.
    """
    low = replay((step.change for step in steps if step.round <= verified), start)
    begun = tuple(step for step in steps if step.round <= sent)
    high = replay((step.change for step in begun), start)
    if backward:
        return Position(low, high, invert(lab, start, Plan(begun)).steps)
    return Position(low, high, tuple(step for step in steps if step.round > verified))


def rollback_plan(
    lab: Lab,
    found: State,
    place: Position,
    target: State,
    management: Management | None = None,
    abilities: Abilities = UNLIMITED,
) -> ProvedRollback:
    """A proved plan from `found` to `target`; PlanError if every candidate closes a loop or may lock a switch out.

    If hosts are apart already, they may stay so until its end; no plan cuts off a switch that answers.
    """
    odd = frozenset(name for name in found.switches if _is_odd(name, found, place))
    refusals: list[PlanError] = []
    second: ProvedRollback | None = None
    for candidate in _Candidates(lab, found, place, target, odd, management, abilities):
        try:
            plan = prove_rollback(lab, found, candidate(), target, management, abilities, lost_switch=bool(odd))
        except PlanError as error:
            refusals.append(error)
            continue
        if not plan.parted:
            return plan
        second = second or plan
    if second is not None:
        return second
    locked = next((error for error in refusals if isinstance(error, UnsafePlan) and error.locks_out), None)
    if locked is not None and management is not None:
        raise LockOut(locked.path[-1], management.entry, management.vid)
    raise next((UnsafeRollback(error) for error in refusals if isinstance(error, UnsafePlan)), refusals[0])


def restore_plan(site: Site, state: State, back: Return) -> ProvedRollback:
    """A rollback that nothing forces yet: NotExpressible, before anything is sent, if a switch cannot express it."""
    plan = rollback_plan(site.lab, state, back.place, back.target, site.management, site.abilities)
    require_expressible(site.lab, state, plan.changes, site.abilities)
    return plan


@dataclass(frozen=True)
class _Candidates:
    """The plans that are tried, in order, for one lab as found."""

    lab: Lab
    found: State
    place: Position
    target: State
    odd: Collection[str]
    management: Management | None
    abilities: Abilities

    def __iter__(self) -> Iterator[Callable[[], Plan]]:
        if self.odd:
            yield self.skip_restored
            if self.management is not None:
                yield self.in_place
            yield self.isolate
        yield self.follow_journal
        yield self.ignore_journal

    @cached_property
    def topology(self) -> Topology:
        return Topology.of(self.lab)

    def follow_journal(self) -> Plan:
        """The journal's steps, whatever was found."""
        return self._complete(follow(self.lab, self.found, self.place.rest, self.abilities))

    def skip_restored(self) -> Plan:
        """The journal's steps, without switches that are at the target already."""
        there = {name for name in self.odd if self.found.switches[name] == self.target.switches[name]}
        if there != set(self.odd):
            raise PlanError(
                "some switches match neither the journal nor their state before it: set them up from their consoles."
            )
        return self._complete(follow(self.lab, self.found, self._without(there), self.abilities))

    def isolate(self) -> Plan:
        """Take odd switches out of the network, set them to the target, follow the journal, open their trunks again.

        The trunks that they or others are managed by stay as they are until the end.
        """
        trunks = self._trunk_ports()
        shut = tuple(
            PortChange(name, port, state, replace(state, admin_up=False))
            for name, port in trunks
            if (state := self.found.port(name, port)).admin_up
        )
        isolated = replay(shut, self.found)
        aim = State(
            {
                name: replace(
                    switch,
                    ports={
                        port: replace(state, admin_up=state.admin_up and (name, port) not in trunks)
                        for port, state in switch.ports.items()
                    },
                )
                if name in self.odd
                else isolated.switches[name]
                for name, switch in self._without_ways_in(self.ways_in).switches.items()
            }
        )
        setting = _in_rounds(diff(isolated, aim))
        back = follow(self.lab, aim, self._without(self.odd), self.abilities)
        reached = replay(back.changes, aim)
        opening = tuple(
            PortChange(name, port, state, replace(state, admin_up=True))
            for name, port in trunks
            if self.target.port(name, port).admin_up and not (state := reached.port(name, port)).admin_up
        )
        return self._complete(
            join_plans(
                (
                    _steps(self.lab, self.found, [shut], f"take {_UNKNOWN_SWITCH} out of the network"),
                    _steps(self.lab, isolated, setting, f"set up {_UNKNOWN_SWITCH}, while nothing can pass it"),
                    back,
                    _steps(self.lab, reached, [opening], "take a switch back into the network"),
                )
            )
        )

    def in_place(self) -> Plan:
        """Stop spanning tree where it started, set up all else, then the trunks that odd switches are managed by.

        The trunks that only others are managed by come first, then those of the farthest switch.
        """
        stopping = [
            (StpChange(name, before=True, after=False),)
            for name in sorted(self.odd)
            if self.found.switches[name].stp and not self.target.switches[name].stp
        ]
        made = [
            _steps(self.lab, self.found, stopping, f"spanning tree may block the links that lead to {_UNKNOWN_SWITCH}")
        ]
        state = replay(made[0].changes, self.found)
        for left in range(len(self.ways_in) + 1):
            aim = self._without_ways_in(self.ways_in[left:])
            made.append(order_changes(self.lab, state, aim, self.abilities, self.management))
            state = replay(made[-1].changes, state)
        return join_plans(plan for plan in made if plan.steps)

    def ignore_journal(self) -> Plan:
        """The plan that would be made without a journal."""
        return order_changes(self.lab, self.found, self.target, self.abilities, self.management)

    def _complete(self, plan: Plan) -> Plan:
        """The plan, and on to the target if it does not end there."""
        end = replay(plan.changes, self.found)
        if not diff(end, self.target):
            return plan
        return join_plans((plan, order_changes(self.lab, end, self.target, self.abilities, self.management)))

    def _without(self, switches: Collection[str]) -> tuple[Step, ...]:
        return tuple(step for step in self.place.rest if step.change.switch not in switches)

    def _trunk_ports(self) -> tuple[Place, ...]:
        """Ports of odd switches for trunks, but those that switches are managed by."""
        stay = frozenset[Place]().union(*self.ways_in)
        ends = (place for number in self.topology.trunks for place in self._ends(number))
        return tuple(dict.fromkeys(place for place in ends if place not in stay))

    def _ends(self, number: int) -> Iterator[Place]:
        """The ports of odd switches that a trunk consists of."""
        link = self.topology.trunks[number]
        for cable in (link, *self.topology.cables[number]):
            yield from ((end.device, end.port) for end in (cable.a, cable.b) if end.device in self.odd)

    @cached_property
    def ways_in(self) -> tuple[frozenset[Place], ...]:
        """Ports of odd switches that management may pass, in the order in which they are set up: see `in_place`."""
        if self.management is None or not self.odd:
            return ()
        paths = ManagementPaths(Watch(self.lab, self.found, (), self.management))
        trunks = {name: paths.trunks_to(name) & self.topology.trunks.keys() for name in self.topology.switches}
        places = {name: frozenset(own for number in trunks[name] for own in self._ends(number)) for name in trunks}
        far = sorted(self.odd, key=lambda name: (-len(trunks[name]), name))
        own = [frozenset(place for place in places[name] if place[0] == name) for name in far]
        others = frozenset[Place]().union(*places.values()) - frozenset[Place]().union(*own)
        return (others, *own)

    def _without_ways_in(self, left: Sequence[frozenset[Place]]) -> State:
        """The target, but some ports that management passes as they were found."""
        stay = frozenset[Place]().union(*left)
        switches = dict(self.target.switches)
        for name, port in sorted(stay):
            now, aim = self.found.switches[name], switches[name]
            vids = aim.vids | (now.vids & now.ports[port].vids)
            switches[name] = replace(aim, ports={**aim.ports, port: now.ports[port]}, vids=vids)
        return State(switches)


_UNKNOWN_SWITCH = "a switch whose settings the journal does not explain"


def follow(lab: Lab, start: State, steps: Sequence[Step], abilities: Abilities = UNLIMITED) -> Plan:
    """The steps, each from what was found to where it leads; a step that is done already is left out."""
    plans: list[Plan] = []
    state = start
    for _, group in groupby(steps, key=lambda step: step.round):
        turn = tuple(group)
        phases: list[list[Change]] = []
        for step in turn:
            for number, change in enumerate(_toward(state, step.change, abilities)):
                if number == len(phases):
                    phases.append([])
                phases[number].append(change)
        reason = {step.change.switch: step.reason for step in turn}
        plan = _steps(lab, state, phases, "", stage=turn[0].stage)
        plans.append(Plan(tuple(replace(step, reason=reason[step.change.switch]) for step in plan.steps)))
        state = replay(plan.changes, state)
    return join_plans(plan for plan in plans if plan.steps)


def _steps(lab: Lab, start: State, rounds: Sequence[Sequence[Change]], reason: str, stage: Stage = "sleep") -> Plan:
    topology, draft = Topology.of(lab), Draft(start)
    steps: list[Step] = []
    for changes in rounds:
        number = steps[-1].round + 1 if steps else 0
        for change in changes:
            cost = disruption_of(topology, draft, change)
            draft.apply(change)
            steps.append(Step(stage, number, change, reason, cost))
    return Plan(tuple(steps))


def _in_rounds(changes: Sequence[Change]) -> list[list[Change]]:
    """Rounds that set up a switch while nothing can pass it: what others need is created first."""
    turns: list[list[Change]] = [[], [], [], [], []]
    for change in changes:
        match change:
            case VlanChange():
                turns[0 if change.after else 4].append(change)
            case PortChange():
                turns[1].append(change)
            case StaticsChange():
                turns[2].append(change)
            case StpChange():
                turns[3].append(change)
    return [turn for turn in turns if turn]


def _toward(state: State, aim: Change, abilities: Abilities) -> tuple[Change, ...]:
    """From what was found to where a change leads, in changes of which none both adds and removes.

    The exception is a port of a switch that untags one VLAN only: it cannot hold what is in between.
    """
    switch = state.switches[aim.switch]
    match aim:
        case PortChange():
            return _port_toward(aim, switch.ports[aim.port], abilities)
        case VlanChange():
            there = aim.vid in switch.vids
            return (replace(aim, before=there),) if there != aim.after else ()
        case StaticsChange():
            return _table_toward(aim, switch.statics.get(aim.vid, {}))
        case StpChange():
            return (replace(aim, before=switch.stp),) if switch.stp != aim.after else ()


def _table_toward(aim: StaticsChange, now: StaticTable) -> tuple[Change, ...]:
    if now == aim.after:
        return ()
    common = {mac: port for mac, port in now.items() if aim.after.get(mac) == port}
    return _chain(aim, [now, common, aim.after] if common != now else [now, aim.after])


def _port_toward(goal: PortChange, now: PortState, abilities: Abilities) -> tuple[Change, ...]:
    after = goal.after
    if now == after:
        return ()
    if untags_one(abilities, goal.switch) or goal.before == now:
        return (replace(goal, before=now),)
    calm = replace(now, admin_up=now.admin_up and after.admin_up)
    more = replace(
        calm,
        untagged_vids=calm.untagged_vids | (after.untagged_vids - calm.tagged_vids),
        tagged_vids=calm.tagged_vids | (after.tagged_vids - calm.untagged_vids),
    )
    still = replace(after, lag=now.lag, lag_mode=now.lag_mode)
    other = replace(still, admin_up=more.admin_up, untagged_vids=more.untagged_vids, tagged_vids=more.tagged_vids)
    fewer = replace(
        other,
        untagged_vids=other.untagged_vids & after.untagged_vids,
        tagged_vids=other.tagged_vids & after.tagged_vids,
    )
    ready = replace(still, admin_up=fewer.admin_up)
    between = [as_held(abilities, goal.switch, port) for port in (calm, more, other, fewer, ready)]
    return _chain(goal, [now, *between, after])


def _chain(aim: PortChange | StaticsChange, values: Sequence[object]) -> tuple[Change, ...]:
    """Changes through these values of one thing, without those that change nothing."""
    steps = ((one, other) for one, other in pairwise(values) if one != other)
    return tuple(replace(aim, before=one, after=other) for one, other in steps)  # type: ignore[arg-type]


def _is_odd(name: str, found: State, place: Position) -> bool:
    """Whether the journal does not explain the VLANs or the spanning tree that a switch has."""
    low, high, now = (state.switches[name] for state in (place.low, place.high, found))
    return not (low.vids & high.vids <= now.vids <= low.vids | high.vids and now.stp in (low.stp, high.stp))
