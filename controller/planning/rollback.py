"""The way back from wherever a lab is found, or on along a way back that was cut short. Pure.

The usual way is that of the journal: its steps, backwards, each thing taken from what it is to what it was before the
step. That passes the states that the way there passed. A switch that is in none of them (it rebooted into its startup
configuration, or somebody else was at work) is first taken out of the network by shutting its own trunks, set up while
nothing can pass it, and opened again last. Every way is proved like a plan before it is gone; the first that passes
is taken.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from controller.model.state import (
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
from controller.planning.check import Fault, Management, Watch, required_hosts
from controller.planning.disruption import disruption_of
from controller.planning.limits import UNLIMITED, Abilities, as_held, untags_one
from controller.planning.plan import Plan, Stage, Step, invert, join_plans, order_changes
from lab.errors import PlanError, UnsafePlan
from lab.model import Lab
from lab.topology import Topology


@dataclass(frozen=True, slots=True)
class Position:
    """How far a journal got on one way: it is in `low`, in `high` or between them; `rest` leads to the target."""

    low: State
    high: State
    rest: tuple[Step, ...]


def position(lab: Lab, start: State, steps: Sequence[Step], sent: int, verified: int, *, backward: bool) -> Position:
    """Where a way from `start` may be when rounds up to `sent` may have been sent and those up to `verified` were read.

    `backward`: the rest is the way back to `start`, else it is the way on to the end.
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
) -> Plan:
    """A proved way from `found` to `target`; PlanError if none is known that closes no loop.

    If hosts are apart already, they may stay so until its end; no way cuts off management that stands.
    """
    odd = frozenset(name for name in found.switches if _is_odd(name, found, place))
    refusal: PlanError | None = None
    for candidate in _candidates(lab, found, place, target, odd, abilities):
        try:
            plan = candidate()
            _prove(lab, found, plan, target, management, patient=bool(odd))
        except PlanError as error:
            refusal = refusal or error
        else:
            return plan
    raise refusal or PlanError("no way back is known: look at the switches, then `eeectl adopt`.")


class _Ways:
    """The ways that are tried for one lab as found."""

    def __init__(
        self, lab: Lab, found: State, place: Position, target: State, odd: Collection[str], abilities: Abilities
    ) -> None:
        self.lab = lab
        self.found = found
        self.place = place
        self.target = target
        self.odd = odd
        self.abilities = abilities
        self.topology = Topology.of(lab)

    def walk(self) -> Plan:
        """The journal's steps, whatever was found on the way."""
        return self._complete(follow(self.lab, self.found, self.place.rest, self.abilities))

    def walk_around(self) -> Plan:
        """The journal's steps, but for switches that are at the target already."""
        there = {name for name in self.odd if self.found.switches[name] == self.target.switches[name]}
        if there != set(self.odd):
            raise PlanError("some switches are neither where the journal has them nor where they were before it.")
        return self._complete(follow(self.lab, self.found, self._without(there), self.abilities))

    def isolate(self) -> Plan:
        """Odd switches out of the network and to their target, then the journal's steps, then back into it."""
        shut = tuple(
            PortChange(name, port, state, replace(state, admin_up=False))
            for name, port in self._trunk_ports()
            if (state := self.found.port(name, port)).admin_up
        )
        lonely = replay(shut, self.found)
        aim = State(
            {
                name: replace(
                    switch,
                    ports={
                        port: replace(state, admin_up=state.admin_up and (name, port) not in self._trunk_ports())
                        for port, state in switch.ports.items()
                    },
                )
                if name in self.odd
                else lonely.switches[name]
                for name, switch in self.target.switches.items()
            }
        )
        setting = _in_turn(diff(lonely, aim))
        back = follow(self.lab, aim, self._without(self.odd), self.abilities)
        reached = replay(back.changes, aim)
        opening = tuple(
            PortChange(name, port, state, replace(state, admin_up=True))
            for name, port in self._trunk_ports()
            if self.target.port(name, port).admin_up and not (state := reached.port(name, port)).admin_up
        )
        reason = "set up a switch that is not as it was left, while nothing can pass it"
        return self._complete(
            join_plans(
                (
                    _steps(self.lab, self.found, [shut], "take a switch that is not as it was left out of the network"),
                    _steps(self.lab, lonely, setting, reason),
                    back,
                    _steps(self.lab, reached, [opening], "take a switch back into the network"),
                )
            )
        )

    def straight(self) -> Plan:
        """The way that a planner who knows no journal would go."""
        return order_changes(self.lab, self.found, self.target, self.abilities)

    def _complete(self, plan: Plan) -> Plan:
        """The plan, and on to the target if it does not end there."""
        end = replay(plan.changes, self.found)
        if not diff(end, self.target):
            return plan
        return join_plans((plan, order_changes(self.lab, end, self.target, self.abilities)))

    def _without(self, switches: Collection[str]) -> tuple[Step, ...]:
        return tuple(step for step in self.place.rest if step.change.switch not in switches)

    def _trunk_ports(self) -> tuple[tuple[str, str], ...]:
        ends = (
            (end.device, end.port)
            for number, link in self.topology.trunks.items()
            for cable in (link, *self.topology.cables[number])
            for end in (cable.a, cable.b)
        )
        return tuple(dict.fromkeys(place for place in ends if place[0] in self.odd))


def _candidates(
    lab: Lab, found: State, place: Position, target: State, odd: Collection[str], abilities: Abilities
) -> Iterator[Callable[[], Plan]]:
    ways = _Ways(lab, found, place, target, odd, abilities)
    if odd:
        yield ways.walk_around
        yield ways.isolate
    yield ways.walk
    yield ways.straight


def follow(lab: Lab, found: State, steps: Sequence[Step], abilities: Abilities = UNLIMITED) -> Plan:
    """The steps, each from what is there to what it leads to; a step whose end is there already is left out."""
    made: list[Plan] = []
    state = found
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
        made.append(Plan(tuple(replace(step, reason=reason[step.change.switch]) for step in plan.steps)))
        state = replay(plan.changes, state)
    return join_plans(plan for plan in made if plan.steps)


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


def _in_turn(changes: Sequence[Change]) -> list[list[Change]]:
    """Rounds in which a switch that nothing passes can be set up: what must exist first comes first."""
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
    """From what is there to where a change leads, in changes of which none both adds and takes away.

    But for a port of a switch that untags one VLAN only, which cannot have what is in between.
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


def _port_toward(aim: PortChange, now: PortState, abilities: Abilities) -> tuple[Change, ...]:
    after = aim.after
    if now == after:
        return ()
    if untags_one(abilities, aim.switch) or aim.before == now:
        return (replace(aim, before=now),)
    calm = replace(now, admin_up=now.admin_up and after.admin_up)
    more = replace(
        calm,
        untagged_vids=calm.untagged_vids | (after.untagged_vids - calm.tagged_vids),
        tagged_vids=calm.tagged_vids | (after.tagged_vids - calm.untagged_vids),
    )
    other = replace(
        after, admin_up=more.admin_up, untagged_vids=more.untagged_vids, tagged_vids=more.tagged_vids, lag=now.lag
    )
    fewer = replace(
        other,
        untagged_vids=other.untagged_vids & after.untagged_vids,
        tagged_vids=other.tagged_vids & after.tagged_vids,
    )
    ready = replace(after, admin_up=fewer.admin_up, lag=now.lag)
    between = [as_held(abilities, aim.switch, port) for port in (calm, more, other, fewer, ready)]
    return _chain(aim, [now, *between, after])


def _chain(aim: PortChange | StaticsChange, values: Sequence[object]) -> tuple[Change, ...]:
    """Changes through these values of one thing; what stays the same is no change."""
    steps = ((one, other) for one, other in pairwise(values) if one != other)
    return tuple(replace(aim, before=one, after=other) for one, other in steps)  # type: ignore[arg-type]


def _is_odd(name: str, found: State, place: Position) -> bool:
    """Whether a switch is in a state that the journal does not explain by its VLANs or its spanning tree."""
    low, high, now = (state.switches[name] for state in (place.low, place.high, found))
    return not (low.vids & high.vids <= now.vids <= low.vids | high.vids and now.stp in (low.stp, high.stp))


def _prove(lab: Lab, found: State, plan: Plan, target: State, management: Management | None, *, patient: bool) -> None:
    """UnsafePlan if a prefix closes a loop, cuts off management or, unless hosts are apart already, cuts hosts apart.

    `patient`: a switch is not as it was left, so those behind it have been apart already.
    """
    hosts = required_hosts(Topology.of(lab), target)
    watch = Watch(lab, found, hosts, management)
    given = {fault.harm for fault in watch.faults}
    patient = patient or bool(given)
    faults: tuple[Fault, ...] = ()
    for number, step in enumerate(plan.steps, start=1):
        watch.apply(step.change)
        faults = watch.faults
        grave = [fault for fault in faults if fault.harm not in given and not (patient and fault.parts_hosts)]
        if grave:
            raise UnsafePlan(number, grave[0].harm, grave[0].path)
    if watch.draft.freeze() != target:
        raise PlanError("the way back does not end where it should.")
