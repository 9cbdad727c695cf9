"""Starting points of the search for a path's EEE policy: a rough one for each candidate, by medians over grids."""

from typing import Final

import numpy as np

from analysis.interval import Floats
from analysis.links.policy_likelihood import LEAST_NOISE_US, Likelihood

_HOLD_CANDIDATES: Final = 160
_SLEEP_CANDIDATES: Final = 24
_WAKE_CANDIDATES: Final = 64
_ROUGH_US: Final = 5.0
_CARD_SHARES: Final = np.linspace(0.02, 0.48, 12)
"""Tried shares of each card in the sum of the path's wakes."""


def start_off(likelihood: Likelihood) -> Floats:
    """The median round trip."""
    base_us = float(np.median(likelihood.rtt_us))
    return np.array([base_us, _log_noise(likelihood.rtt_us - base_us)])


def _log_noise(errors_us: Floats) -> float:
    return float(np.log(max(float(np.median(np.abs(errors_us))), 2 * LEAST_NOISE_US)))


def start_hold(likelihood: Likelihood) -> Floats:
    """The better of two starts, each with plain gaps and with gaps less the wait of the echo before.

    Either some gaps are shorter than the hold, or all are longer and no echo found the path awake.
    """
    gaps = likelihood.gap_us, likelihood.rested_us
    starts = np.array([start(likelihood, gap_us) for gap_us in gaps for start in (_start_hold, _start_asleep)])
    best: Floats = starts[int(np.argmax(likelihood.log_probability("hold", starts)))]
    return best


def _start_asleep(likelihood: Likelihood, gap: Floats) -> Floats:
    """Every echo waits for wakes, and some for the end of Ts; no round trip was measured awake.

    Echoes in close succession show which part of the plateau are wakes: the wait of one shortens the next one's gap.
    """
    rtt, count = likelihood.rtt_us, likelihood.sleepers
    plateau_us = float(np.median(rtt[gap >= np.median(gap)]))
    edges = np.quantile(gap, np.linspace(0.0, 0.99, _HOLD_CANDIDATES))
    errors = [float(np.abs(rtt - plateau_us - np.maximum(edge_us - gap, 0.0)).sum()) for edge_us in edges]
    edge_us = float(edges[int(np.argmin(errors))])
    log_noise = np.log(max(min(errors) / len(rtt), _ROUGH_US))
    most_us = min(plateau_us / count, float(np.ptp(rtt)))
    thetas = np.array(
        [
            [plateau_us - count * wake_us, log_noise, hold_us, max(edge_us - later * wake_us - hold_us, 0.0), wake_us]
            for wake_us in np.linspace(0.02, 0.98, _WAKE_CANDIDATES) * most_us
            for hold_us in np.array([0.3, 0.6, 0.9]) * max(float(gap.min()) - wake_us, 0.0)
            for later in (0.0, 1.0)
        ]
    )
    scores = np.concatenate([likelihood.log_probability("hold", part) for part in np.array_split(thetas, 16)])
    best: Floats = thetas[int(np.argmax(scores))]
    return best


def _start_hold(likelihood: Likelihood, gap: Floats) -> Floats:
    """The least absolute error over a grid of holds and sleep times; base and wake are medians."""
    rtt = likelihood.rtt_us
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
            found.append((error, np.array([base_us, 0.0, hold_us, sleep_us, wake_us / likelihood.sleepers])))
    error, theta = min(found, key=lambda pair: pair[0])
    theta[1] = np.log(max(error / len(rtt), 2 * LEAST_NOISE_US))
    return theta


def start_hybrid(likelihood: Likelihood, hold: Floats) -> Floats:
    """The best single step with another one before or after it."""
    gap, rtt = likelihood.gap_us, likelihood.rtt_us
    base_us, _, edge_us, sleep_us, wake_us = hold
    found: list[tuple[float, Floats]] = []
    for other_us in np.unique(np.quantile(gap, np.linspace(0.02, 0.98, _HOLD_CANDIDATES // 2))):
        first, second = sorted((float(edge_us), float(other_us)))
        light, deep = (gap > first) & (gap <= second), gap > second
        if not (light.any() and deep.any() and (gap <= first).any()):
            continue
        base = float(np.median(rtt[gap <= first]))
        fast = max(float(np.median(rtt[light])) - base, 0.0) / likelihood.sleepers
        late = gap[deep] - second
        for sleep in (0.0, float(sleep_us), float(sleep_us) / 4, float(np.median(late)) / 4):
            rest = np.maximum(sleep - late, 0.0)
            wake = max(float(np.median(rtt[deep] - base - rest)), 0.0) / likelihood.sleepers
            error = (
                np.abs(rtt[gap <= first] - base).sum()
                + np.abs(rtt[light] - base - fast * likelihood.sleepers).sum()
                + np.abs(rtt[deep] - base - rest - wake * likelihood.sleepers).sum()
            )
            found.append((float(error), np.array([base, 0.0, first, sleep, wake, fast, second - first])))
    if not found:
        return np.array([base_us, hold[1], edge_us, sleep_us, wake_us, wake_us, 0.0])
    error, theta = min(found, key=lambda pair: pair[0])
    theta[1] = np.log(max(error / len(rtt), 2 * LEAST_NOISE_US))
    return theta


def start_coalescing(likelihood: Likelihood, hold: Floats) -> Floats:
    """Small bursts wait for a timer, large ones do not: two plateaus."""
    gap, rtt = likelihood.gap_us, likelihood.rtt_us
    base_us, log_noise, hold_us, sleep_us, _ = hold
    asleep = gap > hold_us + sleep_us
    sizes = np.unique(likelihood.burst_byte)
    found: list[tuple[float, Floats]] = []
    for limit in (sizes[:-1] + sizes[1:]) / 2:
        small, large = asleep & (likelihood.burst_byte < limit), asleep & (likelihood.burst_byte >= limit)
        if not (small.any() and large.any()):
            continue
        wake = max(float(np.median(rtt[large])) - base_us, 0.0) / likelihood.sleepers
        wait = max(float(np.median(rtt[small])) - base_us, 0.0) / likelihood.sleepers - wake
        error = np.abs(rtt[large] - np.median(rtt[large])).sum() + np.abs(rtt[small] - np.median(rtt[small])).sum()
        theta = np.array([base_us, log_noise, hold_us, sleep_us, wake, max(wait, 0.0), limit])
        found.append((float(error), theta))
    return min(found, key=lambda pair: pair[0])[1] if found else np.array([*hold, 0.0, float(np.mean(sizes))])


def start_cards(likelihood: Likelihood, hold: Floats, hybrid: Floats) -> Floats:
    """The wakes of the best single step, divided between cards and ports in several ratios, and its edge a bit later.

    If all wakes are attributed to ports, their hold looks shorter and their Ts longer. Two steps may be one of cards
    and one of ports.
    """
    base_us, log_noise, edge_us, sleep_us, wake_us = hold
    whole_us = wake_us * likelihood.sleepers
    later = np.linspace(0.0, whole_us, 7)
    found = [
        [
            *(base_us, log_noise),
            *(edge_us + one, max(sleep_us - less, 0.0), whole_us * (1 - 2 * share) / likelihood.sleepers),
            *(edge_us + other, max(sleep_us - less, 0.0), whole_us * share),
        ]
        for share in _CARD_SHARES
        for one in later
        for other in later
        for less in (0.0, whole_us / 4, whole_us / 2)
    ]
    base_us, log_noise, first_us, sleep_us, deep_us, light_us, later_us = hybrid
    step_us, each_way = max(deep_us - light_us, 0.0), likelihood.sleepers / 2
    for one in later:
        for other in later:
            first, second = first_us + one, first_us + later_us + other
            found.append([base_us, log_noise, second, sleep_us, step_us, first, sleep_us, light_us * each_way])
            found.append([base_us, log_noise, first, sleep_us, light_us, second, sleep_us, step_us * each_way])
    thetas = np.array(found)
    scores = [likelihood.log_probability("cards", part) for part in np.array_split(thetas, len(thetas) // 64)]
    best: Floats = thetas[int(np.argmax(np.concatenate(scores)))]
    return best
