"""Power variation without a visible cause: drift and ripple, the same for the same seed.

Both are drawn on a grid of whole seconds since the start, so they do not depend on when they are sampled.
"""

import math
import zlib

import numpy as np

from eee_testbed.twin.truth.truth import WanderTruth

_STEP_S = 1.0


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return a random generator of its own for each named thing of a lab."""
    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])


class Wander:
    """Ornstein-Uhlenbeck drift plus white ripple in watts, constant within each second; time only goes forward."""

    def __init__(self, truth: WanderTruth, rng: np.random.Generator) -> None:
        self._truth = truth
        self._rng = rng
        self._keep = math.exp(-_STEP_S / truth.drift_tau_s)
        self._kick_watt = truth.drift_watt * math.sqrt(1.0 - self._keep**2)
        self._drift_watt = truth.drift_watt * float(rng.standard_normal())
        self._now_s = 0.0
        self._step = 0
        self.watt = self._drift_watt + truth.ripple_watt * float(rng.standard_normal())

    def advance(self, now_s: float) -> float:
        """Energy in joule (positive or negative) from the last call to `now_s` seconds since the start."""
        joule = 0.0
        while now_s > self._now_s:
            end_s = min(now_s, (self._step + 1) * _STEP_S)
            joule += self.watt * (end_s - self._now_s)
            self._now_s = end_s
            if end_s >= (self._step + 1) * _STEP_S:
                self._step += 1
                drift, ripple = (float(value) for value in self._rng.standard_normal(2))
                self._drift_watt = self._keep * self._drift_watt + self._kick_watt * drift
                self.watt = self._drift_watt + self._truth.ripple_watt * ripple
        return joule
