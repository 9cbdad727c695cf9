"""Kim et al. (2018), TCEP: what they state of programs (Figs. 13, 14), and how points are held to it.

Lines are those of the paper's text. Their workloads are traces, and the figures' values are not printed; programs here
are generated. SLaC, which they compare with, needs the flit engine, on which no programs run. Synthetic traffic is
repeated by `evaluation.accuracy.tcep_figures`.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp, isnan, log
from statistics import fmean
from typing import Final

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.predict.what_if import DEEP_FRACTION, FAST_FRACTION
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies.pairs import Pair, by, where
from eee_testbed.simulation.studies.statement import (
    Judge,
    Statement,
    StudyData,
    Verdict,
    missing_points,
    settled,
    shown,
)

TCEP: Final = "tcep"
"""The value of the axis `links` with the paper's epochs."""

ROOT: Final = "tcep-root"
"""The same, but that it begins with the root network alone."""

OTHER_EPOCHS: Final = ("act-1.5", "act-2", "deact-5", "deact-15")
"""Activation epochs so many times as long, and deactivation epochs of so many activation epochs."""

_PROGRAM: Final = "program"
_POINTS: Final = 5.0
"""Percentage points from a printed change that still agree."""


_NO_SLAC: Final = (
    "SLaC decides by the flits in buffers, which the packet engine of replays does not have; on synthetic traffic it "
    "is simulated (python -m evaluation.accuracy.tcep_figures)"
)
_TRACES: Final = "programs here are generated, with other rates and bursts than the paper's traces"

Figure = Callable[[Pair], float]


def link_energy(pair: Pair) -> float:
    """Energy of links between switches over the run time, in any unit, by the paper's energies of bits (section V).

    A link in deep sleep takes 0.1 of idle, in fast wake 0.6 (Georgakoudis et al. 2019); one that is turned on, idle.
    """
    shares, energy = pair.point.replayed.shares, pair.machine.energy
    low = DEEP_FRACTION * shares.quiet + FAST_FRACTION * shares.fast
    idle = shares.on - shares.transmit + shares.refresh + low
    return pair.run_time_s * (shares.transmit * energy.active_pj_per_bit + idle * energy.idle_pj_per_bit)


def latency_cycles(pair: Pair) -> float:
    """Mean of packets; NaN where none were counted."""
    found = pair.point.replayed
    return found.packet_cycles / found.packets if found.packets else float("nan")


def injection_rate(pair: Pair) -> float:
    """Flits a node and cycle, by which the paper orders its workloads: here in bytes a node and second."""
    found = pair.awake.replayed
    return (found.sent_byte - found.local_byte) / pair.machine.nodes / found.run_time_s


def ratios(pairs: Sequence[Pair], others: Sequence[Pair], figure: Figure) -> list[float]:
    """To the other points' figures, of the same program and seed; without those that are not known."""
    theirs = {(one.labels[_PROGRAM], one.seed): figure(one) for one in others}
    keys = [(one, (one.labels[_PROGRAM], one.seed)) for one in pairs]
    found = [figure(one) / theirs[key] for one, key in keys if theirs.get(key)]
    return [one for one in found if not isnan(one)]


def to_awake(pairs: Sequence[Pair], figure: Figure) -> dict[str, Interval]:
    """By program, the least injection rate first: a figure to that of links always on, over seeds."""
    grouped = {key: own for (key,), own in by(pairs, _PROGRAM).items()}
    order = sorted(grouped, key=lambda key: fmean(map(injection_rate, grouped[key])))
    found = {key: ratios(grouped[key], [_awake(one) for one in grouped[key]], figure) for key in order}
    return {key: over_seeds(values) for key, values in found.items() if values}


def _awake(pair: Pair) -> Pair:
    return Pair(pair.awake, pair.awake, pair.machine)


def change(pairs: Sequence[Pair], others: Sequence[Pair], figure: Figure) -> Interval | None:
    """Geometric mean over programs of a figure's ratio, seed by seed, as a change in percent; None without points."""
    programs = {one.labels[_PROGRAM] for one in others}
    found = []
    for own in _by_seed(pairs):
        each = ratios(own, others, figure)
        if len(each) == len(programs):
            found.append(100 * (exp(fmean(map(log, each))) - 1))
    return over_seeds(found) if found else None


def _by_seed(pairs: Sequence[Pair]) -> list[list[Pair]]:
    found: dict[int, list[Pair]] = {}
    for one in pairs:
        found.setdefault(one.seed, []).append(one)
    return list(found.values())


def _near(found: Interval, percent: float, tolerance: float) -> bool:
    """Whether a value or its interval comes that close to a printed one."""
    low, high = found.ends
    return low <= percent + tolerance and high >= percent - tolerance


def _latency(data: StudyData) -> Verdict:
    gated, from_root = (where(data.asleep, links=links) for links in (TCEP, ROOT))
    found, other = (change(own, [_awake(one) for one in own], latency_cycles) for own in (gated, from_root))
    if found is None:
        return missing_points("TCEP")
    each = ", ".join(f"{name} {one.value:.2f}" for name, one in to_awake(gated, latency_cycles).items())
    ours = f"{shown(found, '%')}; {each} times"
    if other is not None:
        ours += f". From the root network: {shown(other, '%')}"
    return settled(holds=_near(found, 15, _POINTS), ours=ours, otherwise=_TRACES)


def _energy_falls(data: StudyData) -> Verdict:
    found = to_awake(where(data.asleep, links=TCEP), link_energy)
    if not found:
        return missing_points("TCEP")
    ours = ", ".join(f"{name} {shown(one.above_percent, '%')}" for name, one in found.items())
    other = to_awake(where(data.asleep, links=ROOT), link_energy)
    if other:
        words = ", ".join(f"{name} {one.above_percent.value:.1f} %" for name, one in other.items())
        ours += f". From the root network: {words}"
    rises = [name for name, one in found.items() if one.value >= 1]
    return settled(holds=not rises, ours=ours, otherwise=f"energy rises in {', '.join(rises)}: {_TRACES}")


def _least_state(data: StudyData) -> Verdict:
    """The root network stays: a star in each row and column."""
    gated = where(data.asleep, links=TCEP)
    if not gated:
        return missing_points("TCEP")
    quietest = next(iter(to_awake(gated, link_energy)))
    most = 100 * _off_at_most(data)
    off = over_seeds([100 * one.point.replayed.shares.off for one in where(gated, program=quietest)])
    ours = f"{quietest}: {shown(off, '%')} of links off over the run, of {most:.0f} % at most"
    otherwise = (
        "all links are on at the beginning, and a router turns one off in 10 us: the paper warms its network up before"
    )
    return settled(holds=off.value >= 0.9 * most, ours=ours, otherwise=otherwise)


def _off_at_most(data: StudyData) -> float:
    """Share of links outside of the root network."""
    sizes: list[int] = data.cases[0].description.network.form()["sizes"]
    links, root = sum(k - 1 for k in sizes) / 2, sum((k - 1) / k for k in sizes)
    return 1 - root / links


def _never_more(data: StudyData) -> Verdict:
    gated = [one for one in data.asleep if one.point.replayed.shares.off > 0]
    if not gated:
        return missing_points("TCEP")
    most, limit = max(one.point.replayed.shares.off for one in gated), _off_at_most(data)
    ours = f"at most {100 * most:.1f} % of {100 * limit:.1f} %, {len(gated)} points"
    return settled(holds=most <= limit + 1e-9, ours=ours, otherwise="a link of the root network was off")


def _control(data: StudyData) -> Verdict:
    gated = where(data.asleep, links=TCEP)
    found = {key: over_seeds([_control_percent(one) for one in own]) for (key,), own in by(gated, _PROGRAM).items()}
    if not found:
        return missing_points("TCEP")
    means = [one.value for one in found.values()]
    ours = f"mean {fmean(means):.2f} %, at most {max(means):.2f} % ({max(found, key=lambda key: found[key].value)})"
    holds = fmean(means) <= 0.34 * 1.1 and max(means) <= 0.65 * 1.1
    otherwise = "requests go every epoch, whether packets come or not, and programs here compute for longer at a time"
    return settled(holds=holds, ours=ours, otherwise=otherwise)


def _control_percent(pair: Pair) -> float:
    found = pair.point.replayed
    return 100 * found.control_packets / max(found.packets, 1)


def _epochs(changes: Mapping[str, float], energy_percent: float) -> Judge:
    """Latency and energy with other epochs, against the paper's."""

    def judge(data: StudyData) -> Verdict:
        usual = where(data.asleep, links=TCEP)
        words, holds = [], True
        for links, percent in changes.items():
            own = where(data.asleep, links=links)
            latency, energy = (change(own, usual, figure) for figure in (latency_cycles, link_energy))
            if latency is None or energy is None:
                return missing_points("TCEP with other epochs")
            holds &= _near(latency, percent, _POINTS) and _near(energy, 0, energy_percent)
            words.append(f"{links}: latency {shown(latency, '%')}, energy {shown(energy, '%', 2)}")
        otherwise = f"{_TRACES}, and how fast links are turned off at the beginning is part of a run here"
        return settled(holds=holds, ours="; ".join(words), otherwise=otherwise)

    return judge


def _fft_run_time(data: StudyData) -> Verdict:
    own = where(data.asleep, links="act-2", program="bigfft")
    usual = where(data.asleep, links=TCEP, program="bigfft")
    found = ratios(own, usual, lambda one: one.run_time_s)
    if not found:
        return missing_points("BigFFT with an activation epoch twice as long")
    slower = over_seeds(found).above_percent
    return settled(holds=slower.value < 0.5, ours=shown(slower, "%", 2), otherwise=_TRACES)


def _without(_: StudyData) -> Verdict:
    return Verdict("cannot be compared", "-", _NO_SLAC)


STATEMENTS: Final[Sequence[Statement]] = (
    Statement("1", "TCEP's packets take 15 % longer in the geometric mean (Fig. 13).", "282",
              "geometric mean over programs, seed by seed; 5 percentage points from it", _latency),
    Statement("2", "TCEP lowers the network's energy on every workload (Fig. 14).", "291",
              "energy of links by bits over the run, to links always on", _energy_falls),
    Statement("3", "With the least traffic (HILO) TCEP is in its least state.", "282",
              "links off, of those outside of the root network: nine tenths", _least_state),
    Statement("4", "Control packets are 0.34 % of packets in the mean, 0.65 % at most.", "282",
              "mean and largest over programs; a tenth more agrees", _control),
    Statement("5", "An activation epoch 1.5 times and twice as long: latency +11 and +19 %, energy within 0.2 %.",
              "293", "geometric means; 5 points from the latencies", _epochs({"act-1.5": 11, "act-2": 19}, 0.2)),
    Statement("6", "A deactivation epoch half as long and half longer: latency +2.1 and +0.4 %, energy within 0.4 %.",
              "293", "geometric means; 5 points from the latencies", _epochs({"deact-5": 2.1, "deact-15": 0.4}, 0.4)),
    Statement("7", "With an activation epoch twice as long BigFFT runs less than 0.5 % longer.", "293",
              "run time to that with the usual epoch, seed by seed", _fft_run_time),
    Statement("8", "SLaC's packets take 61 % longer; BigFFT's 4.5 times as long, TCEP's 68 % less than that.", "282",
              "-", _without),
    Statement("9", "TCEP takes 19 and 11 % less energy than SLaC for BoxMG and BigFFT, 5 % more elsewhere.", "291", "-",
              _without),
    Statement("10", "HILO takes 15 % more hops with SLaC than with TCEP.", "282", "-", _without),
    Statement("11", "Throughput is up to 7 times SLaC's on adversarial traffic, energy of two jobs 3.7 times less.",
              "46, 305", "-", _without),
    Statement("A1", "(Arithmetic) Links of the root network stay on: 3 of 4 are off at most with 8 routers a row.",
              "83", "links off, every point", _never_more),
)  # fmt: skip
"""In the order of the paper; A1 follows from its root network."""
