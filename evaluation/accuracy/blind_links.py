"""How well links' policies with random truth are recovered, class by class.

`python -m evaluation.accuracy.blind_links` prints a table.

Each truth is drawn from a class, probed with EEE on and off through the engine on the virtual clock, and fitted with
what a run would know: the path, whether the switch shows EEE as in force, the links' speeds, and, for half of the
truths, LPI counters. Printed for each class: wrong kinds, and the share of 95 % intervals that contain the truth.
`--lines FILE` keeps a line of JSON for each truth, so that several batches can be counted together with `--count`.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import stats

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.links.eee_policy import PolicyFit, fit_policy
from eee_testbed.analysis.links.probes import ECHO_WIRE_BYTE, Probes
from eee_testbed.analysis.links.sleep_path import SleepPath, Transmitter
from evaluation import recording
from evaluation.records import Figure
from tests.support.measured.echo_bench import AWAKE, Bench, HostTime, Sleep

LOW_US, HIGH_US = 100.0, 4_000.0
ECHOES: Final = 1_200
LARGEST_BURST: Final = 6_500.0
TRIALS: Final = 2


@dataclass(frozen=True)
class Truth:
    """What is behind one path; `groups`: places that sleep alike, the longer wake first. The rest is as in `Bench`."""

    kind: str
    sleeps: tuple[Sleep, Sleep, Sleep, Sleep]
    groups: tuple[tuple[int, ...], ...] = ()
    eee: tuple[bool, bool, bool, bool] = (True, True, True, True)
    mbps: tuple[int, int] = (1_000, 1_000)
    bursts: bool = False
    hosts: HostTime = field(default_factory=HostTime)
    drift_us: float = 0.0
    """Standard deviation, between trials, of the hosts' base and of their rise after long gaps."""


def _log(random: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def _deep(random: np.random.Generator, hold_us: float | None = None, wake_us: float | None = None) -> Sleep:
    """A policy typical of 1 Gb/s devices."""
    wake = _log(random, 16.5, 100.0) if wake_us is None else wake_us
    timing = {"sleep_us": random.uniform(182, 202), "wake_us": wake, "wake_during_sleep_us": wake}
    return Sleep("deep", {"hold_us": _log(random, 200, 2_800) if hold_us is None else hold_us, **timing})


def _ports(sleep: Sleep) -> tuple[Sleep, Sleep, Sleep, Sleep]:
    return AWAKE, sleep, AWAKE, sleep


def _by_wake(sleeps: Sequence[Sleep], *groups: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(sorted(groups, key=lambda members: -float(sleeps[members[0]].timing["wake_us"])))


def _inactive(random: np.random.Generator) -> Truth:
    """EEE is not in force: on both links, or on one, because its card or its port does not offer it."""
    ports, cards = _deep(random), _deep(random)
    sleeps = (cards, ports, cards, ports)
    which = int(random.integers(3))
    offers = [True] * 4
    for link in (0, 1):
        if which in (link, 2):
            offers[2 * link + int(random.integers(2))] = False
    eee = (offers[0], offers[1], offers[2], offers[3])
    if which == 2:
        return Truth("off", sleeps, eee=eee)
    awake = (0, 3) if which == 0 else (2, 1)
    kept = [AWAKE if place in awake else sleep for place, sleep in enumerate(sleeps)]
    groups = _by_wake(sleeps, *((place,) for place in range(4) if place not in awake))
    return Truth("hold", (kept[0], kept[1], kept[2], kept[3]), groups, eee)


def _cards(random: np.random.Generator) -> Truth:
    ports = _deep(random)
    same = random.random() < 0.5  # many drivers and switches take the same hold
    cards = _deep(random, float(ports.timing["hold_us"]) if same else None)
    sleeps = (cards, ports, cards, ports)
    return Truth("hold", sleeps, _by_wake(sleeps, (1, 3), (0, 2)))


def _ports_only(random: np.random.Generator) -> Truth:
    return Truth("hold", _ports(_deep(random)), ((1, 3),))


def _below(random: np.random.Generator) -> Truth:
    return Truth("hold", _ports(_deep(random, hold_us=float(random.uniform(0, LOW_US)))), ((1, 3),))


def _above(random: np.random.Generator) -> Truth:
    return Truth("off", _ports(_deep(random, hold_us=_log(random, 1.5 * HIGH_US, 10 * HIGH_US))))


def _coalescing(random: np.random.Generator) -> Truth:
    """A timer that expires before enough bytes come would be part of the wake, in every echo."""
    sleep = _deep(random)
    more = {"coalesce_us": _log(random, 60, 150), "coalesce_byte": int(random.uniform(1_500, 5_000))}
    return Truth("coalescing", _ports(Sleep("deep", {**sleep.timing, **more})), ((1, 3),), bursts=True)


def _fast(random: np.random.Generator) -> Truth:
    fast = {"hold_us": _log(random, 200, 2_800), "fast_wake_us": _log(random, 5, 40)}
    return Truth("fast", _ports(Sleep("fast", fast)), ((1, 3),))


def _hybrid(random: np.random.Generator) -> Truth:
    sleep = _deep(random, wake_us=_log(random, 30, 100))
    more = {"hold_us": _log(random, 200, 1_200), "fast_wake_us": _log(random, 5, 20)}
    more["deep_after_us"] = _log(random, 200, 1_600)
    return Truth("hybrid", _ports(Sleep("hybrid", {**sleep.timing, **more})), ((1, 3),))


def _asymmetric(random: np.random.Generator) -> Truth:
    """One card never asks for low power, or both ports have times of their own."""
    first, second = _deep(random), _deep(random)
    if random.random() < 0.5:
        sleeps = (second, first, AWAKE, first) if random.random() < 0.5 else (AWAKE, first, second, first)
        return Truth("hold", sleeps, _by_wake(sleeps, (1, 3), (sleeps.index(second),)))
    sleeps = (AWAKE, first, AWAKE, second)
    return Truth("hold", sleeps, _by_wake(sleeps, (1,), (3,)))


def _down(random: np.random.Generator) -> Truth:
    """Asked for 1 Gb/s, but one link or both came up with 100 Mb/s; EEE is in force there, or not."""
    slow = int(random.integers(1, 4))
    mbps = (100 if slow & 1 else 1_000, 100 if slow & 2 else 1_000)
    sleep = _deep(random)
    if random.random() < 0.5:
        return Truth("hold", _ports(sleep), ((1, 3),), mbps=mbps)
    eee = (not slow & 1, True, not slow & 2, True)
    places = tuple(place for place, link in ((1, 1), (3, 0)) if eee[2 * link])
    kept = tuple(sleep if place in places else AWAKE for place in range(4))
    return Truth(
        "hold" if places else "off", (kept[0], kept[1], kept[2], kept[3]), (places,) if places else (), eee, mbps
    )


CLASSES: Final = {
    "EEE inactive at an end": _inactive,
    "cards that sleep": _cards,
    "cards that do not": _ports_only,
    "hold below every gap": _below,
    "hold above every gap": _above,
    "coalescing": _coalescing,
    "fast wake": _fast,
    "hybrid": _hybrid,
    "asymmetric ends": _asymmetric,
    "negotiated down": _down,
}


def draw_truth(name: str, random: np.random.Generator) -> Truth:
    """A truth of one class, on hosts with a noise and a rise of their own."""
    truth = CLASSES[name](random)
    hosts = HostTime(
        noise_us=_log(random, 0.3, 2.0),
        one_sided=bool(random.random() < 0.5),
        rise_us=float(random.uniform(0, 8)) if random.random() < 0.5 else 0.0,
        rise_tau_us=_log(random, 200, 3_000),
        step_us=float(random.uniform(2, 15)) if random.random() < 0.3 else 0.0,
        step_gap_us=_log(random, 200, 3_000),
        late_share=float(random.uniform(0, 0.05)) if random.random() < 0.5 else 0.0,
    )
    drift_us = _log(random, 0.1, 1.0) if random.random() < 0.5 else 0.0
    return replace(truth, hosts=hosts, drift_us=drift_us)


def probe(
    truth: Truth, random: np.random.Generator, *, counters: bool, count: int = ECHOES
) -> tuple[Probes, Probes, SleepPath]:
    """Echoes with EEE on and off, and the path as the switch's ports show it."""
    on = Bench(truth.sleeps, eee=truth.eee, mbps=truth.mbps, hosts=truth.hosts, random=random)
    off = Bench([AWAKE] * 4, mbps=truth.mbps, hosts=truth.hosts, random=random)
    found = []
    for bench in (on, off):
        most = LARGEST_BURST if truth.bursts else ECHO_WIRE_BYTE
        burst = np.floor(random.uniform(ECHO_WIRE_BYTE, most, size=count))
        trial = np.arange(count) * TRIALS // count
        parts = []
        for number in range(TRIALS):
            bench.with_hosts(_drifted(truth, random))
            mine = trial == number
            parts.append(bench.echoes(random.uniform(LOW_US, HIGH_US, size=int(mine.sum())), burst[mine]))
        sent, rtt = np.concatenate(parts, axis=1)
        found.append(Probes.of(sent, rtt, burst, trial=trial))
    return found[0], found[1], _path(on, counters=counters)


def _drifted(truth: Truth, random: np.random.Generator) -> HostTime:
    """The hosts of one trial."""
    base_us, rise_us = truth.drift_us * random.normal(size=2)
    return replace(truth.hosts, base_us=float(base_us), rise_us=max(truth.hosts.rise_us + float(rise_us), 0.0))


def _path(bench: Bench, *, counters: bool) -> SleepPath:
    active, mbps, counts = bench.eee_active(), bench.mbps(), bench.lpi_counts()
    links = (0, 1, 1, 0)
    path = []
    for place, link in enumerate(links):
        counted = counts[place] > 2 if counters else None
        may = counted if active[link] else False
        path.append(Transmitter(f"place {place}", card=place % 2 == 0, may_sleep=may, byte_us=8 / mbps[link]))
    return tuple(path)


def _wake_us(sleep: Sleep) -> float:
    wake = sleep.timing["fast_wake_us"] if sleep.mode == "fast" else sleep.timing["wake_us"]
    return float(wake)


def judge(truth: Truth, fit: PolicyFit) -> dict[str, Any]:
    """Whether the kind is the truth's, and by parameter whether the interval holds it and how wide it is."""
    line: dict[str, Any] = {"truth": truth.kind, "found": fit.kind, "groups": len(fit.groups)}
    line |= {"true_groups": len(truth.groups), "which": fit.which, "held": {}, "width": {}, "text": []}
    if truth.kind != fit.kind or not truth.groups or fit.path_wake_us is None:
        return line

    def hold(name: str, interval: Interval | None, value: float) -> None:
        if interval is not None:
            margin = 0.1 if name != "path wake" else 0.05  # the bench's clock, and 8 bytes of preamble
            inside = interval.low - margin <= value <= interval.high + margin
            line["held"].setdefault(name, []).append(inside)
            line["width"].setdefault(name, []).append(interval.half_width)
            line["text"].append(f"{name} {value:.4g}: {interval}{'' if inside else ' MISSED'}")

    whole = sum(_wake_us(truth.sleeps[place]) for group in truth.groups for place in group)
    hold("path wake", fit.path_wake_us, whole)
    groups, found = list(truth.groups), list(fit.groups)
    if len(found) == 1 < len(groups):  # one group that stands for two has to hold both
        found *= len(groups)
    if len(found) != len(groups):
        line["text"].append("more groups than there are MISSED")
        line["held"]["groups"] = [False]
        return line
    if fit.which and len(groups) == 2:
        groups.sort(key=lambda members: members != fit.groups[0].members and members[0] not in fit.groups[0].members)
    for members, group in zip(groups, found, strict=True):
        timing = truth.sleeps[members[0]].timing
        hold("hold", group.hold_us, float(timing["hold_us"]))
        hold("wake", group.wake_us, _wake_us(truth.sleeps[members[0]]))
        if truth.kind != "fast":
            hold("Ts", group.sleep_us, float(timing["sleep_us"]))
        hold("fast wake", group.fast_wake_us, float(timing.get("fast_wake_us", 0)))
        hold("deep after", group.deep_after_us, float(timing.get("deep_after_us", 0)))
        hold("wait", group.wait_us, float(timing.get("coalesce_us", 0)))
    return line


def once(name: str, seed: int, number: int, *, alone: bool = False) -> dict[str, Any]:
    """Draw, probe and fit one truth; `alone`: as a single probe does, without the echoes with EEE off."""
    random = np.random.default_rng([seed, list(CLASSES).index(name), number])
    truth = draw_truth(name, random)
    counters = bool(random.random() < 0.5)
    on, off, path = probe(truth, random, counters=counters)
    began = time.process_time()
    line = judge(truth, fit_policy(on, path, None if alone else off))
    return {"class": name, "seed": seed, "number": number, "counters": counters, **line} | {
        "seconds": round(time.process_time() - began, 2)
    }


def report(lines: Iterable[Mapping[str, Any]]) -> str:
    """A table of all classes in Markdown."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        rows.setdefault(line["class"], []).append(line)
    text = [
        "| class | truths | wrong kind | intervals that hold the truth | by parameter |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, group in rows.items():
        wrong = [f"{line['truth']} as {line['found']}" for line in group if line["truth"] != line["found"]]
        held: dict[str, list[bool]] = {}
        for line in group:
            for parameter, inside in line["held"].items():
                held.setdefault(parameter, []).extend(inside)
        parts = ", ".join(f"{key} {sum(inside)}/{len(inside)}" for key, inside in held.items())
        every = [inside for one in held.values() for inside in one]
        share = _share(sum(every), len(every)) if every else ""
        text.append(f"| {name} | {len(group)} | {len(wrong)} {'; '.join(sorted(set(wrong)))} | {share} | {parts} |")
    return "\n".join(text)


def held_figure(lines: Sequence[Mapping[str, Any]]) -> Figure | None:
    """The share of all intervals that hold the truth, in percent; None if nothing was found."""
    every = [inside for line in lines for one in line["held"].values() for inside in one]
    if not every:
        return None
    low, high = stats.binomtest(sum(every), len(every)).proportion_ci(0.95)
    value = 100 * sum(every) / len(every)
    return Figure(value=value, low=100 * low, high=100 * high, held=f"{sum(every)} of {len(every)}", n=len(lines))


def _share(held: int, count: int) -> str:
    low, high = stats.binomtest(held, count).proportion_ci(0.95)
    return f"{100 * held / count:.1f} % ({100 * low:.1f} - {100 * high:.1f})"


def main() -> None:
    """Draw and fit, or count lines of earlier batches."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--each", type=int, default=20, help="truths of each class")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classes", nargs="*", default=list(CLASSES), choices=list(CLASSES))
    parser.add_argument("--alone", action="store_true", help="without echoes with EEE off, as `eeectl probe` does")
    parser.add_argument("--lines", type=Path)
    parser.add_argument("--count", type=Path, nargs="*", default=[])
    recording.add_argument(parser)
    asked = parser.parse_args()
    records = recording.begin(asked)
    lines = [json.loads(line) for path in asked.count for line in path.read_text(encoding="utf-8").splitlines()]
    for number in range(asked.first, asked.first + (0 if asked.count else asked.each)):
        for name in asked.classes:
            line = once(name, asked.seed, number, alone=asked.alone)
            lines.append(line)
            if asked.lines is not None:
                with asked.lines.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
            print(f"{name} {number}: {line['truth']} {line['found']}", file=sys.stderr)
    print(report(lines))
    records.append({"held": held_figure(lines)})


if __name__ == "__main__":
    main()
