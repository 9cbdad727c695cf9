"""The packet engine beside the flit engine with virtual cut-through, network by network.

``python -m evaluation.accuracy.packet_engine [--seeds N]`` simulates both at shares of the flit engine's saturation and
prints Markdown: means with the 95 % interval of their difference, and 99th percentiles. Exit status 1 if a mean is off
by more than 1 % up to 0.7 of saturation (flattened butterflies: 0.9) or 4 % beyond, and chance does not explain it.
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any, Final, Literal

from eee_engine import NetworkSimulation, network_facts

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.point import begin
from evaluation import recording
from evaluation.accuracy.beside_booksim2 import Agreement, difference, measure, named, saturation

_SHARES: Final = (0.3, 0.7, 0.9)
_PACKETS: Final = 40_000
_LEAST_CYCLES: Final = 3_000


@dataclass(frozen=True, slots=True)
class Case:
    """A network, its routing, its routers and its traffic."""

    network: Mapping[str, Any]
    routing: str
    router: Mapping[str, Any]
    traffic: Mapping[str, Any]
    exact: float = 0.7
    """Share of saturation up to which the means agree within 1 %."""
    links: Mapping[str, Any] = field(default_factory=dict[str, Any])


_UNIFORM: Final = {"kind": "uniform"}
_BUTTERFLY: Final = {"kind": "hyperx", "sizes": [8, 8], "concentration": 8, "link_latency": 10}
_TORNADO: Final = {"kind": "tornado", "base": 8, "digits": 3}
_TREE: Final = {"kind": "k_ary_tree", "k": 4, "levels": 3}
_TORUS: Final = {"kind": "torus", "radix": [8, 8]}
_MESH: Final = {"kind": "mesh", "radix": [8, 8]}
_ASLEEP: Final = {"mode": "deep", "hold": 20, "sleep": 10, "wake": 20}
_DRAGONFLY: Final = {
    "kind": "dragonfly",
    "concentration": 2,
    "group": [4],
    "global_links": 2,
    "groups": 9,
    "link_latency": 10,
    "global_latency": 100,
}

CASES: Final[Mapping[str, Case]] = {
    "butterfly of 512, dor": Case(_BUTTERFLY, "dor", {}, _UNIFORM, 0.9),
    "butterfly of 512, dor, bit reversal": Case(_BUTTERFLY, "dor", {}, {"kind": "bit_reversal"}, 0.9),
    "butterfly of 512, ugal": Case(_BUTTERFLY, "ugal", {}, _UNIFORM, 0.9),
    "butterfly of 512, ugal, tornado": Case(_BUTTERFLY, "ugal", {}, _TORNADO, 0.9),
    "butterfly of 512, ugal_p, tornado": Case(_BUTTERFLY, "ugal_p", {"history_window": 26}, _TORNADO, 0.9),
    "butterfly of 512, dor, 4 flits": Case(_BUTTERFLY, "dor", {"packet_flits": 4}, _UNIFORM),
    "torus 4x4x4, 8 flits": Case(
        {"kind": "torus", "radix": [4, 4, 4]}, "dor", {"vcs": 4, "packet_flits": 8, "buffer_flits": 64}, _UNIFORM
    ),
    "torus 8x8": Case(_TORUS, "dor", {"vcs": 4}, _UNIFORM),
    "torus 8x8, tornado": Case(_TORUS, "dor", {"vcs": 4}, {"kind": "tornado", "base": 8, "digits": 2}),
    "mesh 8x8, transpose, 4 flits": Case(_MESH, "dor", {"vcs": 4, "packet_flits": 4}, {"kind": "transpose"}),
    "torus 8x8, adaptive": Case(_TORUS, "min_adaptive", {"vcs": 4}, _UNIFORM),
    "torus 8x8, adaptive, tornado": Case(
        _TORUS, "min_adaptive", {"vcs": 4}, {"kind": "tornado", "base": 8, "digits": 2}
    ),
    "torus 4x4x4, adaptive, 8 flits": Case(
        {"kind": "torus", "radix": [4, 4, 4]},
        "min_adaptive",
        {"vcs": 4, "packet_flits": 8, "buffer_flits": 64},
        _UNIFORM,
    ),
    "torus 8x8, awake, links sleep": Case(_TORUS, "min_awake", {"vcs": 4}, _UNIFORM, links=_ASLEEP),
    "mesh 8x8, adaptive, transpose, 4 flits": Case(
        _MESH, "min_adaptive", {"vcs": 4, "packet_flits": 4}, {"kind": "transpose"}
    ),
    "butterfly of 512, adaptive": Case(_BUTTERFLY, "min_adaptive", {}, _UNIFORM, 0.9),
    "butterfly of 512, awake, links sleep": Case(_BUTTERFLY, "min_awake", {}, _UNIFORM, links=_ASLEEP),
    "4-ary 3-tree, random parent, 8 flits": Case(
        _TREE, "tree_random", {"vcs": 4, "packet_flits": 8, "buffer_flits": 64}, _UNIFORM
    ),
    "4-ary 3-tree, d-mod-k, bit reversal": Case(_TREE, "tree_dmodk", {"vcs": 4}, {"kind": "bit_reversal"}),
    "dragonfly of 72, 8 flits": Case(
        _DRAGONFLY, "dragonfly_min", {"vcs": 4, "packet_flits": 8, "buffer_flits": 512}, _UNIFORM
    ),
}


def _simulation(case: Case, load: float, seed: int, engine: Literal["flit", "packet"]) -> NetworkSimulation:
    description = Description.model_validate(
        {
            "name": "beside",
            "network": case.network,
            "routing": case.routing,
            "router": {"switching": "cut_through", **case.router},
            "traffic": case.traffic,
            "links": case.links,
            "loads": [load],
        }
    )
    return begin(description, load, seed, engine)


def _of_flits(case: Case, load: float) -> NetworkSimulation:
    return _simulation(case, load, 1, "flit")


def _cycles(case: Case, load: float) -> int:
    description = Description.model_validate(
        {"name": "beside", "network": case.network, "routing": case.routing, "loads": [load]}
    )
    nodes = network_facts(description.network.form())["nodes"]
    return max(_LEAST_CYCLES, round(_PACKETS * int(case.router.get("packet_flits", 1)) / (load * nodes)))


def latency(case: Case, load: float, seed: int, engine: Literal["flit", "packet"]) -> tuple[float, float]:
    """Mean and 99th percentile, after a warm-up as long as the measurement."""
    simulation = _simulation(case, load, seed, engine)
    measure(simulation, _cycles(case, load))
    found = simulation.latencies()
    return found["mean_cycles"] or 0.0, float(found["p99_cycles"] or 0)


def main() -> int:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("cases", nargs="*", help="default: all")
    parser.add_argument("--seeds", type=int, default=4)
    recording.add_argument(parser)
    asked = parser.parse_intermixed_args()
    names = named(parser, asked.cases, CASES)
    records = recording.begin(asked)
    print("| network | saturation | share | flit | packet | difference | p99 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    agreement = Agreement()
    for name in names:
        case = CASES[name]
        most = saturation(partial(_of_flits, case), lambda _load: _LEAST_CYCLES)
        for share in _SHARES:
            load = round(share * most, 4)
            seeds = [100 * number + round(100 * share) for number in range(asked.seeds)]
            flit, packet = ([latency(case, load, seed, engine) for seed in seeds] for engine in ("flit", "packet"))
            wanted, found = ([mean for mean, _ in side] for side in (flit, packet))
            off = difference(wanted, found)
            failed = off.exceeds(0.01 if share <= case.exact else 0.04)
            agreement.add(off, failed=failed)
            late = " / ".join(f"{fmean(p99 for _, p99 in side):.1f}" for side in (flit, packet))
            print(
                f"| {name} | {most:.3f} | {share:g} | {fmean(wanted):.2f} | {fmean(found):.2f} | "
                f"{100 * off.mean:+.2f} ± {100 * off.half:.2f} %{' FAILED' if failed else ''} | {late} |",
                flush=True,
            )
    records.append({"latency": agreement.figure})
    return int(agreement.failed)


if __name__ == "__main__":
    sys.exit(main())
