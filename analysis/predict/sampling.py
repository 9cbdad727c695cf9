"""Draws of fitted parameters, which propagate their intervals to results.

Parameters are assumed to be independent, with a normal error whose spread is that of the interval, separately for each
side; negative draws become zero. An interval without an end cannot be drawn from: the parameter's name is then in
`unbounded`, and results that depend on it have no end.

Simplification: the errors of parameters from one fit are correlated (hold and sleep time, base and port power), and
joint draws would give narrower or wider results. Repeating the whole calibration would show it.
"""

import zlib
from dataclasses import dataclass, field

import numpy as np

from eee_testbed.analysis.calibration import Estimate
from eee_testbed.analysis.interval import Floats

DRAWS = 400
_SEED = 1
_SIGMAS = 1.959963984540054


@dataclass(slots=True)
class Sampler:
    """Draws depend on the name only, whatever was drawn before, so that answers differ only by their questions."""

    count: int = DRAWS
    unbounded: set[str] = field(default_factory=set)

    def normal(self, name: str) -> Floats:
        """Standard normal draws, shape (count,)."""
        return np.random.default_rng((_SEED, zlib.crc32(name.encode()))).standard_normal(self.count)

    def uniform(self, name: str, low: float, high: float) -> Floats:
        """Draws from a range, shape (count,); the first one is its middle."""
        drawn = np.random.default_rng((_SEED, zlib.crc32(name.encode()), 1)).uniform(low, high, self.count)
        drawn[0] = (low + high) / 2
        return drawn

    def of(self, name: str, estimate: Estimate | None, missing: float = 0.0) -> Floats:
        """Draws of a parameter, shape (count,); the first one is its value."""
        if estimate is None:
            return np.full(self.count, missing)
        value = estimate.value
        below, above = value - estimate.low, estimate.high - value
        if not np.isfinite(above) or not np.isfinite(below):
            self.unbounded.add(name)
        normal = self.normal(name)
        normal[0] = 0.0
        width = np.where(normal < 0, below if np.isfinite(below) else 0.0, above if np.isfinite(above) else 0.0)
        drawn: Floats = value + normal * width / _SIGMAS
        return np.maximum(drawn, min(0.0, value))
