"""Speed and memory of the interconnect engines: ``python -m tests.speed.interconnects [--large]``.

Packet-hops (routers passed) a second of processor time and the process's largest memory, per engine and network, each
in a process of its own; links never asleep, and asleep after a hold. Prints Markdown. ``--large`` adds 98,304 nodes.
`tests.accuracy.beside_booksim2` has the speed beside BookSim2.
"""

import argparse
import resource
import time
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
_HOPS: Final = 4e6
"""Packet-hops of a measurement, about."""

_LOAD: Final = 0.3


def measure(network: str, engine: str, mode: str) -> tuple[float, float]:
    """Packet-hops a second of processor time, and MB."""
    description = Description.model_validate(
        {
            "name": "speed",
            "network": _NETWORKS[network],
            "routing": "dor",
            "router": {"switching": "cut_through", "vcs": 4},
            "links": {"mode": mode, "hold": 3, "sleep": 3, "wake": 5, "wake_during_sleep": 5},
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
    cycles = max(20, int(_HOPS / max(1, warm["hops"] + warm["packets"]) * 200))
    begun = time.process_time()
    found = simulation.advance(cycles)
    spent_s = time.process_time() - begun
    return (found["hops"] + found["packets"]) / spent_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--large", action="store_true", help="98,304 nodes too")
    asked = parser.parse_args()
    print("| network | engine | links | million packet-hops/s | MB |")
    print("| --- | --- | --- | --- | --- |")
    for network in [*_NETWORKS] if asked.large else [*_NETWORKS][:2]:
        for engine, mode in (("flit", "off"), ("packet", "off"), ("packet", "deep")):
            if engine == "flit" and network == [*_NETWORKS][2]:
                continue  # its buffers alone would be gigabytes
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                speed, megabytes = pool.submit(measure, network, engine, mode).result()
            print(f"| {network} | {engine} | {mode} | {speed / 1e6:.2f} | {megabytes:.0f} |", flush=True)


if __name__ == "__main__":
    main()
