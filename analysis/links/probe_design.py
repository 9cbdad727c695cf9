"""Adaptive choice of gaps: those that reveal more about a policy than random ones.

A hold is known to within the distance of the gaps around it, a sleep time only from echoes that arrive in it. So the
first echoes have gaps over the whole range, and the next ones, after a first fit, half of theirs about the edges.
"""

import numpy as np

from analysis.interval import Floats, Interval
from analysis.links.eee_policy import PolicyFit
from analysis.links.policy_groups import GroupFit

_MARGIN = 0.5
"""Fraction of an uncertain range that is added on both sides of it."""


def first_gaps(count: int, low_us: float, high_us: float, random: np.random.Generator) -> Floats:
    """Gaps over a whole range, spread evenly over its logarithm, in random order; shape (count,)."""
    gaps = np.geomspace(low_us, high_us, count)
    return random.permutation(gaps * (high_us / low_us) ** (random.uniform(-0.5, 0.5, size=count) / count))


def next_gaps(fit: PolicyFit, count: int, low_us: float, high_us: float, random: np.random.Generator) -> Floats:
    """Half of the gaps where the fit is uncertain, half over the whole range, in random order; shape (count,).

    Uncertain are the edges of the policy: from about the hold to the end of the sleep time, and so for deep sleep.
    """
    ranges = [about_edge(edge, group.sleep_us) for group in fit.groups for edge in _edges(group)]
    whole = first_gaps(count - count // 2 if ranges else count, low_us, high_us, random)
    near = [random.uniform(*ranges[number % len(ranges)]) for number in range(count - len(whole))]
    return random.permutation(np.concatenate((whole, np.clip(near, low_us, high_us))))


def _edges(group: GroupFit) -> list[Interval]:
    hold_us, later = group.hold_us, group.deep_after_us
    if later is None:
        return [hold_us]
    return [hold_us, Interval(hold_us.value + later.value, hold_us.value + later.low, hold_us.value + later.high)]


def about_edge(edge: Interval, sleep_us: Interval) -> tuple[float, float]:
    """Gaps, in us, from just before an edge to the end of the sleep time after it, as far as both are uncertain."""
    last = edge.high + sleep_us.high
    margin = _MARGIN * max(last - edge.low, edge.half_width)
    return edge.low - min(margin, 4 * edge.half_width + 1.0), last + margin
