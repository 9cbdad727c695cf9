"""The flit engine beside BookSim2, in one run: mean and 99th percentile of latency, accepted traffic, speed.

``python -m tests.accuracy.beside_booksim2 PATH_OF_BOOKSIM [NETWORK ...]`` runs both on the same networks and loads.
BookSim2 (https://github.com/booksim/booksim2) is fetched and built outside the project; nothing of it is used here but
its program. Its stock topologies have channels of one cycle, and so have these. Prints Markdown; exit status 1 if a
mean is off by more than 1 % up to a load of 0.7 of the network's saturation, or 3 % beyond.

BookSim2's own noise is estimated from two seeds, and a difference within three times that is no difference.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from eee_engine import NetworkSimulation

from simulation.description import Description

_ROUTER = {
    "vc_allocator": "separable_input_first",
    "sw_allocator": "separable_input_first",
    "alloc_iters": 1,
    "wait_for_tail_credit": 0,
    "credit_delay": 2,
    "routing_delay": 0,
    "vc_alloc_delay": 1,
    "sw_alloc_delay": 1,
    "st_final_delay": 1,
    "input_speedup": 1,
    "output_speedup": 1,
    "use_noc_latency": 0,
    "injection_rate_uses_flits": 1,
    "sim_type": "latency",
    "warmup_periods": 3,
    "sim_count": 1,
    "latency_thres": 100000.0,
}


@dataclass(frozen=True, slots=True)
class Case:
    """A network in both languages, and loads below its saturation."""

    booksim: Mapping[str, Any]
    network: Mapping[str, Any]
    routing: str
    vcs: int
    buffer: int
    flits: int
    speedup: int
    loads: tuple[float, ...]
    saturation: float
    """Roughly; loads to 0.7 of it are held to 1 %."""

    traffic: tuple[str, Mapping[str, Any]] = ("uniform", {"kind": "uniform"})


CASES = {
    "torus-4x4x4": Case(
        {"topology": "torus", "k": 4, "n": 3, "routing_function": "dim_order"},
        {"kind": "torus", "radix": [4, 4, 4]},
        "dor",
        4,
        16,
        8,
        2,
        (0.1, 0.4, 0.6, 0.8),
        0.9,
    ),
    "torus-8x8-single": Case(
        {"topology": "torus", "k": 8, "n": 2, "routing_function": "dim_order"},
        {"kind": "torus", "radix": [8, 8]},
        "dor",
        6,
        8,
        1,
        1,
        (0.1, 0.3, 0.5),
        0.65,
    ),
    "mesh-8x8-transpose": Case(
        {"topology": "mesh", "k": 8, "n": 2, "routing_function": "dim_order"},
        {"kind": "mesh", "radix": [8, 8]},
        "dor",
        4,
        8,
        1,
        3,
        (0.05, 0.1),
        0.14,
        ("transpose", {"kind": "transpose"}),
    ),
    "tree-4-3": Case(
        {"topology": "fattree", "k": 4, "n": 3, "routing_function": "nca"},
        {"kind": "k_ary_tree", "k": 4, "levels": 3},
        "tree_random",
        4,
        16,
        8,
        2,
        (0.1, 0.3, 0.5),
        0.65,
    ),
    "butterfly-8x8": Case(
        {
            "topology": "flatfly",
            "k": 8,
            "n": 2,
            "c": 4,
            "x": 8,
            "y": 8,
            "xr": 2,
            "yr": 2,
            "routing_function": "ran_min",
        },
        {"kind": "hyperx", "sizes": [8, 8], "concentration": 4},
        "dor",
        6,
        32,
        1,
        2,
        (0.1, 0.5, 0.9),
        1.0,
    ),
    "butterfly-8x8-ugal": Case(
        {"topology": "flatfly", "k": 8, "n": 2, "c": 4, "x": 8, "y": 8, "xr": 2, "yr": 2, "routing_function": "ugal"},
        {"kind": "hyperx", "sizes": [8, 8], "concentration": 4},
        "ugal",
        6,
        32,
        1,
        2,
        (0.1, 0.3, 0.5),
        0.8,
    ),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one program measured at one load."""

    mean: float
    p99: float | None
    accepted: float
    packet_hops_per_s: float
    """Routers passed a second of wall time, warm-up included."""


def booksim(program: Path, case: Case, load: float, seed: int, cycles: int) -> Measured:
    """One run of BookSim2."""
    options: dict[str, Any] = {
        **_ROUTER,
        **case.booksim,
        "num_vcs": case.vcs,
        "vc_buf_size": case.buffer,
        "packet_size": case.flits,
        "internal_speedup": float(case.speedup),
        "traffic": case.traffic[0],
        "injection_rate": load,
        "sample_period": cycles,
        "seed": seed,
    }
    with tempfile.TemporaryDirectory() as folder:
        # It wants a file, and reads more on its command line than in it.
        histogram, file = Path(folder) / "stats.m", Path(folder) / "config"
        file.write_text(f"topology = {options['topology']};\n", encoding="utf-8")
        words = [f"{name}={value}" for name, value in (options | {"stats_out": histogram.name}).items()]
        begun = time.perf_counter()
        ended = subprocess.run([program, file.name, *words], capture_output=True, text=True, check=False, cwd=folder)
        # It ends with status 255 when all went well.
        if "Overall Traffic Statistics" not in ended.stdout:
            sys.exit(f"{program} did not finish: {ended.stdout[-300:]}{ended.stderr[-300:]}")
        wall_s = time.perf_counter() - begun
        found = re.search(r"^plat_hist\(1,:\) = \[(.*?)\];", histogram.read_text(encoding="utf-8"), flags=re.MULTILINE)
    overall = ended.stdout[ended.stdout.rindex("Overall Traffic Statistics") :]

    def figure(name: str) -> float:
        return float(re.findall(rf"{name} = ([0-9.e+-]+)", overall)[0])

    counts = [int(one) for one in found.group(1).split()] if found else []
    simulated = float(re.findall(r"Time taken is (\d+) cycles", ended.stdout)[-1])
    accepted = figure("Accepted flit rate average")
    passed = accepted / case.flits * _nodes(case) * simulated * figure("Hops average")
    return Measured(figure("Packet latency average"), _p99(counts), accepted, passed / wall_s)


def _p99(counts: list[int]) -> float | None:
    """Of bins of one cycle; None if the last bin, which holds all longer ones, is reached."""
    seen = 0
    for value, count in enumerate(counts):
        seen += count
        if seen >= 0.99 * sum(counts):
            return value if value + 1 < len(counts) else None
    return None


def ours(case: Case, load: float, seed: int, cycles: int) -> Measured:
    """One run of the flit engine, with as many cycles of warm-up and measurement."""
    description = Description.model_validate(
        {
            "name": "beside",
            "network": case.network,
            "routing": case.routing,
            "router": {
                "vcs": case.vcs,
                "buffer_flits": case.buffer,
                "packet_flits": case.flits,
                "speedup": case.speedup,
            },
            "traffic": case.traffic[1],
            "loads": [load],
        }
    )
    simulation = NetworkSimulation(
        topology=description.network.form(),
        routing=description.routing,
        parameters=description.router.form(),
        traffic=description.traffic.form(),
        load=load,
        seed=seed,
        engine="flit",
        link=description.links.form(),
    )
    begun = time.perf_counter()
    warm = simulation.advance(3 * cycles)
    simulation.measure(True)
    measured = simulation.advance(cycles)
    simulation.measure(False)
    wall_s = time.perf_counter() - begun
    while simulation.outstanding:
        simulation.advance(100)
    found = simulation.latencies()
    passed = sum(one["hops"] + one["packets"] for one in (warm, measured))
    return Measured(
        found["mean_cycles"] or 0.0, found["p99_cycles"], measured["flits"] / cycles / _nodes(case), passed / wall_s
    )


def _nodes(case: Case) -> int:
    network = case.network
    if network["kind"] == "k_ary_tree":
        return int(network["k"] ** network["levels"])
    routers = 1
    for size in network.get("radix", network.get("sizes", [])):
        routers *= size
    return int(routers * network.get("concentration", 1))


def main() -> int:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("program", type=Path, help="BookSim2's program")
    parser.add_argument("networks", nargs="*", choices=[*CASES, []], help="default: all")
    parser.add_argument(
        "--cycles", type=int, default=10_000, help="of the measurement; the warm-up takes three times as many"
    )
    asked = parser.parse_args()
    print("| network | load | BookSim2 mean | ours | difference | p99 | accepted | speed |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    worst = 0
    for name in asked.networks or CASES:
        case = CASES[name]
        for load in case.loads:
            theirs = [booksim(asked.program.resolve(), case, load, seed, asked.cycles) for seed in (1, 2)]
            own = [ours(case, load, seed, asked.cycles) for seed in (1, 2)]
            wanted, found = (fmean(one.mean for one in side) for side in (theirs, own))
            noise = 3 * max(abs(side[0].mean - side[1].mean) for side in (theirs, own)) / 2 / wanted
            off = found / wanted - 1
            allowed = 0.01 if load <= 0.7 * case.saturation else 0.03
            failed = abs(off) > max(allowed, noise)
            worst |= failed
            speed = fmean(one.packet_hops_per_s for one in own) / fmean(one.packet_hops_per_s for one in theirs)
            print(
                f"| {name} | {load:g} | {wanted:.3f} | {found:.3f} | {100 * off:+.2f} %{' FAILED' if failed else ''} | "
                f"{theirs[0].p99} / {own[0].p99} | {fmean(one.accepted for one in theirs):.4f} / "
                f"{fmean(one.accepted for one in own):.4f} | {speed:.0f} x |",
                flush=True,
            )
    return worst


if __name__ == "__main__":
    sys.exit(main())
