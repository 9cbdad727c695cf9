"""Multi-tree routing as somebody wishes it: the plan, and the summary that `plan` and `apply` show of it. Pure."""

from collections.abc import Collection
from dataclasses import dataclass

from eee_testbed.controller.model.state import State, VlanChange
from eee_testbed.controller.model.vlans import PathLengths, Route, VlanPlan
from eee_testbed.controller.planning.assignment import path_lengths, shared_learning_is_right
from eee_testbed.controller.planning.flow_control import require_no_circle
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.planning.trees import one_tree, shortest_routes, star_routes, written_routes
from eee_testbed.controller.planning.wishes import MultiTree
from eee_testbed.lab.errors import PlanError, TableFull
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology


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


def multi_tree_plan(site: Site, state: State, wish: MultiTree) -> ProvedPlan:
    """Choose trees and VLANs, and plan the steps to them; PlanError if no safe plan is found."""
    _, after = _aim(site, state, wish)
    require_no_circle(site.lab, after)
    try:
        return site.plan(state, after)
    except TableFull as error:
        if wish.statics == "all":
            raise PlanError(f"{error} `--statics needed` asks for the fewest entries.") from error
        raise


def head_of(lab: Lab, wish: MultiTree, plan: ProvedPlan, start: str = "as the switches are now") -> Head:
    """The summary of the plan of a wish; `start` says where the state that it starts from came from."""
    vlans, after = _aim(Site(lab, plan.management, plan.abilities), plan.start, wish)
    topology = Topology.of(lab)
    return Head(
        lab.name,
        wish.policy,
        start,
        vlans,
        path_lengths(topology, vlans),
        _least_room(_most_vlans(plan.start, plan), {name: can.vlans for name, can in plan.abilities.items()}),
        _least_room(
            {name: sum(map(len, switch.statics.values())) for name, switch in after.switches.items()},
            {name: can.static_entries for name, can in plan.abilities.items()},
        ),
        shared_learning_is_right(topology, vlans),
        wish.off,
    )


def _aim(site: Site, state: State, wish: MultiTree) -> tuple[VlanPlan, State]:
    return multi_tree(
        site.lab,
        state,
        lambda topology, links: _routes(topology, links, wish),
        off=wish.off,
        keep=site.kept_vids,
        statics=wish.statics,
        abilities=site.abilities,
    )


def _routes(topology: Topology, links: Collection[int], wish: MultiTree) -> tuple[Route, ...]:
    if wish.policy == "file":
        return written_routes(topology, wish.trees)
    if wish.policy == "star":
        return star_routes(topology, links, wish.roots)
    if wish.policy == "one":
        if len(wish.roots) > 1:
            raise PlanError("one tree has one root: give --roots once, or use --policy star.")
        return one_tree(topology, links, *wish.roots)
    if wish.roots:
        raise PlanError("shortest-path trees have every switch as a root: leave --roots out, or use --policy star.")
    return shortest_routes(topology, links, wish.trees_per_switch)


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
