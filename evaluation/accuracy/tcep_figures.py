"""TCEP beside its paper (Kim et al. 2018): figures 9 to 12 and 15, and the statements of section VI, row by row.

``python -m evaluation.accuracy.tcep_figures [--keep FILE] [--seeds N] [--jobs N] [--seconds N] [PART ...]`` simulates
what the parts need and prints Markdown: paper, ours with its interval, and why where they differ. Finished runs are
kept in FILE, and a second call goes on, also after the seconds are over. All parts take about an hour of processor time
for one seed. Batches are simulated once, as their seed is their mapping; the paper's 100 mappings of Fig. 15 are 2 to
10 here. Its traces (Figs. 13, 14) are not public: what it says of them has a stand-in or none.

The network is the paper's: 512 nodes, routers of one cycle, links of 10, six virtual channels of 32 flits. A run has a
warm-up that is long enough for TCEP to turn its links off or on one by one (10 deactivation epochs, or 6 from the root
network at low loads), then a window of 40 batches. Intervals are 95 %, by batch means of one seed, or by the means of
several.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, fields, replace
from math import hypot, inf, sqrt
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, geometric_mean, median, stdev
from typing import Final

from scipy.stats import t as student

from evaluation import recording
from evaluation.accuracy.tcep_runs import Measured, Run, Whose, carry_out
from evaluation.records import Figure

Found = Mapping[str, Measured]
Row = tuple[str, str, str, str]

POLICIES: Final = ("baseline", "TCEP", "SLaC")
LOADS: Final = {"UR": (0.01, 0.05, 0.1, 0.3), "TOR": (0.01, 0.05, 0.1, 0.3), "BITREV": (0.01, 0.05, 0.1, 0.3)}
_WARM: Final = {"baseline": 10_000, "TCEP": 100_000, "SLaC": 100_000}
_LOW: Final = 0.1
"""Up to this load TCEP begins with the root network."""

_OVER: Final = 0.9
"""Load of the throughputs."""

_STEADY: Final[Mapping[tuple[str, str], tuple[float, ...]]] = {
    ("baseline", "TOR"): (0.4, 0.45, 0.48),
    ("TCEP", "TOR"): (0.4, 0.45, 0.48),
    ("SLaC", "TOR"): (0.09, 0.11, 0.12, 0.13),
    ("baseline", "BITREV"): (0.6, 0.7, 0.8),
    ("TCEP", "BITREV"): (0.6, 0.7, 0.8),
    ("SLaC", "BITREV"): (0.09, 0.11, 0.12, 0.13),
}
"""Loads at which it is seen whether no node falls behind."""

_BEHIND: Final = 0.01
"""Cycles a cycle, beyond which a node falls behind."""

_BURSTS: Final = (0.01, 0.05, 0.1, 0.3)
_BOUND: Final = (0.1, 0.41)
_MAPPINGS: Final[Mapping[tuple[int, Whose], int]] = {
    (100_000, "job"): 6,
    (1_000_000, "job"): 2,
    (10_000, "node"): 10,
}
"""Fig. 15: packets of the first job and whose they are, and how many mappings of each; the second job has five times as
many. The paper has 100,000, and leaves open whose; BookSim2's batches are each node's."""


def least_active_share(load: float, routers: int = 32, nodes: int = 1024) -> float:
    """The bound of Fig. 12: the inequality of section VI-A, solved for the share of links that are on.

    >>> round(least_active_share(0.41), 4), least_active_share(0.0)
    (0.5816, 0.0625)
    """
    crossing = nodes * load
    return min(1.0, max(2 * crossing / (routers**2 + crossing), 2 / routers))


def point(policy: str, traffic: str, load: float) -> Run:
    """A point of figures 9 and 10."""
    if policy == "TCEP" and load <= _LOW:
        return Run(policy, traffic, load, 60_000, 20_000, tcep={"begins_with_root": True})
    return Run(policy, traffic, load, _WARM[policy], 20_000)


def overload(policy: str, traffic: str) -> Run:
    """A point past saturation; all links are on by then, or become so."""
    return Run(policy, traffic, _OVER, 60_000 if policy == "SLaC" else 20_000, 6_000)


def under(policy: str, traffic: str, load: float) -> Run:
    """Whether a load can be carried."""
    return Run(policy, traffic, load, 70_000 if policy == "SLaC" else 20_000, 8_000)


def burst(policy: str, load: float, **tcep: float) -> Run:
    """A point of Fig. 11; at low load there are few packets, and more time is needed."""
    return Run(policy, "UR", load, _WARM[policy], max(200_000, int(8_000 / load)), flits=5_000, tcep=tcep)


def bound(load: float) -> Run:
    """A point of Fig. 12: after 25 deactivation epochs half of the links are on still, after 50 hardly one changes."""
    return Run("TCEP", "UR", load, 500_000, 20_000, network="complete", tcep={"high_water_mark": 0.99})


def batch(policy: str, traffic: str, mapping: int, packets: int, whose: Whose) -> Run:
    """A mapping of Fig. 15. Both begin with the least links that they keep on."""
    tcep = {"begins_with_root": True} if policy == "TCEP" else {}
    sent = (packets, 5 * packets)
    return Run(policy, traffic, 0.5, 0, 0, seed=mapping, packets=sent, packets_of=whose, tcep=tcep)


EPOCHS: Final[Mapping[str, Mapping[str, float]]] = {
    "as in the paper": {},
    "activation epoch 1.5 times": {"epoch": 1500},
    "activation epoch twice": {"epoch": 2000},
    "deactivation epoch -50 %": {"deactivation_epochs": 5},
    "deactivation epoch +50 %": {"deactivation_epochs": 15},
}


def sensitive(changes: Mapping[str, float]) -> list[Run]:
    """Traffic that comes and goes, in place of the paper's traces. A longer activation epoch leaves the other alone."""
    own = dict(changes)
    if "epoch" in own:
        own["deactivation_epochs"] = round(10_000 / own["epoch"])
    return [
        *(replace(burst("TCEP", load), tcep=own) for load in (0.05, 0.1)),
        replace(batch("TCEP", "jobs UR", 1, 1_000_000, "job"), tcep=own),
    ]


def _ratio(one: tuple[float, float], other: tuple[float, float]) -> str:
    """Of two values with half intervals."""
    value = one[0] / other[0]
    half = value * hypot(one[1] / one[0], other[1] / other[0])
    return f"{value:.2f} ± {half:.2f}"


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def _latency(found: Measured) -> str:
    return f"{found.latency:.2f} ± {found.latency_half:.2f}"


def _half(values: Sequence[float]) -> float:
    """Half of the 95 % interval of the mean of a few values (Student)."""
    return float(student.ppf(0.975, len(values) - 1)) * stdev(values) / sqrt(len(values))


def by_seed(run: Run, seeds: int) -> list[Run]:
    """The run with every seed; a batch has its own."""
    return [run] if run.packets else [replace(run, seed=seed) for seed in range(1, seeds + 1)]


class Figures:
    """Rows from runs that have been carried out with seeds from 1 on."""

    def __init__(self, found: Found, seeds: int = 1) -> None:
        self._found = found
        self._seeds = seeds

    def _each(self, run: Run) -> list[Measured]:
        return [self._found[one.key] for one in by_seed(run, self._seeds)]

    def _of(self, run: Run) -> Measured:
        """The mean over the seeds."""
        each = self._each(run)
        if len(each) == 1:
            return each[0]
        means = {field.name: fmean(getattr(one, field.name) for one in each) for field in fields(Measured)}
        halves = {name: _half([getattr(one, name) for one in each]) for name in ("latency", "accepted")}
        cycles = round(means.pop("cycles"))
        return Measured(**means | {f"{name}_half": half for name, half in halves.items()}, cycles=cycles)

    def _energies(self, own: Run, base: Run) -> str:
        """Energy a flit to the baseline's, seed by seed."""
        ratios = [
            one.pj_per_flit / other.pj_per_flit for one, other in zip(self._each(own), self._each(base), strict=True)
        ]
        return f"{fmean(ratios):.2f}" + (f" ± {_half(ratios):.2f}" if len(ratios) > 1 else "")

    def low_load(self) -> Iterator[Row]:
        """Fig. 9(a), at its left end."""
        for policy, paper in zip(POLICIES, ("23.3", "37.8", "32.7"), strict=True):
            own = self._of(point(policy, "UR", 0.01))
            yield f"9a: latency at low load, {policy}", f"{paper} cycles", f"{_latency(own)} (at 0.01)", ""

    def _carried(self, policy: str, traffic: str) -> float:
        """The highest of the loads that were tried at which no node falls behind."""
        loads = _STEADY[policy, traffic]
        carried = (load for load in loads if self._of(under(policy, traffic, load)).falling_behind < _BEHIND)
        return max(carried, default=0.0)

    def saturation(self) -> Iterator[Row]:
        """Fig. 9: the load up to which latencies are finite, relative to the baseline's."""
        papers = {"TCEP": ("the same", "the same"), "SLaC": ("-78 %", "-85 %")}
        for policy, own in papers.items():
            for traffic, paper in zip(("TOR", "BITREV"), own, strict=True):
                carried, base = self._carried(policy, traffic), self._carried("baseline", traffic)
                yield (
                    f"9: throughput on {traffic}, {policy} to baseline",
                    paper,
                    f"{_percent(carried / base)} ({carried:g} of {base:g})",
                    f"highest of {', '.join(f'{load:g}' for load in _STEADY[policy, traffic])} that is carried",
                )

    def throughput(self) -> Iterator[Row]:
        """Fig. 9: what is accepted past saturation, relative to the baseline."""
        papers = {
            ("TCEP", "UR"): "similar",
            ("TCEP", "TOR"): "the same",
            ("TCEP", "BITREV"): "the same",
            ("SLaC", "UR"): "similar",
            ("SLaC", "TOR"): "",
            ("SLaC", "BITREV"): "",
        }
        for (policy, traffic), paper in papers.items():
            own, base = self._of(overload(policy, traffic)), self._of(overload("baseline", traffic))
            less = 100 * (own.accepted / base.accepted - 1)
            half = 100 * hypot(own.accepted_half, base.accepted_half) / base.accepted
            yield (
                f"9: accepted past saturation on {traffic}, {policy} to baseline",
                paper,
                f"{less:+.1f} ± {half:.1f} % ({own.accepted:.3f} of {base.accepted:.3f})",
                f"accepted at an offered load of {_OVER}",
            )

    def curves(self) -> Iterator[Row]:
        """Fig. 9: latencies."""
        for traffic, loads in LOADS.items():
            for load in loads:
                shown = [self._of(point(policy, traffic, load)) for policy in POLICIES]
                words = [_latency(one) if one.accepted > 0.97 * load else "saturated" for one in shown]
                yield f"9: latency on {traffic} at {load:g}: baseline, TCEP, SLaC", "curves", "; ".join(words), ""

    def energies(self) -> Iterator[Row]:
        """Fig. 10: energy a flit, to the baseline's."""
        for traffic, loads in LOADS.items():
            for load in loads:
                runs = [point(policy, traffic, load) for policy in POLICIES]
                base, tcep, slac = map(self._of, runs)
                words = [self._energies(run, runs[0]) for run in runs[1:]]
                yield (
                    f"10: energy a flit on {traffic} at {load:g}, to baseline: TCEP, SLaC, three rates",
                    "SLaC saves nothing from 0.05 on" if traffic != "UR" and load >= 0.05 else "curves",
                    f"{words[0]}; {words[1]}; {base.scaled:.2f}",
                    f"links on: {100 * tcep.on_share:.0f} %, {100 * slac.on_share:.0f} %",
                )

    def bursts(self) -> Iterator[Row]:
        """Fig. 11."""
        papers = {("SLaC", 0.05): "up to 1.81, at 0.05", ("TCEP", 0.01): "up to 1.1, at 0.01"}
        for load in _BURSTS:
            base = self._of(burst("baseline", load))
            for policy in POLICIES[1:]:
                own = self._of(burst(policy, load))
                energy = self._energies(burst(policy, load), burst("baseline", load))
                yield (
                    f"11: latency of bursts at {load:g}, {policy} to baseline",
                    papers.get((policy, load), "less"),
                    _ratio((own.latency, own.latency_half), (base.latency, base.latency_half)),
                    f"energy to baseline {energy}, links on {100 * own.on_share:.0f} %",
                )

    def bounds(self) -> Iterator[Row]:
        """Fig. 12."""
        for load in _BOUND:
            own, least = self._of(bound(load)), least_active_share(load)
            yield (
                f"12: share of links on at {load:g}, bound {least:.3f}",
                "0.117 above, the largest distance" if load == 0.41 else "closer",
                f"{own.on_share:.3f}: {own.on_share - least:+.3f}",
                f"latency {_latency(own)}",
            )

    @property
    def above_bound(self) -> Figure:
        """Fig. 12: by how much more links are on than the bound says, at the load where it is most."""
        above = [self._of(bound(load)).on_share - least_active_share(load) for load in _BOUND]
        return Figure(value=max(above), n=len(above))

    def mappings(self) -> Iterator[Row]:
        """Fig. 15: SLaC to TCEP, over random mappings."""
        papers = {
            "jobs UR": ("up to 1.12", "about the same"),
            "jobs RP": ("up to 3.7", "1.9 to 3.6"),
        }
        for (packets, whose), mappings in _MAPPINGS.items():
            for traffic, (energy, runtime) in papers.items():
                pairs = [
                    [self._of(batch(policy, traffic, mapping, packets, whose)) for policy in ("SLaC", "TCEP")]
                    for mapping in range(1, mappings + 1)
                ]
                energies = [slac.pj_per_flit / tcep.pj_per_flit for slac, tcep in pairs]
                times = [slac.cycles / tcep.cycles for slac, tcep in pairs]
                what = f"{traffic}, {mappings} mappings, {packets:,} and {5 * packets:,} packets of each {whose}"
                for name, paper, values in (("energy", energy, energies), ("run time", runtime, times)):
                    yield (
                        f"15: {name}, SLaC to TCEP; {what}",
                        paper,
                        f"{min(values):.2f} to {max(values):.2f}, median {median(values):.2f}",
                        f"TCEP's run time {median(tcep.cycles for _, tcep in pairs):,.0f} cycles",
                    )

    def control(self) -> Iterator[Row]:
        """Control packets: over all runs of TCEP here in which links come and go or have settled."""
        runs = [point("TCEP", traffic, load) for traffic, loads in LOADS.items() for load in loads]
        runs += [run for run in _batches() if run.policy == "TCEP"]
        shares = [100 * self._of(run).control_share for run in runs]
        waits = [self._of(run).control_latency for run in runs if self._of(run).control_latency]
        yield (
            "VI-B: control packets to packets",
            "0.34 % mean, 0.65 % at most",
            f"{sum(shares) / len(shares):.2f} % mean, {max(shares):.2f} % at most; {median(waits):.0f} cycles each",
            f"{len(shares)} points of Fig. 9 and batches of Fig. 15, in place of traces",
        )

    def epochs(self) -> Iterator[Row]:
        """Section VI-B: lengths of epochs."""
        papers = ("", "+11 %, energy < 0.2 %", "+19 %, < 0.2 %", "+2.1 %, < 0.4 %", "+0.4 %, < 0.4 %")
        plain = [self._of(run) for run in sensitive({})]
        for (name, changes), paper in zip(EPOCHS.items(), papers, strict=True):
            if not changes:
                continue
            own = [self._of(run) for run in sensitive(changes)]
            ratios = [one.latency / other.latency for one, other in zip(own, plain, strict=True)]
            energy = [one.pj_per_flit / other.pj_per_flit for one, other in zip(own, plain, strict=True)]
            spread = f"{_percent(min(ratios))} to {_percent(max(ratios))}"
            yield (
                f"VI-B: latency with {name}",
                paper,
                f"{_percent(geometric_mean(ratios))} ({spread}), energy {_percent(geometric_mean(energy))}",
                "bursts and batches in place of traces",
            )


def _points() -> list[Run]:
    return [point(policy, traffic, load) for traffic, loads in LOADS.items() for load in loads for policy in POLICIES]


def _batches() -> list[Run]:
    return [
        batch(policy, traffic, mapping, packets, whose)
        for (packets, whose), mappings in _MAPPINGS.items()
        for mapping in range(1, mappings + 1)
        for traffic in ("jobs UR", "jobs RP")
        for policy in ("SLaC", "TCEP")
    ]


PARTS: Final[Mapping[str, tuple[Callable[[], Iterable[Run]], Callable[[Figures], Iterable[Row]]]]] = {
    "low": (lambda: [point(policy, "UR", 0.01) for policy in POLICIES], Figures.low_load),
    "throughput": (lambda: [overload(policy, traffic) for traffic in LOADS for policy in POLICIES], Figures.throughput),
    "saturation": (
        lambda: [under(policy, traffic, load) for (policy, traffic), loads in _STEADY.items() for load in loads],
        Figures.saturation,
    ),
    "bound": (lambda: [bound(load) for load in _BOUND], Figures.bounds),
    "mappings": (_batches, Figures.mappings),
    "bursts": (lambda: [burst(policy, load) for load in _BURSTS for policy in POLICIES], Figures.bursts),
    "curves": (_points, Figures.curves),
    "energy": (_points, Figures.energies),
    "control": (
        lambda: [run for run in [*_points(), *_batches()] if run.policy == "TCEP"],
        Figures.control,
    ),
    "epochs": (lambda: [run for changes in EPOCHS.values() for run in sensitive(changes)], Figures.epochs),
}
"""What each part needs, and the rows that it makes of that."""


def _read(keep: Path | None) -> dict[str, Measured]:
    if keep is None or not keep.exists():
        return {}
    rows = [json.loads(line) for line in keep.read_text(encoding="utf-8").splitlines()]
    return {row.pop("run"): Measured(**row) for row in rows}


def simulate(runs: Sequence[Run], keep: Path | None, jobs: int, seconds: float = inf) -> Found:
    """Carry out what has not been; SystemExit if the time is over before."""
    found, end = _read(keep), time.monotonic() + seconds
    missing = list({run.key: run for run in runs if run.key not in found}.values())
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running: dict[Future[Measured], Run] = {}
        while running or (missing and time.monotonic() < end):
            while missing and len(running) < jobs and time.monotonic() < end:
                run = missing.pop(0)
                running[pool.submit(carry_out, run)] = run
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                key, measured = running.pop(future).key, future.result()
                found[key] = measured
                if keep is not None:
                    with keep.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"run": key, **asdict(measured)}) + "\n")
    if missing:
        raise SystemExit(f"The time is over, {len(missing)} runs are missing; the same command goes on.")
    return found


def main() -> None:
    """Simulate, and print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("parts", nargs="*", help="default: all")
    parser.add_argument("--keep", type=Path, help="file for finished runs")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--seeds", type=int, default=3, help="of each point")
    parser.add_argument("--seconds", type=float, default=inf, help="begin no run after so long")
    recording.add_argument(parser)
    asked = parser.parse_intermixed_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    names = asked.parts or list(PARTS)
    parts = [PARTS[name] for name in names]
    records = recording.begin(asked)
    runs = [one for needs, _ in parts for run in needs() for one in by_seed(run, asked.seeds)]
    figures = Figures(simulate(runs, asked.keep, asked.jobs, asked.seconds), asked.seeds)
    print("| figure | paper | ours | remarks |")
    print("| --- | --- | --- | --- |")
    for _, rows in parts:
        for row in rows(figures):
            print(f"| {' | '.join(row)} |")
    records.append({"above bound": figures.above_bound if "bound" in names else None})


if __name__ == "__main__":
    main()
