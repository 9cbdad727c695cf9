"""The levels that a trunk may be set to, with what its channels may then carry and what it draws. Pure.

`peak` is Koibuchi's knob (2011, V.B.3): the acceptable amount of traffic on a single channel, in bytes of the pre-run.
The paper reduces links "under the condition that the amount of the application traffic on every channel is less than
peak", and says nothing about rates. Here a slower cable may carry `peak` in proportion to its rate.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from eee_testbed.lab.errors import LabError
from eee_testbed.regulation.network import Network, Trunk

Knob = Literal["off", "speed", "eee", "hold"]
"""What is done with a link that is not needed: switch it off, slow it down, or let it sleep; `hold` also lets it sleep,
with a hold time that is set (TCEP's and Miwa's PDT: how long a transmitter stays awake after its last frame)."""


@dataclass(frozen=True, slots=True)
class Level:
    """`capacity_byte`: each of the trunk's channels carries less than this. 0: the trunk is off.

    `cables` are on, at `rate_mbps`, and their ports have EEE on or off; `watt` is what both ends of the trunk draw.
    """

    name: str
    capacity_byte: float
    watt: float
    cables: int
    rate_mbps: int
    eee: bool = False

    @property
    def is_off(self) -> bool:
        """Whether no cable is on."""
        return self.cables == 0


Levels = Mapping[int, tuple[Level, ...]]
"""Of each trunk, by number, the levels to choose from. The first is that of the baseline."""

_SLOWER_MBPS: Final = (100, 10)

Watts = Callable[[Trunk, int, bool], float]
"""Watts of both ends of one cable of a trunk, at a rate in Mb/s (0: shut), with EEE or without."""


def levels_of(
    network: Network,
    knob: Knob,
    peak_byte: Mapping[int, float],
    watts: Watts,
    *,
    members: bool = False,
    sleeping: Collection[int] = (),
) -> Levels:
    """Of each trunk what a knob allows. `peak_byte` is by trunk, for one cable at full rate.

    `members`: aggregates may lose cables one by one; else a trunk is on or off as a whole. A trunk that is not
    switchable has the level of the baseline alone. `sleeping` trunks have EEE on at the baseline, and keep it.
    """
    found: dict[int, tuple[Level, ...]] = {}
    for number, trunk in network.trunks.items():
        peak, rate, width = peak_byte[number], trunk.rate_mbps, trunk.width
        if peak <= 0:
            raise LabError("peak is not above 0 bytes: give the amount that a channel may carry, as in --peak 50%.")
        asleep = number in sleeping
        shut, full = watts(trunk, 0, False), watts(trunk, rate, asleep)
        baseline = Level("on", width * peak, width * full, width, rate, asleep)
        others: list[Level] = []
        if knob == "off":
            counts = range(width - 1, -1, -1) if members else (0,)
            for count in counts:
                name = f"{count} of {width}" if count else "off"
                watt = count * full + (width - count) * shut
                others.append(Level(name, count * peak, watt, count, rate, asleep))
        elif knob == "speed":
            for mbps in _SLOWER_MBPS:
                if mbps < rate:
                    watt = width * watts(trunk, mbps, asleep)
                    others.append(Level(f"{mbps} Mb/s", width * peak * mbps / rate, watt, width, mbps, asleep))
        elif not asleep:
            baseline = Level("on", float("inf"), width * full, width, rate)
            watt = width * watts(trunk, rate, True)
            others.append(Level("eee", width * peak, watt, width, rate, eee=True))
        found[number] = (baseline, *(others if trunk.switchable else ()))
    return found


def assumed_watts(trunk: Trunk, rate_mbps: int, eee: bool) -> float:  # noqa: FBT001 - as Watts has it
    """For a lab without fitted power, in units of what one cable's two ports draw. Assumptions, not measurements.

    A shut port draws nothing and a slower one less (Koibuchi 2011, IV.A, of the switches measured there); how much less
    at which rate the paper does not say: here each factor of ten in rate saves 30 %, and EEE half.
    """
    if not rate_mbps:
        return 0.0
    share = 1.0
    at = rate_mbps
    while at < trunk.rate_mbps:
        at *= 10
        share -= 0.3
    return max(share, 0.1) * (0.5 if eee else 1.0)
