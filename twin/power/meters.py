"""How a power meter turns true watts into readings: lag, refresh, gain and offset, noise, resolution, energy register.

Simplification: within one `feed` the true power is constant (its mean), so a swing shorter than the caller's tick shows
as its mean; a meter with a lag below the tick could show it.
"""

import math
from dataclasses import dataclass

import numpy as np

from eee_testbed.twin.truth.truth import StripTruth

_CREEP_WATT = 0.05
"""Below this a meter shows 0 (the starting current of metering chips; the value is an assumption)."""


@dataclass(frozen=True, slots=True)
class MeterTraits:
    """How a meter measures. `resolution_watt` and `register_joule` 0 mean no rounding."""

    refresh_s: float = 1.0
    lag_s: float = 0.0
    noise_watt: float = 0.0
    gain_ratio: float = 1.0
    offset_watt: float = 0.0
    resolution_watt: float = 0.0
    register_joule: float = 0.0
    skipped_fraction: float = 0.0

    def with_truth(self, truth: StripTruth) -> "MeterTraits":
        """Return these traits with the truth file's values, where it has any."""
        return MeterTraits(
            refresh_s=self.refresh_s if truth.refresh_s is None else truth.refresh_s,
            lag_s=self.lag_s if truth.lag_s is None else truth.lag_s,
            noise_watt=truth.noise_watt,
            gain_ratio=truth.gain_ratio,
            offset_watt=truth.offset_watt,
            resolution_watt=self.resolution_watt if truth.resolution_watt is None else truth.resolution_watt,
            register_joule=self.register_joule,
            skipped_fraction=truth.skipped_fraction,
        )


class Meter:
    """One measuring channel. `shown_watt`, `shown_joule` and `peak_watt` change only at refreshes."""

    def __init__(self, traits: MeterTraits, rng: np.random.Generator) -> None:
        self._traits = traits
        self._rng = rng
        self._filtered_watt = 0.0
        self._register_joule = 0.0
        self._refreshes = 0
        self._reset_joule = 0.0
        self.reset_at_s = 0.0
        self.frozen = False
        self.shown_watt = 0.0
        self.shown_joule = 0.0
        self.shown_since_reset_joule = 0.0
        self.peak_watt = 0.0

    def feed(self, true_watt: float, since_s: float, until_s: float) -> bool:
        """Measure a constant power over an interval, in seconds since the start; intervals follow without gaps.

        True if the interval holds at least one refresh.
        """
        traits, before = self._traits, self._refreshes
        at_s = since_s
        while (next_s := (self._refreshes + 1) * traits.refresh_s) <= until_s:
            self._integrate(true_watt, next_s - at_s)
            at_s = next_s
            self._refreshes += 1
            self._refresh()
        self._integrate(true_watt, until_s - at_s)
        return self._refreshes != before

    def reset_energy(self, now_s: float) -> None:
        """Start the resettable register again."""
        self.reset_at_s = now_s
        self._reset_joule = self._register_joule
        self.shown_since_reset_joule = 0.0

    def reset_peak(self) -> None:
        """Start the peak again at the present reading."""
        self.peak_watt = self.shown_watt

    def _measured_watt(self, watt: float) -> float:
        if watt < _CREEP_WATT:
            return 0.0
        return max(0.0, self._traits.gain_ratio * watt + self._traits.offset_watt)

    def _integrate(self, true_watt: float, duration_s: float) -> None:
        self._register_joule += self._measured_watt(true_watt) * duration_s
        keep = math.exp(-duration_s / self._traits.lag_s) if self._traits.lag_s > 0 else 0.0
        if duration_s > 0:
            self._filtered_watt = true_watt + (self._filtered_watt - true_watt) * keep

    def _refresh(self) -> None:
        traits = self._traits
        noise_watt = traits.noise_watt * float(self._rng.standard_normal())
        skipped = float(self._rng.random()) < traits.skipped_fraction
        if self.frozen or skipped:
            return
        watt = self._measured_watt(self._filtered_watt)
        if watt > 0.0:
            watt = max(0.0, watt + noise_watt)
        self.shown_watt = _quantised(watt, traits.resolution_watt)
        self.peak_watt = max(self.peak_watt, self.shown_watt)
        self.shown_joule = _floored(self._register_joule, traits.register_joule)
        since_reset_joule = self._register_joule - self._reset_joule
        self.shown_since_reset_joule = _floored(since_reset_joule, traits.register_joule)


def _quantised(value: float, step: float) -> float:
    return round(value / step) * step if step > 0 else value


def _floored(value: float, step: float) -> float:
    return math.floor(value / step) * step if step > 0 else value
