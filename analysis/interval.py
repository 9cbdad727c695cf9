"""A value with its 95 % interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eee_testbed.lab.errors import LabError

Floats = NDArray[np.float64]


class NotEnoughData(LabError):
    """The data cannot answer the question; the message says what to measure."""


_TAILS_PERCENT = (2.5, 50.0, 97.5)


@dataclass(frozen=True, slots=True)
class Interval:
    """A median and the bounds of its 95 % interval, in the unit that the name of the field says."""

    value: float
    low: float
    high: float

    @classmethod
    def about(cls, value: float, low: float, high: float) -> "Interval":
        """From bounds that may leave the value out; the interval is then widened to contain it.

        >>> print(Interval.about(3.0, 1.0, 2.0))
        3 (1 - 3)
        """
        return cls(value, min(float(low), value), max(float(high), value))

    @classmethod
    def plus_minus(cls, value: float, half_width: float) -> "Interval":
        """A value in the middle of its interval."""
        return cls(value, value - half_width, value + half_width)

    def __str__(self) -> str:
        return f"{self.value:.6g} ({self.low:.6g} - {self.high:.6g})"

    def holds(self, truth: float) -> bool:
        """Whether a value is in the interval."""
        return self.low <= truth <= self.high

    @property
    def known_ends(self) -> tuple[float | None, float | None]:
        """Its ends for JSON and CSV: None for those that are not known (NaN).

        >>> Interval(1.0, float("nan"), float("nan")).known_ends
        (None, None)
        """
        low, high = (None if math.isnan(end) else end for end in (self.low, self.high))
        return low, high

    @property
    def ends(self) -> tuple[float, float]:
        """Its ends, with the value in place of those that are not known.

        >>> Interval(1.0, float("nan"), 2.0).ends
        (1.0, 2.0)
        """
        low, high = (self.value if math.isnan(end) else end for end in (self.low, self.high))
        return low, high

    @property
    def above_percent(self) -> "Interval":
        """Of a ratio: by how many percent it is above 1.

        >>> print(Interval(1.5, 1.25, 2.0).above_percent)
        50 (25 - 100)
        """
        return Interval(100 * (self.value - 1), 100 * (self.low - 1), 100 * (self.high - 1))

    @property
    def below_percent(self) -> "Interval":
        """Of a ratio: by how many percent it is below 1, such as what is saved.

        >>> print(Interval(0.75, 0.5, 1.25).below_percent)
        25 (-25 - 50)
        """
        return Interval(100 * (1 - self.value), 100 * (1 - self.high), 100 * (1 - self.low))

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2


def of_samples(samples: ArrayLike) -> Interval:
    """The interval between the 2.5 % and 97.5 % quantiles of samples from a distribution.

    >>> print(of_samples(range(101)))
    50 (2.5 - 97.5)
    """
    low, value, high = np.percentile(np.asarray(samples, dtype=float), _TAILS_PERCENT)
    return Interval(float(value), float(low), float(high))


def of_median(values: Sequence[float], rounds: int = 4000) -> Interval:
    """The interval of a median by bootstrap; that of a single value has no width and says nothing about its error.

    >>> print(of_median([7.0]))
    7 (7 - 7)
    """
    sample = np.asarray(values, dtype=float)
    if sample.size == 0:
        raise ValueError("the median of no values is not defined")
    drawn = np.random.default_rng(0).choice(sample, size=(rounds, sample.size))
    low, high = np.percentile(np.median(drawn, axis=1), (_TAILS_PERCENT[0], _TAILS_PERCENT[2]))
    return Interval(float(np.median(sample)), float(low), float(high))
