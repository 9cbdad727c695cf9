"""From a choice of links to a proved plan; and flow control with trees that could wait for each other."""

from dataclasses import replace
from itertools import combinations

import pytest

from eee_testbed.controller.model.state import State, factory_state
from eee_testbed.controller.planning.flow_control import require_no_circle, waiting_circle
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.regulated import (
    baseline_of,
    covering,
    regulable_network,
    regulation_of,
    senders_of,
    trunks_on,
)
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.controller.planning.wishes import LinkOff, LinkOn
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.measuring.experiments.level_wishes import level_of, regulation_at
from eee_testbed.regulation.choice import Choice
from eee_testbed.regulation.koibuchi import koibuchi
from eee_testbed.regulation.levels import Knob, assumed_watts, levels_of
from eee_testbed.regulation.network import tree_ways
from eee_testbed.regulation.traffic import Senders, streams_of
from tests.support.graph_lab import graph_lab
from tests.support.labs.starts import routed
from tests.support.plain_check import check_plainly


def _choose(
    lab: Lab, state: State, peak: float, knob: Knob = "off", size: int = 10
) -> tuple[tuple[Senders, ...], Choice]:
    topology = Topology.of(lab)
    network = regulable_network(lab, state)
    senders = senders_of(lab, state)
    homes = {host: end.device for host, end in topology.homes.items()}
    sizes = {(a, b): size for a in homes for b in homes if a != b}
    streams = streams_of(senders, homes, sizes)
    trees = [tree_ways(network, group.root, group.links) for group in senders]
    levels = levels_of(network, knob, dict.fromkeys(network.trunks, peak), assumed_watts, members=True)
    return senders, koibuchi(network, streams, trees, levels)


def _complete(count: int, parallel: int = 1) -> Lab:
    return graph_lab(count, [pair for pair in combinations(range(count), 2) for _ in range(parallel)], [2] * count)


def test_a_choice_is_planned_and_taken_back() -> None:
    """Links go off under a proof, and the way to the baseline is proved too: the same trees, all links on."""
    lab = _complete(4, parallel=2)
    state = routed(lab)
    senders, choice = _choose(lab, state, 61)
    assert 0 < len(choice.off) < len(choice.levels)
    plan = plan_for(Site(lab), state, regulation_of(senders, choice))
    assert trunks_on(lab, plan.end) == frozenset(choice.levels) - choice.off
    found = {group.hosts: group.links for group in senders_of(lab, plan.end)}
    assert found == dict(regulation_of(senders, choice).routes)
    back = plan_for(Site(lab), plan.end, baseline_of(senders, trunks_on(lab, state)))
    assert trunks_on(lab, back.end) == trunks_on(lab, state)
    assert [group.links for group in senders_of(lab, back.end)] == [group.links for group in senders]


def _widths(lab: Lab, state: State) -> dict[int, int]:
    return {number: trunk.width for number, trunk in regulable_network(lab, state).trunks.items()}


@pytest.mark.slow
def test_cables_of_lags_go_off_one_by_one_and_come_back() -> None:
    """Koibuchi's network is made of aggregates: each keeps as many cables as its traffic needs."""
    lab = graph_lab(4, [*combinations(range(4), 2)], [2] * 4, lag_cables=dict.fromkeys(range(6), 4))
    state = routed(lab)
    lag = lab.lags[0]
    assert {(trunk.rate_mbps, trunk.width) for trunk in regulable_network(lab, state).trunks.values()} == {(1000, 4)}
    found = plan_for(Site(lab), state, LinkOff(lag.members[1].name)).end
    assert _widths(lab, found)[lag.link.number] == 3
    senders, choice = _choose(lab, found, 30)
    assert {level.name for level in choice.levels.values()} >= {"2 of 4"}
    chosen = covering(
        {"baseline": baseline_of(senders, trunks_on(lab, found)), "less": regulation_of(senders, choice)}, found, lab
    )
    less = plan_for(Site(lab), found, chosen["less"])
    check_plainly(lab, found, less.changes)
    assert _widths(lab, less.end) == {number: level.cables for number, level in choice.levels.items() if level.cables}
    again = level_of(chosen["less"])
    assert regulation_at(again) == chosen["less"]
    assert dict(again.cables) == dict(chosen["less"].cables)
    back = plan_for(Site(lab), less.end, chosen["baseline"])
    assert _widths(lab, back.end) == _widths(lab, found)
    assert {step.disruption.kind for step in (*less.steps, *back.steps)} == {"hitless"}
    many = replace(chosen["less"], cables={lag.link.number: 5})
    with pytest.raises(PlanError, match="has 4 cables: 5 of them cannot be on"):
        plan_for(Site(lab), state, many)


def test_a_lag_without_another_path_loses_cables_and_frames_as_its_steps_say() -> None:
    lab = graph_lab(2, [(0, 1)], [2, 2], lag_cables={0: 3})
    state = routed(lab)
    senders, choice = _choose(lab, state, 41)
    assert [level.name for level in choice.levels.values()] == ["1 of 3"]
    plan = plan_for(Site(lab), state, regulation_of(senders, choice))
    assert {str(step.disruption) for step in plan.steps} == {"loss ≤ 0.75 s"}
    assert _widths(lab, plan.end) == dict.fromkeys(choice.levels, 1)


def test_the_baseline_of_a_lab_that_has_it_changes_nothing() -> None:
    lab = _complete(3)
    state = routed(lab)
    assert not plan_for(Site(lab), state, baseline_of(senders_of(lab, state), trunks_on(lab, state))).changes


@pytest.mark.parametrize("knob", ["speed", "eee"])
def test_speeds_and_eee_are_set_and_reset(knob: Knob) -> None:
    lab = _complete(4)
    state = routed(lab)
    senders, choice = _choose(lab, state, 1000, knob)
    chosen = covering(
        {"baseline": baseline_of(senders, trunks_on(lab, state)), "less": regulation_of(senders, choice)}, state, lab
    )
    plan = plan_for(Site(lab), state, chosen["less"])
    link = Topology.of(lab).trunks[min(choice.levels)]
    port = plan.end.port(link.a.device, link.a.port)
    assert (port.speed_mbps, port.eee) == ((100, False) if knob == "speed" else (None, True))
    back = plan_for(Site(lab), plan.end, chosen["baseline"]).end
    for link in lab.trunks():
        for end in (link.a, link.b):
            now, was = back.port(end.device, end.port), state.port(end.device, end.port)
            assert (now.admin_up, now.speed_mbps, now.eee) == (was.admin_up, was.speed_mbps, was.eee)


def test_a_lab_without_trees_is_refused() -> None:
    lab = _complete(3)
    with pytest.raises(PlanError, match="run `eeectl apply` first"):
        senders_of(lab, factory_state(lab))


def _with_flow_control(state: State, *, without: str = "") -> State:
    switches = {
        name: replace(
            switch, ports={port: replace(one, flow_control=name != without) for port, one in switch.ports.items()}
        )
        for name, switch in state.switches.items()
    }
    return State(switches)


def test_a_ring_of_shortest_paths_with_flow_control_is_refused() -> None:
    lab = graph_lab(5, [(n, (n + 1) % 5) for n in range(5)], [1] * 5)
    state = _with_flow_control(factory_state(lab))
    _, after = multi_tree(lab, state, shortest_routes)
    assert len(waiting_circle(lab, after)) == 5
    with pytest.raises(PlanError, match=r"802.3x.*sw\d -> sw\d -> sw\d -> sw\d -> sw\d -> sw\d over sw\d:t\d--"):
        require_no_circle(lab, after)
    require_no_circle(lab, multi_tree(lab, state, one_tree)[1])
    require_no_circle(lab, multi_tree(lab, _with_flow_control(factory_state(lab), without="sw3"), shortest_routes)[1])
    require_no_circle(lab, multi_tree(lab, factory_state(lab), shortest_routes)[1])


def test_a_link_that_would_close_the_circle_is_not_switched_on() -> None:
    lab = graph_lab(5, [(n, (n + 1) % 5) for n in range(5)], [1] * 5)
    start = _with_flow_control(factory_state(lab))
    last = max(Topology.of(lab).trunks)
    _, state = multi_tree(lab, start, shortest_routes, off=(last,))
    with pytest.raises(PlanError, match="wait for each other forever"):
        plan_for(Site(lab), state, LinkOn(Topology.of(lab).trunks[last].name))
