"""Expected delay of an echo over sleeping links: an independent reference, from the paper's description.

Miwa 2013, section 4: a link that was idle for `hold_us` falls asleep, which takes Ts and cannot be interrupted; a
frame then waits for the rest of Ts, and in any case for the wake-up Tw. Nothing here uses the twin's engine.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """EEE policy of one transmitter, microseconds."""

    hold_us: float
    sleep_us: float
    wake_us: float

    def delay_us(self, idle_us: float) -> float:
        """Extra delay of a frame after `idle_us` without one."""
        if idle_us <= self.hold_us:
            return 0.0
        return max(0.0, self.hold_us + self.sleep_us - idle_us) + self.wake_us


def echo_delays_us(
    sent_us: list[float], base_us: float, there: list[Policy | None], back: list[Policy | None]
) -> list[float]:
    """Extra round-trip time of each echo beyond `base_us`, over the transmitters of the path in order.

    None is a transmitter that never sleeps. The base time is assumed to be spread evenly, with one share
    after each transmitter: a gap on the second link then differs from that on the first by the first one's delay.
    """
    path = [*there, *back]
    share_us = base_us / len(path)
    last_us: list[float | None] = [None] * len(path)
    extras: list[float] = []
    for start_us in sent_us:
        now_us = start_us
        for hop, policy in enumerate(path):
            last = last_us[hop]
            if policy is not None and last is not None:
                now_us += policy.delay_us(now_us - last)
            last_us[hop] = now_us
            now_us += share_us
        extras.append(now_us - start_us - base_us)
    return extras
