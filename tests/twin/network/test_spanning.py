"""The tree of spanning tree: it reaches everything and has no loop, on any network."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.twin.network.spanning import Segment, blocked_ports

_RATES = st.sampled_from([10, 100, 1000, 10_000])


@st.composite
def _networks(draw: st.DrawFn) -> tuple[dict[str, bytes], list[Segment]]:
    count = draw(st.integers(1, 6))
    addresses = draw(st.permutations(range(count)))
    bridges = {f"sw{n}": bytes([2, 0, 0, 0, addresses[n], 0]) for n in range(count)}
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    wanted = draw(st.lists(st.sampled_from(pairs), max_size=14)) if pairs else []
    segments = [Segment((f"sw{a}", 2 * n + 1), (f"sw{b}", 2 * n + 2), draw(_RATES)) for n, (a, b) in enumerate(wanted)]
    return bridges, segments


def _graph(bridges: dict[str, bytes], segments: list[Segment]) -> "nx.MultiGraph[str]":
    graph: nx.MultiGraph[str] = nx.MultiGraph()
    graph.add_nodes_from(bridges)
    graph.add_edges_from((segment.a[0], segment.b[0]) for segment in segments)
    return graph


@given(_networks())
def test_it_reaches_all_that_is_connected_and_has_no_loop(network: tuple[dict[str, bytes], list[Segment]]) -> None:
    bridges, segments = network
    blocked = blocked_ports(bridges, segments)
    kept = _graph(bridges, [s for s in segments if not {s.a, s.b} & blocked])
    assert nx.is_forest(kept)
    assert nx.number_connected_components(kept) == nx.number_connected_components(_graph(bridges, segments))


@given(_networks())
def test_a_link_discards_at_one_end_at_most(network: tuple[dict[str, bytes], list[Segment]]) -> None:
    bridges, segments = network
    blocked = blocked_ports(bridges, segments)
    assert all(len({segment.a, segment.b} & blocked) <= 1 for segment in segments)
    assert blocked == blocked_ports(bridges, list(reversed(segments)))


def test_the_root_is_the_lowest_address_and_the_faster_path_wins() -> None:
    bridges = {"a": bytes([2]), "b": bytes([1]), "c": bytes([3])}
    slow = [Segment(("a", 1), ("b", 1), 1000), Segment(("a", 2), ("c", 1), 1000), Segment(("b", 2), ("c", 2), 1000)]
    assert blocked_ports(bridges, slow) == {("c", 1)}
    fast = [*slow[:2], Segment(("b", 2), ("c", 2), 100)]
    assert blocked_ports(bridges, fast) == {("c", 2)}


def test_of_parallel_links_the_root_side_keeps_the_lowest_port() -> None:
    bridges = {"a": bytes([1]), "b": bytes([2])}
    segments = [Segment(("a", n), ("b", 10 - n), 1000) for n in (3, 1, 2)]
    assert blocked_ports(bridges, segments) == {("b", 7), ("b", 8)}
