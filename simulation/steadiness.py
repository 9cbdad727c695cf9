"""When a series is steady, and how well its mean is known. Pure functions of batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_GROUPS: Final = 20
"""Batches of the interval: Schmeiser (1982) finds no use in more than 30, and little harm from 10 on."""

_STUDENT: Final = 2.0930240544083087
"""97.5 % quantile of Student's distribution with 19 degrees of freedom; a number, as scipy takes as long to load as all
else that a worker needs."""

_FAR_APART: Final = 4.0
"""Standard errors: Student's t with 18 degrees of freedom exceeds it, on either side, once in 1,200 times."""

_ROUNDING: Final = 1e-9
"""Relative: halves that differ by less do so by rounding."""


def mser(values: Sequence[float]) -> int:
    """How many values to leave out at the start: those after which the mean's standard error is least.

    White's (1997) marginal standard error rule, over the first half of the series. A result of half of the series means
    that no steady part was found.

    >>> mser([9.0, 5.0, 1.0, 1.1, 0.9, 1.0, 1.1, 0.9, 1.0, 1.0])
    2
    """
    series = np.asarray(values, dtype=float)
    count = len(series)
    if count < 2:
        return 0
    errors = [float(np.var(series[start:])) / (count - start) for start in range(count // 2 + 1)]
    return int(np.argmin(errors))


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean and half of its 95 % interval."""

    mean: float
    half_width: float

    @property
    def percent(self) -> float:
        """Half-width in percent of the mean."""
        return 100 * self.half_width / self.mean if self.mean else 0.0


def batch_means(sums: Sequence[float], counts: Sequence[float]) -> MeanInterval | None:
    """Mean of sums over counts with its interval by the method of batch means; None with too few batches.

    The batches are joined into 20 groups in order, so that neighbours hardly depend on each other, and a group's
    mean is weighted by its count (ratio estimator).

    >>> found = batch_means([10.0, 12.0] * 20, [1.0] * 40)
    >>> found.mean, found.half_width
    (11.0, 0.0)
    >>> batch_means([10.0] * 19, [1.0] * 19) is None
    True
    """
    grouped = _grouped(sums, counts)
    if grouped is None:
        return None
    totals, weights = grouped
    mean = float(totals.sum() / weights.sum())
    spread = totals - mean * weights
    error = sqrt(float((spread**2).sum()) / (_GROUPS * (_GROUPS - 1))) / float(weights.mean())
    return MeanInterval(mean, _STUDENT * error)


def narrow_enough(looks: Sequence[MeanInterval | None], percent: float) -> bool:
    """Whether a series that is looked at again and again may end: the last two intervals are as narrow as asked.

    A rule of one look ends where the spread happens to look small: with 1 % its intervals of independent values held
    the mean in 90 of 100 cases, those of two looks in 95, for a fifth more values.

    >>> narrow, wide = MeanInterval(100.0, 0.9), MeanInterval(100.0, 1.1)
    >>> narrow_enough([wide, narrow], 1.0), narrow_enough([narrow, narrow], 1.0)
    (False, True)
    """
    last = looks[-2:]
    return len(last) > 1 and all(interval is not None and interval.percent <= percent for interval in last)


def drifts(sums: Sequence[float], counts: Sequence[float]) -> bool:
    """Whether the first and the last half of a series have means that chance does not explain (Welch's t above 4).

    A steady series is taken for one that drifts about once in a thousand times; so is one with too few batches, of
    which nothing is known.

    >>> drifts([10.0, 12.0] * 20, [1.0] * 40), drifts([float(n) for n in range(40)], [1.0] * 40)
    (False, True)
    """
    grouped = _grouped(sums, counts)
    if grouped is None:
        return True
    totals, weights = grouped
    means, errors = [], []
    for half in (slice(None, _GROUPS // 2), slice(_GROUPS // 2, None)):
        mean = float(totals[half].sum() / weights[half].sum())
        spread = totals[half] - mean * weights[half]
        count = len(spread)
        means.append(mean)
        errors.append(float((spread**2).sum()) / (count * (count - 1)) / float(weights[half].mean()) ** 2)
    tiny = _ROUNDING * abs(means[0])
    return abs(means[1] - means[0]) > _FAR_APART * sqrt(sum(errors)) + tiny


def _grouped(sums: Sequence[float], counts: Sequence[float]) -> tuple[Floats, Floats] | None:
    """Sums and counts of 20 groups of batches in order; None with too few batches, or a group without any packet."""
    size = len(sums) // _GROUPS
    if size == 0:
        return None
    used = size * _GROUPS
    totals = np.asarray(sums[-used:], dtype=float).reshape(_GROUPS, size).sum(axis=1)
    weights = np.asarray(counts[-used:], dtype=float).reshape(_GROUPS, size).sum(axis=1)
    return (totals, weights) if weights.all() else None
