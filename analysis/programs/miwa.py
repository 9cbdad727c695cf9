"""Run time under EEE as Miwa, Aita and Nakamura (2013) model it: Eq. 1-4, and their fit by least squares.

T = T_base + n f(I); I = T_base / n - S / B; f(I) = 0 for I <= t, else c (1 - exp(-alpha (I - t0))).

The paper does not say how t and t0 are related. With t >= t0, f is never negative; the fit leaves both free under
that condition. Run times say only between which two measured idle intervals t is. The paper explains t by the
device's time-out (section 4.2), and measured that by echoes (5.1). So with a probe, t is as near to the probed hold as
the overheads allow (F test, 95 %), and the other parameters are for that t. Without a probe, t fits best. The known
weaknesses of the model (gaps differ from their mean, ranks of a node call together, time in MPI counts as idle) are all
in `I`, which is used as printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri, stdtrit

from eee_testbed.analysis.calibration import MiwaTime
from eee_testbed.analysis.interval import Floats, Interval, NotEnoughData

_LEAST_RUNS: Final = 8
_LEAST_ABOVE: Final = 4
_THRESHOLDS: Final = 60
_ALPHAS: Final = 120
_STARTS: Final = np.linspace(-1.0, 1.0, 9)
_ZOOMS: Final = 4
_FINE_ENOUGH: Final = 30
_FLAT: Final = 1e-6
_RISING: Final = 0.5
_SINGULAR: Final = 1e-9
_AS_WELL: Final = 1e-6
_ANYTHING: Final = 1e12
_CURVED: Final = (1.0, 20.0)
"""alpha, from a curve that bends but little over all idle intervals to a step between the two nearest ones.

A smaller alpha would be a rise that goes on beyond what was measured, and c the height of a plateau that nobody saw.
"""


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
        """Mean idle interval (Eq. 4), microseconds.

        A run of 1 s with 1,000 messages of 12,500 bytes at 1 Gb/s: each takes 100 us of its millisecond.

        >>> round(Run(base_s=1.0, count=1000, size_byte=12_500, link_bps=1e9).idle_us)
        900
        """
        return (self.base_s / self.count - 8 * self.size_byte / self.link_bps) * 1e6

    @property
    def overhead_us(self) -> float:
        """Measured overhead of one communication (Eq. 1 and 2 solved for f), microseconds.

        >>> round(Run(base_s=1.0, count=1000, size_byte=0, link_bps=1e9, eee_s=1.06).overhead_us)
        60
        """
        return (self.eee_s - self.base_s) / self.count * 1e6


@dataclass(frozen=True, slots=True)
class MiwaFit:
    """Parameters of Eq. 3 with 95 % intervals; `alpha_per_us` in 1/us.

    Intervals are those of the profile likelihood: all values of a parameter for which some choice of the others fits
    not significantly worse than the best (F test). Where one step at t fits not significantly worse than a curve, the
    fit is that step, and alpha and t0 are None: the data say nothing of them. Otherwise alpha may still have no upper
    end, or t0 no lower one.
    `residual_us` is the standard deviation of the overhead of one communication about the curve; `explained` is R2.
    """

    plateau_us: Interval
    alpha_per_us: Interval | None
    origin_us: Interval | None
    threshold_us: Interval
    residual_us: float
    explained: float
    runs: int

    def overhead_us(self, idle_us: Floats | float) -> Floats:
        """f(I), Eq. 3."""
        return modelled_us(self, idle_us)

    def time_s(self, run: Run) -> float:
        """T, Eq. 1 and 2."""
        return run.base_s + run.count * float(self.overhead_us(run.idle_us)) * 1e-6


def curve_us(
    idle_us: Floats | float, plateau_us: float, alpha_per_us: float, origin_us: float, threshold_us: float
) -> Floats:
    """Eq. 3: the overhead of one communication after a mean idle interval, microseconds.

    >>> curve_us(np.array([500.0, 1000.0, 9000.0]), 100.0, 1e-3, 1000.0, 900.0).round(1).tolist()
    [0.0, 0.0, 100.0]
    """
    idle = np.asarray(idle_us, dtype=float)
    # Below the origin, where the result is not used, the exponent would overflow.
    rise: Floats = plateau_us * -np.expm1(-alpha_per_us * np.maximum(idle - origin_us, 0.0))
    return np.where(idle > threshold_us, rise, 0.0)


def step_us(idle_us: Floats | float, plateau_us: float, threshold_us: float) -> Floats:
    """Eq. 3 with an alpha that is too large to be seen.

    >>> step_us(np.array([500.0, 1000.0]), 60.0, 900.0).tolist()
    [0.0, 60.0]
    """
    return np.where(np.asarray(idle_us, dtype=float) > threshold_us, plateau_us, 0.0)


def modelled_us(fit: MiwaFit | MiwaTime, idle_us: Floats | float, plateau_us: float | None = None) -> Floats:
    """f(I) of a fit, as fitted or from a calibration, microseconds; with another c, if one is given."""
    height_us = fit.plateau_us.value if plateau_us is None else plateau_us
    if fit.alpha_per_us is None or fit.origin_us is None:
        return step_us(idle_us, height_us, fit.threshold_us.value)
    return curve_us(idle_us, height_us, fit.alpha_per_us.value, fit.origin_us.value, fit.threshold_us.value)


def fit_miwa(runs: Sequence[Run], hold_us: float | None = None) -> MiwaFit:
    """Fit Eq. 3 to measured overheads by least squares, as the paper did; `hold_us`: of the links, if it was probed.

    NotEnoughData with fewer than eight runs, or if no run has overhead: the data would not determine the parameters.

    Runs that cost 60 us a message once its pause is above 1 ms:

    >>> pauses_us = [200, 400, 600, 800, 1200, 1600, 2400, 3200, 4800, 6400]
    >>> cost_us = [60 * (one > 1000) for one in pauses_us]
    >>> runs = [Run(1e-3 * one, 1000, 0, 1e9, 1e-3 * (one + more)) for one, more in zip(pauses_us, cost_us)]
    >>> fit = fit_miwa(runs)
    >>> round(fit.plateau_us.value), fit.overhead_us(np.array([600.0, 3200.0])).round().tolist()
    (60, [0.0, 60.0])
    """
    measured = [run for run in runs if np.isfinite(run.eee_s)]
    if len(measured) < _LEAST_RUNS:
        raise NotEnoughData(
            f"too few runs with and without EEE to fit four parameters: measure {_LEAST_RUNS}, not {len(measured)}."
        )
    idle = np.array([run.idle_us for run in measured])
    overhead = np.array([run.overhead_us for run in measured])
    if float(np.ptp(idle)) == 0.0:
        raise NotEnoughData("all runs have the same mean idle interval: vary the sleep time or the size.")
    if float(overhead.max()) <= 0.0:
        raise NotEnoughData("no run took longer with EEE: there is no overhead to fit, or EEE was off.")
    thresholds = [threshold for threshold in _candidates(idle) if int((idle > threshold).sum()) >= _LEAST_ABOVE]
    if not thresholds:
        raise NotEnoughData("fewer than four idle intervals show overhead: measure longer intervals too.")
    profiled = _profiled(idle, overhead, thresholds, [_next(idle, threshold) for threshold in thresholds])
    close = [thresholds[number] for number in np.flatnonzero(profiled.near(3).any(axis=(1, 2)))]
    threshold_us = None
    if hold_us is not None:
        likely = [thresholds[number] for number in np.flatnonzero(profiled.near(1).any(axis=(1, 2)))]
        nearest = {
            abs(_nearest(hold_us, threshold, _next(idle, threshold)) - hold_us): threshold
            for threshold in reversed(likely)
        }
        thresholds = [nearest[min(nearest)]]
        threshold_us = _nearest(hold_us, thresholds[0], _next(idle, thresholds[0]))
        profiled = _profiled(idle, overhead, thresholds, [threshold_us])
    place = profiled.best()
    least = float(profiled.left[place])
    spread = float(((overhead - overhead.mean()) ** 2).sum())
    if least >= spread:
        raise NotEnoughData("the overhead does not rise with the idle interval: noise hides it, so repeat more often.")
    below_us = thresholds[place[0]]
    step = min((_step(idle, overhead, threshold) for threshold in thresholds), key=lambda step: step.left)
    if step.left <= _limit(least, 2, profiled.free):
        left, free, below_us = step.left, step.free, step.below_us
        plateau_us, alpha_per_us, origin_us = step.plateau_us, None, None
    else:
        left, free, plateau_us = least, profiled.free, profiled.plateau_us(place)
        alpha_per_us, origin_us = profiled.alpha_per_us(place), profiled.origin_us(place)
    if threshold_us is None:
        threshold_us = (below_us + _next(idle, below_us)) / 2
    threshold = Interval(threshold_us, min(close), _next(idle, max(close)))
    residual_us = float(np.sqrt(left / max(free, 1)))
    explained = 1.0 - left / spread if spread > 0 else 0.0
    return MiwaFit(plateau_us, alpha_per_us, origin_us, threshold, residual_us, explained, len(measured))


@dataclass(frozen=True, slots=True)
class _Step:
    """No overhead up to an idle interval, and c beyond it: the sum of squares, its degrees of freedom, and c."""

    below_us: float
    left: float
    free: int
    plateau_us: Interval


def _step(idle: Floats, overhead: Floats, below_us: float) -> _Step:
    above = overhead[idle > below_us]
    middle, free = max(float(above.mean()), 0.0), len(idle) - 2
    left = float(((above - middle) ** 2).sum() + (overhead[idle <= below_us] ** 2).sum())
    half = float(stdtrit(free, 0.975)) * float(np.sqrt(left / free / above.size))
    return _Step(below_us, left, free, Interval(middle, max(middle - half, 0.0), middle + half))


def _candidates(idle: Floats) -> list[float]:
    """Thresholds that split the data differently: each stands for all values up to the next measured idle interval."""
    below = float(idle.min()) - 1e-3 * float(np.ptp(idle))
    edges = np.unique(idle)[:-4]
    chosen = edges if len(edges) <= _THRESHOLDS else edges[np.linspace(0, len(edges) - 1, _THRESHOLDS).astype(int)]
    return [below, *map(float, chosen)]


def _nearest(hold_us: float, below_us: float, next_us: float) -> float:
    """t, if there is no overhead up to the first idle interval, and some from the second on."""
    return min(max(hold_us, below_us), float(np.nextafter(next_us, below_us)))


def _next(idle: Floats, threshold_us: float) -> float:
    return float(idle[idle > threshold_us].min())


_Place = tuple[np.intp, ...]


@dataclass(frozen=True, slots=True)
class _Profiled:
    """Least squares at every threshold and alpha, for several starts about the best one, with the best c of each.

    A threshold stands for all values up to `latest`: the next idle interval, or t if that is known. `start` is how much
    of c is missing there: exp(-alpha (latest - t0)), 1 for t0 = latest. `left`: sums of squares, `plateau`: c,
    `weight`: the curvature of the sum in c. `latest` is (thresholds,), `alpha` (alphas,), all others (thresholds,
    alphas, starts). `free`: degrees of freedom. `whole`: the range of alpha that was tried at all.
    """

    latest: Floats
    alpha: Floats
    start: Floats
    left: Floats
    plateau: Floats
    weight: Floats
    free: int
    whole: tuple[float, float]

    def best(self) -> _Place:
        """The choice that fits best; of several that do, as all alphas of a step do, the last."""
        least = float(self.left.min())
        return tuple(np.argwhere(self.left <= least * (1 + _AS_WELL))[-1])

    def near(self, parameters: int) -> NDArray[np.bool_]:
        """Which choices fit not significantly worse than the best, as so many parameters differ from it."""
        return np.asarray(self.left <= _limit(float(self.left.min()), parameters, self.free), dtype=bool)

    def plateau_us(self, best: _Place) -> Interval:
        """c, which may differ from the best of each choice too; without an upper end if a straight line fits."""
        near = self.near(1)
        room = np.maximum(_limit(float(self.left.min()), 1, self.free) - self.left[near], 0.0)
        half = np.sqrt(room / np.maximum(self.weight[near], 1e-300))
        lows, highs = self.plateau[near] - half, self.plateau[near] + half
        straight = bool((near & (self.start > _RISING))[:, self.alpha <= self.whole[0]].any())
        high = float("inf") if straight else float(highs.max())
        return Interval.about(float(self.plateau[best]), max(float(lows.min()), 0.0), high)

    def alpha_per_us(self, best: _Place) -> Interval:
        """alpha; without an upper end if a step fits too."""
        near = self.alpha[np.flatnonzero(self.near(1).any(axis=(0, 2)))]
        return Interval.about(
            float(self.alpha[best[1]]),
            float(near.min()) if near.min() > self.whole[0] else 0.0,
            float(near.max()) if near.max() < self.whole[1] else float("inf"),
        )

    def origin_us(self, best: _Place) -> Interval:
        """t0; without a lower end if the curve may be flat from the threshold on."""
        origin = self.latest[:, None, None] + np.log(self.start) / self.alpha[None, :, None]
        near = self.near(1)
        low = float("-inf") if bool((self.start[near] <= _FLAT).any()) else float(origin[near].min())
        return Interval.about(float(origin[best]), low, float(origin[near].max()))


def _limit(least: float, parameters: int, free: int) -> float:
    """The sum of squares up to which so many parameters fit not significantly worse than the best."""
    if free < 1:
        return float("inf")
    return least * (1 + parameters * float(fdtri(parameters, free, 0.95)) / free)


def _profiled(idle: Floats, overhead: Floats, thresholds: Sequence[float], latest: Sequence[float]) -> _Profiled:
    """With alphas close enough to each other that many of them fit about as well as the best."""
    apart = np.diff(np.unique(idle))
    whole = (_CURVED[0] / float(np.ptp(idle)), _CURVED[1] / float(apart[apart > 0].min()))
    ends = np.array(latest)
    grid = _at(idle, overhead, thresholds, ends, np.geomspace(*whole, _ALPHAS), whole)
    for _ in range(_ZOOMS):
        near = np.flatnonzero(grid.near(3).any(axis=(0, 2)))
        if np.ptp(near) >= _FINE_ENOUGH:
            break
        low, high = grid.alpha[max(near[0] - 1, 0)], grid.alpha[min(near[-1] + 1, _ALPHAS - 1)]
        grid = _at(idle, overhead, thresholds, ends, np.geomspace(low, high, _ALPHAS), whole)
    return grid


def _at(
    idle: Floats,
    overhead: Floats,
    thresholds: Sequence[float],
    latest: Floats,
    alpha: Floats,
    whole: tuple[float, float],
) -> _Profiled:
    """For one threshold and alpha, c and the start follow from linear least squares."""
    free = len(idle) - 4
    decays = [
        np.exp(-alpha[:, None] * np.maximum(idle - last, 0.0)) * (idle > threshold)
        for threshold, last in zip(thresholds, latest, strict=True)
    ]
    lines = [_line(decay, overhead, idle > threshold) for decay, threshold in zip(decays, thresholds, strict=True)]
    least = min(
        float(_summed(decay, overhead, idle > threshold, start[:, None])[0].min())
        for decay, threshold, (start, _) in zip(decays, thresholds, lines, strict=True)
    )
    room = _limit(least, 1, free) - least if np.isfinite(_limit(least, 1, free)) else least
    parts = []
    for decay, threshold, (start, variance) in zip(decays, thresholds, lines, strict=True):
        tried = np.clip(start[:, None] + np.sqrt(variance * room)[:, None] * _STARTS, _FLAT, 1.0)
        parts.append((tried, *_summed(decay, overhead, idle > threshold, tried)))
    starts, left, plateau, weight = (np.stack(each) for each in zip(*parts, strict=True))
    return _Profiled(latest, alpha, starts, left, plateau, weight, free, whole)


def _line(decay: Floats, overhead: Floats, above: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(best start, its variance for errors of 1), each of shape (alphas,)."""
    count, one, two = float(above.sum()), decay.sum(axis=1), (decay**2).sum(axis=1)
    sum_, product = float(overhead[above].sum()), decay @ overhead
    determinant = np.maximum(count * two - one**2, _SINGULAR * count * np.maximum(two, _SINGULAR))
    plateau = np.maximum((two * sum_ - one * product) / determinant, _SINGULAR)
    start = np.clip((one * sum_ - count * product) / determinant / plateau, _FLAT, 1.0)
    variance = (start**2 * two - 2 * start * one + count) / determinant / plateau**2
    return start, np.clip(variance, 0.0, _ANYTHING)


def _summed(decay: Floats, overhead: Floats, above: NDArray[np.bool_], start: Floats) -> tuple[Floats, Floats, Floats]:
    """(sum of squares, best c, curvature in c) of each start, shape (alphas, starts)."""
    shape = above - start[:, :, None] * decay[:, None, :]
    weight = (shape**2).sum(axis=-1)
    plateau = np.maximum((shape @ overhead) / np.maximum(weight, 1e-300), 0.0)
    return ((overhead - plateau[..., None] * shape) ** 2).sum(axis=-1), plateau, weight
