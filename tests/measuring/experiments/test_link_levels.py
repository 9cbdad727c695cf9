"""A factor over several links sets them together, whatever they were before."""

import pytest

from eee_testbed.controller.model.state import PortChange, State, factory_state
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.proof import ProvedPlan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.regulated import trunks_on
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.controller.planning.wishes import LinkOff
from eee_testbed.lab.topology import Topology
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.level_wishes import wish_of
from tests.support.graph_lab import graph_lab

LAB = graph_lab(4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], [1, 1, 1, 1])
TRUNKS = Topology.of(LAB).trunks
SPARE = sorted(TRUNKS)[-3:]


def _state() -> State:
    start = factory_state(LAB)
    return make_plan(LAB, start, multi_tree(LAB, start, shortest_routes)[1]).end


def _to(level: str, state: State, kind: str = "link") -> ProvedPlan:
    links = [str(TRUNKS[number].a) for number in SPARE]
    factor = {"links": links, "levels": ["on", "off", "half"] if kind == "link" else ["auto", 100]}
    program = {"name": "alltoall", "parameters": {"iterations": 1, "array_byte": 4}, "hosts": ["n01", "n02"]}
    experiment = Experiment.model_validate({"name": "x", "factors": {kind: factor}, "measure": {"program": program}})
    return plan_for(Site(LAB), state, wish_of(experiment, kind, {kind: level}, LAB))


def _rounds_of_ports(plan: ProvedPlan, *, up: bool) -> set[int]:
    """Rounds in which ports are enabled, or shut."""
    return {
        step.round
        for step in plan.steps
        if isinstance(step.change, PortChange)
        and step.change.before.admin_up != up
        and step.change.after.admin_up == up
    }


def test_links_are_woken_together() -> None:
    """Each link needs seconds to come up: one after the other they took three times as long."""
    off = _to("off", _state())
    assert trunks_on(LAB, off.end) == TRUNKS.keys() - set(SPARE)
    assert len(_rounds_of_ports(off, up=False)) == 1
    on = _to("on", off.end)
    assert trunks_on(LAB, on.end) == TRUNKS.keys()
    assert len(_rounds_of_ports(on, up=True)) == 1


@pytest.mark.parametrize("level", ["on", "off", "half"])
def test_a_level_is_reached_from_links_of_which_some_are_there_already(level: str) -> None:
    state = plan_for(Site(LAB), _state(), LinkOff(TRUNKS[SPARE[0]].name)).end
    end = _to(level, state).end
    ends = [(link.a, link.b) for link in (TRUNKS[number] for number in SPARE)]
    up = [tuple(end.port(one.device, one.port).admin_up for one in pair) for pair in ends]
    assert up == [{"on": (True, True), "off": (False, False), "half": (True, False)}[level]] * len(SPARE)
    assert not _to(level, end).steps


def test_links_negotiate_their_speeds_together() -> None:
    """Each restart takes seconds, too."""
    plan = _to("100", _state(), "speed_mbps")
    changes = [(step.round, step.change) for step in plan.steps if isinstance(step.change, PortChange)]
    assert len({place for place, one in changes if one.before.speed_mbps != one.after.speed_mbps}) == 1
    ends = [end for number in SPARE for end in (TRUNKS[number].a, TRUNKS[number].b)]
    assert {plan.end.port(end.device, end.port).speed_mbps for end in ends} == {100}
    assert not _to("100", plan.end, "speed_mbps").steps
