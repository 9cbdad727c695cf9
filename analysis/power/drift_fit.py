"""Linear least squares for readings that drift: coefficients with intervals that account for autocorrelated errors.

y = X b + known errors of the meter + white noise + a mean-reverting drift (Ornstein-Uhlenbeck: its covariance is
proportional to exp(-|dt| / tau)). The sizes of noise and drift and the time scale tau are unknown: a grid of all three
is weighted by restricted likelihood, and coefficients are drawn from the mixture, so that their intervals include the
uncertainty about the drift. Slow drift beside a constant looks like a random walk, which the grid's longest tau covers.

Simplification: the drift has one time scale. A periodic one (air conditioning) is fitted as a faster drift; a spectrum
of many hours would distinguish them. A measurement does not see drift over much longer times than its own: a constant
is that of those hours (with a drift of 1 W over 50 minutes, intervals from 25 minutes contained the long-term constant
in 80 % of 40 cases; differences between stages are not affected).
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from eee_testbed.analysis.interval import Floats, Interval, NotEnoughData, of_samples

_TAUS: Final = (0.03, 0.2, 1.0, 5.0)  # times the length of the measurement
_STEPS: Final = 7
_RANGE: Final = 300.0  # largest over smallest scale that is tried
_DRAWN: Final = 4000


@dataclass(frozen=True, slots=True)
class Readings:
    """Means of windows: when (s), watts, standard deviation of each one's own error, and design matrix X.

    `shared_sigma` is the error that all windows of one state (equal numbers in `state`) share: rounding.
    """

    at_s: Floats
    value: Floats
    own_sigma: Floats
    shared_sigma: float
    state: NDArray[np.int64]
    design: Floats


@dataclass(frozen=True, slots=True)
class DriftFit:
    """Draws of the coefficients, shape (draws, columns); standard deviations of drift and noise, weighted means.

    `left` are the residuals by window; `explained` is R2.
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
    """Fit; NotEnoughData if the columns of the design matrix do not determine their coefficients.

    Columns may differ by any order of magnitude (ports beside bit/s): they are scaled to a maximum of 1 first.
    """
    size = np.abs(readings.design).max(axis=0, initial=0.0)
    scale = np.where(size > 0, size, 1.0)
    design, value = readings.design / scale, readings.value
    count, columns = design.shape
    if count <= columns or np.linalg.matrix_rank(design) < columns:
        raise NotEnoughData(
            f"{count} windows do not determine {columns} powers: measure more stages, each several times, in blocks."
        )
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
    middle = weights @ np.array([case.mean for case in cases])  # medians of nearly equal columns would not fit together
    left = value - design @ middle
    spread = float(((value - value.mean()) ** 2).sum())
    return DriftFit(
        draws / scale,
        float(weights @ [case.drift for case in cases]),
        float(weights @ [case.noise for case in cases]),
        left,
        1.0 - float((left**2).sum()) / spread if spread > 0 else 0.0,
    )


def _case(design: Floats, value: Floats, covariance: Floats, drift: float, noise: float) -> _Case:
    """Generalised least squares with a given covariance, and its restricted likelihood."""
    lower = np.linalg.cholesky(covariance)
    # QR of the whitened design: the normal equations would square its condition, which nearly equal columns have
    orthogonal, upper = np.linalg.qr(solve_triangular(lower, design, lower=True))
    white = solve_triangular(lower, value, lower=True)
    projected = orthogonal.T @ white
    mean = solve_triangular(upper, projected)
    log_weight = -0.5 * (float(white @ white) - float(projected @ projected))
    log_weight -= float(np.log(np.diag(lower)).sum()) + float(np.log(np.abs(np.diag(upper))).sum())
    return _Case(log_weight, mean, solve_triangular(upper, np.eye(len(upper))), drift, noise)
