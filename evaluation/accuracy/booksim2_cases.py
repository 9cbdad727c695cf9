"""Networks, routings and traffic as BookSim2 and as we write them, for `evaluation.accuracy.beside_booksim2`.

BookSim2's stock topologies are taken as they are: channels of one cycle, in the dragonfly of 10 and 100. It numbers a
flattened butterfly's nodes row by row over the chip, with the nodes of a router in a square; permutations are
translated.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, Final

Words = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Network:
    """A topology and a routing in both languages."""

    theirs: Words
    ours: Words
    routing: str


@dataclass(frozen=True, slots=True)
class Traffic:
    """A pattern in both languages."""

    theirs: str
    ours: Words


@dataclass(frozen=True, slots=True)
class Case:
    """What both simulate."""

    network: Network
    traffic: Traffic
    vcs: int = 4
    buffer: int = 8
    flits: int = 1
    speedup: int = 1
    credit_delay: int = 2
    routing_delay: int = 0
    traversal_delay: int = 1
    pipelined: bool = True
    extra: Words = field(default_factory=dict)
    """Further options of BookSim2."""

    own: Words = field(default_factory=dict)
    """Further parameters of our routers."""


def _cube(kind: str, k: int, n: int, theirs: str, ours: str) -> Network:
    return Network(
        {"topology": kind, "k": k, "n": n, "routing_function": theirs}, {"kind": kind, "radix": [k] * n}, ours
    )


def _butterfly(k: int, c: int, theirs: str, ours: str) -> Network:
    side = isqrt(c)
    sizes = {"x": k, "y": k, "xr": side, "yr": side}
    return Network(
        {"topology": "flatfly", "k": k, "n": 2, "c": c, **sizes, "routing_function": theirs},
        {"kind": "hyperx", "sizes": [k, k], "concentration": c},
        ours,
    )


def _tree(k: int, n: int) -> Network:
    return Network(
        {"topology": "fattree", "k": k, "n": n, "routing_function": "nca"},
        {"kind": "k_ary_tree", "k": k, "levels": n},
        "tree_random",
    )


def _dragonfly(p: int) -> Network:
    return Network(
        {"topology": "dragonflynew", "k": p, "n": 1, "routing_function": "min"},
        {
            "kind": "dragonfly",
            "concentration": p,
            "group": [2 * p],
            "global_links": p,
            "groups": 2 * p * p + 1,
            "link_latency": 10,
            "global_latency": 100,
        },
        "dragonfly_min",
    )


_UNIFORM: Final = Traffic("uniform", {"kind": "uniform"})
_TRANSPOSE: Final = Traffic("transpose", {"kind": "transpose"})
_REVERSAL: Final = Traffic("bitrev", {"kind": "bit_reversal"})


def _tornado(base: int, digits: int) -> Traffic:
    return Traffic(f"tornado({{{base},{digits},1}})", {"kind": "tornado", "base": base, "digits": digits})


_COMPLEMENT: Final = Traffic("bitcomp", {"kind": "bit_complement"})
_SHUFFLE: Final = Traffic("shuffle", {"kind": "shuffle"})
_PERMUTATION: Final = Traffic("randperm", {"kind": "permutation"})
"""Each seed draws another one; in BookSim2 nodes may send to themselves."""


def _neighbour(base: int, digits: int) -> Traffic:
    return Traffic(f"neighbor({{{base},{digits},1}})", {"kind": "neighbour", "base": base, "digits": digits})


def _hotspot(nodes: int, hot: int, weight: int) -> Traffic:
    """A node is drawn `weight` times as often as each other."""
    weights = [weight if node == hot else 1 for node in range(nodes)]
    names = [",".join(map(str, numbers)) for numbers in (range(nodes), weights)]
    share = (weight - 1) / sum(weights)
    return Traffic(f"hotspot({{{{{names[0]}}},{{{names[1]}}}}})", {"kind": "hotspots", "nodes": [hot], "share": share})


def _on_butterfly(theirs: str, dest: Callable[[int], int]) -> Traffic:
    """A permutation of the 256 nodes of an 8x8 butterfly with 4 nodes a router, by BookSim2's numbers."""

    def own(node: int) -> int:
        y, x = divmod(node, 16)
        return 4 * (8 * (y // 2) + x // 2) + 2 * (y % 2) + x % 2

    to = [0] * 256
    for node in range(256):
        to[own(node)] = own(dest(node))
    return Traffic(theirs, {"kind": "given", "to": to})


def _next_group(p: int) -> Traffic:
    return Traffic(f"bad_dragon({{{p},1}})", {"kind": "next_group", "size": 2 * p * p})


_TORUS_8: Final = _cube("torus", 8, 2, "dim_order", "dor")
_MESH_8: Final = _cube("mesh", 8, 2, "dim_order", "dor")
_FLY: Final = _butterfly(8, 4, "ran_min", "dor")
_UGAL: Final = _butterfly(8, 4, "ugal", "ugal")
_FLY_TORNADO: Final = _on_butterfly("tornado({16,2,1})", lambda node: (node // 16 + 7) % 16 * 16 + (node % 16 + 7) % 16)
_FLY_TRANSPOSE: Final = _on_butterfly("transpose", lambda node: node % 16 * 16 + node // 16)
_FLY_REVERSAL: Final = _on_butterfly("bitrev", lambda node: int(f"{node:08b}"[::-1], 2))

CASES: Final[Mapping[str, Case]] = {
    # Tori and meshes of several sizes.
    "ring of 16": Case(_cube("torus", 16, 1, "dim_order", "dor"), _UNIFORM),
    "torus 4x4": Case(_cube("torus", 4, 2, "dim_order", "dor"), _UNIFORM, vcs=2, buffer=4),
    "torus 5x5": Case(_cube("torus", 5, 2, "dim_order", "dor"), _UNIFORM, speedup=2),
    "torus 8x8": Case(_TORUS_8, _UNIFORM, vcs=6),
    "torus 4x4x4": Case(_cube("torus", 4, 3, "dim_order", "dor"), _UNIFORM, buffer=16, flits=8, speedup=2),
    "torus 3x3x3x3": Case(_cube("torus", 3, 4, "dim_order", "dor"), _UNIFORM, flits=4, speedup=3),
    "hypercube of 64": Case(_cube("mesh", 2, 6, "dim_order", "dor"), _UNIFORM, flits=2),
    "mesh 8x8": Case(_MESH_8, _UNIFORM, flits=4, speedup=2),
    "mesh 4x4x4": Case(_cube("mesh", 4, 3, "dim_order", "dor"), _UNIFORM, vcs=2),
    # Patterns.
    "torus 8x8, tornado": Case(_TORUS_8, _tornado(8, 2)),
    "torus 8x8, transpose": Case(_TORUS_8, _TRANSPOSE, speedup=2),
    "torus 8x8, bit reversal": Case(_TORUS_8, _REVERSAL, flits=3),
    "mesh 8x8, transpose": Case(_MESH_8, _TRANSPOSE, speedup=3),
    "mesh 8x8, bit reversal": Case(_MESH_8, _REVERSAL, flits=2, speedup=2),
    "mesh 8x8, tornado": Case(_MESH_8, _tornado(8, 2), flits=5),
    "torus 8x8, neighbour": Case(_TORUS_8, _neighbour(8, 2), flits=4, speedup=2),
    "torus 8x8, shuffle": Case(_TORUS_8, _SHUFFLE, speedup=2),
    "torus 8x8, bit complement": Case(_TORUS_8, _COMPLEMENT, vcs=2),
    "torus 8x8, hotspot": Case(_TORUS_8, _hotspot(64, 27, 9), speedup=2),
    "mesh 8x8, hotspot, 4 flits": Case(_MESH_8, _hotspot(64, 0, 5), speedup=2, flits=4),
    "mesh 8x8, shuffle": Case(_MESH_8, _SHUFFLE),
    # Routers: channels, buffers, packets, delays.
    "torus 8x8, 2 VCs of 2 flits": Case(_TORUS_8, _UNIFORM, vcs=2, buffer=2),
    "torus 8x8, 8 VCs of 64 flits": Case(_TORUS_8, _UNIFORM, vcs=8, buffer=64, flits=4, speedup=2),
    "torus 8x8, packets of 20 flits": Case(_TORUS_8, _UNIFORM, flits=20, speedup=2),
    "mesh 8x8, 1 VC": Case(_MESH_8, _UNIFORM, vcs=1, flits=4),
    "mesh 8x8, traversal of 3 cycles": Case(_MESH_8, _UNIFORM, traversal_delay=3, pipelined=False, flits=2),
    "mesh 8x8, routing of a cycle": Case(_MESH_8, _UNIFORM, routing_delay=1, flits=2),
    "mesh 8x8, routing of 2 cycles, speedup 2": Case(_MESH_8, _UNIFORM, routing_delay=2, pipelined=False, speedup=2),
    "mesh 8x8, traversal of 2, speedup 2": Case(_MESH_8, _UNIFORM, traversal_delay=2, pipelined=False, speedup=2),
    "torus 8x8, credits without delay": Case(_TORUS_8, _UNIFORM, credit_delay=0, buffer=4),
    "torus 8x8, credits after 6 cycles": Case(_TORUS_8, _UNIFORM, credit_delay=6, buffer=4),
    # Minimal adaptive, as there.
    "mesh 8x8, min_booksim2": Case(_cube("mesh", 8, 2, "min_adapt", "min_booksim2"), _UNIFORM),
    "mesh 8x8, min_booksim2, transpose": Case(_cube("mesh", 8, 2, "min_adapt", "min_booksim2"), _TRANSPOSE, speedup=2),
    "torus 8x8, min_booksim2": Case(_cube("torus", 8, 2, "min_adapt", "min_booksim2"), _UNIFORM),
    "torus 8x8, min_booksim2, tornado": Case(_cube("torus", 8, 2, "min_adapt", "min_booksim2"), _tornado(8, 2)),
    # Flattened butterflies.
    "butterfly 8x8, dor": Case(_FLY, _UNIFORM, vcs=6, buffer=32, speedup=2),
    "butterfly 8x8, dor, 6 flits": Case(_FLY, _UNIFORM, vcs=4, buffer=16, flits=6, speedup=2),
    "butterfly 8x8, dor, tornado": Case(_FLY, _FLY_TORNADO, speedup=2),
    "butterfly 8x8, dor, transpose": Case(_FLY, _FLY_TRANSPOSE, speedup=2),
    "butterfly 8x8, ugal": Case(_UGAL, _UNIFORM, vcs=6, buffer=32, speedup=2),
    "butterfly 8x8, ugal, tornado": Case(_UGAL, _FLY_TORNADO, vcs=6, buffer=32, speedup=2),
    "butterfly 8x8, ugal, transpose": Case(_UGAL, _FLY_TRANSPOSE, buffer=32, speedup=2, flits=2),
    "butterfly 8x8, ugal, bit reversal": Case(_UGAL, _FLY_REVERSAL, speedup=3),
    "butterfly 4x4, 9 nodes": Case(_butterfly(4, 9, "ran_min", "dor"), _UNIFORM, buffer=16, speedup=2),
    "butterfly 6x6, 1 node": Case(_butterfly(6, 1, "ran_min", "dor"), _UNIFORM, vcs=1, flits=3),
    # Dragonflies: BookSim2 takes virtual channel 0 before, and 1 from the global link on, of however many.
    "dragonfly of 72": Case(_dragonfly(2), _UNIFORM, vcs=2, buffer=256, speedup=2),
    "dragonfly of 72, 8 flits": Case(_dragonfly(2), _UNIFORM, vcs=2, buffer=512, speedup=2, flits=8),
    "dragonfly of 72, next group": Case(_dragonfly(2), _next_group(2), vcs=2, buffer=256, speedup=2),
    "dragonfly of 342": Case(_dragonfly(3), _UNIFORM, vcs=2, buffer=256, speedup=1),
    # Trees.
    "4-ary 3-tree": Case(_tree(4, 3), _UNIFORM, buffer=16, flits=8, speedup=2),
    "2-ary 5-tree": Case(_tree(2, 5), _UNIFORM, vcs=2, flits=2),
    "8-ary 2-tree, bit reversal": Case(_tree(8, 2), _REVERSAL, flits=4, speedup=2),
    "4-ary 3-tree, transpose": Case(_tree(4, 3), _TRANSPOSE, vcs=8),
}
