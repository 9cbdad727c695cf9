"""Order the changes from one state to another so that all hosts stay connected and no loop closes. Pure.

A plan has the stages *wake*, *move*, *sleep*: first everything that adds (VLANs, memberships, entries, links), then
each host's PVID, last everything that removes. A stage consists of rounds: the changes of one round may be made in any
order, on all switches at the same time; the next round begins when the last is done and read back.

If spanning tree is to stop, the links that it may be blocking are shut first, so that no frame circles, and enabled
again once they are in their new VLANs. Shutting them makes the old spanning tree converge again:
`controller.planning.disruption` says for how long.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from eee_testbed.controller.model.state import (
    Change,
    Draft,
    PortChange,
    PortState,
    State,
    StaticsChange,
    StpChange,
    VlanChange,
    diff,
)
from eee_testbed.controller.planning.broadcast import carries, ends_of, is_up
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.disruption import disruption_of
from eee_testbed.controller.planning.in_groups import in_groups
from eee_testbed.controller.planning.limits import UNLIMITED, Abilities, as_held
from eee_testbed.controller.planning.proof import ProvedPlan, join_proved, prove
from eee_testbed.controller.planning.steps import Plan, Stage, Step
from eee_testbed.lab.errors import PlanError, TableFull
from eee_testbed.lab.model import Lab, Link
from eee_testbed.lab.topology import Topology

Place = tuple[str, str]
"""A switch and a port of it."""

Rule = Callable[[str, str, PortState], PortState]
"""From switch, port and the port's settings to its new settings."""


class _Writer:
    """Appends steps, and keeps the state that they lead to."""

    def __init__(self, lab: Lab, state: State, abilities: Abilities = UNLIMITED) -> None:
        self.topology = Topology.of(lab)
        self.abilities = abilities
        self.draft = Draft(state)
        self.steps: list[Step] = []
        self._round = 0

    def step(self, stage: Stage, change: Change, reason: str) -> None:
        cost = disruption_of(self.topology, self.draft, change)
        self.draft.apply(change)
        self.steps.append(Step(stage, self._round, change, reason, cost))

    def next_round(self) -> None:
        if self.steps and self.steps[-1].round == self._round:
            self._round += 1

    def set_ports(self, stage: Stage, reason: str, ports: Iterable[Place], rule: Rule) -> None:
        """One round: the rule computes each port's new settings from its present ones."""
        self.next_round()
        for name, port in ports:
            before = self.draft.ports[name][port]
            after = as_held(self.abilities, name, rule(name, port, before))
            if after != before:
                self.step(stage, PortChange(name, port, before, after), reason)


def make_plan(
    lab: Lab,
    before: State,
    after: State,
    management: Management | None = None,
    abilities: Abilities = UNLIMITED,
) -> ProvedPlan:
    """Order the changes from `before` to `after` and prove the order safe.

    Where a switch cannot hold old and new VLANs at once, hosts move in groups (`in_groups.py`). NotExpressible if the
    switches cannot express the changes, UnsafePlan if no safe order is known.
    """
    try:
        return _at_once(lab, before, after, management, abilities)
    except TableFull:
        for states in in_groups(Topology.of(lab), before, after):
            with suppress(PlanError):  # another way of grouping, or none
                plans = [_at_once(lab, before, states[0], management, abilities)]
                for state in states[1:]:
                    plans.append(_at_once(lab, plans[-1].end, state, management, abilities))
                return join_proved(plans)
        raise


def _at_once(lab: Lab, before: State, after: State, management: Management | None, abilities: Abilities) -> ProvedPlan:
    return prove(lab, before, order_changes(lab, before, after, abilities, management), management, abilities)


def order_changes(
    lab: Lab,
    before: State,
    after: State,
    abilities: Abilities = UNLIMITED,
    management: Management | None = None,
) -> Plan:
    """Order the changes from `before` to `after`, unproved.

    Port settings that restart a link (speed, EEE, flow control) come last on a link that is up all the time, and while
    it is down on one that is woken. PlanError if the states are not of the same switches, or if spanning tree is to
    stop and a loop that it breaks consists of cables that may not be shut.
    """
    diff(before, after)
    writer = _Writer(lab, before, abilities)
    _break_loops(writer, after, management)
    _wake(writer, after)
    _move(writer, after)
    _sleep(writer, after)
    return Plan(tuple(writer.steps))


def invert(lab: Lab, before: State, plan: Plan) -> Plan:
    """The rollback of a plan: the inverse changes in reverse order. It passes the same states, so it is as safe."""
    writer = _Writer(lab, before)
    for change in plan.changes:
        writer.draft.apply(change)
    last = plan.steps[-1].round if plan.steps else 0
    steps = []
    inverse: dict[Stage, Stage] = {"wake": "sleep", "move": "move", "sleep": "wake"}
    for step in reversed(plan.steps):
        change = step.change.inverse
        cost = disruption_of(writer.topology, writer.draft, change)
        writer.draft.apply(change)
        steps.append(Step(inverse[step.stage], last - step.round, change, f"roll back: {step.reason}", cost))
    return Plan(tuple(steps))


def _carries(writer: _Writer, after: State, number: int, vid: int) -> bool:
    """Whether a trunk surely carries a VLAN now and after the plan."""
    drafts = writer.draft, Draft(after)
    return all(vid in carries(*ends_of(writer.topology, draft, number)) for draft in drafts)


def _break_loops(writer: _Writer, after: State, management: Management | None) -> None:
    """Shut the links that a spanning tree may be blocking, if it is to stop; last those that management passes."""
    stopping = any(on and not after.switches[name].stp for name, on in writer.draft.stp.items())
    if not stopping:
        return
    up = [link for link in writer.topology.trunks.values() if is_up(writer.topology, writer.draft, link.number)]
    stay = {link.number for link in up if all(after.port(end.device, end.port).admin_up for end in (link.a, link.b))}
    managing = {number for number in stay if management and _carries(writer, after, number, management.vid)}
    joined = {name: name for name in writer.topology.switches}
    writer.next_round()

    def rank(link: Link) -> tuple[bool, bool, bool, int]:
        number = link.number
        return link.switchable, number not in stay, number not in managing, number

    for link in sorted(up, key=rank):
        one, other = (_root(joined, end.device) for end in (link.a, link.b))
        if one != other:
            joined[one] = other
            continue
        if not link.switchable:
            raise PlanError(
                f"{link.name} is in a loop that spanning tree breaks, and the inventory does not allow to shut it: "
                "make it switchable there, or unplug it."
            )
        for end in (link.a, link.b):
            state = writer.draft.ports[end.device][end.port]
            change = PortChange(end.device, end.port, state, replace(state, admin_up=False))
            writer.step("wake", change, "shut what closes a loop before spanning tree stops")


def _root(joined: dict[str, str], name: str) -> str:
    while joined[name] != name:
        name = joined[name]
    return name


def _quiet_ports(writer: _Writer) -> set[Place]:
    """Ports that carry no frames: those that are shut, and both ends of a trunk with one end shut."""
    quiet = {(name, port) for name, ports in writer.draft.ports.items() for port, s in ports.items() if not s.admin_up}
    for number, link in writer.topology.trunks.items():
        if not is_up(writer.topology, writer.draft, number):
            quiet |= {(end.device, end.port) for end in (link.a, link.b)}
        for cable in writer.topology.cables[number]:
            places = {(end.device, end.port) for end in (cable.a, cable.b)}
            quiet |= places if places & quiet else set()
    return quiet


def _all_ports(writer: _Writer) -> list[Place]:
    return [(name, port) for name, ports in writer.draft.ports.items() for port in ports]


def _wake(writer: _Writer, after: State) -> None:
    _leave_strays(writer, after)
    writer.next_round()
    for name, switch in after.switches.items():
        for vid in sorted(switch.vids - writer.draft.vids[name]):
            writer.step("wake", VlanChange(name, vid, before=False, after=True), "create the VLAN of a new tree")
    still = _quiet_ports(writer)
    quiet = [port for port in _all_ports(writer) if port in still]
    busy = [port for port in _all_ports(writer) if port not in still]
    writer.set_ports(
        "wake",
        "set up a link while it is down",
        quiet,
        lambda name, port, now: replace(after.port(name, port), admin_up=now.admin_up),
    )
    _add_members(writer, after, busy)
    writer.next_round()
    for name, switch in after.switches.items():
        for vid, table in switch.statics.items():
            old = writer.draft.statics[name].get(vid, {})
            union = {**old, **table}
            if union != old:
                reason = "add static entries for hosts that never send in a VLAN"
                writer.step("wake", StaticsChange(name, vid, old, union), reason)
    writer.next_round()
    for name, switch in after.switches.items():
        if writer.draft.stp[name] and not switch.stp:
            reason = "the VLANs are trees already: spanning tree, which ignores VLANs, would block their links"
            writer.step("wake", StpChange(name, before=True, after=False), reason)
    writer.set_ports(
        "wake",
        "enable a link",
        _all_ports(writer),
        lambda name, port, now: replace(now, admin_up=now.admin_up or after.port(name, port).admin_up),
    )


def _leave_strays(writer: _Writer, after: State) -> None:
    """Ports that are members of VLANs before these exist, as trunks that allow all VLANs, leave those to be created."""
    made = {name: switch.vids - writer.draft.vids[name] for name, switch in after.switches.items()}

    def rule(name: str, port: str, now: PortState) -> PortState:
        strays = made[name] - after.port(name, port).vids
        return replace(now, untagged_vids=now.untagged_vids - strays, tagged_vids=now.tagged_vids - strays)

    writer.set_ports(
        "wake", "leave a VLAN before it is created, where its tree does not need it", _all_ports(writer), rule
    )


def _add_members(writer: _Writer, after: State, ports: Sequence[Place]) -> None:
    """Add memberships without changing an untagged one to a tagged one or the reverse."""

    def rule(name: str, port: str, now: PortState) -> PortState:
        aim = after.port(name, port)
        return replace(
            now,
            untagged_vids=now.untagged_vids | (aim.untagged_vids - now.tagged_vids),
            tagged_vids=now.tagged_vids | (aim.tagged_vids - now.untagged_vids),
        )

    writer.set_ports("wake", "join the VLANs of new trees", ports, rule)


def _move(writer: _Writer, after: State) -> None:
    homes = [(end.device, end.port) for end in writer.topology.homes.values()]
    writer.set_ports(
        "move",
        "move a host's frames to their new tree",
        homes,
        lambda name, port, now: replace(now, pvid=after.port(name, port).pvid),
    )


def _finish_members(writer: _Writer, after: State, ports: Sequence[Place]) -> None:
    """Set memberships, then PVID and filters; a membership that changes its form is removed and added again."""
    reason = "leave VLANs that no host sends into any more"
    writer.set_ports(
        "sleep",
        reason,
        ports,
        lambda name, port, now: replace(
            now,
            untagged_vids=now.untagged_vids & after.port(name, port).untagged_vids,
            tagged_vids=now.tagged_vids & after.port(name, port).tagged_vids,
        ),
    )
    writer.set_ports(
        "sleep",
        reason,
        ports,
        lambda name, port, now: replace(
            now, untagged_vids=after.port(name, port).untagged_vids, tagged_vids=after.port(name, port).tagged_vids
        ),
    )
    for aspect in ("pvid", "acceptance", "ingress_filtering"):
        writer.set_ports(
            "sleep",
            reason,
            ports,
            lambda name, port, now, key=aspect: replace(now, **{key: getattr(after.port(name, port), key)}),  # type: ignore[misc]
        )


def _sleep(writer: _Writer, after: State) -> None:
    ports = _all_ports(writer)
    writer.next_round()
    for name, switch in after.switches.items():  # before memberships: some switches keep entries of members only
        for vid in sorted(writer.draft.statics[name].keys() | switch.statics.keys()):
            old, new = writer.draft.statics[name].get(vid, {}), switch.statics.get(vid, {})
            if old != new:
                writer.step(
                    "sleep", StaticsChange(name, vid, old, new), "remove static entries that a VLAN no longer needs"
                )
    _finish_members(writer, after, ports)
    writer.set_ports(
        "sleep",
        "shut a link",
        ports,
        lambda name, port, now: replace(now, admin_up=now.admin_up and after.port(name, port).admin_up),
    )
    writer.next_round()
    for name, switch in after.switches.items():
        for vid in sorted(writer.draft.vids[name] - switch.vids):
            writer.step("sleep", VlanChange(name, vid, before=True, after=False), "destroy the VLAN of an old tree")
    _restart_trunks(writer, after)
    writer.set_ports("sleep", "set what is left", ports, lambda name, port, _: after.port(name, port))
    writer.next_round()
    for name, switch in after.switches.items():
        if switch.stp != writer.draft.stp[name]:
            writer.step("sleep", StpChange(name, writer.draft.stp[name], switch.stp), "start spanning tree")


def _restart_trunks(writer: _Writer, after: State) -> None:
    """Set links that stay up: those that carry no frames all at once, the others one by one."""
    trunks = sorted(writer.topology.trunks.items())
    cables = dict.fromkeys(cable for number, link in trunks for cable in (link, *writer.topology.cables[number]))
    both = {cable: [(end.device, end.port) for end in (cable.a, cable.b)] for cable in cables}
    free = [cable for cable in cables if _is_free(writer, after, both[cable])]
    rounds = [free, *([cable] for cable in cables if cable not in free)]
    for together in rounds:
        places = [place for cable in together for place in both[cable]]
        writer.set_ports(
            "sleep", "set both ends of a link that stays up", places, lambda name, port, _: after.port(name, port)
        )


def _is_free(writer: _Writer, after: State, places: Iterable[Place]) -> bool:
    changes = (PortChange(name, port, writer.draft.ports[name][port], after.port(name, port)) for name, port in places)
    return all(disruption_of(writer.topology, writer.draft, change).kind == "hitless" for change in changes)
