"""Joules from a meter's watts, with an error that is split by cause. Pure.

A meter shows the power in steps, with noise, when it is polled. The integral over a window is that of straight lines
between readings. Its error has independent parts:

* noise: of each reading, estimated from neighbouring readings. A change of load between two readings counts as noise
  too, as its exact time is unknown.
* resolution: rounding to steps is the same error in every reading unless noise moves the readings over several steps.
  With Gaussian noise s the mean of rounded readings is off by a sum of waves with amplitudes
  step / (pi k) * exp(-2 (pi k s / step)^2), k = 1, 2, ... The load's place within a step is unknown, so the
  variances of the waves add up. They are step^2 / 12 without noise, and negligible from s = step / 2 on (Sheppard's).
* clock: the window may be early or late by as much as the bound of its times.
* gaps: where readings are missing for long, the straight line may be off by as much as the power varied in the window.

Simplifications: a meter shows the power of now, which matters little under an even load. Its gain is taken as right: a
comparison of two runs on one meter is free of it. The noise of readings is assumed to be independent. With a meter that
averages over long times, or that is polled more often than it refreshes, it is correlated, and repeated runs scatter
more than their intervals.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtrit

from eee_testbed.analysis.interval import Floats, Interval
from eee_testbed.record.samples import PowerSeries

_NORMAL_95: Final = 1.959964
_LEVELS: Final = 3
_SHARE: Final = 0.025  # of the readings that make a level count
_WAVES: Final = 200
_GAP: Final = 2.5  # times the usual distance of readings
_UNIFORM: Final = math.sqrt(3.0)


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of a window with its 95 % interval; `parts_joule` are standard uncertainties by cause.

    `gap_s` of the window's `window_s` lie between readings that are too far apart.
    """

    energy_joule: Interval
    window_s: float
    gap_s: float
    parts_joule: Mapping[str, float]

    @property
    def mean_watt(self) -> Interval:
        """The energy divided by the window's length."""
        joule = self.energy_joule
        return Interval(joule.value / self.window_s, joule.low / self.window_s, joule.high / self.window_s)


def energy_of(series: PowerSeries, from_ns: int, to_ns: int, clock_bound_ns: int = 0) -> Energy:
    """The energy drawn between two times of the run's clock.

    `clock_bound_ns` is the maximum error of the window's own times. ValueError if the window is empty, or if no
    readings lie near it, at most its length away.
    """
    window_s = (to_ns - from_ns) / 1e9
    if window_s <= 0:
        raise ValueError("the window of an energy has to end after it begins")
    time_s, watt = series.time_s(from_ns), series.power_watt
    near = (time_s >= -window_s) & (time_s <= 2 * window_s)
    if near.sum() < 2 or time_s[near].min() > window_s or time_s[near].max() < 0:
        raise ValueError("no readings of the meter around that window")
    value = _integral(time_s, watt, 0.0, window_s)
    usual_s = float(np.median(np.diff(time_s)))
    knots_s, levels = _inside(time_s, watt, window_s)
    lengths_s, jumps_watt = np.diff(knots_s), np.diff(levels)
    open_ = lengths_s > _GAP * usual_s
    beyond_s = max(0.0, time_s.min()) + max(0.0, window_s - time_s.max())
    gap_s = float(lengths_s[open_].sum()) + (beyond_s if beyond_s > _GAP * usual_s else 0.0)
    spread_watt = max(float(np.ptp(levels)), series.step_watt)
    asking_s = float(np.mean(series.received_ns - series.sent_ns)) / 2e9
    parts = {
        "noise": _noise_joule(jumps_watt[~open_], lengths_s[~open_]),
        "resolution": rounding_watt(watt[(time_s >= 0) & (time_s <= window_s)], series.step_watt) * window_s,
        "clock": _shift_joule(time_s, watt, window_s, clock_bound_ns / 1e9 + asking_s),
        "gaps": gap_s * spread_watt / math.sqrt(12.0),
    }
    half = _NORMAL_95 * math.sqrt(sum(part * part for part in parts.values()))
    return Energy(Interval.plus_minus(value, half), window_s, gap_s, parts)


def _integral(time_s: Floats, watt: Floats, from_s: float, to_s: float) -> float:
    """Of the straight lines between readings; beyond the first and the last one their level is kept."""
    inside = (time_s > from_s) & (time_s < to_s)
    knots = np.concatenate(([from_s], time_s[inside], [to_s]))
    return float(np.trapezoid(np.interp(knots, time_s, watt), knots))


def _inside(time_s: Floats, watt: Floats, window_s: float) -> tuple[Floats, Floats]:
    """The readings in the window and the nearest one on both sides."""
    first = max(int(np.searchsorted(time_s, 0.0)) - 1, 0)
    last = min(int(np.searchsorted(time_s, window_s)) + 1, time_s.size)
    return time_s[first:last], watt[first:last]


def _noise_joule(jumps_watt: Floats, lengths_s: Floats) -> float:
    """Standard uncertainty from differences of neighbouring readings; widened if these are few (Student).

    A meter that is polled more often than it refreshes repeats itself: differences are then as rare as its refreshes.
    """
    if jumps_watt.size == 0:
        return 0.0
    variance = float(np.sum(jumps_watt**2 * lengths_s**2)) / 2.0
    freedom = max(1, int(np.count_nonzero(jumps_watt)))
    return math.sqrt(variance) * float(stdtrit(freedom, 0.975)) / _NORMAL_95


def rounding_watt(watt: Floats, step_watt: float) -> float:
    """Standard uncertainty of the mean of rounded readings."""
    if step_watt <= 0:
        return 0.0
    noise_watt = 0.0
    if watt.size > _LEVELS:
        counts = np.unique(np.round(watt / step_watt), return_counts=True)[1]
        if np.count_nonzero(counts >= max(2.0, _SHARE * watt.size)) >= _LEVELS:
            seen = float(np.mean(np.diff(watt) ** 2)) / 2.0
            noise_watt = math.sqrt(max(0.0, seen - step_watt**2 / 12.0))
    return rounding_sigma(step_watt, noise_watt)


def rounding_sigma(step_watt: float, noise_watt: float) -> float:
    """Standard uncertainty of the mean of readings that are rounded to steps (> 0), with Gaussian noise before that.

    Without noise step / sqrt(12), of which the first 200 waves are summed; noise of half a step makes it small.

    >>> round(rounding_sigma(1.0, 0.0), 3), round(rounding_sigma(1.0, 0.5), 3)
    (0.288, 0.002)
    """
    k = np.arange(1, _WAVES + 1)
    amplitudes = step_watt / (np.pi * k) * np.exp(-2.0 * (np.pi * k * noise_watt / step_watt) ** 2)
    return math.sqrt(float(np.sum(amplitudes**2)) / 2.0)


def _shift_joule(time_s: Floats, watt: Floats, window_s: float, bound_s: float) -> float:
    """Standard uncertainty if the window may be shifted by up to `bound_s` to either side."""
    if bound_s <= 0:
        return 0.0
    here = _integral(time_s, watt, 0.0, window_s)
    away = [_integral(time_s, watt, shift, window_s + shift) - here for shift in (-bound_s, bound_s)]
    return max(abs(joule) for joule in away) / _UNIFORM
