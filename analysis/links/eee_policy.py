"""Which EEE policy a path's links have, from echoes with known gaps.

A policy is what the echoes with EEE on show beyond those with EEE off, on the same path: `fit_policy` takes both, and
"EEE changes nothing" is among the candidates. Without echoes with EEE off (`awake`), the result is what would explain
the echoes if EEE did it; it is not `paired`, claims nothing, and its intervals allow for what hosts do by themselves.

Each structure (`structures`) predicts every round trip. Structures are compared by the Bayesian information criterion;
those that the echoes do not rule out stay, by their weights, and intervals are those of the mixture. So what the
echoes cannot tell apart is reported as such: of two groups of equal size, ports and cards, it may be open which one is
which (`which` is False), and the intervals belong to the group with the longer and the shorter wake.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from eee_testbed.analysis.interval import Floats, Interval, NotEnoughData, of_samples
from eee_testbed.analysis.links.host_rise import measured_rise, unknown_rise
from eee_testbed.analysis.links.policy_groups import Drawn, GroupFit, groups_of, known_members
from eee_testbed.analysis.links.policy_likelihood import Known, Likelihood
from eee_testbed.analysis.links.policy_profile import DROP, reaches
from eee_testbed.analysis.links.policy_search import Top, draws, search
from eee_testbed.analysis.links.policy_starts import standard_ts_us
from eee_testbed.analysis.links.probes import Probes
from eee_testbed.analysis.links.sleep_path import SleepPath, Transmitter
from eee_testbed.analysis.links.structures import NOTHING, Structure, candidates, is_even, splits_switch
from eee_testbed.analysis.links.trial_levels import trial_offsets_us

Kind = Literal["off", "hold", "fast", "coalescing", "hybrid"]

_LEAST_ECHOES: Final = 40
_LEAST_GAIN: Final = 20.0
"""Least difference of the information criterion that makes a policy credible at all, beside "nothing sleeps"."""

_LEAST_KIND_GAIN: Final = 10.0
"""The same for a kind with more parameters than a plain hold (Kass and Raftery: very strong)."""

_LEAST_PAIR_GAIN: Final = 6.0
"""The same for two groups beside one."""

_LEAST_AWAKE: Final = 5
"""Least number of echoes within the hold without which nobody saw that there is no Ts."""

_UNEVEN_RATIO: Final = 4.0
"""How much better two groups have to be of which one is a part of the cards, or of the ports: mostly all are alike."""

_LEAST_STAGE: Final = 20
"""Least number of echoes in a stage of fast wake that make it credible."""

_REJECTING_GAP: Final = 12.0
"""A structure whose information criterion is this much worse than the best one is out."""

_PAIR_REJECTING_GAP: Final = 60.0
"""The same for two groups, more cautious: which wake is whose hangs on a few echoes near the holds, whose exact times
a small error of the model shifts."""

_HOSTS_OWN_US: Final = 20.0
"""How much slower hosts may be after pauses by themselves, if that was not measured: a processor leaves idle states."""

_STAMPS_US: Final = 0.4
"""How much later a host may stamp an answer that slept longer on its way: caches grow cold meanwhile. In a lab at a
tenth of real time sums of wakes were found 0.3 us too long (two pairs, 600 echoes each)."""

_TIMES: Final = ("hold_us", "sleep_us", "wake_us", "fast_wake_us", "deep_after_us", "wait_us")
_MOST_KEPT: Final = 3
_MIXED_COUNT: Final = 4_000
_TOO_SHORT_US: Final = {100: 100.0, 1_000: 91.0, 2_500: 5.7, 5_000: 2.9, 10_000: 1.4, 25_000: 0.4}
"""By speed in Mb/s, half the shortest Ts of deep sleep over twisted pairs (IEEE 802.3 table 78-2): below it, a
transmitter is in fast wake. Simplification: backplanes with a shorter Ts (1000BASE-KX, 19.9 us) look like fast wake."""


@dataclass(frozen=True, slots=True)
class PolicyFit:
    """A path's policy. Times in microseconds.

    `paired`: it was compared with the same path with EEE off. `path_wake_us`: the sum of all wakes of a round trip that
    finds everything asleep; None for kind "off". `which`: whether the groups' members are those that sleep; False: as
    many others may have these times, and with two groups these are in order of their wakes, the longer first.
    `height` is the log posterior of the likeliest times, without what `known` says of them; no echo by itself decides.
    `noise_us` is the scale of the Student-t errors; `explained` the share of the round trips' spread (mean absolute
    deviation from the median) that hosts and policy explain; `evidence` the difference of the information criterion to
    the next best kind (above 10: very strong).
    """

    kind: Kind
    paired: bool
    path: SleepPath
    echoes: int
    lost: int
    largest_gap_us: float
    base_us: Interval
    noise_us: Interval
    explained: float
    evidence: float
    height: float
    path_wake_us: Interval | None = None
    groups: tuple[GroupFit, ...] = ()
    which: bool = True


def fit_policy(
    probes: Probes,
    path: SleepPath,
    awake: Probes | None = None,
    *,
    known: Known | None = None,
    seed: int = 0,
) -> PolicyFit:
    """Fit the policy of a path; `awake`: echoes on the same path with EEE off.

    `known`: the times of the path's ports or cards, as other paths showed them on which nothing else slept.

    NotEnoughData if fewer than 40 echoes of either can be used, or if what was found does not explain the echoes.
    """
    for sent, what in ((probes, "echoes"), *(() if awake is None else ((awake, "echoes with EEE off"),))):
        usable = int(sent.usable.sum())
        if usable < _LEAST_ECHOES:
            raise NotEnoughData(
                f"only {usable} of {len(sent.sent_us)} {what} can be used: send some hundreds, with gaps both "
                "shorter and longer than the hold that you expect."
            )
    rise = unknown_rise(probes) if awake is None else measured_rise(awake, float(np.std(trial_offsets_us(probes))))
    if known is not None:
        path = tuple(_as_known(transmitter, known) for transmitter in path)
    likelihood = Likelihood(probes, path, rise, known)
    random = np.random.default_rng(seed)
    structures = [NOTHING]
    if float(np.ptp(likelihood.rtt_us)) > 0:
        structures += candidates(path, bursts=float(np.ptp(likelihood.burst_byte)) > 0)
    tops = [top for top in search(likelihood, structures, random) if _shown(likelihood, top)]
    costs = {id(top): _cost(likelihood, top) for top in tops}
    by_kind: dict[str, list[Top]] = {}
    for top in tops:
        by_kind.setdefault(_timing(top.structure), []).append(top)
    best = {kind: min(costs[id(top)] for top in group) for kind, group in by_kind.items()}
    kind = _choose(best)
    evidence = min((cost for other, cost in best.items() if other != kind), default=np.inf) - best[kind]
    ranked = sorted(by_kind[kind], key=lambda top: costs[id(top)])
    limit = best[kind] + (_PAIR_REJECTING_GAP if len(ranked[0].structure.groups) > 1 else _REJECTING_GAP)
    alike = [top for top in ranked if top.structure.names == ranked[0].structure.names]
    if len(ranked[0].structure.groups) == 1 and not splits_switch(path, ranked[0].structure):
        alike = [top for top in alike if not splits_switch(path, top.structure)]
    kept = [top for top in alike if costs[id(top)] < limit][:_MOST_KEPT]
    weights = np.exp(-0.5 * (np.array([costs[id(top)] for top in kept]) - best[kind]))
    rivals = _rivals(likelihood.path, ranked)[:_MOST_KEPT]
    return _result(likelihood, kept, weights / weights.sum(), rivals, evidence, random)


def _as_known(transmitter: Transmitter, known: Known) -> Transmitter:
    """One whose times are known does sleep, if nothing else said so."""
    times = known.cards if transmitter.card else known.ports
    return transmitter if times is None or transmitter.may_sleep is not None else replace(transmitter, may_sleep=True)


def _shown(likelihood: Likelihood, top: Top) -> bool:
    """Whether echoes fell into the stage of fast wake of a hybrid; else it is two groups that sleep alike, nearly."""
    if _timing(top.structure) != "hybrid":
        return True
    times = {
        name: float(column[0, 0])
        for name, column in top.structure.split(top.best[None, likelihood.common :])[0].items()
    }
    deep_us = times["hold_us"] + times["deep_after_us"]
    inside = (likelihood.rested_us > times["hold_us"]) & (likelihood.rested_us < deep_us)
    return int(inside.sum()) >= _LEAST_STAGE


def _rivals(path: SleepPath, ranked: Sequence[Top]) -> list[Top]:
    """Pairs of groups that explain the echoes as well as the single group that was chosen, as the simpler one.

    A port and a card whose holds are alike add as much to a round trip as a port alone whose wake is the sum of theirs.
    """
    chosen = ranked[0]
    if known_members(path, chosen.structure):
        return []
    return [top for top in ranked if len(top.structure.groups) == 2 and top.height > chosen.height - DROP]


def _cost(likelihood: Likelihood, top: Top) -> float:
    richer = _LEAST_PAIR_GAIN * (len(top.structure.groups) > 1)
    uneven = _UNEVEN_RATIO * (not is_even(likelihood.path, top.structure))
    parameters = len(top.structure.names) * float(np.log(len(likelihood.rtt_us)))
    return parameters - 2 * _height(likelihood, top) + richer + uneven


def _height(likelihood: Likelihood, top: Top) -> float:
    """The log posterior where no echo by itself decides between structures."""
    return float(likelihood.log_probability(top.structure, top.best[None], forgiving=True)[0])


def _timing(structure: Structure) -> str:
    return structure.groups[0].timing if structure.groups else "off"


def _choose(best: dict[str, float]) -> str:
    """The simplest kind that no richer one clearly beats."""
    chosen = "off"
    for kind, gain in (("deep", _LEAST_GAIN), ("coalescing", _LEAST_KIND_GAIN), ("hybrid", _LEAST_KIND_GAIN)):
        needed = _LEAST_GAIN if chosen == "off" else gain
        if kind in best and best[kind] < best[chosen] - needed:
            chosen = kind
    return chosen


def _result(
    likelihood: Likelihood,
    kept: Sequence[Top],
    weights: Floats,
    rivals: Sequence[Top],
    evidence: float,
    random: np.random.Generator,
) -> PolicyFit:
    common = likelihood.common
    chains = [draws(likelihood, top, random) for top in kept]
    counts = np.maximum((weights * _MIXED_COUNT).astype(int), 1)
    picked = [
        chain.thetas[random.integers(len(chain.thetas), size=count)]
        for chain, count in zip(chains, counts, strict=True)
    ]
    heads = np.concatenate([chain[:, :common] for chain in picked])
    base_us = of_samples(heads[:, 0] + _lowest(likelihood, heads))
    rtt_us = likelihood.rtt_us
    left = float(np.abs(likelihood.residual_us(kept[0].structure, kept[0].best)).mean())
    spread = float(np.abs(rtt_us - np.median(rtt_us)).mean())
    explained = 1.0 - left / spread if spread > 0 else 1.0
    structure = kept[0].structure
    groups: tuple[GroupFit, ...] = ()
    wakes = None
    which = True
    times: list[Drawn] = []
    if structure.groups:
        times = [
            Drawn(top.structure, part[:, common:], reaches(likelihood, top, chain, random))
            for top, chain, part in zip(kept, chains, picked, strict=True)
        ]
        wakes_us = np.concatenate([drawn.structure.path_wake_us(drawn.times_us) for drawn in times])
        wakes = _scattered(of_samples(wakes_us), _STAMPS_US)
        others = [_drawn(likelihood, rival, random) for rival in rivals]
        ordered = likelihood.known is not None and len(structure.groups) == 2
        standard_us = standard_ts_us(likelihood)
        which, groups = groups_of(likelihood.path, times, others, standard_us, ordered=ordered)
        groups = tuple(
            replace(group, wake_us=_scattered(group.wake_us, _STAMPS_US / len(group.members))) for group in groups
        )
    fit = PolicyFit(
        kind=_kind(likelihood, times[0] if times else None),
        paired=likelihood.rise.known,
        path=likelihood.path,
        echoes=len(rtt_us),
        lost=int(np.isnan(likelihood.probes.rtt_us).sum()),
        largest_gap_us=float(likelihood.gap_us.max()),
        base_us=base_us,
        noise_us=of_samples(np.exp(heads[:, 1])),
        explained=explained,
        evidence=evidence,
        height=_height(likelihood, kept[0]) - float(likelihood.known_prior(structure, kept[0].best[None])[0]),
        path_wake_us=wakes,
        groups=groups,
        which=which,
    )
    return fit if fit.paired else _with_hosts(fit)


def _drawn(likelihood: Likelihood, top: Top, random: np.random.Generator) -> Drawn:
    chain = draws(likelihood, top, random)
    return Drawn(top.structure, chain.thetas[:, likelihood.common :], reaches(likelihood, top, chain, random))


def _with_hosts(fit: PolicyFit) -> PolicyFit:
    """A fit without echoes with EEE off, wide enough for hosts that are slower after pauses by themselves.

    What they may explain alone is no policy. Simplification: holds and Ts move by half as much as wakes, at most.
    """
    if fit.path_wake_us is None:
        return fit
    whole = _wider(fit.path_wake_us, _HOSTS_OWN_US)
    if whole.low <= 0.0:
        return replace(fit, kind="off", path_wake_us=None, groups=(), which=True)
    groups = []
    for group in fit.groups:
        each = _HOSTS_OWN_US / len(group.members)
        widths = {"hold_us": _HOSTS_OWN_US / 2, "sleep_us": _HOSTS_OWN_US / 2, "deep_after_us": _HOSTS_OWN_US / 2}
        times = {name: getattr(group, name) for name in _TIMES}
        wider: dict[str, Any] = {
            name: interval and _wider(interval, widths.get(name, each)) for name, interval in times.items()
        }
        groups.append(replace(group, **wider))
    return replace(fit, path_wake_us=whole, groups=tuple(groups))


def _scattered(interval: Interval, by_us: float) -> Interval:
    """With the error of software stamps, which chance does not show."""
    low, high = (float(np.hypot(interval.value - end, by_us)) for end in (interval.low, interval.high))
    return Interval(interval.value, max(interval.value - low, 0.0), interval.value + high)


def _wider(interval: Interval, by_us: float) -> Interval:
    return Interval(interval.value, max(interval.low - by_us, 0.0), interval.high + by_us)


def _lowest(likelihood: Likelihood, heads: Floats) -> Floats:
    """The hosts' own time after the shortest gap, beside the base."""
    shortest = np.array([likelihood.gap_us.min()])
    lowest: Floats = (
        likelihood.rise.mean(shortest)[0] + heads[:, likelihood.terms] @ likelihood.rise.terms(shortest)[:, 0]
    )
    return lowest


def _kind(likelihood: Likelihood, times: Drawn | None) -> Kind:
    """The kind of the likeliest structure, by its own draws; None: nothing sleeps."""
    if times is None:
        return "off"
    timing = times.structure.groups[0].timing
    if timing != "deep":
        return timing
    speed_mbps = max(1, round(0.008 * 1000 / max(transmitter.byte_us for transmitter in likelihood.path)))
    shortest_us = _TOO_SHORT_US.get(speed_mbps, 0.0)
    groups = times.structure.split(times.times_us)
    seen_awake = all(
        int((likelihood.rested_us < of_samples(group["hold_us"]).low).sum()) >= _LEAST_AWAKE for group in groups
    )
    quick = all(of_samples(group["sleep_us"]).high < shortest_us for group in groups)
    return "fast" if seen_awake and quick else "hold"
