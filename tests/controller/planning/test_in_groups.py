"""Where a switch cannot hold old and new VLANs at once, hosts move in groups, as safely as all at once."""

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import combinations

import networkx as nx
import pytest

from eee_testbed.controller.model.state import Draft, State, factory_state
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.planning.plan import invert, make_plan
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.lab.errors import TableFull
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from tests.support.graph_lab import graph_lab
from tests.support.labs.frame_walk import harms
from tests.support.labs.starts import CAN, routed
from tests.support.plain_check import check_plainly

_GRAPHS = [
    graph for graph in nx.graph_atlas_g()[1:]
    if nx.is_connected(graph) and not nx.has_bridges(graph) and 3 <= graph.number_of_nodes() <= 5
]  # fmt: skip


def _holding(lab: Lab, **limits: int) -> Abilities:
    return {switch.name: replace(CAN, **limits) for switch in lab.switches}  # type: ignore[arg-type]


def _most(state: State, plan: ProvedPlan, limit: str) -> int:
    """The most of what a limit counts that any switch holds on the way."""
    draft = Draft(state)
    most = 0
    for change in (None, *plan.changes):
        if change is not None:
            draft.apply(change)
        for name, tables in draft.statics.items():
            ports = Counter(port for table in tables.values() for port in table.values())
            counts = {"vlans": len(draft.vids[name]), "static_entries": ports.total()}
            counts["static_entries_per_port"] = max(ports.values(), default=0)
            most = max(most, counts[limit])
    return most


def _require_safe(lab: Lab, state: State, plan: ProvedPlan) -> None:
    """By slow and by independent code; also the way back."""
    for start, changes in ((state, plan.changes), (plan.end, invert(lab, state, plan).changes)):
        check_plainly(lab, start, changes)
        draft = Draft(start)
        for change in changes:
            draft.apply(change)
            assert not harms(lab, draft.freeze()), change


@pytest.mark.slow
def test_over_small_graphs_every_table_that_holds_old_and_new_one_group_at_a_time_suffices() -> None:
    moved_in_groups = 0
    for graph in _GRAPHS:
        count = graph.number_of_nodes()
        lab = graph_lab(count, graph.edges, [1] * count)
        state = routed(lab)
        off = {min(link.number for link in lab.trunks())}
        after = multi_tree(lab, state, shortest_routes, off=off)[1]
        together = make_plan(lab, state, after)
        least = max(len(switch.vids) for one in (state, after) for switch in one.switches.values())
        plans = []
        for vlans in range(_most(state, together, "vlans"), least - 1, -1):
            try:
                plan = make_plan(lab, state, after, abilities=_holding(lab, vlans=vlans))
            except TableFull:
                break
            assert plan.end == together.end
            assert _most(state, plan, "vlans") <= vlans
            plans.append(plan)
        moved_in_groups += len(plans) > 1
        if count <= 4 or len(plans) > 2:
            _require_safe(lab, state, plans[-1])
    assert moved_in_groups > len(_GRAPHS) // 2


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["static_entries_per_port", "static_entries", "vlans"])
def test_many_trees_become_others_where_tables_hold_half_as_much_again(limit: str) -> None:
    """Two trees for each switch: a host's port has an entry in each VLAN but one."""
    lab = graph_lab(4, [*combinations(range(4), 2)] * 2, [2] * 4)
    state = factory_state(lab)
    state = make_plan(lab, state, multi_tree(lab, state, partial(shortest_routes, trees_per_switch=2))[1]).end
    assert len({state.port(end.device, end.port).pvid for end in Topology.of(lab).homes.values()}) == 8
    off = {link.number for link in tuple(lab.trunks())[::4]}
    after = multi_tree(lab, state, partial(shortest_routes, trees_per_switch=2), off=off)[1]
    together = make_plan(lab, state, after)
    least = max(_most(one, make_plan(lab, one, one), limit) for one in (state, after))
    room = least + least // 2
    assert _most(state, together, limit) > room
    plan = make_plan(lab, state, after, abilities=_holding(lab, **{limit: room}))
    assert plan.end == together.end
    assert _most(state, plan, limit) <= room
    _require_safe(lab, state, plan)
    with pytest.raises(TableFull, match=f"it holds {least - 1}"):
        make_plan(lab, state, after, abilities=_holding(lab, **{limit: least - 1}))
