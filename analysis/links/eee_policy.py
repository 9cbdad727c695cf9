"""Which EEE policy a path's links have, from echoes with known gaps: off, hold and sleep, coalescing, or hybrid.

Each candidate policy predicts every round trip (`links.path_delay`, `links.policy_judge`). Candidates are
compared by the Bayesian information criterion. Intervals are of the posterior under flat priors, sampled by emcee: a
hold is a jump, where intervals from curvature are wrong.

The hosts' cards may sleep as well, with times of their own: then an echo passes a card, the switches' ports, the other
card, and ports again. Both cards are taken to be alike. Where nobody knows whether they sleep, they are part of the fit
whenever ports sleep. That they do not is as probable as that they do, unless the echoes refute it: the intervals are
of both cases together, the values those of the likelier one.

What the data cannot tell is not told: with bursts of one size a coalescing timer looks like a longer wake; where the
gaps never exceed the hold nothing is known but "no sleep up to this gap".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import emcee
import numpy as np

from analysis.interval import Floats, Interval, TooLittle, of_samples
from analysis.links.path_delay import echo_extra_us
from analysis.links.policy_judge import KINDS, LEAST_NOISE_US, Judge, Kind, Model
from analysis.links.policy_starts import start_cards, start_coalescing, start_hold, start_hybrid, start_off
from analysis.links.probes import Probes

_LEAST_ECHOES = 40
_WALKERS = 24
_CLIMB = 150
_BURN_IN = 250
_DRAWN = 500
_LEAST_GAIN = 10.0
"""Difference of the information criterion from which on a richer policy is believed (Kass and Raftery: very strong)."""


@dataclass(frozen=True, slots=True)
class PolicyFit:
    """A path's policy. Times in microseconds; None where the kind has no such time.

    `wake_us` is that of one transmitter, if `sleepers` says rightly how many of the path sleep: only their product is
    measured. `card_...` are of the hosts' cards, if they were seen to sleep too.
    `noise_us` is the scale of the Student-t errors; `explained` the share of the round trips' spread (mean
    absolute deviation from the median) that the policy explains; `evidence` how much better it is than the next best
    kind, as a difference of the Bayesian information criterion (above 10: very strong).
    """

    kind: Kind
    sleepers: int
    echoes: int
    lost: int
    largest_gap_us: float
    base_us: Interval
    noise_us: Interval
    explained: float
    evidence: float
    hold_us: Interval | None = None
    sleep_us: Interval | None = None
    wake_us: Interval | None = None
    fast_wake_us: Interval | None = None
    deep_after_us: Interval | None = None
    wait_us: Interval | None = None
    card_hold_us: Interval | None = None
    card_sleep_us: Interval | None = None
    card_wake_us: Interval | None = None


def fit_policy(
    probes: Probes, *, sleepers: int = 1, cards: bool = False, byte_us: float = 0.008, seed: int = 0
) -> PolicyFit:
    """Tell the policy of a path whose round trip passes `sleepers` transmitters that may sleep, all alike.

    With `cards` those are the switches' ports, half of them each way, and the hosts' cards may sleep too.
    `byte_us` is the time of a byte at the path's rate. TooLittle if fewer than 40 echoes can be used.
    """
    usable = int(probes.usable.sum())
    if usable < _LEAST_ECHOES:
        raise TooLittle(
            f"only {usable} echoes can be used of {len(probes.sent_us)}: send some hundreds, with gaps on "
            "both sides of where the link may fall asleep."
        )
    judge = Judge(probes, sleepers, byte_us)
    random = np.random.default_rng(seed)
    best: dict[Model, Floats] = {"off": start_off(judge)}
    if float(np.ptp(judge.rtt_us)) > 0:
        best["hold"] = start_hold(judge)
        best["hybrid"] = start_hybrid(judge, best["hold"])
        if np.ptp(judge.burst_byte) > 0:
            best["coalescing"] = start_coalescing(judge, best["hold"])
    climbs = {kind: _climb(judge, kind, start, random) for kind, start in best.items()}
    if cards and sleepers % 2 == 0 and "hold" in best:
        best["cards"] = start_cards(judge, climbs["hold"].best, climbs["hybrid"].best)
        climbs["cards"] = _climb(judge, "cards", best["cards"], random)
    cost = {kind: len(best[kind]) * float(np.log(len(judge.rtt_us))) - 2 * climb.top for kind, climb in climbs.items()}
    kind = _choose({model: value for model, value in cost.items() if model != "cards"})
    if cards and kind != "off" and cost.get("cards", np.inf) < cost[kind]:
        kind = "hold"
    others = [value for model, value in cost.items() if model not in (kind, "cards")]
    nearest = min(cost[kind], cost["cards"]) if kind == "hold" and "cards" in cost else cost[kind]
    evidence = min(others) - nearest if others else float("inf")
    found = _sample(judge, kind, climbs[kind].last, random, _BURN_IN + _DRAWN, _BURN_IN)
    if kind != "hold" or "cards" not in climbs:
        return _result(judge, kind, found, evidence)
    with_cards = _sample(judge, "cards", climbs["cards"].last, random, _BURN_IN + _DRAWN, _BURN_IN)
    if with_cards.top - found.top < _LEAST_GAIN:
        awake = np.column_stack((found.chain, found.chain[:, 2:4], np.zeros(len(found.chain))))
        likelier = awake if cost["hold"] <= cost["cards"] else with_cards.chain
        with_cards = replace(with_cards, chain=np.concatenate((with_cards.chain, awake)), middle=likelier)
    return _result(judge, "cards", with_cards, evidence)


def _choose(cost: Mapping[Model, float]) -> Model:
    """The plainest kind that no richer one beats clearly."""
    plain: tuple[Model, ...] = ("off", "hold", "coalescing", "hybrid")
    chosen: Model = "off"
    for kind in plain[1:]:
        if kind in cost and cost[kind] < cost[chosen] - _LEAST_GAIN:
            chosen = kind
    return chosen


@dataclass(frozen=True, slots=True)
class _Walk:
    """Draws from the posterior, shape (draws, parameters), where the walkers ended, the best point met, its height.

    `middle` are the draws whose medians are the values, if not all.
    """

    chain: Floats
    last: Floats
    best: Floats
    top: float
    middle: Floats | None = None


def _scatter(judge: Judge, kind: Model, start: Floats, random: np.random.Generator) -> Floats:
    """Walkers about a first guess, all within the bounds, shape (walkers, parameters)."""
    noise_us = float(np.exp(start[1]))
    gaps = judge.gap_us
    edge_us = 2 * float(np.ptp(gaps)) / len(gaps)
    step = {"hold_us": edge_us, "card_hold_us": edge_us, "wait_byte": float(np.ptp(judge.burst_byte)) / 50}
    names = KINDS[kind].names
    widths = [noise_us / 3, 0.1, *(max(step.get(name, 0.0), noise_us / 3) for name in names)]
    walkers: Floats = start + random.normal(size=(_WALKERS, len(start))) * np.array(widths)
    walkers[:, 0] = np.maximum(walkers[:, 0], random.uniform(1e-6, 1e-3, size=_WALKERS))
    walkers[:, 1] = np.maximum(walkers[:, 1], np.log(LEAST_NOISE_US) + random.uniform(0.01, 0.1, size=_WALKERS))
    for number, name in enumerate(names, start=2):
        low, high = judge.bounds[name]
        margin = (high - low) * random.uniform(1e-9, 1e-6, size=_WALKERS)
        walkers[:, number] = np.clip(walkers[:, number], low + margin, high - margin)
    return walkers


def _climb(judge: Judge, kind: Model, start: Floats, random: np.random.Generator) -> _Walk:
    return _sample(judge, kind, _scatter(judge, kind, start, random), random, _CLIMB, 0)


def _sample(judge: Judge, kind: Model, walkers: Floats, random: np.random.Generator, steps: int, discard: int) -> _Walk:
    walk = emcee.EnsembleSampler(
        _WALKERS,
        walkers.shape[1],
        lambda thetas: judge.log_probability(kind, thetas),
        vectorize=True,
        moves=[(emcee.moves.StretchMove(), 0.6), (emcee.moves.DEMove(), 0.4)],
    )
    walk.random_state = np.random.RandomState(int(random.integers(2**31))).get_state()
    walk.run_mcmc(walkers, steps, skip_initial_state_check=True)
    chain: Floats = walk.get_chain(discard=discard, flat=True)
    heights = walk.get_log_prob(flat=True)
    best: Floats = walk.get_chain(flat=True)[int(np.argmax(heights))]
    return _Walk(chain, walk.get_last_sample().coords, best, float(np.max(heights)))


def _result(judge: Judge, kind: Model, walk: _Walk, evidence: float) -> PolicyFit:
    names, chain = KINDS[kind].names, walk.chain
    values = np.median(chain if walk.middle is None else walk.middle, axis=0)
    bounds = (of_samples(column) for column in chain.T[2:])
    times = {
        name: Interval.about(float(value), whole.low, whole.high)
        for name, value, whole in zip(names, values[2:], bounds, strict=True)
    }
    times.pop("wait_byte", None)
    base_us = of_samples(chain[:, 0])
    if kind == "hold" and times["hold_us"].high < float(judge.gap_us.min()):
        # No echo found the path awake: a round trip awake and a wake are told as their sum only.
        wake_us = times["wake_us"].value
        plateau_us = base_us.value + judge.sleepers * wake_us
        base_us = Interval(base_us.value, 0.0, plateau_us)
        times["wake_us"] = Interval(wake_us, 0.0, plateau_us / judge.sleepers)
    best = walk.best[None, :]
    parameters = {name: best[:, 2 + number, None] for number, name in enumerate(names)}
    extra = echo_extra_us(
        judge.probes.sent_us[None, :],
        best[:, 0, None],
        KINDS[kind].path(parameters, judge.sleepers),
        judge.probes.burst_byte,
        judge.byte_us,
    )[0, judge.kept]
    left = float(np.abs(judge.rtt_us - best[0, 0] - extra).mean())
    spread = float(np.abs(judge.rtt_us - np.median(judge.rtt_us)).mean())
    return PolicyFit(
        kind="hold" if kind == "cards" else kind,
        sleepers=judge.sleepers,
        echoes=len(judge.rtt_us),
        lost=int(np.isnan(judge.probes.rtt_us).sum()),
        largest_gap_us=float(judge.gap_us.max()),
        base_us=base_us,
        noise_us=of_samples(np.exp(chain[:, 1])),
        explained=1.0 - left / spread if spread > 0 else 1.0,
        evidence=evidence,
        **times,
    )
