"""A factor of kind `regulation`: its levels survive a run's facts, and lead to proved plans."""

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from eee_testbed.controller.model.state import State, factory_state
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.regulated import baseline_of, senders_of, trunks_on
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.controller.planning.wishes import Regulated
from eee_testbed.lab.topology import Topology
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.level_wishes import level_of, regulation_at, wish_of
from eee_testbed.measuring.experiments.validation import links_of
from tests.support.graph_lab import graph_lab

LAB = graph_lab(3, [(0, 1), (0, 2), (1, 2)], [1, 1, 1])


def _experiment() -> Experiment:
    start = factory_state(LAB)
    state = make_plan(LAB, start, multi_tree(LAB, start, shortest_routes)[1]).end
    (route,) = one_tree(Topology.of(LAB), [4, 5])
    routes = tuple(((host,), route.tree.links) for host in route.hosts)
    chosen = {
        "baseline": baseline_of(senders_of(LAB, state), trunks_on(LAB, state)),
        "less": Regulated(routes, frozenset({4, 5}), frozenset({6})),
        "slow": replace(baseline_of(senders_of(LAB, state), trunks_on(LAB, state)), speed_mbps={6: 100}, eee={5: True}),
    }
    factor = {"levels": list(chosen), "choices": {name: level_of(one) for name, one in chosen.items()}}
    program = {"name": "alltoall", "parameters": {"iterations": 1, "array_byte": 4}, "hosts": ["n01", "n02"]}
    content = {"name": "x", "factors": {"regulation": factor | {"kind": "regulation"}}, "measure": {"program": program}}
    return Experiment.model_validate(content)


def test_levels_survive_the_facts_of_a_run() -> None:
    experiment = _experiment()
    stored = json.loads(json.dumps(experiment.model_dump(mode="json", by_alias=True)))
    again = Experiment.model_validate(stored)
    assert again == experiment
    for level in again.factors["regulation"].choices.values():
        assert level_of(regulation_at(level)) == level
    assert links_of(LAB, again.factors["regulation"]) == ()


def _planned(experiment: Experiment, level: str, state: State) -> ProvedPlan:
    return plan_for(Site(LAB), state, wish_of(experiment, "regulation", {"regulation": level}, LAB))


def test_levels_are_planned_from_any_other() -> None:
    """The first level may come before the baseline in the order of a run."""
    experiment = _experiment()
    start = factory_state(LAB)
    state = make_plan(LAB, start, multi_tree(LAB, start, shortest_routes)[1]).end
    less = _planned(experiment, "less", state)
    assert trunks_on(LAB, less.end) == {4, 5}
    slow = _planned(experiment, "slow", less.end)
    assert slow.end.port("sw2", "t2").speed_mbps == 100
    assert slow.end.port("sw3", "t1").eee
    back = _planned(experiment, "baseline", less.end)
    assert trunks_on(LAB, back.end) == {4, 5, 6}
    assert [group.links for group in senders_of(LAB, back.end)] == [group.links for group in senders_of(LAB, state)]


def test_a_level_without_its_choice_is_refused() -> None:
    content = _experiment().model_dump(mode="json", by_alias=True)
    content["factors"]["regulation"]["levels"].append("more")
    with pytest.raises(ValidationError, match="lacks a level of a factor of kind regulation"):
        Experiment.model_validate(content)
