"""Kinds of routing and of traffic, and what each does on which networks: one table each, for files and pages."""

from collections.abc import Mapping
from typing import Final, Literal

EngineName = Literal["flit", "packet"]

RoutingName = Literal[
    "dor",
    "min_adaptive",
    "min_awake",
    "min_booksim2",
    "tree_random",
    "tree_dmodk",
    "tree_dbbm",
    "tree_adaptive",
    "dragonfly_min",
    "dragonfly_ugal",
    "ugal",
    "ugal_p",
    "pal",
    "slac",
    "shortest",
    "up_down",
    "trees",
]

TrafficName = Literal[
    "uniform",
    "uniform_others",
    "tornado",
    "neighbour",
    "bit_reversal",
    "bit_complement",
    "shuffle",
    "transpose",
    "permutation",
    "hotspots",
    "next_group",
    "given",
    "jobs",
]

ROUTINGS: Final[Mapping[RoutingName, str]] = {
    "dor": "torus, mesh, hyperx: lowest dimension first; a torus has a dateline in each ring, and needs 2 VCs",
    "min_adaptive": "torus, mesh, hyperx: any minimal hop, by free virtual channels; escape: lowest dimension first",
    "min_awake": "torus, mesh, hyperx: as `min_adaptive`, but links that are awake are preferred",
    "min_booksim2": "torus, mesh: as BookSim2's min_adapt runs, with the flit engine alone; a torus needs 4 VCs",
    "tree_random": "trees: up over random parents to the nearest common ancestor, then down",
    "tree_dmodk": "trees: up over the parent that the destination's digit names (d-mod-k)",
    "tree_dbbm": "trees: as `tree_dmodk`, on the virtual channel that the destination names",
    "tree_adaptive": "trees: up over the less congested of two random parents, as BookSim2's anca",
    "dragonfly_min": "dragonfly: at most one global link",
    "dragonfly_ugal": "dragonfly: at the source, minimally or over a random other group, by its router's queues "
    "(UGAL-L, Kim et al. 2008); needs 3 VCs",
    "ugal": "hyperx: at the source, minimally or over a random router, by queues",
    "ugal_p": "hyperx: the same in each dimension anew (Kim et al. 2018)",
    "pal": "hyperx: as `ugal_p`, where TCEP turns links off",
    "slac": "hyperx of two dimensions: row first, where SLaC turns rows of links off",
    "shortest": "any: any shortest path, with a virtual channel for each hop",
    "up_down": "any: shortest of the paths that first go up, then down, in a spanning tree",
    "trees": "lab with trees: along the tree of the host that sends, with a virtual channel for each hop",
}

PATTERNS: Final[Mapping[TrafficName, str]] = {
    "uniform": "any node, the source included, as in BookSim2",
    "uniform_others": "any other node",
    "tornado": "every digit of the node's number to the base, plus ⌈base / 2⌉ - 1",
    "neighbour": "every digit of the node's number to the base, plus 1",
    "bit_reversal": "the bits of the node's number in reverse order",
    "bit_complement": "every bit inverted",
    "shuffle": "the bits rotated one place to the left",
    "transpose": "the upper half of the bits exchanged with the lower half",
    "permutation": "each node has one destination, drawn by the seed",
    "hotspots": "a share of the packets to some nodes, the others uniform",
    "next_group": "any node of the next group of so many nodes: the worst for minimal routing on a dragonfly",
    "given": "each node's destination, one by one",
    "jobs": "nodes of jobs, drawn by the seed, send among themselves",
}

NEEDED: Final[Mapping[str, frozenset[str]]] = {
    "tornado": frozenset({"base", "digits"}),
    "neighbour": frozenset({"base", "digits"}),
    "hotspots": frozenset({"nodes", "share"}),
    "next_group": frozenset({"size"}),
    "given": frozenset({"to"}),
    "jobs": frozenset({"sizes", "within"}),
}
"""Keys that a kind of traffic needs besides; the others need nothing."""
