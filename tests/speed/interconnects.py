"""Speed and memory of the interconnect engines: ``python -m tests.speed.interconnects [--large] [--rounds N]``.

Packet-hops (routers passed) a second of processor time and the process's largest memory, per engine and network, each
in a process of its own: links without low power, with a hold that no gap reaches, and asleep after a short hold. Rounds
take all in turns, so that what else the machine does meets all. Prints Markdown: medians, lowest and highest.
``--large`` adds 98,304 nodes. `tests.accuracy.beside_booksim2` has the speed beside BookSim2.
"""

import argparse
import resource
import statistics
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from eee_engine import NetworkSimulation

from simulation.description import Description

_NETWORKS: Final = {
    "butterfly, 512 nodes": {"kind": "hyperx", "sizes": [8, 8], "concentration": 8, "link_latency": 10},
    "hyperx, 4,608 nodes": {"kind": "hyperx", "sizes": [16, 16], "concentration": 18, "link_latency": 10},
    "hyperx, 98,304 nodes": {"kind": "hyperx", "sizes": [64, 64], "concentration": 24, "link_latency": 10},
}
_HOPS: Final = {"flit": 4e6, "packet": 2e7}
"""Packet-hops of a measurement, about."""

_LOAD: Final = 0.3

_LINKS: Final = {
    "no low power": {"mode": "off"},
    "never asleep": {"mode": "deep", "hold": 1_000_000, "sleep": 3, "wake": 5, "wake_during_sleep": 5},
    "asleep after 3 cycles": {"mode": "deep", "hold": 3, "sleep": 3, "wake": 5, "wake_during_sleep": 5},
}

_CASES: Final = [("flit", "no low power"), *(("packet", links) for links in _LINKS)]


def measure(network: str, engine: str, links: str) -> tuple[float, float]:
    """Packet-hops a second of processor time, and MB."""
    description = Description.model_validate(
        {
            "name": "speed",
            "network": _NETWORKS[network],
            "routing": "dor",
            "router": {"switching": "cut_through", "vcs": 4},
            "links": _LINKS[links],
            "loads": [_LOAD],
        }
    )
    simulation = NetworkSimulation(
        topology=description.network.form(),
        routing=description.routing,
        parameters=description.router.form(),
        traffic=description.traffic.form(),
        load=_LOAD,
        seed=1,
        engine="flit" if engine == "flit" else "packet",
        link=description.links.form(),
    )
    warm = simulation.advance(200)
    cycles = max(20, int(_HOPS[engine] / max(1, warm["hops"] + warm["packets"]) * 200))
    begun = time.process_time()
    found = simulation.advance(cycles)
    spent_s = time.process_time() - begun
    return (found["hops"] + found["packets"]) / spent_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--large", action="store_true", help="98,304 nodes too")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="measure all N times, in turns (default 1)")
    asked = parser.parse_args()
    networks = [*_NETWORKS] if asked.large else [*_NETWORKS][:2]
    found: defaultdict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for _ in range(asked.rounds):
        for network in networks:
            for engine, links in _CASES:
                if engine == "flit" and network == [*_NETWORKS][2]:
                    continue  # its buffers alone would be gigabytes
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    one = pool.submit(measure, network, engine, links).result()
                found[network, engine, links].append(one)
    print("| network | engine | links | million packet-hops/s | MB |")
    print("| --- | --- | --- | --- | --- |")
    for (network, engine, links), figures in found.items():
        speeds = [speed / 1e6 for speed, _ in figures]
        spread = f"{statistics.median(speeds):.1f} ({min(speeds):.1f} - {max(speeds):.1f})"
        print(f"| {network} | {engine} | {links} | {spread} | {max(megabytes for _, megabytes in figures):.0f} |")


if __name__ == "__main__":
    main()
