"""Which EEE policy a path's links have, from echoes with known gaps: off, hold and sleep, coalescing, or hybrid.

Each candidate policy predicts every round trip (`links.path_delay`, `links.policy_likelihood`). Candidates are
compared by the Bayesian information criterion. Intervals are those of the posterior under flat priors, sampled with
emcee, as intervals from curvature are wrong for a hold, which is a step.

The hosts' cards may sleep too, with times of their own: then an echo passes a card, the switches' ports, the other
card, and ports again. Both cards are assumed to be alike. If it is not known whether they sleep, the fit includes them
whenever ports sleep. Both cases have the same prior probability; unless the echoes rule one out, the intervals cover
both, and the values are those of the likelier one.

What the data cannot determine is not reported: with bursts of one size, a coalescing timer looks like a longer wake; if
no gap exceeds the hold, the result is only "no sleep up to this gap".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import emcee
import numpy as np

from analysis.interval import Floats, Interval, NotEnoughData, of_samples
from analysis.links.path_delay import echo_extra_us
from analysis.links.policy_likelihood import KINDS, LEAST_NOISE_US, Kind, Likelihood, Model
from analysis.links.policy_starts import start_cards, start_coalescing, start_hold, start_hybrid, start_off
from analysis.links.probes import Probes

_LEAST_ECHOES = 40
_WALKERS = 24
_CLIMB = 150
_BURN_IN = 250
_DRAWN = 500
_LEAST_GAIN = 10.0
"""Least difference of the information criterion that makes a richer policy credible (Kass and Raftery: very strong)."""


@dataclass(frozen=True, slots=True)
class PolicyFit:
    """A path's policy. Times in microseconds; None where the kind has no such time.

    `wake_us` is that of one transmitter, provided that `sleepers` of the path sleep: only the product of both is
    measured. `card_...` are of the hosts' cards, if these may sleep too. `noise_us` is the scale of the Student-t
    errors; `explained` the share of the round trips' spread (mean absolute deviation from the median) that the policy
    explains; `evidence` the difference of the Bayesian information criterion to the next best kind (above 10: very
    strong).
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
    """Fit the policy of a path whose round trip passes `sleepers` transmitters that may sleep, all alike.

    With `cards` these are the switches' ports, half of them in each direction, and the hosts' cards may sleep too.
    `byte_us` is the time of a byte at the path's rate. NotEnoughData if fewer than 40 echoes can be used.
    """
    usable = int(probes.usable.sum())
    if usable < _LEAST_ECHOES:
        raise NotEnoughData(
            f"only {usable} of {len(probes.sent_us)} echoes can be used: send some hundreds, with gaps both "
            "shorter and longer than the hold that you expect."
        )
    likelihood = Likelihood(probes, sleepers, byte_us)
    random = np.random.default_rng(seed)
    best: dict[Model, Floats] = {"off": start_off(likelihood)}
    if float(np.ptp(likelihood.rtt_us)) > 0:
        best["hold"] = start_hold(likelihood)
        best["hybrid"] = start_hybrid(likelihood, best["hold"])
        if np.ptp(likelihood.burst_byte) > 0:
            best["coalescing"] = start_coalescing(likelihood, best["hold"])
    climbs = {kind: _climb(likelihood, kind, start, random) for kind, start in best.items()}
    if cards and sleepers % 2 == 0 and "hold" in best:
        best["cards"] = start_cards(likelihood, climbs["hold"].best, climbs["hybrid"].best)
        climbs["cards"] = _climb(likelihood, "cards", best["cards"], random)
    cost = {
        kind: len(best[kind]) * float(np.log(len(likelihood.rtt_us))) - 2 * climb.top for kind, climb in climbs.items()
    }
    kind = _choose({model: value for model, value in cost.items() if model != "cards"})
    if cards and kind != "off" and cost.get("cards", np.inf) < cost[kind]:
        kind = "hold"
    others = [value for model, value in cost.items() if model not in (kind, "cards")]
    nearest = min(cost[kind], cost["cards"]) if kind == "hold" and "cards" in cost else cost[kind]
    evidence = min(others) - nearest if others else float("inf")
    found = _sample(likelihood, kind, climbs[kind].last, random, _BURN_IN + _DRAWN, _BURN_IN)
    if kind != "hold" or "cards" not in climbs:
        return _result(likelihood, kind, found, evidence)
    with_cards = _sample(likelihood, "cards", climbs["cards"].last, random, _BURN_IN + _DRAWN, _BURN_IN)
    if with_cards.top - found.top < _LEAST_GAIN:
        awake = np.column_stack((found.chain, found.chain[:, 2:4], np.zeros(len(found.chain))))
        likelier = awake if cost["hold"] <= cost["cards"] else with_cards.chain
        with_cards = replace(with_cards, chain=np.concatenate((with_cards.chain, awake)), middle=likelier)
    return _result(likelihood, "cards", with_cards, evidence)


def _choose(cost: Mapping[Model, float]) -> Model:
    """The simplest kind that no richer one clearly beats."""
    plain: tuple[Model, ...] = ("off", "hold", "coalescing", "hybrid")
    chosen: Model = "off"
    for kind in plain[1:]:
        if kind in cost and cost[kind] < cost[chosen] - _LEAST_GAIN:
            chosen = kind
    return chosen


@dataclass(frozen=True, slots=True)
class _Draws:
    """Draws from the posterior, shape (draws, parameters), the walkers' last positions, the best point and its height.

    `middle`: the draws whose medians are the values, if not all of them.
    """

    chain: Floats
    last: Floats
    best: Floats
    top: float
    middle: Floats | None = None


def _scatter(likelihood: Likelihood, kind: Model, start: Floats, random: np.random.Generator) -> Floats:
    """Walkers about a starting point, all within the bounds, shape (walkers, parameters)."""
    noise_us = float(np.exp(start[1]))
    gaps = likelihood.gap_us
    edge_us = 2 * float(np.ptp(gaps)) / len(gaps)
    step = {"hold_us": edge_us, "card_hold_us": edge_us, "wait_byte": float(np.ptp(likelihood.burst_byte)) / 50}
    names = KINDS[kind].names
    widths = [noise_us / 3, 0.1, *(max(step.get(name, 0.0), noise_us / 3) for name in names)]
    walkers: Floats = start + random.normal(size=(_WALKERS, len(start))) * np.array(widths)
    walkers[:, 0] = np.maximum(walkers[:, 0], random.uniform(1e-6, 1e-3, size=_WALKERS))
    walkers[:, 1] = np.maximum(walkers[:, 1], np.log(LEAST_NOISE_US) + random.uniform(0.01, 0.1, size=_WALKERS))
    for number, name in enumerate(names, start=2):
        low, high = likelihood.bounds[name]
        margin = (high - low) * random.uniform(1e-9, 1e-6, size=_WALKERS)
        walkers[:, number] = np.clip(walkers[:, number], low + margin, high - margin)
    return walkers


def _climb(likelihood: Likelihood, kind: Model, start: Floats, random: np.random.Generator) -> _Draws:
    return _sample(likelihood, kind, _scatter(likelihood, kind, start, random), random, _CLIMB, 0)


def _sample(
    likelihood: Likelihood, kind: Model, walkers: Floats, random: np.random.Generator, steps: int, discard: int
) -> _Draws:
    sampler = emcee.EnsembleSampler(
        _WALKERS,
        walkers.shape[1],
        lambda thetas: likelihood.log_probability(kind, thetas),
        vectorize=True,
        moves=[(emcee.moves.StretchMove(), 0.6), (emcee.moves.DEMove(), 0.4)],
    )
    sampler.random_state = np.random.RandomState(int(random.integers(2**31))).get_state()
    sampler.run_mcmc(walkers, steps, skip_initial_state_check=True)
    chain: Floats = sampler.get_chain(discard=discard, flat=True)
    heights = sampler.get_log_prob(flat=True)
    best: Floats = sampler.get_chain(flat=True)[int(np.argmax(heights))]
    return _Draws(chain, sampler.get_last_sample().coords, best, float(np.max(heights)))


def _result(likelihood: Likelihood, kind: Model, draws: _Draws, evidence: float) -> PolicyFit:
    names, chain = KINDS[kind].names, draws.chain
    values = np.median(chain if draws.middle is None else draws.middle, axis=0)
    bounds = (of_samples(column) for column in chain.T[2:])
    times = {
        name: Interval.about(float(value), whole.low, whole.high)
        for name, value, whole in zip(names, values[2:], bounds, strict=True)
    }
    times.pop("wait_byte", None)
    base_us = of_samples(chain[:, 0])
    if kind == "hold" and times["hold_us"].high < float(likelihood.gap_us.min()):
        # No echo found the path awake: only the sum of a round trip awake and the wakes can be determined.
        wake_us = times["wake_us"].value
        plateau_us = base_us.value + likelihood.sleepers * wake_us
        base_us = Interval(base_us.value, 0.0, plateau_us)
        times["wake_us"] = Interval(wake_us, 0.0, plateau_us / likelihood.sleepers)
    best = draws.best[None, :]
    parameters = {name: best[:, 2 + number, None] for number, name in enumerate(names)}
    extra = echo_extra_us(
        likelihood.probes.sent_us[None, :],
        best[:, 0, None],
        KINDS[kind].path(parameters, likelihood.sleepers),
        likelihood.probes.burst_byte,
        likelihood.byte_us,
    )[0, likelihood.kept]
    left = float(np.abs(likelihood.rtt_us - best[0, 0] - extra).mean())
    spread = float(np.abs(likelihood.rtt_us - np.median(likelihood.rtt_us)).mean())
    return PolicyFit(
        kind="hold" if kind == "cards" else kind,
        sleepers=likelihood.sleepers,
        echoes=len(likelihood.rtt_us),
        lost=int(np.isnan(likelihood.probes.rtt_us).sum()),
        largest_gap_us=float(likelihood.gap_us.max()),
        base_us=base_us,
        noise_us=of_samples(np.exp(chain[:, 1])),
        explained=1.0 - left / spread if spread > 0 else 1.0,
        evidence=evidence,
        **times,
    )
