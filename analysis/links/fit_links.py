"""Links' policies from a run's probe trials, for a calibration.

A policy is claimed only against the same path with EEE off, in this run or in another one that is given. Probes of a
pair in one state of the lab are fitted together, as long as the switches showed one state of EEE before all of them:
those of one run, and those of all runs that are given together.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from eee_testbed.analysis.agent_file import read_agent_file
from eee_testbed.analysis.calibration import Estimate, LinkPolicy
from eee_testbed.analysis.configurations import STREAM, Factors, State, state_text
from eee_testbed.analysis.interval import Interval, NotEnoughData
from eee_testbed.analysis.links.eee_policy import PolicyFit, fit_policy
from eee_testbed.analysis.links.link_symptoms import EndView, compare_ends, symptoms_of
from eee_testbed.analysis.links.policy_groups import GroupFit
from eee_testbed.analysis.links.policy_likelihood import Known
from eee_testbed.analysis.links.probed_path import ProbedPath, Shown, end_view, probed_path, shown_in
from eee_testbed.analysis.links.probes import LATE_NS, Probes, echo_wire_byte
from eee_testbed.analysis.links.separate import EXCHANGED, Alone
from eee_testbed.analysis.links.sleep_path import SleepPath
from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import Trial

Pair = tuple[str, str]

_CONTRADICTED: Final = 5.7
"""Half the 99 % quantile of chi-square with three degrees of freedom: the times of ports, or of cards."""

_MISFIT: Final = 0.1
"""What times that are not the known ones may gain on each echo beside that, judged: of hundreds of echoes near a hold
many follow late ones, and times that are off by 30 us explained them better by 0.06 an echo. Ports that do differ lose
more."""

_TIMES: Final = ("hold_us", "sleep_us", "wake_us", "fast_wake_us", "deep_after_us", "wait_us")


@dataclass(frozen=True, slots=True)
class _Ended:
    """Trials that have ended: their files stay as they are, so that their folders say what is in them."""

    folders: frozenset[Path]
    trials: tuple[Trial, ...] = field(compare=False)

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> "_Ended":
        return cls(frozenset(trial.folder for trial in trials), tuple(trials))


@lru_cache(maxsize=64)
def _fitted(probed: _Ended, awake: _Ended, path: SleepPath, known: Known | None) -> PolicyFit:
    """Fitted once in a process: a study asks again after each block, also for pairs that it did not measure."""
    without_eee = read_probes(awake.trials) if awake.trials else None
    return fit_policy(read_probes(probed.trials), path, without_eee, known=known)


@dataclass(frozen=True, slots=True)
class ProbedPair:
    """Probes of one pair of hosts in one state: with EEE as it is, and on the same path with EEE off."""

    run: RunSamples
    pair: Pair
    state: State
    trials: tuple[Trial, ...]
    awake: tuple[Trial, ...]
    path: ProbedPath
    lab: Lab | None

    def fit(self, others: Alone | None = None) -> PolicyFit:
        """The policy; not paired if there are no probes with EEE off.

        `others`: what other paths showed of its ports and cards; not used where its echoes contradict it.
        """
        probed, awake, path = _Ended.of(self.trials), _Ended.of(self.awake), self.path.transmitters
        plain = _fitted(probed, awake, path, None)
        likely, known = (path, None) if others is None else others.on(path)
        if (likely, known) == (path, None) or plain.kind != "hold" or (plain.which and len(plain.groups) == 1):
            return plain
        given = _fitted(probed, awake, likely, known)
        least = plain.height - _CONTRADICTED - _MISFIT * plain.echoes
        return given if given.kind == "hold" and given.height > least else plain

    @property
    def stream_every_us(self) -> float | None:
        """The longest time between frames of another host's stream, which kept the ports to both awake; None: none."""
        times_us = [float(trial.parameters["stream_every_us"]) for trial in self.trials if STREAM in dict(self.state)]
        return max(times_us, default=None)

    @property
    def symptoms(self) -> tuple[str, ...]:
        """Sentences about effects beside delays."""
        sentences = [symptom for trial in self.trials for symptom in symptoms_of(read_probes([trial]))]
        homes = {} if self.lab is None else Topology.of(self.lab).homes
        shown = next((ends for ends in map(shown_in, self.trials) if ends), {})
        for host in self.pair:
            view = end_view(homes[host], shown, self.run, self.trials) if host in homes else None
            if view is not None and view.on:
                sentences += compare_ends(view, EndView(host, on=True)).symptoms
        sentences += _flaps(self.lab, self.run, self.pair, self.trials)
        return tuple(dict.fromkeys(sentences))


def fit_links(
    samples: RunSamples, others: Sequence[RunSamples] = (), known: Alone | None = None
) -> tuple[dict[str, LinkPolicy], tuple[str, ...]]:
    """By name ("n01-n02", and the state of the lab if several were probed), the policy of each probed path.

    Second, a sentence for each path of which no policy is claimed. `others`: runs that may have its echoes with EEE
    off, and more of its own: a path that several runs probed is fitted with the last of them, to the echoes of all.
    `known`: times of ports and cards where other paths showed them.
    NotEnoughData if no valid trial probed a path.
    """
    probed = probed_pairs(samples, others)
    if not probed:
        raise NotEnoughData(f"{samples.folder.name} has no valid trial of a probe: measure one with `eeectl probe`.")
    policies, refused = {}, []
    for probe in probed:
        several = sum(other.pair == probe.pair for other in probed) > 1
        in_part = _in_part(Factors.of_run(samples.facts), probe.state)
        name = link_name(probe.pair, probe.state if several or in_part or probe.stream_every_us else ())
        alike = [other for run in others for other in _probed(run) if _fits_together(probe, other)]
        if any(_begun_ns(other) > _begun_ns(probe) for other in alike):
            continue
        try:
            policies[name] = _claimed(_together(probe, alike), known)
        except NotEnoughData as error:
            refused.append(f"{name}: {error}")
    return policies, tuple(refused)


def _probed(run: RunSamples) -> tuple[ProbedPair, ...]:
    """Its pairs; none if its own probes do not fit together, which its own fit reports."""
    try:
        return probed_pairs(run)
    except NotEnoughData:
        return ()


def _fits_together(probe: ProbedPair, other: ProbedPair) -> bool:
    """Whether two runs probed one path in one state, as far as the switches showed it."""
    return (probe.pair, probe.state, _summary(_shown(probe))) == (other.pair, other.state, _summary(_shown(other)))


def _shown(probe: ProbedPair) -> Shown:
    return next((shown for shown in map(shown_in, probe.trials) if shown), {})


def _begun_ns(probe: ProbedPair) -> int:
    return max(trial.begun_ns for trial in probe.trials)


def _together(probe: ProbedPair, alike: Sequence[ProbedPair]) -> ProbedPair:
    """With the echoes of other runs; `awake` is of the first that has some, as all runs were asked for them."""
    trials = tuple(trial for pair_probe in (*alike, probe) for trial in pair_probe.trials)
    awake = {trial.folder: trial for pair_probe in (*alike, probe) for trial in pair_probe.awake}
    return replace(probe, trials=trials, awake=tuple(awake.values()))


def _claimed(probe: ProbedPair, known: Alone | None) -> LinkPolicy:
    if not probe.awake and not probe.path.sleeps_nowhere:
        raise NotEnoughData(
            "it was never probed with EEE off, so slow hosts may look like sleeping links: probe it with EEE off too "
            f"(`eeectl probe {' '.join(probe.pair)} --lab {probe.run.facts.get('lab', 'LAB')} --paired`), and name "
            "both runs."
        )
    fit = probe.fit(known)
    if fit.kind != "off" and fit.explained <= 0.0:
        raise NotEnoughData(
            f"no policy explains its round trips (explained fraction {fit.explained:.2f}): probe again on a quiet lab."
        )
    policy = link_policy(fit, probe.path, max(fit.lost - len(probe.trials), 0), probe.symptoms)
    return policy.model_copy(update={"stream_every_us": probe.stream_every_us})


def link_name(hosts: Iterable[str], state: State) -> str:
    """The name of a path's policy: "n01-n02", or "n01-n02 eee=on" in a state of the lab."""
    levels = " ".join(f"{factor}={level}" for factor, level in state)
    return f"{'-'.join(hosts)} {levels}".strip()


def probed_pairs(samples: RunSamples, others: Sequence[RunSamples] = ()) -> tuple[ProbedPair, ...]:
    """Valid probes by pair and state. Those with EEE off alone are a pair's only ones if it has no others."""
    factors = Factors.of_run(samples.facts)
    lab = lab_of_run(samples.facts)
    groups: dict[tuple[Pair, State], list[Trial]] = {}
    for trial in _probes_of(samples):
        groups.setdefault(((trial.hosts[0], trial.hosts[1]), factors.state_of(trial)), []).append(trial)
    probed, off = [], []
    for (pair, state), trials in groups.items():
        shown = _one_state(trials, state)
        path = probed_path(lab, pair, shown, samples, trials, streamed=STREAM in dict(state))
        awake = _awake(samples, others, pair, state)
        if _off(factors, state):
            off.append(ProbedPair(samples, pair, state, tuple(trials), (), path, lab))
        else:
            probed.append(ProbedPair(samples, pair, state, tuple(trials), awake, path, lab))
    seen = {probe.pair for probe in probed}
    return (*probed, *(_as_off(probe) for probe in off if probe.pair not in seen))


def _as_off(probe: ProbedPair) -> ProbedPair:
    """Probes with EEE off are of a path on which nothing sleeps."""
    asleep = tuple(
        type(transmitter)(transmitter.end, transmitter.card, may_sleep=False, byte_us=transmitter.byte_us)
        for transmitter in probe.path.transmitters
    )
    path = ProbedPath(asleep, probe.path.in_force, probe.path.not_in_force)
    return ProbedPair(probe.run, probe.pair, probe.state, probe.trials, (), path, probe.lab)


def _probes_of(samples: RunSamples) -> list[Trial]:
    return [trial for trial in samples.trials if trial.valid and trial.what == "probe" and len(trial.hosts) == 2]


def _one_state(trials: Sequence[Trial], state: State) -> Shown:
    """What the switches showed before all of the trials; NotEnoughData if that differs."""
    shown = [ends for ends in map(shown_in, trials) if ends]
    states = {_summary(ends) for ends in shown}
    if len(states) > 1:
        raise NotEnoughData(
            f"probes of one state of the lab ({state_text(state)}) ran with different EEE settings: "
            "fit each run by itself."
        )
    return shown[0] if shown else {}


def _summary(shown: Shown) -> tuple[tuple[str, object, object, object], ...]:
    return tuple(
        sorted(
            (
                end,
                settings.get("enabled"),
                settings.get("active"),
                settings.get("hold_us") if settings.get("enabled") else None,
            )
            for end, settings in shown.items()
        )
    )


def _awake(samples: RunSamples, others: Sequence[RunSamples], pair: Pair, state: State) -> tuple[Trial, ...]:
    """Probes of a pair with EEE off and all else alike: of its own run, else of the first other one that has some."""
    factors = Factors.of_run(samples.facts)
    rest = _without_eee(factors, state)
    for run in (samples, *others):
        run_factors = Factors.of_run(run.facts)
        candidates = [
            trial
            for trial in _probes_of(run)
            if trial.hosts == pair
            and _without_eee(run_factors, run_factors.state_of(trial)) == rest
            and (
                _off(run_factors, run_factors.state_of(trial))
                or (run is not samples and _nothing_in_force(run, pair, trial))
            )
        ]
        asleep = [trial for trial in candidates if _still_in_force(run, pair, trial)]
        if candidates and not asleep:
            return tuple(candidates)
    return ()


def _without_eee(factors: Factors, state: State) -> State:
    return tuple((name, level) for name, level in state if factors.kind(name) not in ("eee", "hold_us"))


def _off(factors: Factors, state: State) -> bool:
    """Whether EEE was off wherever a factor sets it."""
    levels = _eee_levels(factors, state)
    return bool(levels) and all(level in ("off", False) for level in levels)


def _in_part(factors: Factors, state: State) -> bool:
    """Whether EEE was on at some links and off at others."""
    levels = _eee_levels(factors, state)
    return not _off(factors, state) and any(level in ("off", False) for level in levels)


def _eee_levels(factors: Factors, state: State) -> list[object]:
    return [level for name, level in state if factors.kind(name) == "eee"]


def _nothing_in_force(run: RunSamples, pair: Pair, trial: Trial) -> bool:
    return probed_path(lab_of_run(run.facts), pair, shown_in(trial)).sleeps_nowhere


def _still_in_force(run: RunSamples, pair: Pair, trial: Trial) -> bool:
    """Whether EEE was in force on a link of the path although it was to be off."""
    return bool(probed_path(lab_of_run(run.facts), pair, shown_in(trial)).in_force)


def read_probes(trials: Iterable[Trial]) -> Probes:
    """The echoes of several trials together; the first two of each are not used, as the gap before them is unknown."""
    sent_ns: list[int] = []
    rtt: list[float] = []
    late_ns: list[int] = []
    wire_byte: list[float] = []
    numbers: list[int] = []
    for place, trial in enumerate(sorted(trials, key=lambda trial: trial.begun_ns)):
        stream = read_agent_file(trial.path("echoes.jsonl"), "echo_probe")
        rows = [row for row in stream.rows if row["sent_ns"]]
        wire_byte += [echo_wire_byte(int(stream.header["payload_byte"]))] * len(rows)
        numbers += [place] * len(rows)
        for number, row in enumerate(rows):
            lost = number == 0 or row["rtt_ns"] is None
            sent_ns.append(row["sent_ns"])
            rtt.append(math.nan if lost else row["rtt_ns"] / 1e3)
            late_ns.append(row["late_ns"] or 0)
    since_first_us = (np.array(sent_ns, dtype=np.int64) - min(sent_ns, default=0)) / 1e3
    order = np.argsort(since_first_us, kind="stable")
    punctual = np.array(late_ns)[order] < LATE_NS
    return Probes.of(
        since_first_us[order],
        np.array(rtt)[order],
        np.array(wire_byte)[order],
        punctual,
        np.array(numbers)[order],
    )


def link_policy(fit: PolicyFit, path: ProbedPath, lost: int, symptoms: tuple[str, ...] = ()) -> LinkPolicy:
    """A fit as a part of a calibration."""
    groups = fit.groups
    first = groups[0] if groups else None
    second = groups[1] if len(groups) > 1 else None
    if second is not None and fit.which and all(path.transmitters[place].card for place in groups[0].members):
        first, second = second, groups[0]
    count = len(first.members) if first is not None else len(_members(None, fit, path)) or 1
    unknown = list(path.unknown if first is not None else ())
    if first is not None and not (fit.which and second is not None):
        awake = {
            transmitter.end.split(":")[0]
            for transmitter in fit.path
            if transmitter.card and transmitter.may_sleep is False
        }
        unknown += [
            f"It is unknown whether {host}'s card sleeps: its switch has no LPI counters."
            for host in path.uncounted
            if host not in awake
        ]
    if not fit.which:
        unknown.append(
            EXCHANGED if second is not None else f"Echoes do not show which {count} of the path's transmitters sleep."
        )
    unknown += [f"EEE is not in force on {name}, so it cannot sleep." for name in path.not_in_force]
    times: dict[str, Any] = {}
    for prefix, group, names in (("", first, _TIMES), ("card_", second, _TIMES[:3])):
        for name in names:
            estimate = None if group is None else getattr(group, name)
            times[f"{prefix}{name}"] = None if estimate is None else Estimate.of(estimate)
    return LinkPolicy(
        ends=path.ends_of(_members(first, fit, path)),
        kind=fit.kind,
        sleeper_count=count,
        card_count=2 if second is None else len(second.members),
        which=fit.which,
        path_wake_us=None if fit.path_wake_us is None else Estimate.of(fit.path_wake_us),
        largest_gap_us=fit.largest_gap_us,
        base_us=Estimate.of(_floored(fit.base_us)),
        noise_us=Estimate.of(fit.noise_us),
        echo_count=fit.echoes,
        lost_count=lost,
        explained_fraction=fit.explained,
        evidence=fit.evidence if math.isfinite(fit.evidence) else 0.0,
        symptoms=symptoms,
        unknown=tuple(unknown),
        **times,
    )


def _members(first: GroupFit | None, fit: PolicyFit, path: ProbedPath) -> Sequence[int]:
    """The places of all that sleep; where nothing was found to, of the ports that may, else of the cards that may."""
    if first is None:
        ports = [place for place, transmitter in enumerate(path.transmitters) if not transmitter.card]
        free = [place for place, transmitter in enumerate(path.transmitters) if transmitter.may_sleep is not False]
        return [place for place in ports if place in free] or free or ports
    return [place for group in fit.groups for place in group.members]


def _floored(interval: Interval) -> Interval:
    return Interval(interval.value, max(interval.low, 0.0), interval.high)


def _flaps(lab: Lab | None, samples: RunSamples, pair: Pair, trials: Sequence[Trial]) -> list[str]:
    """Links of the hosts that went down during a trial."""
    if lab is None:
        return []
    sentences: list[str] = []
    homes = Topology.of(lab).homes
    ports = samples.table("ports")
    for end in (homes[host] for host in pair if host in homes):
        rows = ports.filter((pl.col("switch") == end.device) & (pl.col("port") == end.port))
        ups = [
            rows.filter((pl.col("received_ns") > trial.begun_ns) & (pl.col("sent_ns") < trial.ended_ns))["up"].to_list()
            for trial in trials
        ]
        if any(before and not after for states in ups for before, after in pairwise(states)):
            sentences.append(f"{end.device}:{end.port} went down while it was probed (a flap): try again with EEE off.")
    return sentences
