"""Links' policies from a run's probe trials, for a calibration.

A path's transmitters that may sleep are the ports of its switches in both directions: two for hosts of one switch, two
more for each cable between switches. The ports' LPI counters, if the switch has any, show whether the hosts' cards
sleep too. Echoes of all trials of a pair in one state of the lab are fitted together.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl

from analysis.agent_file import read_agent_file
from analysis.calibration import Estimate, LinkPolicy
from analysis.configurations import Factors, State
from analysis.interval import Interval, NotEnoughData
from analysis.links.eee_policy import PolicyFit, fit_policy
from analysis.links.link_symptoms import EndView, compare_ends, symptoms_of
from analysis.links.probes import LATE_NS, Probes, echo_wire_byte
from analysis.run_lab import lab_of_run
from lab.model import Lab
from lab.topology import Topology
from record.samples import RunSamples
from record.trials import Trial, read_trials


def fit_links(samples: RunSamples, sleepers: int = 0) -> dict[str, LinkPolicy]:
    """By name ("n01-n02", and the state of the lab if several were probed), the policy of each probed path.

    States in which EEE was off are omitted unless nothing else was probed. `sleepers` 0: as the inventory says.
    NotEnoughData if no valid trial probed a path.
    """
    groups = _groups(samples)
    if not groups:
        raise NotEnoughData(f"{samples.folder.name} has no valid trial of a probe: measure one with `eeectl probe`.")
    lab = lab_of_run(samples.facts)
    found = {}
    for (pair, state), trials in groups.items():
        asleep = _sleepers(lab, samples, pair, trials)
        if sleepers:
            asleep = replace(asleep, count=sleepers, cards=False, unknown=())
        several = sum(other == pair for other, _ in groups) > 1
        name = link_name(pair, state if several else ())
        found[name] = _policy(trials, asleep, _symptoms(lab, samples, pair, trials))
    return found


def link_name(hosts: Iterable[str], state: State) -> str:
    """The name of a path's policy: "n01-n02", or "n01-n02 eee=on" in a state of the lab."""
    levels = " ".join(f"{factor}={level}" for factor, level in state)
    return f"{'-'.join(hosts)} {levels}".strip()


def _groups(samples: RunSamples) -> dict[tuple[tuple[str, str], State], list[Trial]]:
    """Valid probes by pair of hosts and state of the lab."""
    factors = Factors.of_run(samples.facts)
    groups: dict[tuple[tuple[str, str], State], list[Trial]] = {}
    for trial in read_trials(samples.folder):
        if trial.valid and trial.what == "probe" and len(trial.hosts) == 2:
            pair = (trial.hosts[0], trial.hosts[1])
            groups.setdefault((pair, factors.state_of(trial)), []).append(trial)
    saving = {key: trials for key, trials in groups.items() if not _off(factors, key[1])}
    return saving or groups


def _off(factors: Factors, state: State) -> bool:
    return any(factors.kind(name) == "eee" and level in ("off", False) for name, level in state)


def read_probes(trials: Iterable[Trial]) -> Probes:
    """The echoes of several trials together; the first two of each are not used, as the gap before them is unknown."""
    sent_ns: list[int] = []
    rtt: list[float] = []
    late_ns: list[int] = []
    wire_byte: list[float] = []
    for trial in sorted(trials, key=lambda one: one.begun_ns):
        stream = read_agent_file(trial.path("echoes.jsonl"), "echo_probe")
        rows = [row for row in stream.rows if row["sent_ns"]]
        wire_byte += [echo_wire_byte(int(stream.header["payload_byte"]))] * len(rows)
        for number, row in enumerate(rows):
            lost = number == 0 or row["rtt_ns"] is None
            sent_ns.append(row["sent_ns"])
            rtt.append(math.nan if lost else row["rtt_ns"] / 1e3)
            late_ns.append(row["late_ns"] or 0)
    since_first_us = (np.array(sent_ns, dtype=np.int64) - min(sent_ns, default=0)) / 1e3
    order = np.argsort(since_first_us, kind="stable")
    punctual = np.array(late_ns)[order] < LATE_NS
    return Probes.of(since_first_us[order], np.array(rtt)[order], np.array(wire_byte)[order], punctual)


@dataclass(frozen=True, slots=True)
class _Sleepers:
    """What may sleep on a path: ends of the hosts' links, how many transmitters, and whether cards in addition."""

    ends: tuple[str, ...]
    count: int
    cards: bool
    unknown: tuple[str, ...] = ()


def _policy(trials: Sequence[Trial], asleep: _Sleepers, more: tuple[str, ...]) -> LinkPolicy:
    fit = fit_policy(read_probes(trials), sleepers=asleep.count, cards=asleep.cards)
    lost = fit.lost - len(trials)
    symptoms = (*(symptom for trial in trials for symptom in symptoms_of(read_probes([trial]))), *more)
    unknown = asleep.unknown if fit.wake_us is not None else ()
    return link_policy(fit, asleep.ends, lost, tuple(dict.fromkeys(symptoms)), unknown)


def link_policy(
    fit: PolicyFit, ends: tuple[str, ...], lost: int, symptoms: tuple[str, ...] = (), unknown: tuple[str, ...] = ()
) -> LinkPolicy:
    """A fit as a part of a calibration."""
    times = {
        name: None if found is None else Estimate.of(_floored(found))
        for name, found in (
            ("hold_us", fit.hold_us),
            ("sleep_us", fit.sleep_us),
            ("wake_us", fit.wake_us),
            ("fast_wake_us", fit.fast_wake_us),
            ("deep_after_us", fit.deep_after_us),
            ("wait_us", fit.wait_us),
            ("card_hold_us", fit.card_hold_us),
            ("card_sleep_us", fit.card_sleep_us),
            ("card_wake_us", fit.card_wake_us),
        )
    }
    return LinkPolicy(
        ends=ends,
        kind=fit.kind,
        sleeper_count=fit.sleepers,
        largest_gap_us=fit.largest_gap_us,
        base_us=Estimate.of(fit.base_us),
        noise_us=Estimate.of(fit.noise_us),
        echo_count=fit.echoes,
        lost_count=max(lost, 0),
        explained_fraction=fit.explained,
        evidence=fit.evidence,
        symptoms=symptoms,
        unknown=unknown,
        **times,
    )


def _floored(found: Interval) -> Interval:
    return Interval(found.value, max(found.low, 0.0), found.high)


def _sleepers(lab: Lab | None, samples: RunSamples, pair: tuple[str, str], trials: Sequence[Trial]) -> _Sleepers:
    """The ports of the path's switches, and the hosts' cards if the LPI counters show that they sleep."""
    if lab is None:
        return _Sleepers((), 2, cards=True)
    topology = Topology.of(lab)
    homes = [topology.homes[host] for host in pair if host in topology.homes]
    hops = _hops(topology, homes[0].device, homes[1].device) if len(homes) == 2 else 0
    views = _views(lab, samples, pair, trials)
    counts = [None if view is None else view.received_lpi_count for view in views]
    blind = [host for host, count in zip(pair, counts, strict=True) if count is None]
    sleeping = [host for host, count in zip(pair, counts, strict=True) if count]
    cards = [str(cable.a if cable.a.device == host else cable.b) for host in sleeping for cable in lab.links_of(host)]
    both = bool(blind) or len(sleeping) == len(pair)
    count = 2 * (hops + 1) + (0 if both else len(sleeping))  # a single card counts as another port
    return _Sleepers((*map(str, homes), *cards), count, cards=both, unknown=tuple(map(_card_unknown, blind)))


def _card_unknown(host: str) -> str:
    return (
        f"It is unknown whether {host}'s card sleeps too, as its switch has no LPI counters. If it does, the ports' "
        "wakes include its wake, and the hold is some percent too short: see --sleepers."
    )


def _hops(topology: Topology, start: str, goal: str) -> int:
    """Cables between switches on the shortest path."""
    near = topology.neighbours(topology.trunks)
    seen, front, hops = {start}, {start}, 0
    while front and goal not in seen:
        front = {far for name in front for far, _ in near[name]} - seen
        seen |= front
        hops += 1
    return hops


def _views(lab: Lab, samples: RunSamples, pair: Sequence[str], trials: Sequence[Trial]) -> tuple[EndView | None, ...]:
    """LPI counts of the ports to both hosts during the trials; None for a port without counters."""
    homes = Topology.of(lab).homes
    return tuple(
        _counted(samples, homes[host].device, homes[host].port, trials) if host in homes else None for host in pair
    )


def _counted(samples: RunSamples, switch: str, port: str, trials: Sequence[Trial]) -> EndView | None:
    counts: dict[str, int] = {}
    for column in ("tx_lpi_event", "rx_lpi_event"):
        rows = samples.increments("lpi", column).filter((pl.col("switch") == switch) & (pl.col("port") == port))
        inside = [
            int(rows.filter((pl.col("to_ns") > one.begun_ns) & (pl.col("from_ns") < one.ended_ns))[column].sum())
            for one in trials
        ]
        if not rows.is_empty():
            counts[column] = sum(inside)
    if not counts:
        return None
    return EndView(
        f"{switch}:{port}",
        on=True,
        sent_lpi_count=counts.get("tx_lpi_event"),
        received_lpi_count=counts.get("rx_lpi_event"),
    )


def _symptoms(lab: Lab | None, samples: RunSamples, pair: Sequence[str], trials: Sequence[Trial]) -> tuple[str, ...]:
    """Symptoms that both links' counters show, and links that went down during a trial."""
    if lab is None:
        return ()
    found: list[str] = []
    for host, view in zip(pair, _views(lab, samples, pair, trials), strict=True):
        if view is not None:
            found += compare_ends(view, EndView(host, on=True)).symptoms
    homes = Topology.of(lab).homes
    ports = samples.table("ports")
    for end in (homes[host] for host in pair if host in homes):
        rows = ports.filter((pl.col("switch") == end.device) & (pl.col("port") == end.port))
        ups = [
            rows.filter((pl.col("received_ns") > one.begun_ns) & (pl.col("sent_ns") < one.ended_ns))["up"].to_list()
            for one in trials
        ]
        if any(before and not after for states in ups for before, after in pairwise(states)):
            found.append(f"{end.device}:{end.port} went down while it was probed (a flap): try again with EEE off.")
    return tuple(found)
