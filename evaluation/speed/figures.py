"""Medians, ratios and intervals of paired measurements on a noisy machine."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from evaluation.records import Figure

_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Ratio:
    """Median of each side and of the ratio pair by pair, with its 95 % percentile-bootstrap interval over the pairs."""

    what: str
    unit: str
    ours: float
    other: float
    ratio: float
    ratio_low: float
    ratio_high: float
    pairs: int

    def row(self) -> str:
        """A line of a Markdown table."""
        interval = f"{self.ratio:.2f} ({self.ratio_low:.2f} - {self.ratio_high:.2f})"
        return f"| {self.what}, {self.unit} | {self.ours:.4g} | {self.other:.4g} | {interval} |"

    def figure(self) -> Figure:
        """For a record of the side that is ours."""
        return Figure(
            value=self.ours, anchor_value=self.other, n=self.pairs,
            ratio=self.ratio, ratio_low=self.ratio_low, ratio_high=self.ratio_high,
        )  # fmt: skip

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """95 % percentile-bootstrap interval of the median."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(np.asarray(values, dtype=float), size=(_RESAMPLES, len(values)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(low), float(high)


def paired(what: str, unit: str, ours: Sequence[float], other: Sequence[float]) -> Ratio:
    """Compare measurements that were taken in turns; equally many on both sides, none of the other side's being 0."""
    ratios = [a / b for a, b in zip(ours, other, strict=True)]
    low, high = interval(ratios)
    medians = (float(np.median(ours)), float(np.median(other)), float(np.median(ratios)))
    return Ratio(what, unit, *medians, low, high, len(ratios))
