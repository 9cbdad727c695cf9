"""Intervals of figures from replays: with seeds, with drawn times of links, and of sums and products of figures."""

from collections.abc import Sequence
from math import hypot, sqrt
from statistics import fmean
from typing import Final

from scipy.special import stdtrit

from eee_testbed.analysis.interval import Interval

DRAWS: Final = 8
"""Replays with links' times drawn from their intervals, besides that at the values."""


def spread(values: Sequence[float], least: float, most: float = float("inf")) -> Interval:
    """About the first value, with the deviation of all; exact if there is a single one.

    >>> spread([2.0], 0.0)
    Interval(value=2.0, low=2.0, high=2.0)
    """
    value, count = values[0], len(values)
    if count == 1:
        return Interval(value, value, value)
    half = float(stdtrit(count - 1, 0.975)) * sqrt(fmean((one - value) ** 2 for one in values) * count / (count - 1))
    return Interval(value, max(value - half, least), min(value + half, most))


def around(every: Sequence[Interval]) -> Interval:
    """The first, as wide as its own errors and the spread of all values together."""
    first, of_values = every[0], spread([one.value for one in every], 0.0)
    value = first.value
    return Interval(
        value,
        max(value - hypot(value - first.low, value - of_values.low), 0.0),
        value + hypot(first.high - value, of_values.high - value),
    )


def product(one: Interval, other: Interval) -> Interval:
    """Of two values with independent errors."""
    value = one.value * other.value
    below = hypot((one.value - one.low) * other.value, (other.value - other.low) * one.value)
    above = hypot((one.high - one.value) * other.value, (other.high - other.value) * one.value)
    return Interval(value, max(value - below, 0.0), value + above)


def total(one: Interval, other: Interval) -> Interval:
    """Of two values with independent errors."""
    value = one.value + other.value
    below = hypot(one.value - one.low, other.value - other.low)
    return Interval(value, max(value - below, 0.0), value + hypot(one.high - one.value, other.high - other.value))
