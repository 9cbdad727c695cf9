"""Which EEE policy a path's links have, from echoes with known gaps: off, hold and sleep, coalescing, or hybrid.

Each candidate policy predicts every round trip (`analysis.path_delay`); the errors are taken to be Student-t with three
degrees of freedom, so that a late interrupt counts little. Candidates are compared by the Bayesian information
criterion. Intervals are of the posterior under flat priors, sampled by emcee: a hold is a jump, where intervals from
curvature are wrong.

The hosts' cards may sleep as well, with times of their own: then an echo passes a card, the switches' ports, the other
card, and ports again. Both cards are taken to be alike. Where nobody knows whether they sleep, they are part of the fit
whenever ports sleep. That they do not is as probable as that they do, unless the echoes refute it: the intervals are
of both cases together.

What the data cannot tell is not told: with bursts of one size a coalescing timer looks like a longer wake; where the
gaps never exceed the hold nothing is known but "no sleep up to this gap".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import emcee
import numpy as np
from scipy.special import gammaln

from analysis.interval import Floats, Interval, of_samples
from analysis.path_delay import Policy, echo_extra_us
from analysis.probes import Probes, TooLittle

Kind = Literal["off", "hold", "coalescing", "hybrid"]

FREEDOM = 3.0
_LEAST_ECHOES = 40
_WALKERS = 24
_CLIMB = 150
_BURN_IN = 250
_DRAWN = 500
_HOLD_CANDIDATES = 160
_SLEEP_CANDIDATES = 24
_LEAST_NOISE_US = 0.01
_CARD_SHARES = np.linspace(0.02, 0.48, 12)
"""Of the whole path's wakes, each card's: where the search for cards that sleep begins."""

_LEAST_GAIN = 10.0
"""Difference of the information criterion from which on a richer policy is believed (Kass and Raftery: very strong)."""

_LOG_T = float(gammaln((FREEDOM + 1) / 2) - gammaln(FREEDOM / 2) - 0.5 * np.log(FREEDOM * np.pi))


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


@dataclass(frozen=True, slots=True)
class _Kind:
    """A candidate: the names of its parameters after base and log noise, and the policies that they make.

    `card` is that of the hosts' cards, None where they do not sleep.
    """

    names: tuple[str, ...]
    policy: Callable[[Mapping[str, Floats]], Policy]
    card: Callable[[Mapping[str, Floats]], Policy] | None = None

    def path(self, parameters: Mapping[str, Floats], sleepers: int) -> list[Policy]:
        """The transmitters that an echo passes; `sleepers` are the switches' ports, half of them each way."""
        port = self.policy(parameters)
        if self.card is None:
            return [port] * sleepers
        one_way = [self.card(parameters), *[port] * (sleepers // 2)]
        return [*one_way, *one_way]


_Model = Literal["off", "hold", "coalescing", "hybrid", "cards"]
"""A kind; `cards` is a hold at ports and at cards."""

_KINDS: Mapping[_Model, _Kind] = {
    "off": _Kind((), lambda _: Policy(float("inf"), 0.0, 0.0)),
    "hold": _Kind(
        ("hold_us", "sleep_us", "wake_us"),
        lambda p: Policy(p["hold_us"], p["sleep_us"], p["wake_us"]),
    ),
    "coalescing": _Kind(
        ("hold_us", "sleep_us", "wake_us", "wait_us", "wait_byte"),
        lambda p: Policy(p["hold_us"], p["sleep_us"], p["wake_us"], wait_us=p["wait_us"], wait_byte=p["wait_byte"]),
    ),
    "hybrid": _Kind(
        ("hold_us", "sleep_us", "wake_us", "fast_wake_us", "deep_after_us"),
        lambda p: Policy(p["hold_us"], p["sleep_us"], p["wake_us"], p["fast_wake_us"], p["deep_after_us"]),
    ),
    "cards": _Kind(
        ("hold_us", "sleep_us", "wake_us", "card_hold_us", "card_sleep_us", "card_wake_us"),
        lambda p: Policy(p["hold_us"], p["sleep_us"], p["wake_us"]),
        lambda p: Policy(p["card_hold_us"], p["card_sleep_us"], p["card_wake_us"]),
    ),
}


class _Judge:
    """How well parameters explain the echoes."""

    def __init__(self, probes: Probes, sleepers: int, byte_us: float) -> None:
        self.probes = probes
        self.sleepers = sleepers
        self.byte_us = byte_us
        self.kept = probes.usable
        self.rtt_us = probes.rtt_us[self.kept]
        self.gap_us = probes.gap_us[self.kept] - probes.burst_byte[np.flatnonzero(self.kept) - 1] * byte_us
        self.burst_byte = probes.burst_byte[self.kept]
        spread = np.ptp(self.rtt_us)
        self.bounds = {
            "hold_us": (0.0, float(self.gap_us.max())),
            "sleep_us": (0.0, float(self.gap_us.max())),
            "wake_us": (0.0, float(spread)),
            "fast_wake_us": (0.0, float(spread)),
            "deep_after_us": (0.0, float(self.gap_us.max())),
            "wait_us": (0.0, float(spread)),
            "card_hold_us": (0.0, float(self.gap_us.max())),
            "card_sleep_us": (0.0, float(self.gap_us.max())),
            "card_wake_us": (0.0, float(spread)),
            "wait_byte": (float(self.burst_byte.min()), float(self.burst_byte.max())),
        }

    def log_probability(self, kind: _Model, thetas: Floats) -> Floats:
        """Log posterior of candidates, shape (candidates,) from (candidates, parameters)."""
        names = _KINDS[kind].names
        parameters = {name: thetas[:, 2 + number, None] for number, name in enumerate(names)}
        base_us, log_noise = thetas[:, 0, None], thetas[:, 1, None]
        inside = (log_noise[:, 0] > np.log(_LEAST_NOISE_US)) & (base_us[:, 0] > 0)
        for name, value in parameters.items():
            low, high = self.bounds[name]
            inside &= (value[:, 0] >= low) & (value[:, 0] <= high)
        extra = echo_extra_us(
            np.broadcast_to(self.probes.sent_us, (len(thetas), len(self.probes.sent_us))),
            base_us,
            _KINDS[kind].path(parameters, self.sleepers),
            self.probes.burst_byte,
            self.byte_us,
        )[:, self.kept]
        scaled = (self.rtt_us - base_us - extra) * np.exp(-log_noise)
        log_density = -(FREEDOM + 1) / 2 * np.log1p(scaled * scaled / FREEDOM) - log_noise
        total: Floats = np.where(inside, log_density.sum(axis=1) + _LOG_T * len(self.rtt_us), -np.inf)
        return total


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
    judge = _Judge(probes, sleepers, byte_us)
    random = np.random.default_rng(seed)
    best: dict[_Model, Floats] = {"off": _start_off(judge)}
    if float(np.ptp(judge.rtt_us)) > 0:
        best["hold"] = _start_hold(judge)
        best["hybrid"] = _start_hybrid(judge, best["hold"])
        if np.ptp(judge.burst_byte) > 0:
            best["coalescing"] = _start_coalescing(judge, best["hold"])
    climbs = {kind: _climb(judge, kind, start, random) for kind, start in best.items()}
    if cards and sleepers % 2 == 0 and "hold" in best:
        best["cards"] = _start_cards(judge, climbs["hold"].best, climbs["hybrid"].best)
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
        with_cards = replace(with_cards, chain=np.concatenate((with_cards.chain, awake)))
    return _result(judge, "cards", with_cards, evidence)


def _choose(cost: Mapping[_Model, float]) -> _Model:
    """The plainest kind that no richer one beats clearly."""
    plain: tuple[_Model, ...] = ("off", "hold", "coalescing", "hybrid")
    chosen: _Model = "off"
    for kind in plain[1:]:
        if kind in cost and cost[kind] < cost[chosen] - _LEAST_GAIN:
            chosen = kind
    return chosen


def _start_off(judge: _Judge) -> Floats:
    base_us = float(np.median(judge.rtt_us))
    return np.array([base_us, _log_noise(judge.rtt_us - base_us)])


def _log_noise(errors_us: Floats) -> float:
    return float(np.log(max(float(np.median(np.abs(errors_us))), 2 * _LEAST_NOISE_US)))


def _start_hold(judge: _Judge) -> Floats:
    """The least absolute error over a grid of holds and sleep times, with base and wake as medians."""
    gap, rtt = judge.gap_us, judge.rtt_us
    holds = np.unique(np.quantile(gap, np.linspace(0.01, 0.99, _HOLD_CANDIDATES)))
    found: list[tuple[float, Floats]] = []
    for hold_us in holds:
        below = rtt[gap <= hold_us]
        base_us = float(np.median(below))
        over = gap[gap > hold_us] - hold_us
        extra = rtt[gap > hold_us] - base_us
        longest = float(np.quantile(over, 0.9))
        for sleep_us in np.concatenate(([0.0], np.geomspace(max(longest * 1e-3, 0.05), longest, _SLEEP_CANDIDATES))):
            rest = np.maximum(sleep_us - over, 0.0)
            wake_us = max(float(np.median(extra - rest)), 0.0)
            error = float(np.abs(extra - rest - wake_us).sum() + np.abs(below - base_us).sum())
            found.append((error, np.array([base_us, 0.0, hold_us, sleep_us, wake_us / judge.sleepers])))
    error, theta = min(found, key=lambda pair: pair[0])
    theta[1] = np.log(max(error / len(rtt), 2 * _LEAST_NOISE_US))
    return theta


def _start_hybrid(judge: _Judge, hold: Floats) -> Floats:
    """From the best single step, another one before or after it."""
    gap, rtt = judge.gap_us, judge.rtt_us
    base_us, _, edge_us, sleep_us, wake_us = hold
    found: list[tuple[float, Floats]] = []
    for other_us in np.unique(np.quantile(gap, np.linspace(0.02, 0.98, _HOLD_CANDIDATES // 2))):
        first, second = sorted((float(edge_us), float(other_us)))
        light, deep = (gap > first) & (gap <= second), gap > second
        if not (light.any() and deep.any() and (gap <= first).any()):
            continue
        base = float(np.median(rtt[gap <= first]))
        fast = max(float(np.median(rtt[light])) - base, 0.0) / judge.sleepers
        late = gap[deep] - second
        for sleep in (0.0, float(sleep_us), float(sleep_us) / 4, float(np.median(late)) / 4):
            rest = np.maximum(sleep - late, 0.0)
            wake = max(float(np.median(rtt[deep] - base - rest)), 0.0) / judge.sleepers
            error = (
                np.abs(rtt[gap <= first] - base).sum()
                + np.abs(rtt[light] - base - fast * judge.sleepers).sum()
                + np.abs(rtt[deep] - base - rest - wake * judge.sleepers).sum()
            )
            found.append((float(error), np.array([base, 0.0, first, sleep, wake, fast, second - first])))
    if not found:
        return np.array([base_us, hold[1], edge_us, sleep_us, wake_us, wake_us, 0.0])
    error, theta = min(found, key=lambda pair: pair[0])
    theta[1] = np.log(max(error / len(rtt), 2 * _LEAST_NOISE_US))
    return theta


def _start_coalescing(judge: _Judge, hold: Floats) -> Floats:
    """Small bursts wait for a timer, large ones do not: the two plateaus."""
    gap, rtt = judge.gap_us, judge.rtt_us
    base_us, log_noise, hold_us, sleep_us, _ = hold
    asleep = gap > hold_us + sleep_us
    sizes = np.unique(judge.burst_byte)
    found: list[tuple[float, Floats]] = []
    for limit in (sizes[:-1] + sizes[1:]) / 2:
        small, large = asleep & (judge.burst_byte < limit), asleep & (judge.burst_byte >= limit)
        if not (small.any() and large.any()):
            continue
        wake = max(float(np.median(rtt[large])) - base_us, 0.0) / judge.sleepers
        wait = max(float(np.median(rtt[small])) - base_us, 0.0) / judge.sleepers - wake
        error = np.abs(rtt[large] - np.median(rtt[large])).sum() + np.abs(rtt[small] - np.median(rtt[small])).sum()
        theta = np.array([base_us, log_noise, hold_us, sleep_us, wake, max(wait, 0.0), limit])
        found.append((float(error), theta))
    return min(found, key=lambda pair: pair[0])[1] if found else np.array([*hold, 0.0, float(np.mean(sizes))])


def _start_cards(judge: _Judge, hold: Floats, hybrid: Floats) -> Floats:
    """The wakes of the best single step, shared between cards and ports in several ways, and its edge a bit later.

    Ports that wake cards' share too have too much of it, which makes their hold look shorter and their Ts longer. Two
    steps may be one of the cards and one of the ports.
    """
    base_us, log_noise, edge_us, sleep_us, wake_us = hold
    whole_us = wake_us * judge.sleepers
    later = np.linspace(0.0, whole_us, 7)
    found = [
        [
            *(base_us, log_noise),
            *(edge_us + one, max(sleep_us - less, 0.0), whole_us * (1 - 2 * share) / judge.sleepers),
            *(edge_us + other, max(sleep_us - less, 0.0), whole_us * share),
        ]
        for share in _CARD_SHARES
        for one in later
        for other in later
        for less in (0.0, whole_us / 4, whole_us / 2)
    ]
    base_us, log_noise, first_us, sleep_us, deep_us, light_us, later_us = hybrid
    step_us, each_way = max(deep_us - light_us, 0.0), judge.sleepers / 2
    for one in later:
        for other in later:
            first, second = first_us + one, first_us + later_us + other
            found.append([base_us, log_noise, second, sleep_us, step_us, first, sleep_us, light_us * each_way])
            found.append([base_us, log_noise, first, sleep_us, light_us, second, sleep_us, step_us * each_way])
    thetas = np.array(found)
    scores = [judge.log_probability("cards", part) for part in np.array_split(thetas, len(thetas) // 64)]
    best: Floats = thetas[int(np.argmax(np.concatenate(scores)))]
    return best


@dataclass(frozen=True, slots=True)
class _Walk:
    """Draws from the posterior, shape (draws, parameters), where the walkers ended, the best point met, its height."""

    chain: Floats
    last: Floats
    best: Floats
    top: float


def _scatter(judge: _Judge, kind: _Model, start: Floats, random: np.random.Generator) -> Floats:
    """Walkers about a first guess, all within the bounds, shape (walkers, parameters)."""
    noise_us = float(np.exp(start[1]))
    gaps = judge.gap_us
    edge_us = 2 * float(np.ptp(gaps)) / len(gaps)
    step = {"hold_us": edge_us, "card_hold_us": edge_us, "wait_byte": float(np.ptp(judge.burst_byte)) / 50}
    names = _KINDS[kind].names
    widths = [noise_us / 3, 0.1, *(max(step.get(name, 0.0), noise_us / 3) for name in names)]
    walkers: Floats = start + random.normal(size=(_WALKERS, len(start))) * np.array(widths)
    walkers[:, 0] = np.maximum(walkers[:, 0], random.uniform(1e-6, 1e-3, size=_WALKERS))
    walkers[:, 1] = np.maximum(walkers[:, 1], np.log(_LEAST_NOISE_US) + random.uniform(0.01, 0.1, size=_WALKERS))
    for number, name in enumerate(names, start=2):
        low, high = judge.bounds[name]
        margin = (high - low) * random.uniform(1e-9, 1e-6, size=_WALKERS)
        walkers[:, number] = np.clip(walkers[:, number], low + margin, high - margin)
    return walkers


def _climb(judge: _Judge, kind: _Model, start: Floats, random: np.random.Generator) -> _Walk:
    return _sample(judge, kind, _scatter(judge, kind, start, random), random, _CLIMB, 0)


def _sample(
    judge: _Judge, kind: _Model, walkers: Floats, random: np.random.Generator, steps: int, discard: int
) -> _Walk:
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


def _result(judge: _Judge, kind: _Model, walk: _Walk, evidence: float) -> PolicyFit:
    names, chain = _KINDS[kind].names, walk.chain
    times = {name: of_samples(chain[:, 2 + number]) for number, name in enumerate(names)}
    times.pop("wait_byte", None)
    best = walk.best[None, :]
    parameters = {name: best[:, 2 + number, None] for number, name in enumerate(names)}
    extra = echo_extra_us(
        judge.probes.sent_us[None, :],
        best[:, 0, None],
        _KINDS[kind].path(parameters, judge.sleepers),
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
        base_us=of_samples(chain[:, 0]),
        noise_us=of_samples(np.exp(chain[:, 1])),
        explained=1.0 - left / spread if spread > 0 else 1.0,
        evidence=evidence,
        **times,
    )
