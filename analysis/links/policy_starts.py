"""Starting points of the search for a structure's parameters: steps of the round trips by medians over grids."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.echo_delays import behind_byte
from eee_testbed.analysis.links.policy_likelihood import LEAST_NOISE_US, Likelihood
from eee_testbed.analysis.links.structures import TIMES, Structure

_EDGES: Final = 120
_SLEEPS: Final = 14
_STEPS_KEPT: Final = 6
_PAIR_EDGES: Final = 44

_TS_US: Final = {100: 200.0, 1_000: 190.0, 2_500: 12.0, 5_000: 6.0, 10_000: 3.0, 25_000: 0.8}
"""Ts of BASE-T and BASE-TX by speed in Mb/s (IEEE 802.3 table 78-2): half of all starts have it."""

Step = tuple[float, float, float, float, float, float, float]
"""Base, noise, edge, Ts, sum of the wakes, distance to a second edge, share of the first; microseconds."""


def starts(
    likelihood: Likelihood, structure: Structure, steps: Sequence[Step], count: int, random: np.random.Generator
) -> Floats:
    """Parameters to start from, shape (count, parameters)."""
    rtt_us = likelihood.rtt_us - likelihood.known_us
    if not structure.groups:
        base_us = float(np.median(rtt_us)) if not likelihood.rise.known else 0.0
        left = rtt_us - base_us
        return _common(likelihood, count, base_us, _scale(left), random)
    rows = []
    standard_us = standard_ts_us(likelihood)
    for number in range(count):
        step = steps[number % len(steps)]
        head = _common(likelihood, 1, step[0], step[1], random)[0]
        rows.append(np.concatenate((head, _times(structure, random, standard_us, step))))
    low, high = likelihood.bounds(structure)
    candidates = np.array(rows)
    if structure.groups[0].timing == "coalescing":
        candidates[::2, likelihood.common + 2 :] = _waiting(likelihood, len(structure.groups[0].members), steps[0])
    margin = (high - low) * random.uniform(1e-6, 1e-3, size=(count, len(low)))
    candidates[:, likelihood.common :] = np.clip(candidates[:, likelihood.common :], low + margin, high - margin)
    return candidates


def _common(likelihood: Likelihood, count: int, base_us: float, noise_us: float, random: np.random.Generator) -> Floats:
    common = np.zeros((count, likelihood.common))
    common[:, 0] = base_us + noise_us * random.normal(size=count) * 0.3
    if likelihood.rise.known:
        common[:, 0] = likelihood.rise.base_scale_us * random.normal(size=count)
    common[:, 1] = np.log(max(noise_us, 3 * LEAST_NOISE_US)) + random.normal(size=count) * 0.3
    common[:, 2:] = random.uniform(size=(count, likelihood.common - 2))
    return common


def _scale(left_us: Floats) -> float:
    return max(float(np.median(np.abs(left_us))), 3 * LEAST_NOISE_US)


def steps_of(likelihood: Likelihood) -> list[Step]:
    """The best single steps, with plain gaps and with gaps less the wait before, and the best pair of steps."""
    rtt_us = likelihood.rtt_us - likelihood.known_us
    known = likelihood.rise.known
    steps: list[tuple[float, Step]] = []
    for gap_us in (likelihood.gap_us, likelihood.rested_us):
        order = np.argsort(gap_us)
        gap, rtt = gap_us[order], rtt_us[order]
        of_ts: list[tuple[float, Step]] = []
        for place in np.unique(np.linspace(0, len(gap) - 10, _EDGES).astype(int)):
            edge_us = float(gap[place]) if place else 0.0
            before, after, over = rtt[:place], rtt[place:], gap[place:] - edge_us
            base_us = float(np.median(before)) if place >= 5 and not known else 0.0
            if place < 5 and not known:
                base_us = float(np.median(rtt)) * 0.5
            longest = float(np.quantile(over, 0.9)) + 1.0
            for sleep_us in np.concatenate(([0.0], np.geomspace(longest * 1e-3, longest, _SLEEPS))):
                rest = np.maximum(sleep_us - over, 0.0)
                whole_us = max(float(np.median(after - rest)) - base_us, 0.0)
                left = np.concatenate((before - base_us, after - rest - base_us - whole_us))
                error = float(np.abs(left).sum())
                of_ts.append((error, (base_us, _scale(left), edge_us, float(sleep_us), whole_us, 0.0, 1.0)))
        of_ts.sort(key=lambda start: start[0])
        steps += of_ts[:_STEPS_KEPT]
    steps += _pairs(likelihood, rtt_us, steps[0][1])
    return [step for _, step in steps]


def _pairs(likelihood: Likelihood, rtt_us: Floats, single: Step) -> list[tuple[float, Step]]:
    """Pairs of steps, each followed by a standard's Ts."""
    gap, sleep_us = likelihood.gap_us, standard_ts_us(likelihood)
    base_known = 0.0 if likelihood.rise.known else None
    reach_us = float(np.quantile(gap, 0.98))
    edges = np.unique(np.append(np.quantile(gap, np.linspace(0.02, 0.98, _PAIR_EDGES)), single[2]))
    rests = [np.where(gap > edge, np.maximum(edge + sleep_us - gap, 0.0), 0.0) for edge in edges]
    pairs: list[tuple[float, Step]] = []
    for low, first_us in enumerate(edges):
        short = gap <= first_us
        if short.sum() < 5:
            continue
        base_us = base_known if base_known is not None else float(np.median(rtt_us[short]))
        for high in range(low + 1, len(edges)):
            second_us = edges[high]
            light, deep = (gap > first_us) & (gap <= second_us), gap > second_us
            if min(light.sum(), deep.sum()) < 5 or second_us > reach_us:
                continue
            rest = rtt_us - base_us - np.maximum(rests[low], rests[high])
            fast_us = max(float(np.median(rest[light])), 0.0)
            whole_us = max(float(np.median(rest[deep])), fast_us)
            left = rest - fast_us * light - whole_us * deep
            share = fast_us / whole_us if whole_us > 0 else 0.5
            step = (base_us, _scale(left), float(first_us), sleep_us, whole_us, float(second_us - first_us), share)
            pairs.append((float(np.abs(left).sum()), step))
    pairs.sort(key=lambda start: start[0])
    return pairs[:_STEPS_KEPT]


def standard_ts_us(likelihood: Likelihood) -> float:
    """Ts of the standard at the speed of the path's slowest link."""
    speed_mbps = 8.0 / max(transmitter.byte_us for transmitter in likelihood.path)
    return _TS_US[min(_TS_US, key=lambda mbps: abs(float(np.log(mbps / speed_mbps))))]


def _waiting(likelihood: Likelihood, count: int, step: Step) -> Floats:
    """Wake, wait and bytes by the best split of the sleepers' round trips into small bursts and large ones."""
    rtt_us = likelihood.rtt_us - likelihood.known_us - step[0]
    asleep = likelihood.gap_us > step[2] + step[3]
    if asleep.sum() < 10:
        asleep = likelihood.gap_us >= np.median(likelihood.gap_us)
    rtt_us, burst = rtt_us[asleep], likelihood.burst_byte[asleep]
    best, start = np.inf, np.array([step[4] / count, 0.0, float(np.median(burst))])
    for limit in np.quantile(burst, np.linspace(0.02, 0.98, 60)):
        small = burst < limit
        if not small.any() or small.all():
            continue
        filled_us = count * behind_byte(float(limit), burst) * likelihood.path[0].byte_us
        wake = float(np.median((rtt_us - filled_us)[~small]))
        both = float(np.median(rtt_us[small]))
        error = float(np.abs(rtt_us[small] - both).sum() + np.abs((rtt_us - filled_us)[~small] - wake).sum())
        if error < best:
            best = error
            start = np.array([max(wake, 0.0) / count, max(both - wake, 0.0) / count, float(limit)])
    return start


def _times(structure: Structure, random: np.random.Generator, standard_us: float, step: Step) -> Floats:
    """Times of all groups about one step, or one pair of steps, in either order."""
    _, _, edge_us, sleep_us, whole_us, later_us, share = step
    groups = structure.groups
    if random.random() < 0.3:  # no echo shows where hold ends and Ts begins
        count = sum(len(group.members) for group in groups)
        reach_us = edge_us + sleep_us - float(random.integers(2)) * whole_us / count
        edge_us = reach_us * float(random.random())
        sleep_us = max(reach_us - edge_us, 0.0)
    shares = np.ones(len(groups))
    edges = np.full(len(groups), edge_us)
    if len(groups) > 1:
        part = share if later_us > 0 and random.random() < 0.7 else float(random.uniform(0.03, 0.97))
        apart = later_us if later_us > 0 and random.random() < 0.7 else 0.0
        first = int(random.integers(2))
        shares[first], shares[1 - first] = part, 1 - part
        edges[1 - first] += apart
    values: list[float] = []
    for group, part, edge in zip(groups, shares, edges, strict=True):
        slept = standard_us if random.random() < 0.5 else sleep_us
        wake_us = max(whole_us * part / len(group.members), 0.0)
        light_us = wake_us * (share if later_us > 0 else float(random.uniform(0.05, 0.6)))
        spread = max(whole_us, 1.0)
        times = {
            "hold_us": edge - wake_us * random.choice([0.0, 0.0, 1.0]) + spread * random.normal() * 0.05,
            "sleep_us": slept * random.uniform(0.9, 1.1) + abs(random.normal()) * 0.02 * spread,
            "wake_us": wake_us * random.uniform(0.9, 1.1),
            "fast_wake_us": light_us,
            "deep_after_us": later_us if later_us > 0 else edge * random.uniform(0.1, 2.0),
            "wait_us": wake_us * random.uniform(0.1, 0.9),
            "wait_byte": float(random.uniform(200.0, 6000.0)),
        }
        values += [times[name] for name in TIMES[group.timing]]
    return np.array(values)
