"""No change that the watch over management lets pass locks a switch out, whatever a spanning tree makes of it."""

from contextlib import suppress
from dataclasses import replace
from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.state import (
    Change,
    Draft,
    PortChange,
    State,
    StpChange,
    VlanChange,
    factory_state,
    replay,
)
from eee_testbed.controller.planning.check import Management, Watch
from eee_testbed.controller.planning.management import ManagementPaths
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.controller.planning.wishes import LinkOff
from eee_testbed.lab.errors import PlanError
from tests.support.graph_lab import graph_lab
from tests.support.labs.lockouts import graphs, on_tree, passed, routed, trees
from tests.support.labs.management_walk import answering, first_lockout, worlds
from tests.support.labs.starts import tree_state
from tests.support.laws import law

LAB = graph_lab(4, [(0, 1), (0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], [1] * 4)
WAY_IN = Management("sw1", 1)
START = tree_state(LAB)
ROUTED = multi_tree(LAB, START, lambda topology, links: shortest_routes(topology, links, 1), keep=(1,))[1]
HOME = make_plan(LAB, START, ROUTED, WAY_IN).end
NAMES = frozenset(switch.name for switch in LAB.switches)


def _twist(state: State, random: Random) -> Change:
    """A change of one thing that management or spanning tree may depend on."""
    name = random.choice(sorted(state.switches))
    switch = state.switches[name]
    port = random.choice([port for port in sorted(switch.ports) if port.startswith("t")])
    vid = random.choice([1, 1, 1, 11, *sorted(switch.vids)])
    was = switch.ports[port]
    kind = random.randrange(10)
    if kind == 0:
        return VlanChange(name, vid, vid in switch.vids, vid not in switch.vids)
    if kind == 1:
        return StpChange(name, switch.stp, not switch.stp)
    now = {
        2: replace(was, admin_up=not was.admin_up),
        3: replace(was, admin_up=not was.admin_up),
        4: replace(was, tagged_vids=was.tagged_vids ^ {vid}, untagged_vids=was.untagged_vids - {vid}),
        5: replace(was, untagged_vids=was.untagged_vids ^ {vid}, tagged_vids=was.tagged_vids - {vid}),
        6: replace(was, pvid=vid),
        7: replace(was, acceptance="all" if was.acceptance == "tagged" else "tagged"),
        8: replace(was, speed_mbps=100 if was.speed_mbps is None else None),
        9: replace(was, stp=not was.stp),
    }[kind]
    return PortChange(name, port, was, now)


def _found(random: Random) -> State:
    """A routed lab some of whose switches came back with factory settings, and a few things of which changed."""
    reset = random.sample(sorted(NAMES), random.choice([0, 1, 1, 1, 2, 4]))
    state = State({**HOME.switches, **{name: factory_state(LAB).switches[name] for name in reset}})
    for _ in range(random.choice([0, 0, 1, 2])):
        state = replay([_twist(state, random)], state)
    return state


@law(60)
@given(st.randoms(use_true_random=False))
def test_no_change_that_passes_takes_the_last_path_of_a_switch_that_answers(random: Random) -> None:
    found = _found(random)
    draft, states = Draft(found), [found]
    paths = ManagementPaths(Watch(LAB, found, (), WAY_IN))
    for _ in range(6):
        change = _twist(states[-1], random)
        if paths.apply(change) is not None:
            break
        states.append(draft.apply(change).freeze())
    way_in = WAY_IN.entry, WAY_IN.vid
    if any(answering(LAB, found, way_in, world) == NAMES for world in worlds(LAB, states)):
        assert first_lockout(LAB, states, way_in) is None


def test_no_plan_that_is_proved_locks_a_switch_out_in_any_order_within_a_round() -> None:
    """Routes from each tree with and without spanning tree, then each link off."""
    for edges in (*graphs(2, 2), *graphs(3)):
        lab = graph_lab(1 + max(map(max, edges)), edges, [1] * 3)
        for switch, tree, stp in product(lab.switches, trees(edges), (False, True)):
            management = Management(switch.name, 1)
            plan = routed(lab, on_tree(lab, tree, stp=stp), management)
            plans = [plan]
            for link in lab.trunks():
                with suppress(PlanError):  # hosts, or the VLAN of management, have no other path
                    plans.append(plan_for(Site(lab, management), plan.end, LinkOff(link.name)))
            for proved in plans:
                assert first_lockout(lab, passed(proved.start, proved.steps), (switch.name, 1)) is None
            assert len(plans) > 1 or len(edges) < len(lab.switches)
