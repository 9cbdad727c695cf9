"""Time in state and delay of one direction of a link in low-power idle: for each idle interval, and in closed form.

Georgakoudis et al. (2019), III: a packet that ends an idle interval finds the link in hold, in fast wake, falling
asleep, in quiet or in refresh (Figs. 3-5); Tables II to IV give its wait and how long the link saved power. Their
tables print the saved time as a fraction; here it is the time since quiet began less the refresh periods in it. Where
a packet in Ts has to wait for the end of Ts (1000BASE-T, 10GBASE-T; IEEE 802.3 clause 78), `sleep_waits` adds the rest
of Ts to its delay; their Table II has no such wait.

For Poisson arrivals (`poisson`), with frames held back until N have arrived, the closed form of the renewal cycle:
the frame and burst transmission of Herreria-Alonso et al. (2012), with a hold.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from eee_testbed.analysis.interval import Floats

ModeName = Literal["active", "deep", "fast", "hybrid"]


@dataclass(frozen=True, slots=True)
class LinkMode:
    """How a direction saves power; microseconds, and power as fractions of the active direction's.

    `deep_after_us`: how long hybrid stays in fast wake. `quiet_us` infinite: no refresh. Refresh, Ts and Tw draw as
    much as active. Times but Tq and Tr are numbers, or arrays of candidates that broadcast against idle intervals.
    """

    mode: ModeName
    hold_us: Floats | float = 0.0
    sleep_us: Floats | float = 0.0
    wake_us: Floats | float = 0.0
    quiet_us: float = math.inf
    refresh_us: float = 0.0
    fast_wake_us: Floats | float = 0.0
    deep_after_us: Floats | float = 0.0
    deep_fraction: float = 0.1
    fast_fraction: float = 0.6
    sleep_waits: bool = True


@dataclass(frozen=True, slots=True)
class Spent:
    """Times in state of idle intervals, one by one; microseconds. `wakes` counts the wakes.

    The states add up to the intervals plus the delays: `active_us` is hold, `sleep_us` Ts, `wake_us` Tw.
    """

    delay_us: Floats
    active_us: Floats
    sleep_us: Floats
    quiet_us: Floats
    refresh_us: Floats
    fast_us: Floats
    wake_us: Floats
    wakes: Floats

    @property
    def total_us(self) -> Floats:
        """Sum of all states."""
        return self.active_us + self.sleep_us + self.quiet_us + self.refresh_us + self.fast_us + self.wake_us

    def power_fraction(self, mode: LinkMode, busy_us: float = 0.0) -> float:
        """Mean power over these intervals and `busy_us` of transmitting, as a fraction of always active (IV.B)."""
        saved = (1 - mode.deep_fraction) * self.quiet_us + (1 - mode.fast_fraction) * self.fast_us
        return 1.0 - float(np.sum(saved)) / (float(np.sum(self.total_us)) + busy_us)


def spend(mode: LinkMode, idle_us: ArrayLike) -> Spent:
    """Times in state of idle intervals that each end with a packet; shape (n,), or that of `mode` broadcast with it.

    With Miwa's switch (2013: hold 1 ms, Ts 182 us, Tw 60 us), a packet after 0.5 ms finds the link awake, one after
    1.1 ms waits for the rest of Ts and for Tw, one after 5 ms for Tw:

    >>> times = spend(LinkMode("deep", hold_us=1000, sleep_us=182, wake_us=60), [500, 1100, 5000])
    >>> times.delay_us.tolist()
    [0.0, 142.0, 60.0]
    >>> times.quiet_us.tolist()
    [0.0, 0.0, 3818.0]
    """
    idle = np.asarray(idle_us, dtype=float)
    nothing = np.zeros_like(idle)
    if mode.mode == "active":
        return Spent(nothing, idle, nothing, nothing, nothing, nothing, nothing, nothing)
    after_hold = np.maximum(idle - mode.hold_us, 0.0)
    saving = idle > mode.hold_us
    if mode.mode == "fast":
        woken = np.where(saving, mode.fast_wake_us, 0.0)
        return Spent(woken, idle - after_hold, nothing, nothing, nothing, after_hold, woken, saving.astype(float))
    fast_us = np.minimum(after_hold, mode.deep_after_us) if mode.mode == "hybrid" else nothing
    deep = saving & (after_hold > (mode.deep_after_us if mode.mode == "hybrid" else 0.0))
    since_deep = after_hold - fast_us
    falling = np.where(deep, np.minimum(since_deep, mode.sleep_us), 0.0)
    rest = np.where(deep & mode.sleep_waits, mode.sleep_us - falling, 0.0)
    low_us = np.where(deep, since_deep - falling, 0.0)
    quiet_us, refresh_us = _refreshed(mode, low_us)
    woken = np.where(deep, mode.wake_us, np.where(saving, mode.fast_wake_us, 0.0))
    wakes = saving.astype(float)
    return Spent(rest + woken, idle - after_hold, falling + rest, quiet_us, refresh_us, fast_us, woken, wakes)


def _refreshed(mode: LinkMode, low_us: Floats) -> tuple[Floats, Floats]:
    """Quiet and refresh within a time in low power: quiet first, then both alternate."""
    if math.isinf(mode.quiet_us) or mode.refresh_us == 0.0:
        return low_us, np.zeros_like(low_us)
    cycle = mode.quiet_us + mode.refresh_us
    whole = np.floor(low_us / cycle)
    quiet_us = whole * mode.quiet_us + np.minimum(low_us - whole * cycle, mode.quiet_us)
    return quiet_us, low_us - quiet_us


@dataclass(frozen=True, slots=True)
class PoissonLink:
    """A direction under Poisson arrivals: fraction of time in LPI (quiet and refresh), wakes a second, mean wait.

    `power_fraction` is the mean power as a fraction of always active.
    """

    lpi_fraction: float
    wakes_per_second: float
    wait_us: float
    power_fraction: float


def poisson(
    mode: LinkMode, rate_per_us: float, service_us: float, service_square_us2: float, coalesce: int = 1
) -> PoissonLink:
    """Deep sleep with hold, frames held back until `coalesce` have arrived; arrivals per us, E[S], E[S^2].

    A frame that arrives in Ts waits for the end of Ts. ValueError for another mode, and for a load of 0 or above 1.

    A frame of 12.3 us each millisecond on a link at 1 Gb/s that falls asleep at once (1000BASE-T: Ts 182 us, Tw
    16.5 us) leaves four fifths of the time for low power, and nearly each of the thousand frames a second wakes it:

    >>> link = poisson(LinkMode("deep", sleep_us=182, wake_us=16.5), 1e-3, 12.3, 12.3**2)
    >>> round(link.lpi_fraction, 3), round(link.wakes_per_second)
    (0.798, 957)
    """
    load = rate_per_us * service_us
    if mode.mode != "deep" or not mode.sleep_waits:
        raise ValueError("the closed form covers only deep sleep whose Ts cannot be interrupted")
    if not 0.0 < load < 1.0 or coalesce < 1:
        raise ValueError(f"the closed form needs a load between 0 and 1, not {load:g}, and at least one frame")
    hold_us, sleep_us, wake_us = float(mode.hold_us), float(mode.sleep_us), float(mode.wake_us)
    per_sleep = rate_per_us * sleep_us
    slept = math.exp(-rate_per_us * hold_us)
    in_sleep = [math.exp(-per_sleep) * per_sleep**count / math.factorial(count) for count in range(coalesce)]
    low_us = sum((coalesce - count) * share for count, share in enumerate(in_sleep)) / rate_per_us
    cycle_us = (1 - slept) / rate_per_us + slept * (sleep_us + low_us + wake_us)
    waiting = sum(share * sum(range(count, coalesce)) / rate_per_us for count, share in enumerate(in_sleep))
    queued = coalesce * sum(in_sleep) + per_sleep - sum(count * share for count, share in enumerate(in_sleep))
    area = slept * (rate_per_us * sleep_us**2 / 2 + waiting + queued * wake_us + rate_per_us * wake_us**2 / 2)
    lpi = (1 - load) * slept * low_us / cycle_us
    refresh = 0.0 if math.isinf(mode.quiet_us) else mode.refresh_us / (mode.quiet_us + mode.refresh_us)
    return PoissonLink(
        lpi_fraction=lpi,
        wakes_per_second=(1 - load) * slept / cycle_us * 1e6,
        wait_us=rate_per_us * service_square_us2 / (2 * (1 - load)) + area / (rate_per_us * cycle_us),
        power_fraction=1.0 - lpi * (1 - refresh) * (1 - mode.deep_fraction),
    )
