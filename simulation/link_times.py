"""Times of links that a question asks for, as policies of simulated links."""

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from eee_testbed.analysis.predict.asked_mode import AskedMode
from eee_testbed.simulation.description import Links

if TYPE_CHECKING:
    from eee_testbed.analysis.interval import Floats


@dataclass(frozen=True, slots=True)
class LinkTimes:
    """A draw of a mode's times, microseconds."""

    hold_us: float
    sleep_us: float
    wake_us: float
    fast_wake_us: float
    deep_after_us: float

    @property
    def sleepy_us(self) -> tuple[float, ...]:
        """Ts and both kinds of Tw."""
        return self.sleep_us, self.wake_us, self.fast_wake_us

    def links(self, cycle_us: float) -> Links:
        """In cycles; fast wake alone never sleeps deeply."""
        if not isfinite(self.hold_us):
            return Links()

        def cycles(time_us: float) -> int:
            return round(time_us / cycle_us)

        hold, sleep, wake = cycles(self.hold_us), cycles(self.sleep_us), cycles(self.wake_us)
        if isnan(self.deep_after_us):
            return Links(mode="deep", hold=hold, sleep=sleep, wake=wake, wake_during_sleep=wake)
        fast = cycles(self.fast_wake_us)
        if not isfinite(self.deep_after_us):
            return Links(mode="fast", hold=hold, fast_wake=fast)
        return Links(
            mode="hybrid", hold=hold, sleep=sleep, wake=wake, wake_during_sleep=wake, fast_wake=fast,
            deep_after=cycles(self.deep_after_us),
        )  # fmt: skip


def link_times(mode: AskedMode, draw: int) -> LinkTimes:
    """Of a draw of a mode."""
    policy = mode.policy

    def of(value: "Floats | float") -> float:
        flat = np.ravel(np.asarray(value, dtype=float))
        return float(flat[draw if flat.size > 1 else 0])

    return LinkTimes(
        of(policy.hold_us), of(policy.sleep_us), of(policy.wake_us), of(policy.fast_wake_us), of(policy.deep_after_us)
    )
