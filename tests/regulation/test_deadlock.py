"""Channels that wait for each other in a circle."""

from collections.abc import Mapping

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.regulation.deadlock import cycle_of, dependencies
from eee_testbed.regulation.network import Network, Stream, Trunk, tree_ways
from tests.support.regulation.networks import cases, complete, shortest, streams_for


def _ring(count: int) -> Network:
    names = tuple(f"s{n}" for n in range(count))
    trunks = {n: Trunk(n, names[n - 1], names[n % count], 1000) for n in range(1, count + 1)}
    return Network(names, names, trunks)


def test_shortest_paths_of_a_complete_graph_cannot_wait_for_each_other() -> None:
    """Every path between switches is one channel long: Koibuchi's network may run with flow control."""
    network = complete(6, width=5)
    assert dependencies(shortest(network, streams_for(network, {}))) == {}


def test_shortest_paths_of_a_ring_can() -> None:
    """Of five switches each sends two trunks far both ways round; the cycle is shown, each channel before the next."""
    network = _ring(5)
    waiting = dependencies(shortest(network, streams_for(network, {})))
    cycle = cycle_of(waiting)
    assert len(cycle) == 5
    for one, other in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        assert other in waiting[one]
        assert network.trunks[one[0]].other(one[1]) == other[1]


def test_one_tree_cannot() -> None:
    network = _ring(5)
    links = set(network.trunks) - {3}
    assert not cycle_of(dependencies([tree_ways(network, root, links) for root in network.homes]))


def test_a_trunk_without_flow_control_breaks_the_circle() -> None:
    network = _ring(5)
    trees = shortest(network, streams_for(network, {}))
    assert not cycle_of(dependencies(trees, lambda number: number != 2))


@given(case=cases())
def test_a_cycle_is_found_if_there_is_one(
    case: tuple[Network, tuple[Stream, ...], tuple[Mapping[str, tuple[str, int]], ...]],
) -> None:
    waiting = dependencies(case[2])
    graph: nx.DiGraph[object] = nx.DiGraph((one, other) for one, others in waiting.items() for other in others)
    assert bool(cycle_of(waiting)) == (not nx.is_directed_acyclic_graph(graph))


@given(edges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=25))
def test_cycles_of_any_graph(edges: list[tuple[int, int]]) -> None:
    waiting: dict[tuple[int, str], dict[tuple[int, str], None]] = {}
    for one, other in edges:
        waiting.setdefault((one, ""), {})[other, ""] = None
    cycle = cycle_of(waiting)
    graph: nx.DiGraph[object] = nx.DiGraph(edges)
    assert bool(cycle) == (not nx.is_directed_acyclic_graph(graph))
    assert all(other in waiting[one] for one, other in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))
