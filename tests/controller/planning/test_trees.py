"""Trees and VLANs: Koibuchi's figures, spanning over every small graph, sharing, balance, hand-written trees."""

from collections import Counter

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.model.vlans import Route, Tree
from eee_testbed.controller.planning.assignment import assign_vlans, path_lengths, shared_learning_is_right
from eee_testbed.controller.planning.trees import one_tree, shortest_routes, shortest_tree, star_routes, written_routes
from eee_testbed.lab.errors import NoTree, PlanError
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from tests.support import ROOT
from tests.support.graph_lab import graph_lab
from tests.support.laws import law

INVENTORY = ROOT / "inventory"


@pytest.fixture(scope="module")
def koibuchi() -> Topology:
    return Topology.of(load_lab(INVENTORY / "koibuchi"))


def _graph(topology: Topology, links: frozenset[int]) -> nx.MultiGraph:
    graph = nx.MultiGraph()
    graph.add_nodes_from(topology.switches)
    graph.add_edges_from((topology.trunks[n].a.device, topology.trunks[n].b.device) for n in links)
    return graph


def test_koibuchis_complete_graph_has_six_vlans_and_distance_1_83(koibuchi: Topology) -> None:
    plan = assign_vlans(koibuchi, shortest_routes(koibuchi, koibuchi.trunks))
    assert [vlan.vid for vlan in plan.vlans] == [11, 12, 13, 14, 15, 16]
    assert all(len(vlan.links) == 5 for vlan in plan.vlans)
    assert path_lengths(koibuchi, plan).mean_switches == pytest.approx(11 / 6)
    assert round(path_lengths(koibuchi, plan).mean_switches, 2) == 1.83
    assert path_lengths(koibuchi, plan).longest_switches == 2


def test_koibuchis_tree_has_one_vlan_distance_2_39_and_needs_no_static_entry(koibuchi: Topology) -> None:
    plan = assign_vlans(koibuchi, one_tree(koibuchi, koibuchi.trunks))
    assert len(plan.vlans) == 1
    assert round(path_lengths(koibuchi, plan).mean_switches, 2) == 2.39
    assert path_lengths(koibuchi, plan).longest_switches == 3
    assert not plan.statics


def test_all_static_entries_of_koibuchis_lab_are_vlans_times_hosts_per_switch(koibuchi: Topology) -> None:
    routes = shortest_routes(koibuchi, koibuchi.trunks)
    every = assign_vlans(koibuchi, routes, statics="all")
    assert {sum(map(len, tables.values())) for tables in every.statics.values()} == {6 * 66}
    needed = assign_vlans(koibuchi, routes)
    assert {sum(map(len, tables.values())) for tables in needed.statics.values()} == {55 + 5 * 11}
    for name, tables in needed.statics.items():
        for vid, table in tables.items():
            assert table.items() <= every.statics[name][vid].items()
    assert not assign_vlans(koibuchi, routes, statics="none").statics


def test_trees_are_spread_over_parallel_links(koibuchi: Topology) -> None:
    once = shortest_routes(koibuchi, koibuchi.trunks)
    assert set(Counter(n for route in once for n in route.tree.links).values()) == {1}
    five = shortest_routes(koibuchi, koibuchi.trunks, trees_per_switch=5)
    assert len(five) == 30
    assert set(Counter(n for route in five for n in route.tree.links).values()) == {2}  # once each way
    assert {n for route in five for n in route.tree.links} == set(koibuchi.trunks)


ATLAS = [g for g in nx.graph_atlas_g()[1:] if nx.is_connected(g) and g.number_of_nodes() <= 6]


def test_over_all_small_graphs_every_tree_spans_by_shortest_paths() -> None:
    assert len(ATLAS) == 1 + 1 + 2 + 6 + 21 + 112
    for graph in ATLAS:
        count = graph.number_of_nodes()
        topology = Topology.of(graph_lab(count, graph.edges, [1] * count))
        for route in shortest_routes(topology, topology.trunks):
            made = _graph(topology, route.tree.links)
            assert nx.is_tree(made)
            root = int(route.tree.root[2:]) - 1
            assert nx.single_source_shortest_path_length(made, route.tree.root) == {
                f"sw{n + 1}": d for n, d in nx.single_source_shortest_path_length(graph, root).items()
            }
        for routes in (
            one_tree(topology, topology.trunks),
            star_routes(topology, topology.trunks, topology.switches[:2]),
        ):
            assert all(nx.is_tree(_graph(topology, route.tree.links)) for route in routes)
            assert Counter(h for route in routes for h in route.hosts) == dict.fromkeys(topology.hosts, 1)


def test_equal_and_contained_trees_share_a_vlan_whichever_comes_first() -> None:
    line = graph_lab(4, [(0, 1), (1, 2), (2, 3)], [1, 1, 1, 1])
    topology = Topology.of(line)
    assert len(assign_vlans(topology, shortest_routes(topology, topology.trunks)).vlans) == 1
    small, large = Tree("sw1", frozenset({5})), Tree("sw2", frozenset({5, 6, 7}))
    plan = assign_vlans(topology, (Route(("n01",), small), Route(("n02",), large)))
    assert [(vlan.vid, vlan.links, vlan.roots) for vlan in plan.vlans] == [(11, large.links, ("sw1", "sw2"))]


def test_a_live_tree_keeps_its_vid_and_a_taken_vid_is_not_given_to_another() -> None:
    topology = Topology.of(graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1]))
    routes = shortest_routes(topology, topology.trunks)
    live = {40: routes[1].tree.links}
    plan = assign_vlans(topology, routes, live=live, taken={1, 11, 40})
    assert {vlan.vid: vlan.roots for vlan in plan.vlans} == {12: ("sw1",), 13: ("sw3",), 40: ("sw2",)}


def test_the_vid_of_a_live_tree_is_not_given_to_another_tree_before_it() -> None:
    topology = Topology.of(graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1]))
    routes = shortest_routes(topology, topology.trunks)
    plan = assign_vlans(topology, routes, live={12: routes[1].tree.links}, taken={1, 11})
    assert {vlan.vid: vlan.roots for vlan in plan.vlans} == {12: ("sw2",), 13: ("sw1",), 14: ("sw3",)}


def test_switches_as_near_to_several_roots_are_spread_over_them() -> None:
    topology = Topology.of(graph_lab(4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], [1, 1, 1, 1]))
    routes = star_routes(topology, topology.trunks, ("sw1", "sw2"))
    assert [len(route.hosts) for route in routes] == [2, 2]


def test_too_many_trees_are_refused() -> None:
    topology = Topology.of(graph_lab(2, [(0, 1)], [1, 1]))
    with pytest.raises(PlanError, match="fewer trees"):
        assign_vlans(topology, shortest_routes(topology, topology.trunks), taken=range(1, 4095))


def test_a_host_out_of_reach_is_named() -> None:
    topology = Topology.of(graph_lab(3, [(0, 1)], [1, 1, 1]))
    with pytest.raises(NoTree) as caught:
        shortest_tree(topology, "sw1", topology.trunks)
    assert (caught.value.root, caught.value.unreached) == ("sw1", ("sw3",))


def test_a_fat_tree_needs_no_branch_to_a_switch_without_hosts() -> None:
    leaves, spines = range(4), range(4, 6)
    lab = graph_lab(6, [(leaf, spine) for leaf in leaves for spine in spines], [2, 2, 2, 2, 0, 0])
    topology = Topology.of(lab)
    routes = shortest_routes(topology, topology.trunks)
    used = set()
    for route in routes:
        made = _graph(topology, route.tree.links)
        assert all(made.degree(spine) != 1 for spine in ("sw5", "sw6"))
        used |= {spine for spine in ("sw5", "sw6") if made.degree(spine)}
    assert used == {"sw5", "sw6"}
    star = shortest_tree(topology, "sw1", topology.trunks)
    assert len(star.links) == 4


def _triangle() -> Topology:
    return Topology.of(graph_lab(3, [(0, 1), (1, 2), (2, 0)], [1, 1, 1]))  # trunks 4, 5, 6


def test_written_trees_are_taken_as_they_are() -> None:
    routes = written_routes(_triangle(), [(["sw1", "sw2"], {4, 5}), (["sw3"], {5, 6})])
    assert [(route.hosts, route.tree.links) for route in routes] == [(("n01", "n02"), {4, 5}), (("n03",), {5, 6})]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ([(["sw1", "sw2", "sw3"], {4, 5, 6})], "loop"),
        ([(["sw1"], {4}), (["sw2", "sw3"], {4, 5})], "no tree from sw1 reaches sw3"),
        ([(["sw1", "sw2"], {4, 5})], "hosts of sw3"),
        ([(["sw1", "sw2"], {4, 5}), (["sw2", "sw3"], {5, 6})], "sw2 is in trees 1 and 2"),
        ([(["sw9"], {4, 5})], "name the switches"),
        ([(["sw1"], {1, 4, 5})], "between two switches"),
    ],
)
def test_wrong_written_trees_are_refused(written: list[tuple[list[str], set[int]]], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        written_routes(_triangle(), written)


@pytest.mark.parametrize("roots", [[], ["sw1", "sw1"], ["sw7"]])
def test_wrong_star_roots_are_refused(roots: list[str]) -> None:
    with pytest.raises(PlanError, match="roots"):
        star_routes(_triangle(), [4, 5, 6], roots)


def test_shared_learning_is_right_on_one_hop_and_wrong_where_paths_differ() -> None:
    triangle = _triangle()
    assert shared_learning_is_right(triangle, assign_vlans(triangle, shortest_routes(triangle, triangle.trunks)))
    ring = Topology.of(graph_lab(4, [(0, 1), (1, 2), (2, 3), (3, 0)], [1, 1, 1, 1]))  # trunks 5..8
    there, back = (
        [(["sw1", "sw2", "sw4"], {5, 6, 7}), (["sw3"], {7, 8, 5})],
        [(["sw1", "sw2", "sw3", "sw4"], {5, 6, 7})],
    )
    assert not shared_learning_is_right(ring, assign_vlans(ring, written_routes(ring, there)))
    assert shared_learning_is_right(ring, assign_vlans(ring, written_routes(ring, back)))


@law(60)
@given(st.data())
def test_multigraphs_get_trees_that_span(data: st.DataObject) -> None:
    lab = _multigraph(data)
    topology = Topology.of(lab)
    per_switch = data.draw(st.integers(1, 3))
    routes = shortest_routes(topology, topology.trunks, per_switch)
    assert Counter(h for route in routes for h in route.hosts) == dict.fromkeys(topology.hosts, 1)
    for route in routes:
        made = _graph(topology, route.tree.links)
        joined = nx.node_connected_component(made, route.tree.root)
        assert nx.is_tree(made.subgraph(joined))
        assert {name for name in topology.switches if topology.residents[name]} <= joined


def _multigraph(data: st.DataObject) -> Lab:
    count = data.draw(st.integers(1, 7))
    edges = [(data.draw(st.integers(0, n - 1)), n) for n in range(1, count)]
    place = st.integers(0, count - 1)
    edges += [e for e in data.draw(st.lists(st.tuples(place, place), max_size=10)) if e[0] != e[1]]
    return graph_lab(count, edges, data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
