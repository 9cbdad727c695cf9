"""Run time under EEE as Miwa, Aita and Nakamura (2013) model it: Eq. 1-4, and their fit by least squares.

T = T_base + n f(I); I = T_base / n - S / B; f(I) = 0 for I <= t, else c (1 - exp(-alpha (I - t0))).

The paper does not say how t and t0 are related. With t >= t0, f is never negative; the fit leaves both free under
that condition. The model's known weaknesses (gaps differ from their mean, ranks of a node call together, time in MPI
counts as idle) are all in `I`, which is used as printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import lmfit
import numpy as np
from scipy.stats import f as fisher
from scipy.stats import t as student

from analysis.interval import Floats, Interval, NotEnoughData

_LEAST_RUNS = 8
_THRESHOLDS = 60


@dataclass(frozen=True, slots=True)
class Run:
    """A program's profile and times. `count` is n, communications per node; `size_byte` is S, mean size of one.

    `eee_s` is NaN where the program was not run under EEE.
    """

    base_s: float
    count: float
    size_byte: float
    link_bps: float
    eee_s: float = float("nan")

    @property
    def idle_us(self) -> float:
        """Mean idle interval (Eq. 4)."""
        return (self.base_s / self.count - 8 * self.size_byte / self.link_bps) * 1e6

    @property
    def overhead_us(self) -> float:
        """Measured overhead of one communication (Eq. 1 and 2 solved for f)."""
        return (self.eee_s - self.base_s) / self.count * 1e6


@dataclass(frozen=True, slots=True)
class MiwaFit:
    """Parameters of Eq. 3 with 95 % intervals; `alpha_per_us` in 1/us.

    `threshold_us` is found by a search; its interval contains all thresholds whose fit is not worse by an F test. The
    other intervals contain those of the linearised fits at all of these thresholds. On synthetic data (30 runs with
    errors of 2 us) those of alpha and the origin contained the truth in only 87 to 90 % of 60 cases, as t0 <= t.
    `residual_us` is the standard deviation of the overhead of one communication about the curve; `explained` is R2.
    """

    plateau_us: Interval
    alpha_per_us: Interval
    origin_us: Interval
    threshold_us: Interval
    residual_us: float
    explained: float
    runs: int

    def overhead_us(self, idle_us: Floats | float) -> Floats:
        """f(I), Eq. 3."""
        return curve_us(
            idle_us, self.plateau_us.value, self.alpha_per_us.value, self.origin_us.value, self.threshold_us.value
        )

    def time_s(self, run: Run) -> float:
        """T, Eq. 1 and 2."""
        return run.base_s + run.count * float(self.overhead_us(run.idle_us)) * 1e-6


def curve_us(
    idle_us: Floats | float, plateau_us: float, alpha_per_us: float, origin_us: float, threshold_us: float
) -> Floats:
    """Eq. 3."""
    idle = np.asarray(idle_us, dtype=float)
    # Below the origin, where the result is not used, the exponent would overflow.
    rise: Floats = plateau_us * -np.expm1(-alpha_per_us * np.maximum(idle - origin_us, 0.0))
    return np.where(idle > threshold_us, rise, 0.0)


def fit_miwa(runs: Sequence[Run]) -> MiwaFit:
    """Fit Eq. 3 to measured overheads by least squares, as the paper did.

    NotEnoughData with fewer than eight runs, or if no run has overhead: the data would not determine the parameters.
    """
    measured = [run for run in runs if np.isfinite(run.eee_s)]
    if len(measured) < _LEAST_RUNS:
        raise NotEnoughData(
            f"{len(measured)} runs with and without EEE are too few to fit four parameters: measure at least 8."
        )
    idle = np.array([run.idle_us for run in measured])
    overhead = np.array([run.overhead_us for run in measured])
    if float(np.ptp(idle)) == 0.0:
        raise NotEnoughData("all runs have the same mean idle interval: vary the sleep time or the size.")
    if float(overhead.max()) <= 0.0:
        raise NotEnoughData("no run took longer with EEE: there is no overhead to fit, or EEE was off.")
    tried = [(_fit_above(threshold, idle, overhead), threshold) for threshold in _candidates(idle)]
    kept = [(result, threshold) for result, threshold in tried if result is not None]
    if not kept:
        raise NotEnoughData("fewer than four idle intervals show overhead: measure longer intervals too.")
    best, below_us = min(kept, key=lambda pair: pair[0].chisqr)
    free = len(measured) - 4
    limit = best.chisqr * (1 + 3 * float(fisher.ppf(0.95, 3, free)) / free) if free > 0 else np.inf
    near = [(result, threshold) for result, threshold in kept if result.chisqr <= limit]
    close = [threshold for _, threshold in near]
    fits = [result for result, _ in near]
    spread = float(((overhead - overhead.mean()) ** 2).sum())
    if best.chisqr >= spread:
        raise NotEnoughData("the overhead does not rise with the idle interval: noise hides it, so repeat more often.")
    return MiwaFit(
        _interval("plateau_us", best, fits, free),
        _interval("alpha_per_us", best, fits, free),
        _interval("origin_us", best, fits, free),
        Interval((below_us + _next(idle, below_us)) / 2, min(close), _next(idle, max(close))),
        float(np.sqrt(best.chisqr / max(free, 1))),
        1.0 - best.chisqr / spread if spread > 0 else 0.0,
        len(measured),
    )


def _candidates(idle: Floats) -> list[float]:
    """Thresholds that split the data differently: each stands for all values up to the next measured idle interval."""
    below = float(idle.min()) - 1e-3 * float(np.ptp(idle))
    edges = np.unique(idle)[:-4]
    chosen = edges if len(edges) <= _THRESHOLDS else edges[np.linspace(0, len(edges) - 1, _THRESHOLDS).astype(int)]
    return [below, *map(float, chosen)]


def _next(idle: Floats, threshold_us: float) -> float:
    return float(idle[idle > threshold_us].min())


def _fit_above(threshold_us: float, idle: Floats, overhead: Floats) -> lmfit.minimizer.MinimizerResult | None:
    above = idle > threshold_us
    if int(above.sum()) < 4:
        return None
    scale = max(float(np.median(idle[above] - threshold_us)), 1e-6)
    parameters = lmfit.Parameters()
    parameters.add("plateau_us", value=max(float(np.quantile(overhead[above], 0.8)), 1e-6), min=0.0)
    parameters.add("alpha_per_us", value=1.0 / scale, min=1e-9)
    parameters.add("origin_us", value=threshold_us - 0.1 * scale, max=threshold_us)

    def misses(now: lmfit.Parameters) -> Floats:
        values = now.valuesdict()
        return overhead - curve_us(
            idle, values["plateau_us"], values["alpha_per_us"], values["origin_us"], threshold_us
        )

    return lmfit.minimize(misses, parameters)


def _interval(
    name: str, best: lmfit.minimizer.MinimizerResult, fits: Sequence[lmfit.minimizer.MinimizerResult], free: int
) -> Interval:
    """From the lowest to the highest end of the intervals (Student's t) of all fits that are about as good."""
    value, wide = float(best.params[name].value), float(student.ppf(0.975, max(free, 1)))
    lows, highs = [value], [value]
    for result in fits:
        found, error = float(result.params[name].value), result.params[name].stderr
        half = wide * float(error) if error is not None and np.isfinite(error) else float("inf")
        lows.append(found - half)
        highs.append(found + half)
    return Interval(value, min(lows), max(highs))
