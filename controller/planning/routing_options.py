"""Routing options shared by `plan` and `apply`, and the plan that they lead to."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eee_testbed.controller.model.state import State, VlanChange
from eee_testbed.controller.model.vlans import PathLengths, Route, VlanPlan
from eee_testbed.controller.planning.assignment import Statics, path_lengths, shared_learning_is_right
from eee_testbed.controller.planning.check import Management
from eee_testbed.controller.planning.flow_control import require_no_circle
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.planning.tree_file import read_trees
from eee_testbed.controller.planning.trees import one_tree, shortest_routes, star_routes, written_routes
from eee_testbed.lab.errors import PlanError, TableFull
from eee_testbed.lab.model import Lab
from eee_testbed.lab.named_links import trunk_named
from eee_testbed.lab.topology import Topology

PolicyName = Literal["shortest", "star", "one", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingOptions:
    """Which trees, and further conditions.

    Parameters
    ----------
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
        Links to keep out of all trees and shut, by number or end (sw1:gi1/0/11); a LAG as a whole.
    statics
        Static entries: those `needed` against endless flooding, `all` hosts in each VLAN, or `none`.
    management
        In-band management as SWITCH:VLAN, the switch where this machine is plugged in; left out: the inventory's
        `way_in`, else out of band.

    """

    policy: PolicyName = "shortest"
    roots: tuple[str, ...] = ()
    trees_per_switch: int = 1
    trees: Path | None = None
    off: tuple[str, ...] = ()
    statics: Statics = "needed"
    management: str | None = None


@dataclass(frozen=True, slots=True)
class Room:
    """The switch with the least room in a table: how many entries the plan needs there, and how many it holds.

    `limit` None: no switch's limit is known, and this is the switch that needs most.
    """

    switch: str
    needed: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class Head:
    """The summary of a plan. `off` are numbers of trunks, `start` says where the start state came from."""

    lab: str
    policy: str
    start: str
    vlans: VlanPlan
    paths: PathLengths
    vlan_room: Room
    static_entry_room: Room
    shared_learning: bool
    off: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan that routing options lead to, and its summary."""

    head: Head
    plan: ProvedPlan


def work_out(lab: Lab, state: State, routing: RoutingOptions, abilities: Abilities, start: str) -> Planned:
    """Choose trees and VLANs, and plan the steps to them; PlanError if no safe plan is found."""
    management = management_of(lab, routing.management)
    off = tuple(sorted(trunk_named(lab, name).number for name in routing.off))
    vlans, after = multi_tree(
        lab,
        state,
        lambda topology, links: _routes(topology, lab, links, routing),
        off=off,
        keep=(management.vid,) if management else (),
        statics=routing.statics,
        abilities=abilities,
    )
    require_no_circle(lab, after)
    try:
        plan = make_plan(lab, state, after, management, abilities)
    except TableFull as error:
        if routing.statics == "all":
            raise PlanError(f"{error} `--statics needed` asks for the fewest entries.") from error
        raise
    topology = Topology.of(lab)
    head = Head(
        lab.name,
        routing.policy,
        start,
        vlans,
        path_lengths(topology, vlans),
        _least_room(_most_vlans(state, plan), {name: can.vlans for name, can in abilities.items()}),
        _least_room(
            {name: sum(map(len, switch.statics.values())) for name, switch in after.switches.items()},
            {name: can.static_entries for name, can in abilities.items()},
        ),
        shared_learning_is_right(topology, vlans),
        off,
    )
    return Planned(head, plan)


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


def _routes(topology: Topology, lab: Lab, links: Collection[int], routing: RoutingOptions) -> tuple[Route, ...]:
    if (routing.policy == "file") != (routing.trees is not None):
        raise PlanError("hand-written trees need both: --policy file and --trees FILE.")
    if routing.policy == "file" and routing.trees is not None:
        return written_routes(topology, read_trees(routing.trees, lab))
    if routing.policy == "star":
        return star_routes(topology, links, routing.roots)
    if routing.policy == "one":
        if len(routing.roots) > 1:
            raise PlanError("one tree has one root: give --roots once, or use --policy star.")
        return one_tree(topology, links, *routing.roots)
    if routing.roots:
        raise PlanError("shortest-path trees have every switch as a root: leave --roots out, or use --policy star.")
    return shortest_routes(topology, links, routing.trees_per_switch)


def _most_vlans(state: State, plan: Plan) -> dict[str, int]:
    """The most VLANs that each switch has at once while the plan is executed."""
    count = {name: len(switch.vids) for name, switch in state.switches.items()}
    most = dict(count)
    for change in plan.changes:
        if isinstance(change, VlanChange):
            count[change.switch] += 1 if change.after else -1
            most[change.switch] = max(most[change.switch], count[change.switch])
    return most


def _least_room(needed: dict[str, int], limits: dict[str, int | None]) -> Room:
    def share(name: str) -> tuple[float, int]:
        limit = limits.get(name)
        return (needed[name] / max(limit, 1) if limit is not None else -1.0), needed[name]

    name = max(needed, key=share)
    return Room(name, needed[name], limits.get(name))
