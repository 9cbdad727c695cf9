"""Link aggregation: LAGs derived from a table of cables, and plans over labs with LAGs, as frames walk them."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.state import PortChange, PortState, State, factory_state, replay
from eee_testbed.controller.planning.check import check
from eee_testbed.controller.planning.plan import invert, make_plan
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import multi_tree, trunks_off
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.steps import Plan
from eee_testbed.controller.planning.trees import one_tree, shortest_routes
from eee_testbed.controller.planning.wishes import Eee, LinkOff, LinkOn, LinkSpeed
from eee_testbed.eeectl.tree_file import read_trees
from eee_testbed.lab.errors import InventoryError, NoTree, PlanError, UnsafePlan
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import End, Lab
from eee_testbed.lab.topology import Topology
from tests.support import ROOT
from tests.support.graph_lab import graph_lab
from tests.support.labs.frame_walk import harms, walked
from tests.support.labs.starts import tree_state
from tests.support.laws import law
from tests.support.plain_check import check_plainly, faults_of

VIRTUAL = ROOT / "inventory" / "virtual"
TRIANGLE = graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1], lag_cables={0: 2})
LAG = TRIANGLE.lags[0]


def _walk(lab: Lab, state: State, plan: Plan) -> State:
    return walked(lab, state, plan.changes)


def _folder(tmp_path: Path, lags: dict[int, str]) -> Path:
    """The lab `virtual` with a column of LAGs, by place among the 30 cables between switches from 0."""
    folder = tmp_path / "lagged"
    folder.mkdir()
    for name in ("hosts.yml", "outlets.csv"):
        (folder / name).write_bytes((VIRTUAL / name).read_bytes())
    head, *rows = (VIRTUAL / "cables.csv").read_text(encoding="utf-8").splitlines()
    lines = [f"{head},lag", *(f"{row},{lags.get(n - 12, '')}" for n, row in enumerate(rows))]
    (folder / "cables.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_cables_with_one_number_between_two_switches_are_one_lag(tmp_path: Path) -> None:
    lab = load_lab(_folder(tmp_path, {0: "1", 1: "1", 18: "1", 19: "1", 2: "7"}))
    assert [(lag.number, len(lag.members), lag.link.rate_mbps) for lag in lab.lags] == [
        (1, 2, 2000),
        (7, 1, 1000),
        (1, 2, 2000),
    ]
    first = lab.lags[0]
    assert (first.link.a, first.link.b) == (End("sw1", "lag1"), End("sw2", "lag1"))
    assert first.ports_at("sw1") == ("gi1/0/11", "gi1/0/12")
    assert first.ports_at("sw3") == ()
    assert len(list(lab.trunk_cables())) == 30
    assert len(list(lab.trunks())) == 28
    assert lab.find_trunk("sw1:gi1/0/12") == lab.find_trunk("sw2:lag1") == first.link
    assert lab.find_link("sw1:gi1/0/12") in lab.links
    state = factory_state(lab)
    assert state.port("sw1", "gi1/0/12") == PortState(lag=1)
    assert state.port("sw1", "lag1") == PortState()
    _, after = multi_tree(lab, state, shortest_routes)
    assert make_plan(lab, state, after).steps


@pytest.mark.parametrize(
    ("lags", "words"),
    [
        ({-12: "1"}, "ends at a node"),
        ({0: "1", 2: "1"}, "sw1 has a LAG 1 already"),
        ({0: "0"}, "greater than or equal to 1"),
        ({0: "one"}, "one"),
    ],
)
def test_a_wrong_lag_is_reported_with_its_line(tmp_path: Path, lags: dict[int, str], words: str) -> None:
    with pytest.raises(InventoryError) as caught:
        load_lab(_folder(tmp_path, lags))
    problem = caught.value.problems[0]
    assert words in problem.sentence
    assert problem.key == "lag"
    assert problem.line == max(lags) + 14
    assert problem.remedy


def test_a_lag_has_eight_cables_of_one_rate(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has 9 cables"):
        graph_lab(2, [(0, 1)], [1, 1], lag_cables={0: 9})
    folder = _folder(tmp_path, {0: "1", 1: "1"})
    text = (folder / "cables.csv").read_text(encoding="utf-8")
    (folder / "cables.csv").write_text(text.replace("sw2:gi1/0/12,1000", "sw2:gi1/0/12,100"), encoding="utf-8")
    with pytest.raises(InventoryError, match="different rates"):
        load_lab(folder)


def test_written_trees_name_a_lag_by_any_of_its_cables_or_ends(tmp_path: Path) -> None:
    file = tmp_path / "trees.yml"
    for name in ("sw1:t2", "sw2:lag1", LAG.link.name, "4", "5"):
        file.write_text(f"trees: [{{switches: [sw1, sw2, sw3], links: ['{name}', 'sw2:t3']}}]", encoding="utf-8")
        assert read_trees(file, TRIANGLE)[0][1] == {LAG.link.number, TRIANGLE.find_trunk("sw2:t3").number}


def test_trees_prefer_the_lag_of_two_parallel_paths() -> None:
    lab = graph_lab(2, [(0, 1), (0, 1)], [1, 1], lag_cables={1: 3})
    topology = Topology.of(lab)
    assert one_tree(topology, topology.trunks)[0].tree.links == {lab.lags[0].link.number}


def test_a_plan_requires_a_missing_lag_and_never_sets_it_up() -> None:
    start = tree_state(TRIANGLE)
    ports = dict(start.switches["sw1"].ports)
    ports["t2"] = PortState()
    bare = State({**start.switches, "sw1": replace(start.switches["sw1"], ports=ports)})
    with pytest.raises(PlanError, match=r"sw1: t2 should be members of LAG 1.*set up the static LAG 1 of t1, t2"):
        multi_tree(TRIANGLE, bare, shortest_routes)
    with pytest.raises(PlanError, match="close a loop beside LAG 1: sw1:t2--sw2:t2"):
        make_plan(TRIANGLE, bare, start)
    ports = dict(start.switches["sw1"].ports)
    ports["h1"] = PortState(lag=4)
    with pytest.raises(PlanError, match=r"LAG 4, which cables.csv does not list"):
        multi_tree(
            TRIANGLE,
            State({**start.switches, "sw1": replace(start.switches["sw1"], ports=ports)}),
            shortest_routes,
        )


def test_a_lag_lives_while_one_of_its_cables_does() -> None:
    lab = graph_lab(2, [(0, 1)], [1, 1], lag_cables={0: 2})
    start = tree_state(lab)
    state = replay(make_plan(lab, start, multi_tree(lab, start, one_tree)[1]).changes, start)
    hosts = [host.name for host in lab.hosts]

    def shut(switch: str, port: str, state: State) -> PortChange:
        was = state.port(switch, port)
        return PortChange(switch, port, was, replace(was, admin_up=False))

    one = shut("sw1", "t1", state)
    check(lab, state, [one])
    half = replay([one], state)
    assert not harms(lab, half)
    other = shut("sw2", "t2", half)  # the other cable: each has one end shut now
    with pytest.raises(UnsafePlan, match="cut hosts apart"):
        check(lab, half, [other])
    with pytest.raises(UnsafePlan, match="cut hosts apart"):
        check_plainly(lab, half, [other])
    assert harms(lab, replay([other], half)) == {"cut"}
    assert faults_of(lab, replay([other], half), hosts)
    slow = [
        PortChange(sw, port, state.port(sw, port), replace(state.port(sw, port), speed_mbps=speed))
        for port in ("t1", "t2")
        for sw, speed in (("sw1", 100), ("sw2", 10))
    ]
    with pytest.raises(UnsafePlan, match="step 4"):
        check(lab, state, slow)


def test_off_shuts_a_lag_and_its_cables_and_on_wakes_them() -> None:
    start = tree_state(TRIANGLE)
    state = replay(make_plan(TRIANGLE, start, multi_tree(TRIANGLE, start, shortest_routes)[1]).changes, start)
    with pytest.raises(PlanError, match="part of a LAG"):
        plan_for(Site(TRIANGLE), state, LinkSpeed((TRIANGLE.find_link("sw1:t2").name,), 100))
    plan = plan_for(Site(TRIANGLE), state, LinkOff(LAG.link.name))
    assert all(step.disruption.kind == "hitless" for step in plan.steps)
    off = _walk(TRIANGLE, state, plan)
    assert trunks_off(TRIANGLE, off) == {LAG.link.number}
    assert not any(off.port(sw, port).admin_up for sw in ("sw1", "sw2") for port in (*LAG.ports_at(sw), "lag1"))
    on = _walk(TRIANGLE, off, plan_for(Site(TRIANGLE), off, LinkOn(LAG.link.name)))
    assert not trunks_off(TRIANGLE, on)
    assert all(on.port("sw1", port).admin_up for port in ("t1", "t2", "lag1"))
    slow = _walk(TRIANGLE, on, plan_for(Site(TRIANGLE), on, LinkSpeed((LAG.link.name,), 100)))
    assert [slow.port("sw1", port).speed_mbps for port in ("t1", "t2", "lag1")] == [100, 100, None]
    with pytest.raises(PlanError, match="at most 1000 Mb/s"):
        plan_for(Site(TRIANGLE), on, LinkSpeed((LAG.link.name,), 2500))


@law(25)
@given(st.data())
def test_any_sequence_of_regulation_over_lags_keeps_all_hosts_joined(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 4))
    edges = [(data.draw(st.integers(0, n - 1)), n) for n in range(1, count)]
    place = st.integers(0, count - 1)
    edges += [e for e in data.draw(st.lists(st.tuples(place, place), max_size=4)) if e[0] != e[1]]
    lags = data.draw(st.dictionaries(st.integers(0, len(edges) - 1), st.integers(1, 3), min_size=1))
    lab = graph_lab(count, edges, [1] * count, lag_cables=lags)
    start = factory_state(lab) if data.draw(st.booleans()) else tree_state(lab)
    after = multi_tree(lab, start, shortest_routes)[1]
    plan = make_plan(lab, start, after)
    check_plainly(lab, start, plan.changes)
    state = _walk(lab, start, plan)
    assert state == after
    assert replay((*plan.changes, *invert(lab, start, plan).changes), start) == start
    for _ in range(data.draw(st.integers(1, 3))):
        link = data.draw(st.sampled_from(sorted(lab.trunks(), key=lambda link: link.number)))
        try:
            if link.number in trunks_off(lab, state):
                plan = plan_for(Site(lab), state, LinkOn(link.name))
            elif data.draw(st.booleans()):
                plan = plan_for(Site(lab), state, LinkOff(link.name))
            elif data.draw(st.booleans()):
                plan = plan_for(Site(lab), state, LinkSpeed((link.name,), data.draw(st.sampled_from([10, 100, None]))))
            else:
                plan = plan_for(Site(lab), state, Eee((link.name,), on=data.draw(st.booleans())))
        except NoTree:
            continue
        assert all(step.disruption.kind == "hitless" for step in plan.steps)
        state = _walk(lab, state, plan)
