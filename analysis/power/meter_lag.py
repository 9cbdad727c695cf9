"""A meter's lag behind the load, from steps of the load at known times. Pure.

The lag is the area between drawn and shown power, divided by the height of the step: the delay that matters for an
integral, and so for joules, whatever the meter's filter is (a pure delay, a running mean, a low pass). It includes the
age of a reading when the meter is polled: where refreshes and polls have the same period, another run may find them in
another phase, and the lag different by up to one refresh.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtrit

from analysis.interval import Floats, Interval
from record.samples import PowerSeries

_NORMAL_95: Final = 1.959964
_LEAST_READINGS: Final = 4


@dataclass(frozen=True, slots=True)
class MeterLag:
    """The lag with its 95 % interval, from `step_count` steps."""

    lag_s: Interval
    step_count: int

    @property
    def bound_s(self) -> float:
        """Half of the interval, for `MeterTraits`."""
        return self.lag_s.half_width


@dataclass(frozen=True, slots=True)
class _Step:
    lag_s: float
    sigma_s: float


def lag_of(
    series: PowerSeries, steps_ns: Sequence[int], settle_s: float, *, refresh_s: float = 0.0, clock_bound_ns: int = 0
) -> MeterLag:
    """The meter's lag from steps of the load, each with `settle_s` of constant load before and after it.

    `settle_s` has to be several lags: the reading at its end is taken as the new level. `refresh_s` is the meter's own
    period if that is longer than the readings'; steps in one phase of it have the same error, and widen the interval.
    ValueError if a step cannot be resolved: too few readings around it, or a height within the noise.
    """
    if not steps_ns:
        raise ValueError("the lag of a meter needs at least one step of the load")
    steps = [_of_step(series, at_ns, settle_s) for at_ns in steps_ns]
    lags = np.array([step.lag_s for step in steps])
    count = len(steps)
    variance = float(np.mean([step.sigma_s**2 for step in steps])) / count
    if count > 1:
        variance = max(variance, float(np.var(lags, ddof=1)) / count)
    period_s = max(float(np.median(np.diff(series.sent_ns))) / 1e9, refresh_s)
    phases = np.exp(2j * np.pi * np.array([(at_ns - int(series.sent_ns[0])) / 1e9 / period_s for at_ns in steps_ns]))
    aligned = max(abs(complex(phases.mean())), 1.0 / math.sqrt(count))
    placed_s = period_s / math.sqrt(12.0) * aligned
    spread = float(stdtrit(count - 1, 0.975)) if count > 1 else _NORMAL_95
    half_s = math.hypot(spread * math.sqrt(variance), _NORMAL_95 * placed_s) + clock_bound_ns / 1e9
    value = float(lags.mean())
    return MeterLag(Interval.plus_minus(value, half_s), count)


def _of_step(series: PowerSeries, at_ns: int, settle_s: float) -> _Step:
    time_s = series.time_s(at_ns)
    watt = series.power_watt
    before = watt[(time_s >= -settle_s) & (time_s <= 0)]
    inside = (time_s > 0) & (time_s <= settle_s)
    after = watt[(time_s > settle_s / 2) & (time_s <= settle_s)]
    if min(before.size, after.size) < _LEAST_READINGS:
        raise ValueError(f"fewer than {_LEAST_READINGS} readings before or after the step of the load at {at_ns} ns")
    height = float(after.mean() - before.mean())
    noise = math.hypot(max(_scatter(before), _scatter(after)), series.step_watt / math.sqrt(12.0))
    if abs(height) < 3.0 * noise:
        raise ValueError(f"the step of the load at {at_ns} ns is lost in the meter's noise: use a larger one")
    knots = np.concatenate(([0.0], time_s[inside], [settle_s]))
    shown = np.interp(knots, time_s, watt)
    lag_s = float(np.trapezoid((after.mean() - shown) / height, knots))
    between_s = settle_s / inside.sum()
    sigma_s = noise / abs(height) * (math.sqrt(settle_s * between_s) + settle_s / math.sqrt(after.size))
    return _Step(lag_s, sigma_s)


def _scatter(watt: Floats) -> float:
    return float(np.std(watt, ddof=1))
