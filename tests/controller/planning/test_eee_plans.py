"""EEE and hold time on links: traffic moves away first; a link without an alternative path flaps, which is reported."""

from dataclasses import replace
from itertools import combinations

import pytest

from eee_testbed.controller.model.state import Change, Draft, PortChange, State, diff, factory_state, replay
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.controller.planning.wishes import Eee
from eee_testbed.lab.errors import NotExpressible, NoTree, PlanError
from eee_testbed.lab.model import Lab
from tests.support.graph_lab import graph_lab
from tests.support.labs.frame_walk import harms
from tests.support.labs.starts import CAN, named

LAB = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1], lag_cables={1: 2})
TRUNKS = list(LAB.trunks())


def _up(lab: Lab) -> State:
    start = factory_state(lab)
    return multi_tree(lab, start, shortest_routes if lab is LAB else one_tree)[1]


def _settings(lab: Lab, before: State, after: State) -> dict[tuple[str, str], tuple[bool, int | None]]:
    return {
        (sw.name, port): (now.eee, now.hold_us)
        for sw in lab.switches
        for port, now in after.switches[sw.name].ports.items()
        if now != before.port(sw.name, port)
    }


def _turns_eee(change: Change) -> bool:
    return isinstance(change, PortChange) and change.before.eee != change.after.eee


def _walk(lab: Lab, state: State, plan: Plan) -> State:
    draft = Draft(state)
    for step in plan.steps:
        draft.apply(step.change)
        assert not harms(lab, draft.freeze())
    return draft.freeze()


def test_trunks_in_use_get_eee_without_interrupting_traffic() -> None:
    state = _up(LAB)
    plan = plan_for(Site(LAB), state, Eee(named(TRUNKS), on=True, hold_us=600))
    assert all(step.disruption.kind == "hitless" for step in plan.steps)
    assert [step.round for step in plan.steps] == sorted(step.round for step in plan.steps)
    after = _walk(LAB, state, plan)
    places = {(end.device, end.port) for cable in LAB.trunk_cables() for end in (cable.a, cable.b)}
    assert _settings(LAB, state, after) == dict.fromkeys(places, (True, 600))
    assert not plan_for(Site(LAB), after, Eee(named(TRUNKS), on=True, hold_us=600)).steps
    off = replay(plan_for(Site(LAB), after, Eee(named(TRUNKS), on=False)).changes, after)
    assert set(_settings(LAB, after, off).values()) == {(False, 600)}


def test_as_many_trunks_go_together_as_can_be_spared() -> None:
    """Of the complete graph of five, four trunks can carry all: six go at first, of the last star all but one."""
    lab = graph_lab(5, list(combinations(range(5), 2)), [1] * 5)
    state = multi_tree(lab, factory_state(lab), shortest_routes)[1]
    plan = plan_for(Site(lab), state, Eee(named(list(lab.trunks())), on=True))
    after = _walk(lab, state, plan)
    assert set(_settings(lab, state, after).values()) == {(True, None)}
    woken: dict[int, list[Change]] = {}
    for step in plan.steps:
        if _turns_eee(step.change):
            woken.setdefault(step.round, []).append(step.change)
    assert (
        len(plan.steps)
        < sum(len(plan_for(Site(lab), state, Eee((link.name,), on=True)).steps) for link in lab.trunks()) / 2
    )
    assert [len(woken[number]) for number in sorted(woken)] == [12, 6, 2]


def test_a_hosts_link_flaps_only_if_that_is_allowed_and_says_so() -> None:
    state = _up(LAB)
    with pytest.raises(PlanError, match=r"the link at sw1:h1 restarts .* \(flap ≤ 3 s\): give --may-flap"):
        plan_for(Site(LAB), state, Eee((LAB.find_link("n01").name,), on=True))
    assert not plan_for(
        Site(LAB), state, Eee((LAB.find_link("n01").name,), on=False)
    ).steps  # nothing to do, nothing to allow
    plan = plan_for(Site(LAB), state, Eee((LAB.find_link("n01").name,), on=True, may_flap=True))
    assert [str(step.disruption) for step in plan.steps] == ["flap ≤ 3 s"]
    assert _settings(LAB, state, replay(plan.changes, state)) == {("sw1", "h1"): (True, None)}


@pytest.mark.parametrize("hold_us", [-1, 60_000_001])
def test_a_hold_out_of_range_is_refused_with_the_range(hold_us: int) -> None:
    with pytest.raises(PlanError, match=f"hold time of {hold_us} us is out of range: use 0 to 60000000 us"):
        plan_for(Site(LAB), _up(LAB), Eee((TRUNKS[0].name,), on=True, hold_us=hold_us))


def test_the_only_path_flaps_only_if_that_is_allowed() -> None:
    line = graph_lab(2, [(0, 1)], [1, 1])
    state = _up(line)
    trunk = next(line.trunks())
    with pytest.raises(NoTree):
        plan_for(Site(line), state, Eee((trunk.name,), on=True))
    plan = plan_for(Site(line), state, Eee((trunk.name,), on=True, may_flap=True))
    assert [step.disruption.kind for step in plan.steps] == ["flap", "flap"]
    assert len(diff(state, replay(plan.changes, state))) == 2


def test_hosts_in_vlans_without_a_tree_flap_only_if_that_is_allowed() -> None:
    state = factory_state(LAB)
    off = {name: replace(switch, stp=False) for name, switch in state.switches.items()}
    for end in (TRUNKS[0].a, TRUNKS[0].b):
        ports = dict(off[end.device].ports)
        ports[end.port] = replace(ports[end.port], admin_up=False)
        off[end.device] = replace(off[end.device], ports=ports)
    quiet = State(off)
    with pytest.raises(PlanError, match="apply routing to the lab first"):
        plan_for(Site(LAB), quiet, Eee((TRUNKS[1].name,), on=True))
    assert plan_for(Site(LAB), quiet, Eee((TRUNKS[1].name,), on=True, may_flap=True)).steps
    idle = plan_for(Site(LAB), quiet, Eee((TRUNKS[0].name,), on=True))
    assert [step.disruption.kind for step in idle.steps] == ["hitless", "hitless"]


def test_hold_is_set_where_the_family_can_and_refused_where_neither_end_can() -> None:
    state = _up(LAB)
    rigid = replace(CAN, hold_settable=False)
    plan = plan_for(
        Site(LAB, abilities={"sw1": rigid, "sw2": CAN, "sw3": CAN}), state, Eee((TRUNKS[0].name,), on=True, hold_us=50)
    )
    after = replay(plan.changes, state)
    assert after.port("sw1", TRUNKS[0].a.port).hold_us is None
    assert after.port("sw2", TRUNKS[0].b.port).hold_us == 50
    with pytest.raises(NotExpressible, match="hold time"):
        plan_for(Site(LAB, abilities={"sw1": rigid, "sw2": rigid}), state, Eee((TRUNKS[0].name,), on=True, hold_us=50))
    least = replace(CAN, hold_least_us=1)
    with pytest.raises(NotExpressible, match=r"a hold time of 0 us on port .* \(the shortest is 1 us\)"):
        plan_for(
            Site(LAB, abilities=dict.fromkeys(("sw1", "sw2", "sw3"), least)),
            state,
            Eee((TRUNKS[0].name,), on=True, hold_us=0),
        )
    with pytest.raises(NotExpressible, match="EEE"):
        plan_for(Site(LAB, abilities={"sw1": replace(CAN, eee_settable=False)}), state, Eee((TRUNKS[0].name,), on=True))
    assert not make_plan(LAB, state, state).steps
