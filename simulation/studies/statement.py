"""A sentence of a paper beside what the points of a study say about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

import polars as pl

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.studies.expand import Case
from eee_testbed.simulation.studies.pairs import Pair
from eee_testbed.simulation.studies.points import StudyPoint

Outcome = Literal["agrees", "differs", "cannot be compared"]


@dataclass(frozen=True, slots=True)
class StudyData:
    """What statements are judged by. `links` has `LINK_FIGURES` of each link of a point that carried traffic."""

    cases: Sequence[Case]
    pairs: Sequence[Pair]
    links: Callable[[StudyPoint], pl.DataFrame]

    @property
    def asleep(self) -> list[Pair]:
        """Pairs whose links sleep."""
        return [pair for pair in self.pairs if pair.point.replayed.sleeping]

    @property
    def awake(self) -> list[Pair]:
        """Pairs whose links never sleep."""
        return [pair for pair in self.pairs if not pair.point.replayed.sleeping]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`ours`: the figure in words, with interval and unit; `because`: why it differs or cannot be compared."""

    outcome: Outcome
    ours: str
    because: str = ""

    @property
    def words(self) -> str:
        """For a cell."""
        return f"{self.outcome}, because {self.because}" if self.because else self.outcome


Judge = Callable[[StudyData], Verdict]
"""Pure."""


@dataclass(frozen=True, slots=True)
class Statement:
    """`line`: of the paper's text, by replay.md; `how`: how it is computed from the points, and the bounds."""

    number: str
    text: str
    line: str
    how: str
    judge: Judge


@dataclass(frozen=True, slots=True)
class Judged:
    """A statement with its verdict."""

    statement: Statement
    verdict: Verdict


def judged(statements: Sequence[Statement], data: StudyData) -> list[Judged]:
    """All of them."""
    return [Judged(one, one.judge(data)) for one in statements]


def missing_points(what: str) -> Verdict:
    """Where the points of a statement are not there."""
    return Verdict("cannot be compared", "-", f"this set has no points of {what}")


def span(values: Sequence[float], unit: str, digits: int = 1) -> str:
    """Least and most, to read; the median of many.

    >>> span([1.0, 2.0, 4.0], "%")
    '1.0 to 4.0 % (median 2.0 of 3)'
    """
    middle = sorted(values)[len(values) // 2]
    if len(values) == 1:
        return f"{middle:.{digits}f} {unit}"
    return f"{min(values):.{digits}f} to {max(values):.{digits}f} {unit} (median {middle:.{digits}f} of {len(values)})"


def shown(found: Interval, unit: str, digits: int = 1) -> str:
    """A mean with its interval, if it has one.

    >>> shown(Interval(2.0, 1.5, 2.5), "%")
    '2.0 % (1.5 to 2.5)'
    """
    value = f"{found.value:.{digits}f} {unit}"
    return value if isnan(found.low) else f"{value} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def within(values: Sequence[float], low: float, high: float) -> bool:
    """Whether all are between two bounds.

    >>> within([1, 2], 1, 2), within([1, 3], 1, 2)
    (True, False)
    """
    return all(low <= one <= high for one in values)


def settled(*, holds: bool, ours: str, otherwise: str) -> Verdict:
    """It agrees, or differs for a reason."""
    return Verdict("agrees", ours) if holds else Verdict("differs", ours, otherwise)
