"""A plan as text and as JSON, the same for every command that shows one."""

from dataclasses import asdict
from typing import Any

from eee_testbed.controller.model.config_text import WHOLE_SWITCH
from eee_testbed.controller.model.state import Change, PortChange, PortState, StaticsChange, StpChange, VlanChange
from eee_testbed.controller.planning.multi_tree import Head, Room
from eee_testbed.controller.planning.proof import ProvedPlan, ProvedRollback
from eee_testbed.controller.planning.steps import Plan, Step
from eee_testbed.lab.counted_text import counted
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.lab.model import Lab

_SHOWN_COUNT = 4
_INDENT = 12  # of what a narrow terminal wraps, below what is done


def print_head(lab: Lab, head: Head) -> None:
    """Print a plan's trees and path lengths, and how much of the switches' tables it needs."""
    links = {link.number: link.name for link in lab.trunks()}
    print_text(f"lab {head.lab}, policy {head.policy}")
    print_text(f"start: {head.start}")
    for vlan in head.vlans.vlans:
        names = ", ".join(links[number] for number in sorted(vlan.links)) or "no cable between switches"
        print_text(f"VLAN {vlan.vid} for hosts of {', '.join(vlan.roots)}: {names}")
    print_text(
        f"{len(head.vlans.vlans)} VLANs; switches between two hosts: {head.paths.mean_switches:.2f} on average "
        f"(a host and itself included), {head.paths.longest_switches} at most"
    )
    print_text(f"VLANs at once, the default one included: {_room(head.vlan_room)}")
    print_text(f"static entries: {_room(head.static_entry_room)}")
    learning = "would find every host" if head.shared_learning else "would lose frames: keep one table for each VLAN"
    print_text(f"one forwarding table for all VLANs (shared learning) {learning}")


def _room(room: Room) -> str:
    if room.limit is None:
        return f"{room.needed} on {room.switch} at most; its limit is unknown: what it accepts is read back"
    return f"{room.needed} of {room.limit} on {room.switch}, which has the least room"


def print_steps(plan: Plan, *, every_step: bool = False) -> None:
    """Print a plan's steps, one line for each kind of step, or for each step."""
    if not plan.steps:
        print_text("nothing to do")
        return
    if every_step:
        for number, step in enumerate(plan.steps, start=1):
            doing = f"{target_of(step.change)}: {words_of(step.change)}"
            print_text(f"{number:5} {step.stage:5} {doing}; {step.reason}; {step.disruption}", indent=_INDENT)
    else:
        kinds: dict[tuple[str, int, str, str], list[str]] = {}
        for step in plan.steps:
            kind = step.stage, step.round, step.reason, str(step.disruption)
            kinds.setdefault(kind, []).append(target_of(step.change))
        for (stage, number, reason, cost), targets in kinds.items():
            more = f" and {len(targets) - _SHOWN_COUNT} more" if len(targets) > _SHOWN_COUNT else ""
            summary = f"{reason}; {cost}: {', '.join(targets[:_SHOWN_COUNT])}{more}"
            print_text(f"{stage:5} {number:3} {len(targets):5} x {summary}", indent=_INDENT)
    print_text(f"{counted(len(plan.steps), 'step')}, each proved: {_proved(plan)}")
    for phrase in lost_lines(plan):
        print_text(f"a rollback cannot type this line again: {phrase}")


def _proved(plan: Plan) -> str:
    """What holds after each step; of a rollback, against the state that it starts from."""
    if not isinstance(plan, ProvedRollback):
        return "no loop, no host cut off"
    kept = "no new loop" if plan.management is None else "no new loop, no switch that answers loses its management"
    if not plan.parted:
        return f"{kept}, no hosts cut apart that reach each other now"
    return f"{kept}; {parted_hosts(plan)}"


def parted_hosts(plan: ProvedRollback) -> str:
    """Which hosts a rollback cuts apart until its end; it has to cut some."""
    names = ", ".join(" and ".join(pair) for pair in plan.parted[:_SHOWN_COUNT])
    more = f" and {counted(len(plan.parted) - _SHOWN_COUNT, 'pair')} more" if len(plan.parted) > _SHOWN_COUNT else ""
    return f"cut apart until the end, though they reach each other now: {names}{more}"


def lost_lines(plan: Plan) -> tuple[str, ...]:
    """Lines of configurations that a plan replaces and that no rollback restores, a phrase each."""
    if not isinstance(plan, ProvedPlan):
        return ()
    lines: dict[str, None] = {}
    for change in plan.changes:
        text = plan.start.switches[change.switch].text
        place = change.port if isinstance(change, PortChange) else WHOLE_SWITCH
        for lost in text.lost.get(place, ()) if text is not None else ():
            if _sets(change, lost.setting):
                lines[f"`{lost.line}` of {target_of(change)}"] = None
    return tuple(lines)


def _sets(change: Change, setting: str) -> bool:
    match change:
        case PortChange():
            return bool(getattr(change.before, setting) != getattr(change.after, setting))
        case StpChange():
            return setting == "stp"
        case _:
            return False


def target_of(change: Change) -> str:
    """What a change applies to, by the name that people use."""
    match change:
        case PortChange():
            return f"{change.switch}:{change.port}"
        case VlanChange() | StaticsChange():
            return f"{change.switch} VLAN {change.vid}"
        case StpChange():
            return change.switch


def words_of(change: Change) -> str:
    """What a change does."""
    match change:
        case PortChange():
            pairs = zip(_settings(change.before).items(), _settings(change.after).values(), strict=True)
            return ", ".join(f"{key} {old} -> {new}" for (key, old), new in pairs if old != new)
        case VlanChange():
            return "create" if change.after else "destroy"
        case StaticsChange():
            new, old = dict(change.after), dict(change.before)
            return f"{len(new.items() - old.items())} entries more, {len(old.items() - new.items())} fewer"
        case StpChange():
            return f"spanning tree {'on' if change.after else 'off'}"


def _settings(state: PortState) -> dict[str, Any]:
    return {key: sorted(v) if isinstance(v, frozenset) else v for key, v in asdict(state).items()}


def plan_json(lab: Lab, head: Head, plan: Plan) -> dict[str, Any]:
    """Everything about a plan, for `json.dumps`."""
    links = {link.number: link.name for link in lab.trunks()}
    return {
        "lab": head.lab,
        "policy": head.policy,
        "start": head.start,
        "off": [links[number] for number in head.off],
        "vlans": [
            {"vid": vlan.vid, "switches": vlan.roots, "links": [links[number] for number in sorted(vlan.links)]}
            for vlan in head.vlans.vlans
        ],
        "pvids": dict(head.vlans.pvids),
        "paths": asdict(head.paths),
        "vlan_room": asdict(head.vlan_room),
        "static_entry_room": asdict(head.static_entry_room),
        "shared_learning": head.shared_learning,
        "steps": [step_json(step) for step in plan.steps],
        "lost_lines": lost_lines(plan),
    }


def step_json(step: Step) -> dict[str, Any]:
    """One step, for `json.dumps`; of a port only what changes."""
    change = step.change
    values = [_settings(v) if isinstance(v, PortState) else _table(v) for v in (change.before, change.after)]
    if isinstance(change, PortChange):
        values = [{key: value[key] for key in value if values[0][key] != values[1][key]} for value in values]
    length_s = step.disruption.length_s
    return {
        "stage": step.stage,
        "round": step.round,
        "kind": type(change).__name__.removesuffix("Change").lower(),
        "switch": change.switch,
        "port": getattr(change, "port", None),
        "vid": getattr(change, "vid", None),
        "before": values[0],
        "after": values[1],
        "reason": step.reason,
        "disruption": step.disruption.kind,
        "length_s": None if length_s == float("inf") else length_s,
    }


def _table(value: object) -> Any:
    return {mac.hex(":"): port for mac, port in value.items()} if isinstance(value, dict) else value
