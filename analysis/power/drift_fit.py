"""Linear least squares for readings that drift: coefficients with intervals that own up to autocorrelated errors.

y = X b + meter's known errors + white noise + a drift that wanders and returns (Ornstein-Uhlenbeck: its covariance
falls off as exp(-|dt| / tau)). How large noise and drift are and how fast the drift is are not known: a grid of all
three is weighed by restricted likelihood, and coefficients are drawn from the mixture, so that their intervals hold
what is not known of the drift. Slow drift next to a constant looks like a random walk, which the grid's longest tau
covers.

Simplification: the drift has one time scale. A periodic one (air conditioning) is taken for a faster drift; a spectrum
of many hours would tell them apart. What drifts over much longer than the measurement took is not seen by it: a
constant is that of those hours (with a drift of 1 W over 50 minutes, intervals from 25 minutes held the constant of all
days in 80 % of 40 cases; differences between stages do not suffer).
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from analysis.interval import Floats, Interval, of_samples

_TAUS: Final = (0.03, 0.2, 1.0, 5.0)  # times the length of the measurement
_STEPS: Final = 7
_RANGE: Final = 300.0  # largest over smallest scale that is tried
_DRAWN: Final = 4000


@dataclass(frozen=True, slots=True)
class Readings:
    """Means of windows: when (s), watts, standard deviation of each one's own error, and design matrix X.

    `shared_sigma` is an error that all windows of one state (equal numbers in `state`) have in common: rounding.
    """

    at_s: Floats
    value: Floats
    own_sigma: Floats
    shared_sigma: float
    state: NDArray[np.int64]
    design: Floats


@dataclass(frozen=True, slots=True)
class DriftFit:
    """Draws of the coefficients, shape (draws, columns); standard deviations of drift and noise, weighed means.

    `left` is what the coefficients do not explain, by window; `explained` is R2.
    """

    draws: Floats
    drift_sigma: float
    noise_sigma: float
    left: Floats
    explained: float

    def interval(self, column: int) -> Interval:
        """One coefficient."""
        return of_samples(self.draws[:, column])


@dataclass(frozen=True, slots=True)
class _Case:
    log_weight: float
    mean: Floats
    root: Floats
    drift: float
    noise: float


def fit_drifting(readings: Readings, seed: int = 0) -> DriftFit:
    """Fit; ValueError if the columns of the design matrix do not determine their coefficients."""
    design, value = readings.design, readings.value
    count, columns = design.shape
    if count <= columns or np.linalg.matrix_rank(design) < columns:
        raise ValueError("the design matrix does not determine its coefficients")
    plain = np.linalg.lstsq(design, value, rcond=None)[0]
    left = value - design @ plain
    least = max(float(np.median(readings.own_sigma)), readings.shared_sigma, 1e-6 * float(np.abs(value).max()), 1e-9)
    most = max(3.0 * float(np.std(left)) * math.sqrt(count / (count - columns)), 3.0 * least)
    scales = np.concatenate(([0.0], np.geomspace(max(most / _RANGE, least / 30), most, _STEPS)))
    apart = np.abs(readings.at_s[:, None] - readings.at_s[None, :])
    length = max(float(np.ptp(readings.at_s)), 1e-9)
    known = np.diag(readings.own_sigma**2 + (least / 30) ** 2)
    known += readings.shared_sigma**2 * (readings.state[:, None] == readings.state[None, :])
    cases = []
    for tau in _TAUS:
        wander = np.exp(-apart / (tau * length))
        for drift in scales:
            if drift == 0.0 and tau != _TAUS[0]:
                continue
            cases += [
                _case(design, value, known + noise**2 * np.eye(count) + drift**2 * wander, float(drift), float(noise))
                for noise in scales
            ]
    logs = np.array([case.log_weight for case in cases])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    random = np.random.default_rng(seed)
    chosen = random.choice(len(cases), size=_DRAWN, p=weights)
    normal = random.standard_normal((_DRAWN, columns))
    draws = np.array([cases[one].mean + cases[one].root @ drawn for one, drawn in zip(chosen, normal, strict=True)])
    middle = np.median(draws, axis=0)
    left = value - design @ middle
    spread = float(((value - value.mean()) ** 2).sum())
    return DriftFit(
        draws,
        float(weights @ [case.drift for case in cases]),
        float(weights @ [case.noise for case in cases]),
        left,
        1.0 - float((left**2).sum()) / spread if spread > 0 else 0.0,
    )


def _case(design: Floats, value: Floats, covariance: Floats, drift: float, noise: float) -> _Case:
    """Generalised least squares with one covariance, and its restricted likelihood."""
    factor = cho_factor(covariance, lower=True)
    weighed = cho_solve(factor, design)
    information = design.T @ weighed
    mean = np.linalg.solve(information, weighed.T @ value)
    left = value - design @ mean
    log_weight = -0.5 * float(left @ cho_solve(factor, left))
    log_weight -= float(np.log(np.diag(factor[0])).sum()) + 0.5 * float(np.linalg.slogdet(information)[1])
    return _Case(log_weight, mean, np.linalg.cholesky(np.linalg.inv(information)), drift, noise)
