"""Counts of Andujar's Tables 3 and 4 as printed, and mean path lengths against networks that are built link by link."""

from itertools import combinations, product

import networkx as nx
import pytest

from eee_testbed.analysis.predict.topologies import TOPOLOGIES, dragonfly, fat_tree, topologies_named, torus
from eee_testbed.lab.errors import LabError

PRINTED = {  # nodes, switches, ports per switch, network ports
    "torus-4x4x4": (64, 64, 7, 448),
    "torus-4x4-trunk4": (64, 16, 20, 320),
    "fattree-k4-n3": (64, 40, 8, 320),
    "fattree-k8-n2": (64, 12, 16, 192),
    "dragonfly-a4-h2-p2": (72, 36, 7, 252),
    "dragonfly-a4-h1-p4": (80, 20, 8, 160),
    "torus-4x4x4x4": (256, 256, 9, 2304),
    "torus-4x4x4-trunk4": (256, 64, 28, 1792),
    "torus-5x4x4x4": (320, 320, 9, 2880),
    "torus-5x4x4-trunk4": (320, 80, 28, 2240),
    "fattree-k4-n4": (256, 224, 8, 1792),
    "fattree-k16-n2": (256, 24, 32, 768),
    "fattree-k18-n2": (324, 27, 36, 972),
    "dragonfly-a8-h2-p2": (272, 136, 11, 1496),
    "dragonfly-a6-h2-p4": (312, 78, 11, 858),
    "dragonfly-a6-h3-p3": (342, 114, 11, 1254),
}


def test_all_sixteen_rows_are_as_printed() -> None:
    found = {
        name: (one.nodes, one.switches, one.ports_per_switch, one.network_ports) for name, one in TOPOLOGIES.items()
    }
    assert found == PRINTED


def _mean_links(network: "nx.Graph[object]", nodes: list[object]) -> float:
    lengths = [nx.shortest_path_length(network, a, b) for a, b in combinations(nodes, 2)]
    return sum(lengths) / len(lengths)


def _attach(network: "nx.Graph[object]", each: int) -> list[object]:
    nodes: list[object] = []
    for switch in list(network):
        for number in range(each):
            network.add_edge(switch, ("node", switch, number))
            nodes.append(("node", switch, number))
    return nodes


@pytest.mark.parametrize(("sides", "trunk"), [((4, 4), 4), ((3, 5), 1), ((4, 4, 4), 1)])
def test_paths_in_a_torus(sides: tuple[int, ...], trunk: int) -> None:
    network = nx.grid_graph(dim=sides, periodic=True)
    assert torus(sides, trunk=trunk).mean_links == pytest.approx(_mean_links(network, _attach(network, trunk)))


def test_paths_in_a_dragonfly() -> None:
    a, h, p = 4, 2, 2
    groups = a * h + 1
    network: nx.Graph[object] = nx.Graph()
    for group in range(groups):
        network.add_edges_from(((group, i), (group, j)) for i, j in combinations(range(a), 2))
        for number in range(a * h):  # global link `number` of a group leads to the group that many further on
            other = (group + number + 1) % groups
            back = groups - 2 - number
            network.add_edge((group, number // h), (other, back // h))
    assert dragonfly(a, h, p).mean_links == pytest.approx(_mean_links(network, _attach(network, p)), rel=0.02)


def test_paths_in_a_fat_tree() -> None:
    k, n = 4, 3
    words = list(product(range(k), repeat=n - 1))
    network: nx.Graph[object] = nx.Graph()
    for stage in range(n - 1):  # stage 0 is the lowest; a hop up may change one digit
        for word in words:
            for digit in range(k):
                above = (*word[:stage], digit, *word[stage + 1 :])
                network.add_edge((stage, word), (stage + 1, above))
    leaves = [("node", word, number) for word in words for number in range(k)]
    network.add_edges_from(((0, word), ("node", word, number)) for _, word, number in leaves)
    assert fat_tree(k, n).mean_links == pytest.approx(_mean_links(network, list(leaves)))


def test_names() -> None:
    assert len(topologies_named("all")) == 16
    assert len(topologies_named("table-3")) == 6
    assert topologies_named("fattree-k8-n2")[0].nodes == 64
    with pytest.raises(LabError, match="no topology 'ring'"):
        topologies_named("ring")


@pytest.mark.parametrize("wrong", [lambda: torus((2, 4)), lambda: fat_tree(3, 2), lambda: dragonfly(0, 1, 1)])
def test_impossible_ones_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="has"):
        wrong()  # type: ignore[operator]
