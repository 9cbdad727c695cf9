"""Delay that sleeping transmitters on a path add to an echo's round trip, for many candidate policies at once.

A transmitter that was idle for longer than its hold falls asleep: this takes Ts and cannot be interrupted. Then it is
in low power until a frame arrives, which waits for Tw (Miwa 2013, section 4.1; IEEE 802.3 clause 78). With coalescing,
a frame that finds it asleep also waits until enough bytes have queued or a timer expires. Hybrid: fast wake's low power
first, deep sleep after more idle time (Georgakoudis 2019, III).

Arrays: time along the last axis, candidates along the first; a policy's fields are floats or of shape (candidates, 1).

Simplifications. Tw is the same whether the wake is requested in Ts or later: a PHY may need longer in the first case
(10GBASE-T: 7.36 against 4.48 us), which shows as a step at the end of Ts. The base round trip is assumed to be spread
evenly between transmitters; if it is not, edges blur by a part of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from eee_testbed.analysis.interval import Floats


@dataclass(frozen=True, slots=True)
class Policy:
    """EEE policy of a transmitter; microseconds and bytes.

    `deep_after_us` NaN: no fast-wake stage. `wait_us` 0: no coalescing; else a wake begins when `wait_byte` bytes have
    arrived or the first has waited for `wait_us`.
    """

    hold_us: Floats | float
    sleep_us: Floats | float
    wake_us: Floats | float
    fast_wake_us: Floats | float = 0.0
    deep_after_us: Floats | float = float("nan")
    wait_us: Floats | float = 0.0
    wait_byte: Floats | float = 0.0

    def shaped(self, change: Callable[[Floats], Floats | float]) -> "Policy":
        """Apply `change` to every field, whatever its shape."""
        return Policy(*(change(np.asarray(getattr(self, field.name), dtype=float)) for field in fields(self)))

    @property
    def first(self) -> "Policy":
        """The first candidate alone, with numbers as fields."""
        return self.shaped(lambda values: float(values.flat[0]))

    def delay_us(self, idle_us: Floats, burst_byte: Floats | float = 0.0, byte_us: float = 0.0) -> Floats:
        """Extra delay of the first frame of a burst of `burst_byte` that arrives after `idle_us`.

        >>> Policy(hold_us=1000, sleep_us=182, wake_us=60).delay_us(np.array([999.0, 1001.0, 2000.0])).tolist()
        [0.0, 241.0, 60.0]
        """
        hybrid = ~np.isnan(np.asarray(self.deep_after_us))
        deep_from = self.hold_us + np.where(hybrid, self.deep_after_us, 0.0)
        filled_us = np.where(np.asarray(burst_byte) < self.wait_byte, np.inf, self.wait_byte * byte_us)
        waits = np.minimum(self.wait_us, filled_us)
        deep = np.maximum(deep_from + self.sleep_us - idle_us, waits) + self.wake_us
        light: Floats = np.where(hybrid, self.fast_wake_us, 0.0)
        return np.where(idle_us > deep_from, deep, np.where(idle_us > self.hold_us, light, 0.0))


def passing_delay_us(idle_us: Floats, policies: Sequence[Policy]) -> Floats:
    """Delay of a frame that passes transmitters in series; the delay at one is idle time of the next ones.

    Two ports with hold 1 ms, Ts 182 us and Tw 60 us. After 0.95 ms both are awake. After 1.1 ms the first makes the
    frame wait for 142 us, and the second, whose Ts is over by then, for its Tw alone:

    >>> port = Policy(hold_us=1000, sleep_us=182, wake_us=60)
    >>> passing_delay_us(np.array([950.0, 1100.0, 5000.0]), [port, port]).tolist()
    [0.0, 202.0, 120.0]
    """
    total: Floats = np.zeros_like(np.asarray(idle_us, dtype=float))
    for policy in policies:
        total = total + policy.delay_us(idle_us + total)
    return total
