"""Speed and memory of the interconnect engines, beside BookSim2 in one run.

``python -m evaluation.speed.interconnects [--large] [--rounds N] [--booksim PATH_OF_BOOKSIM]`` measures packet-hops
(routers passed) a second of processor time and the process's largest memory, per engine and network, each in a process
of its own. Links have no low power, a hold that no gap reaches, or a short hold after which they sleep. The packet
engine runs at three loads, as its cost should be one of packets. Rounds take all in turns, so that other work on the
machine affects all alike. Prints Markdown: medians, lowest and highest.

``--large`` adds 98,304 nodes, ``--booksim`` BookSim2 on a network that it has, too: its flattened butterflies have a
square number of nodes at a router, and channels of one cycle. It is fetched and built outside the project.
"""

import argparse
import os
import re
import resource
import statistics
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from typing import Final

from eee_engine import NetworkSimulation

from eee_testbed.simulation.description import Description

_SHARED: Final = "butterfly, 576 nodes, short channels"
_BOOKSIM: Final = "BookSim2"
_NETWORKS: Final = {
    _SHARED: {"kind": "hyperx", "sizes": [8, 8], "concentration": 9},
    "butterfly, 512 nodes": {"kind": "hyperx", "sizes": [8, 8], "concentration": 8, "link_latency": 10},
    "hyperx, 4,608 nodes": {"kind": "hyperx", "sizes": [16, 16], "concentration": 18, "link_latency": 10},
    "hyperx, 98,304 nodes": {"kind": "hyperx", "sizes": [64, 64], "concentration": 24, "link_latency": 10},
}
_HOPS: Final = {"flit": 4e6, "packet": 2e7}
"""Packet-hops of a measurement, about."""

_LOAD: Final = 0.3
_LOADS: Final = (0.1, 0.6)
"""Further loads of the packet engine."""

_THEIRS: Final = """\
topology = flatfly; k = 8; n = 2; c = 9; x = 8; y = 8; xr = 3; yr = 3; routing_function = ran_min;
num_vcs = 4; vc_buf_size = 32; packet_size = 1; traffic = uniform; injection_rate = {load}; use_noc_latency = 0;
vc_allocator = separable_input_first; sw_allocator = separable_input_first; alloc_iters = 1; internal_speedup = 2.0;
routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1; credit_delay = 2;
sim_type = latency; sim_count = 1; warmup_periods = 1; max_samples = 2; sample_period = {cycles}; latency_thres = 1e9;
"""
_THEIR_CYCLES: Final = 1_000
"""Of each of two periods."""

_LINKS: Final = {
    "no low power": {"mode": "off"},
    "never asleep": {"mode": "deep", "hold": 1_000_000, "sleep": 3, "wake": 5, "wake_during_sleep": 5},
    "asleep after 3 cycles": {"mode": "deep", "hold": 3, "sleep": 3, "wake": 5, "wake_during_sleep": 5},
}


def _cases(network: str) -> list[tuple[str, str, float]]:
    """Engines, links and loads."""
    shared, large = network == _SHARED, network == [*_NETWORKS][-1]
    flit = [] if large else [_LOAD, *(_LOADS if shared else ())]  # buffers alone would be gigabytes
    return [
        *(("flit", "no low power", load) for load in flit),
        *(("packet", links, _LOAD) for links in _LINKS),
        *(("packet", "no low power", load) for load in _LOADS),
    ]


def measure(network: str, engine: str, links: str, load: float) -> tuple[float, float]:
    """Packet-hops a second of processor time, and MB."""
    description = Description.model_validate(
        {
            "name": "speed",
            "network": _NETWORKS[network],
            "routing": "dor",
            "router": {"switching": "cut_through", "vcs": 4},
            "links": _LINKS[links],
            "loads": [load],
        }
    )
    simulation = NetworkSimulation(
        topology=description.network.form(),
        routing=description.routing,
        parameters=description.router.form(),
        traffic=description.traffic.form(),
        load=load,
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


def booksim(program: Path, load: float) -> tuple[float, float]:
    """The same of BookSim2, by its own clock, which leaves out what it takes to set the network up (as ours does)."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "config").write_text(_THEIRS.format(load=load, cycles=_THEIR_CYCLES), encoding="utf-8")
        with Popen([program, "config"], stdout=PIPE, text=True, cwd=folder) as process:
            out = process.stdout.read() if process.stdout is not None else ""
            _, process.returncode, used = os.wait4(process.pid, 0)

    def last(words: str) -> float:
        return float(re.findall(rf"{words} (?:is |= )?([0-9.e+-]+)", out)[-1])

    passed = last("Accepted packet rate average") * 576 * last("Time taken") * last("Hops average")
    return passed / last("Total run time"), used.ru_maxrss / 1024


def main() -> None:
    """Measure all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--large", action="store_true", help="98,304 nodes too")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="measure all N times, in turns (default 1)")
    parser.add_argument("--booksim", type=Path, metavar="PATH", help="BookSim2's program: measure it, too")
    asked = parser.parse_args()
    networks = [*_NETWORKS] if asked.large else [*_NETWORKS][:-1]
    found: defaultdict[tuple[str, str, str, float], list[tuple[float, float]]] = defaultdict(list)
    for _ in range(asked.rounds):
        for load in () if asked.booksim is None else (_LOAD, *_LOADS):
            found[_SHARED, _BOOKSIM, "no low power", load].append(booksim(asked.booksim.resolve(), load))
        for network in networks:
            for engine, links, load in _cases(network):
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    one = pool.submit(measure, network, engine, links, load).result()
                found[network, engine, links, load].append(one)
    theirs = {
        load: statistics.median(speed for speed, _ in figures)
        for (_, engine, _, load), figures in found.items()
        if engine == _BOOKSIM
    }
    print("| network | engine | links | load | million packet-hops/s | times BookSim2 | MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (network, engine, links, load), figures in found.items():
        speeds = [speed / 1e6 for speed, _ in figures]
        digits = 3 if engine == _BOOKSIM else 1
        middle = statistics.median(speeds)
        spread = f"{middle:.{digits}f} ({min(speeds):.{digits}f} - {max(speeds):.{digits}f})"
        times = f"{1e6 * middle / theirs[load]:.0f}" if load in theirs and network == _SHARED else ""
        megabytes = max(largest for _, largest in figures)
        print(f"| {network} | {engine} | {links} | {load:g} | {spread} | {times} | {megabytes:.0f} |")


if __name__ == "__main__":
    main()
