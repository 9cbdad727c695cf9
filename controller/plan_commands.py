"""`eeectl plan`: what would be done to a lab, in which order, and what it costs. Sends nothing."""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from controller.assignment import Statics, path_lengths, shared_learning_is_right
from controller.check import Management
from controller.errors import PlanError
from controller.inventory import find_lab, load_lab
from controller.model.lab import Lab
from controller.model.state import Change, PortChange, PortState, StaticsChange, StpChange, VlanChange, factory_state
from controller.model.topology import Topology
from controller.model.vlans import PathLengths, Route, VlanPlan
from controller.plan import Plan, Step, make_plan
from controller.regulate import multi_tree
from controller.tree_file import read_trees
from controller.trees import one_tree, shortest_routes, star_routes, written_routes

PENDING = 3
"""Exit status if there is something to do."""

ASSUMED = "as from the factory: every port up, untagged in VLAN 1, spanning tree on (assumed, nothing was observed)"

_SHOWN = 4

PolicyName = Literal["shortest", "star", "one", "file"]

plan_app = App(name="plan")


@dataclass(frozen=True, slots=True)
class Head:
    """What a plan is about, before its steps. Entries and VLANs are the most that one switch has to hold."""

    lab: str
    policy: str
    start: str
    vlans: VlanPlan
    paths: PathLengths
    static_entry_count: int
    shared_learning: bool
    off: tuple[int, ...]


def _routes(
    topology: Topology,
    lab: Lab,
    links: Collection[int],
    policy: PolicyName,
    roots: tuple[str, ...],
    trees: int,
    file: Path | None,
) -> tuple[Route, ...]:
    if (policy == "file") != (file is not None):
        raise PlanError("hand-written trees need both: --policy file and --trees FILE.")
    if policy == "file" and file is not None:
        return written_routes(topology, read_trees(file, lab))
    if policy == "star":
        return star_routes(topology, links, roots)
    if policy == "one":
        if len(roots) > 1:
            raise PlanError("one tree has one root: give --roots once, or use --policy star.")
        return one_tree(topology, links, *roots)
    if roots:
        raise PlanError("shortest-path trees have every switch as a root: leave --roots out, or use --policy star.")
    return shortest_routes(topology, links, trees)


@plan_app.default
def plan(
    lab: str = "virtual",
    /,
    *,
    policy: PolicyName = "shortest",
    roots: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    trees_per_switch: int = 1,
    trees: Path | None = None,
    off: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
    statics: Statics = "needed",
    management: str | None = None,
    every_step: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Show how a lab would be brought to multi-tree routing, proved step by step; nothing is sent.

    Exit status 3 means that there is something to do, 0 that there is not.

    Parameters
    ----------
    lab
        Name of a lab in ./inventory or among the shipped ones, or a folder.
    policy
        `shortest`: a shortest-path tree for each switch; `star`: a tree for each of --roots; `one`: one tree for all;
        `file`: the trees written in --trees.
    roots
        Switches to root trees at, for `star` and `one`.
    trees_per_switch
        Trees among which a switch's hosts are divided, for `shortest`: more parallel links in use, more VLANs.
    trees
        YAML file of hand-written trees.
    off
        Links to keep out of all trees and shut, by number or end (sw1:gi1/0/11).
    statics
        Static entries: those `needed` against flooding for ever, `all` hosts in each VLAN, or `none`.
    management
        In-band management as SWITCH:VLAN, the switch where this machine is plugged in; left out: out of band.
    every_step
        Print one line for each step, not for each kind of step.
    as_json
        Print JSON.

    """
    known = load_lab(find_lab(lab))
    way = _management(known, management)
    shut = tuple(sorted(_trunk(known, name) for name in off))
    state = factory_state(known)
    vlans, after = multi_tree(
        known,
        state,
        lambda topology, links: _routes(topology, known, links, policy, roots, trees_per_switch, trees),
        off=shut,
        keep=(way.vid,) if way else (),
        statics=statics,
    )
    made = make_plan(known, state, after, way)
    topology = Topology.of(known)
    entries = max((sum(map(len, tables.values())) for tables in vlans.statics.values()), default=0)
    learning = shared_learning_is_right(topology, vlans)
    head = Head(known.name, policy, ASSUMED, vlans, path_lengths(topology, vlans), entries, learning, shut)
    if as_json:
        print(json.dumps(_as_json(known, head, made), indent=1))
    else:
        _print_head(known, head)
        _print_steps(made, every_step=every_step)
    return PENDING if made.steps else 0


def _management(lab: Lab, text: str | None) -> Management | None:
    if text is None:
        return None
    switch, _, vid = text.rpartition(":")
    if switch not in {known.name for known in lab.switches} or not vid.isdecimal() or not 1 <= int(vid) <= 4094:
        raise PlanError(
            f"'{text}' is no way in: give a switch of the lab and a VLAN, such as {lab.switches[0].name}:1."
        )
    return Management(switch, int(vid))


def _trunk(lab: Lab, name: str) -> int:
    try:
        link = lab.find_link(name)
    except KeyError:
        raise PlanError(f"no link '{name}': name one by its number or an end, such as sw1:gi1/0/11.") from None
    if link not in tuple(lab.trunks()):
        raise PlanError(f"{link.name} is a host's only way: only links between switches can be off.")
    return link.number


def _print_head(lab: Lab, head: Head) -> None:
    links = {link.number: link.name for link in lab.links}
    print(f"lab {head.lab}, policy {head.policy}")
    print(f"start: {head.start}")
    for vlan in head.vlans.vlans:
        names = ", ".join(links[number] for number in sorted(vlan.links)) or "no cable between switches"
        print(f"VLAN {vlan.vid} for hosts of {', '.join(vlan.roots)}: {names}")
    print(
        f"{len(head.vlans.vlans)} VLANs; switches between two hosts: {head.paths.mean_switches:.2f} on average "
        f"(a host and itself included), {head.paths.longest_switches} at most"
    )
    print(
        f"at most {head.static_entry_count} static entries on one switch; how many a family holds was not asked "
        "(often 100 to 1024, from memory)"
    )
    learning = "would find every host" if head.shared_learning else "would lose frames: keep it per VLAN"
    print(f"one forwarding table for all VLANs (shared learning) {learning}")


def _print_steps(plan: Plan, *, every_step: bool) -> None:
    if not plan.steps:
        print("nothing to do")
        return
    if every_step:
        for number, step in enumerate(plan.steps, start=1):
            doing = f"{_target(step.change)}: {_what(step.change)}"
            print(f"{number:5} {step.stage:5} {doing}; {step.reason}; {step.disruption}")
    else:
        kinds: dict[tuple[str, int, str, str], list[str]] = {}
        for step in plan.steps:
            kind = step.stage, step.round, step.reason, str(step.disruption)
            kinds.setdefault(kind, []).append(_target(step.change))
        for (stage, turn, reason, cost), targets in kinds.items():
            more = f" and {len(targets) - _SHOWN} more" if len(targets) > _SHOWN else ""
            print(f"{stage:5} {turn:3} {len(targets):5} x {reason}; {cost}: {', '.join(targets[:_SHOWN])}{more}")
    print(f"{len(plan.steps)} steps, each proved: no loop, no host cut off; nothing was sent")


def _target(change: Change) -> str:
    match change:
        case PortChange():
            return f"{change.switch}:{change.port}"
        case VlanChange() | StaticsChange():
            return f"{change.switch} VLAN {change.vid}"
        case StpChange():
            return change.switch


def _what(change: Change) -> str:
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


def _as_json(lab: Lab, head: Head, plan: Plan) -> dict[str, Any]:
    links = {link.number: link.name for link in lab.links}
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
        "static_entry_count": head.static_entry_count,
        "shared_learning": head.shared_learning,
        "steps": [_step_json(step) for step in plan.steps],
    }


def _step_json(step: Step) -> dict[str, Any]:
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
