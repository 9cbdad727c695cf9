"""Power analysis before an experiment: can these meters resolve the expected effect, in how many blocks? Pure.

A window's mean power is known from as many independent readings as the meter had refreshes in it. Two windows of a
block are compared, and the differences of all blocks together: a difference d is resolved if it exceeds (t + z)
standard errors, with Student's t for 95 % and z for a power of 80 %. Rounding to steps does not average out over blocks
unless noise moves the readings over several steps; its error is added.

Simplification: the meter's noise is that of a short sample, at the load of that time; drift between blocks is ignored.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtri, stdtrit

from eee_testbed.analysis.power.energy import rounding_watt
from eee_testbed.record.samples import PowerSeries, RunSamples

_MOST_BLOCKS: Final = 1000
_FOUND: Final = float(ndtri(0.8))
_SURE_QUANTILE: Final = 0.975


@dataclass(frozen=True, slots=True)
class MeterPrecision:
    """A meter's errors under a steady load.

    `noise_watt`: standard deviation of a fresh reading. `refresh_s`: period of fresh readings. `rounding_watt`:
    standard uncertainty of the mean by rounding, which repetition does not reduce.
    """

    name: str
    step_watt: float
    noise_watt: float
    refresh_s: float
    rounding_watt: float

    @classmethod
    def of(cls, name: str, series: PowerSeries) -> "MeterPrecision":
        """From readings; ValueError if there are fewer than four."""
        watt = series.power_watt
        if watt.size < 4:
            raise ValueError(f"{name}: {watt.size} readings are too few to assess a meter: sample for longer")
        time_s = (series.sent_ns - series.sent_ns[0]) / 1e9
        poll_s = float(np.median(np.diff(time_s)))
        jumps = np.diff(watt)
        changed = np.flatnonzero(jumps)
        refresh_s = poll_s
        if changed.size >= 2:  # a noisy meter's readings change at every refresh
            refresh_s = max(poll_s, float(np.median(np.diff(time_s[changed + 1]))))
        noise = math.sqrt(float(np.mean(jumps[changed] ** 2)) / 2) if changed.size else 0.0
        rare = changed.size < _rarely(time_s[-1], refresh_s)
        noise = noise * math.sqrt(changed.size / max(time_s[-1] / refresh_s, 1.0)) if rare else noise
        rounding = rounding_watt(watt, series.step_watt)
        return cls(name, series.step_watt, noise, refresh_s, rounding)

    def window_watt(self, window_s: float) -> float:
        """Standard error of a window's mean power by noise.

        A meter with 0.2 W of noise and a fresh reading each second, in a window of 100 s:

        >>> meter = MeterPrecision("pdu1", 0.1, noise_watt=0.2, refresh_s=1.0, rounding_watt=0.0)
        >>> round(meter.window_watt(100.0), 6)
        0.02
        """
        return self.noise_watt / math.sqrt(max(window_s / self.refresh_s, 1.0))


def _rarely(length_s: float, refresh_s: float) -> float:
    return 0.5 * length_s / refresh_s


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be resolved. `blocks_needed` None: more than 1000 blocks, or no effect was given."""

    smallest_watt: float
    effect_watt: float | None
    blocks: int
    blocks_needed: int | None
    sentence: str

    @property
    def seen(self) -> bool:
        """Whether the planned blocks resolve the effect; true if no effect was given."""
        return self.effect_watt is None or self.smallest_watt <= self.effect_watt


def smallest_watt(meters: Sequence[MeterPrecision], window_s: float, blocks: int, trials: int = 1) -> float:
    """The smallest difference that is resolved with `trials` windows of each level in each block."""
    noise_watt = math.hypot(*(meter.window_watt(window_s) for meter in meters)) * math.sqrt(2 / trials)
    rounding = math.hypot(*(meter.rounding_watt for meter in meters)) * math.sqrt(2)
    spread = float(stdtrit(blocks - 1, _SURE_QUANTILE)) if blocks > 1 else float(ndtri(_SURE_QUANTILE))
    return math.hypot((spread + _FOUND) * noise_watt / math.sqrt(blocks), float(ndtri(_SURE_QUANTILE)) * rounding)


def preflight(
    meters: Sequence[MeterPrecision], *, window_s: float, blocks: int, trials: int = 1, effect_watt: float | None = None
) -> Verdict:
    """Assess an experiment by its meters together; ValueError without any."""
    if not meters:
        raise ValueError("no meter was sampled: name devices that a meter feeds")
    least = smallest_watt(meters, window_s, blocks, trials)
    needed = None
    if effect_watt is not None:
        counts = (n for n in range(2, _MOST_BLOCKS + 1) if smallest_watt(meters, window_s, n, trials) <= effect_watt)
        needed = next(counts, None)
    return Verdict(least, effect_watt, blocks, needed, _sentence(meters, window_s, blocks, least, effect_watt, needed))


def _sentence(
    meters: Sequence[MeterPrecision],
    window_s: float,
    blocks: int,
    least: float,
    effect: float | None,
    needed: int | None,
) -> str:
    names = ", ".join(meter.name for meter in meters[:4]) + (f" and {len(meters) - 4} more" if len(meters) > 4 else "")
    steps = max(meter.step_watt for meter in meters)
    noise = max(meter.noise_watt for meter in meters)
    seen = (
        f"{names}: steps of {steps:g} W, noise of {noise:.2g} W a reading; windows of {window_s:g} s in {blocks} "
        f"{'blocks' if blocks > 1 else 'block'} resolve differences of {least:.2g} W and more"
    )
    if effect is None:
        return f"{seen}."
    if least <= effect:
        return f"{seen}, and {effect:g} W are expected: the effect can be resolved."
    if needed is None:
        longer = "no number of blocks helps, as readings are rounded: use a finer meter or a larger effect"
        return f"{seen}, but {effect:g} W are expected; {longer}."
    return f"{seen}, but {effect:g} W are expected: use {needed} blocks, or longer windows."


def meter_precisions(samples: RunSamples, devices: Sequence[str] = ()) -> tuple[MeterPrecision, ...]:
    """The meters of devices (of all devices, if none is named) as sampled in a run.

    Single outlets if the strip measures them; else the whole strip, whatever else it feeds.
    """
    watts = samples.table("watts")
    places = watts.select("strip", "outlet", "feeds").unique(maintain_order=True).rows()
    single = {strip for strip, outlet, _ in places if outlet > 0}
    loaded = [
        (strip, outlet, feeds or strip)
        for strip, outlet, feeds in places
        if (outlet > 0 and (feeds in devices or (not devices and feeds))) or (outlet == 0 and strip not in single)
    ]
    precisions = []
    for strip, outlet, name in loaded:
        try:
            precisions.append(MeterPrecision.of(name, samples.power(strip, outlet)))
        except ValueError:
            continue  # an outlet without watts, or with too few readings
    return tuple(precisions)
