"""The packet engine beside the flit engine with virtual cut-through where buffers are full, on larger networks.

``python -m evaluation.accuracy.packet_saturation [CASE …] [--seeds N]`` prints Markdown: flits a node and cycle that
are accepted soon and late at a load of 1, with some hot nodes, and while the network drains after that. Exit status 1
if the means of the seeds differ by more than 3 %. Bursts, and small networks, are in
`engine/interconnect/tests/saturation.rs`.
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final, Literal

from eee_engine import NetworkSimulation, network_facts

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.point import begin
from evaluation import recording
from evaluation.accuracy.beside_booksim2 import Agreement, Difference, named
from evaluation.accuracy.packet_engine import CASES, Case

_WARM_UP: Final = 3_000
_WINDOW: Final = 4_000
_DRAIN: Final = 10
"""Cycles between looks whether all has arrived."""

_WITHIN: Final = 0.03
_HOT: Final = {"kind": "hotspots", "nodes": list(range(0, 512, 64)), "share": 8 * 1.68 / 512}
"""Eight of 512 nodes are asked for 1.68 flits a cycle each."""

_MORE: Final[Mapping[str, Case]] = {
    "butterfly of 512, dor, 8 hot nodes": replace(CASES["butterfly of 512, dor"], traffic=_HOT),
    "butterfly of 512, dor, 4 flits, 8 hot nodes": replace(CASES["butterfly of 512, dor, 4 flits"], traffic=_HOT),
}


@dataclass(frozen=True, slots=True)
class Found:
    """Flits a node and cycle."""

    soon: float
    late: float
    drained: float


def measured(case: Case, seed: int, engine: Literal["flit", "packet"]) -> Found:
    """A network at a load of 1 from empty to empty."""
    description = Description.model_validate(
        {
            "name": "full",
            "network": case.network,
            "routing": case.routing,
            "router": {"switching": "cut_through", **case.router},
            "traffic": case.traffic,
            "loads": [1.0],
        }
    )
    nodes = network_facts(description.network.form())["nodes"]
    simulation = begin(description, 1.0, seed, engine)
    soon = _accepted(simulation, nodes)
    late = _accepted(simulation, nodes)
    return Found(soon, late, _drained(simulation, nodes))


def _accepted(simulation: NetworkSimulation, nodes: int) -> float:
    simulation.advance(_WARM_UP)
    return simulation.advance(_WINDOW)["flits"] / (_WINDOW * nodes)


def _drained(simulation: NetworkSimulation, nodes: int) -> float:
    """Over the time in which the first half of what was left arrives."""
    simulation.stop_traffic()
    flits: list[int] = []
    while not flits or any(flits[-200:]):
        flits.append(simulation.advance(_DRAIN)["flits"])
    half, steps, arrived = sum(flits) / 2, 0, 0
    while arrived < half:
        arrived += flits[steps]
        steps += 1
    return arrived / (nodes * steps * _DRAIN)


def _off(flit: list[float], packet: list[float]) -> float:
    return fmean(packet) / fmean(flit) - 1


def main() -> int:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("cases", nargs="*", help="default: all")
    parser.add_argument("--seeds", type=int, default=3)
    recording.add_argument(parser)
    asked = parser.parse_intermixed_args()
    known: Mapping[str, Case] = {**CASES, **_MORE}
    names = named(parser, asked.cases, known)
    records = recording.begin(asked)
    print("| network at a load of 1 | | flit | packet | difference |")
    print("| --- | --- | --- | --- | --- |")
    agreement = Agreement()
    for name in names:
        runs = [[measured(known[name], seed, engine) for seed in range(asked.seeds)] for engine in ("flit", "packet")]
        for figure in ("soon", "late", "drained"):
            flit, packet = ([getattr(one, figure) for one in side] for side in runs)
            off = _off(flit, packet)
            failed = abs(off) > _WITHIN
            agreement.add(Difference(off, 0.0), failed=failed)
            print(
                f"| {name} | {figure} | {fmean(flit):.4f} | {fmean(packet):.4f} | {100 * off:+.1f} %"
                f"{' FAILED' if failed else ''} |",
                flush=True,
            )
    records.append({"accepted": agreement.figure})
    return int(agreement.failed)


if __name__ == "__main__":
    sys.exit(main())
