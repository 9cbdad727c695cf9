"""The flit engine beside BookSim2, in one run: latencies, 99th percentiles, accepted traffic.

``python -m evaluation.accuracy.beside_booksim2 PATH_OF_BOOKSIM [--keep FILE] [--seconds N] [CASE ...]`` runs both on
the networks of `booksim2_cases` at shares of saturation, several seeds each, and prints Markdown: means with the 95 %
interval of their difference. BookSim2 (https://github.com/booksim/booksim2) is fetched and built outside the project;
nothing of it is used here but its program. Finished runs are kept in FILE; after N seconds the command ends, and the
same command goes on.

Exit status 1 if a mean is off by more than 1 % up to 0.7 of saturation or 3 % beyond, or a 99th percentile by more than
3 % and a cycle up to 0.8, and chance (the interval) does not explain it. Saturation is the load up to which no node
falls behind, found by bisection with our engine.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from statistics import fmean, median, variance
from typing import TYPE_CHECKING, Any, Final

from eee_engine import NetworkSimulation, network_facts
from scipy.stats import t as student

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.point import begin
from evaluation import recording
from evaluation.accuracy.booksim2_cases import CASES, Case
from evaluation.records import Figure

if TYPE_CHECKING:
    from eee_engine import SimulatedInterval

_ROUTER: Final = {
    "vc_allocator": "separable_input_first",
    "sw_allocator": "separable_input_first",
    "alloc_iters": 1,
    "wait_for_tail_credit": 0,
    "vc_alloc_delay": 1,
    "sw_alloc_delay": 1,
    "input_speedup": 1,
    "output_speedup": 1,
    "use_noc_latency": 0,
    "injection_rate_uses_flits": 1,
    "sim_type": "latency",
    "sim_count": 1,
    "latency_thres": 1e9,
    "warmup_periods": 1,
    "max_samples": 2,
}

_SHARES: Final = (0.3, 0.7, 0.8, 0.9)
"""Of saturation."""

_EXACT: Final = 0.7
"""Share of saturation up to which means agree within 1 %."""

_LATE: Final = 0.8
"""Up to this one 99th percentiles agree within 3 % or a cycle."""

_PACKETS: Final = 12_000
"""Of a measurement, about; the warm-up takes as long."""

_CYCLES: Final = (2_000, 20_000)
"""Of a measurement, least and most."""

_FALLS_BEHIND: Final = 0.01
"""Cycles a cycle by which the node that waits longest falls behind."""

_STEPS: Final = 7
"""Of the bisection."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one program measured at one load."""

    mean: float
    p99: float | None
    accepted: float
    hops: float


def cycles_of(case: Case, load: float) -> int:
    """Of a measurement, and of its warm-up."""
    least, most = _CYCLES
    return min(most, max(least, 1_000 * round(_PACKETS * case.flits / (load * nodes_of(case)) / 1_000)))


def booksim(program: Path, case: Case, load: float, seed: int) -> Measured:
    """One run of BookSim2: as many cycles of warm-up as of measurement."""
    options: dict[str, Any] = {
        **_ROUTER,
        **case.network.theirs,
        "num_vcs": case.vcs,
        "vc_buf_size": case.buffer,
        "packet_size": case.flits,
        "internal_speedup": float(case.speedup),
        "credit_delay": case.credit_delay,
        "routing_delay": case.routing_delay,
        "st_final_delay": case.traversal_delay,
        "traffic": case.traffic.theirs,
        "injection_rate": load,
        "sample_period": cycles_of(case, load),
        "seed": seed,
        "perm_seed": seed,
        **case.extra,
    }
    with tempfile.TemporaryDirectory() as folder:
        # It wants a file, and reads more on its command line than in it.
        histogram, file = Path(folder) / "stats.m", Path(folder) / "config"
        lines = [f"{name} = {value};" for name, value in (options | {"stats_out": histogram.name}).items()]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        ended = subprocess.run([program, file.name], capture_output=True, text=True, check=False, cwd=folder)
        # It ends with status 255 when all went well.
        if "Overall Traffic Statistics" not in ended.stdout:
            sys.exit(f"{program} did not finish: {ended.stdout[-300:]}{ended.stderr[-300:]}")
        found = re.search(r"^plat_hist\(1,:\) = \[(.*?)\];", histogram.read_text(encoding="utf-8"), flags=re.MULTILINE)
    overall = ended.stdout[ended.stdout.rindex("Overall Traffic Statistics") :]

    def figure(name: str) -> float:
        return float(re.findall(rf"{name} = ([0-9.e+-]+)", overall)[0])

    counts = [int(one) for one in found.group(1).split()] if found else []
    return Measured(
        figure("Packet latency average"), _p99(counts), figure("Accepted flit rate average"), figure("Hops average")
    )


def _p99(counts: list[int]) -> float | None:
    """Of bins of one cycle; None if the last bin, which holds all longer ones, is reached."""
    seen = 0
    for value, count in enumerate(counts):
        seen += count
        if seen >= 0.99 * sum(counts):
            return value if value + 1 < len(counts) else None
    return None


def simulation_of(case: Case, load: float, seed: int) -> NetworkSimulation:
    """The case for our flit engine."""
    description = Description.model_validate(
        {
            "name": "beside",
            "network": case.network.ours,
            "routing": case.network.routing,
            "router": {
                "vcs": case.vcs,
                "buffer_flits": case.buffer,
                "packet_flits": case.flits,
                "speedup": case.speedup,
                "credit_delay": case.credit_delay,
                "routing_delay": case.routing_delay,
                "traversal_delay": case.traversal_delay,
                "pipelined": case.pipelined,
                **case.own,
            },
            "traffic": case.traffic.ours,
            "loads": [load],
        }
    )
    return begin(description, load, seed, "flit")


def measure(simulation: NetworkSimulation, cycles: int) -> "SimulatedInterval":
    """Warm up, measure for as long, and let what was measured arrive; the counters of the measurement."""
    simulation.advance(cycles)
    simulation.measure(True)
    counted = simulation.advance(cycles)
    simulation.measure(False)
    while simulation.outstanding:
        simulation.advance(100)
    return counted


def ours(case: Case, load: float, seed: int) -> Measured:
    """One run of the flit engine, with as many cycles of warm-up and measurement."""
    simulation, cycles = simulation_of(case, load, seed), cycles_of(case, load)
    measured = measure(simulation, cycles)
    found = simulation.latencies()
    accepted = measured["flits"] / cycles / nodes_of(case)
    return Measured(
        found["mean_cycles"] or 0.0, found["p99_cycles"], accepted, 1 + measured["hops"] / max(1, measured["packets"])
    )


def nodes_of(case: Case) -> int:
    """Number of nodes."""
    description = Description.model_validate(
        {"name": "beside", "network": case.network.ours, "routing": case.network.routing, "loads": [0.1]}
    )
    return network_facts(description.network.form())["nodes"]


def saturation(begun: Callable[[float], NetworkSimulation], cycles: Callable[[float], int]) -> float:
    """The load up to which no node falls behind, of simulations and their lengths by load."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        load = (low + high) / 2
        simulation, long = begun(load), cycles(load)
        simulation.advance(long)
        before = simulation.backlog_cycles
        simulation.advance(long)
        if (simulation.backlog_cycles - before) / long > _FALLS_BEHIND:
            high = load
        else:
            low = load
    return low


def _saturation_of(case: Case) -> dict[str, float]:
    return {"load": saturation(lambda load: simulation_of(case, load, 1), partial(cycles_of, case))}


@dataclass(frozen=True, slots=True)
class Difference:
    """Of our mean from theirs, as a share of theirs, and half of its 95 % interval (Welch)."""

    mean: float
    half: float

    @property
    def sure(self) -> float:
        """What remains of its size, whatever chance did; not less than 0."""
        return max(0.0, abs(self.mean) - self.half)

    def exceeds(self, allowed: float) -> bool:
        """Whether it is more than allowed, whatever chance did."""
        return self.sure > allowed


def difference(theirs: Sequence[float], own: Sequence[float]) -> Difference:
    """Of two samples of at least two values each.

    >>> round(difference([10.0, 10.2], [10.1, 10.3]).mean, 4)
    0.0099
    """
    wanted = fmean(theirs)
    parts = [variance(side) / len(side) for side in (theirs, own)]
    if not any(parts):
        return Difference(fmean(own) / wanted - 1, 0.0)
    freedom = sum(parts) ** 2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, (theirs, own), strict=True))
    return Difference(fmean(own) / wanted - 1, float(student.ppf(0.975, freedom)) * sqrt(sum(parts)) / wanted)


class Agreement:
    """How many comparisons agreed so far, and by how much they differ, in percent."""

    def __init__(self) -> None:
        self._differences: list[Difference] = []
        self._failed = 0

    @property
    def failed(self) -> bool:
        """Whether any did."""
        return bool(self._failed)

    @property
    def figure(self) -> Figure:
        """For the records: the median size, and how many were within what is allowed.

        Low and high are what chance leaves of the least and of the largest difference.
        """
        compared = len(self._differences)
        sure = [100 * one.sure for one in self._differences]
        return Figure(
            value=100 * median(abs(one.mean) for one in self._differences),
            low=min(sure),
            high=max(sure),
            held=f"{compared - self._failed} of {compared}",
            n=compared,
        )

    def add(self, off: Difference, *, failed: bool) -> None:
        """One more comparison."""
        self._differences.append(off)
        self._failed += failed


class Kept:
    """Finished runs, in a file of one JSON object a line."""

    def __init__(self, file: Path | None, end: float) -> None:
        self._file = file
        self._end = end
        lines = file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
        self._found: dict[str, dict[str, Any]] = {one.pop("key"): one for one in map(json.loads, lines)}

    def run(self, key: str, make: Callable[[], Measured]) -> Measured:
        """The run of a key, made if it is not kept."""
        return Measured(**self.of(key, lambda: asdict(make())))

    def of(self, key: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """The values of a key, made if they are not kept."""
        if key not in self._found:
            if time.monotonic() > self._end:
                sys.exit("The time is over; the same command goes on.")
            self._found[key] = dict(make())
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, **self._found[key]}) + "\n")
        return self._found[key]


def named(parser: argparse.ArgumentParser, asked: Sequence[str], cases: Mapping[str, object]) -> list[str]:
    """The cases that are asked for, or all; an unknown one ends the program with the names that there are."""
    if unknown := [name for name in asked if name not in cases]:
        parser.error(f"unknown case {unknown[0]!r}; the cases are: {'; '.join(cases)}.")
    return list(asked or cases)


def main() -> int:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("program", type=Path, help="BookSim2's program")
    parser.add_argument("cases", nargs="*", help="default: all")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--keep", type=Path, help="file for finished runs")
    parser.add_argument("--seconds", type=float, default=1e9, help="end after so long")
    recording.add_argument(parser)
    asked = parser.parse_intermixed_args()
    names = named(parser, asked.cases, CASES)
    records = recording.begin(asked)
    program = asked.program.resolve()
    kept = Kept(asked.keep, time.monotonic() + asked.seconds)
    print("| network | saturation | BookSim2's means | ours, difference in % | p99 at 0.8 |")
    print("| --- | --- | --- | --- | --- |")
    agreement = Agreement()
    for name in names:
        case = CASES[name]
        most = kept.of(f"saturation {case}", partial(_saturation_of, case))["load"]
        means, differences, late = [], [], "-"
        for share in _SHARES:
            load = round(share * most, 4)
            theirs, own = _both(
                program, kept, case, load, [100 * number + round(100 * share) for number in range(asked.seeds)]
            )
            off = difference([one.mean for one in theirs], [one.mean for one in own])
            failed = off.exceeds(0.01 if share <= _EXACT else 0.03)
            tails = [[one.p99 for one in side if one.p99 is not None] for side in (theirs, own)]
            if share <= _LATE and all(len(tail) == asked.seeds for tail in tails):
                late = " / ".join(f"{fmean(tail):.1f}" for tail in tails)
                if abs(fmean(tails[1]) - fmean(tails[0])) > 1 and difference(*tails).exceeds(0.03):
                    failed, late = True, f"{late} FAILED"
            agreement.add(off, failed=failed)
            means.append(f"{fmean(one.mean for one in theirs):.2f}")
            differences.append(f"{100 * off.mean:+.2f} ± {100 * off.half:.2f}{' FAILED' if failed else ''}")
        print(f"| {name} | {most:.2f} | {'; '.join(means)} | {'; '.join(differences)} | {late} |", flush=True)
    records.append({"latency": agreement.figure})
    return int(agreement.failed)


def _both(
    program: Path, kept: "Kept", case: Case, load: float, seeds: Sequence[int]
) -> tuple[list[Measured], list[Measured]]:
    theirs = [kept.run(f"theirs {case} {load} {seed}", partial(booksim, program, case, load, seed)) for seed in seeds]
    own = [kept.run(f"ours {case} {load} {seed}", partial(ours, case, load, seed)) for seed in seeds]
    return theirs, own


if __name__ == "__main__":
    sys.exit(main())
