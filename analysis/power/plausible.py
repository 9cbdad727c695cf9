"""What a switch's inventory makes plausible for a fitted power; the meter cannot resolve a wider one. Pure.

All ports together draw no more than the switch does, whatever they do: that bounds the power of a port, and the energy
of a bit and of a packet by what all ports forward at their line rate. An interval that is wider than the whole
plausible range says nothing, and its middle is a number of the meter's noise.

A node draws much more than its card, so what a card saves is bounded by what a port of its speed may draw. These are
judged: a port of a PCIe card at up to 1 Gb/s takes at most 4 of the 10 W that its slot gives, one at 10 Gb/s all.
"""

from dataclasses import dataclass
from typing import Final

from eee_testbed.analysis.interval import Interval

_LEAST_FRAME_BIT: Final = 672.0
"""64 bytes, preamble and gap (IEEE 802.3, clauses 3 and 4): the most packets at line rate."""

_PORT_WATT: Final = {1_000: 4.0, 10_000: 10.0}
_FAST_PORT_WATT: Final = 25.0


@dataclass(frozen=True, slots=True)
class CabledPorts:
    """The connected ports of a switch by its inventory: how many, and the sum of their rates."""

    count: int
    rate_bps: float


@dataclass(frozen=True, slots=True)
class Plausible:
    """Most that one port, bit and packet can draw: watts and joules."""

    port_watt: float
    bit_joule: float
    packet_joule: float

    @classmethod
    def of(cls, most_watt: float, ports: CabledPorts) -> "Plausible":
        """For a switch that never draws more than `most_watt`."""
        bit_joule = most_watt / max(ports.rate_bps, 1.0)
        return cls(most_watt / max(ports.count, 1), bit_joule, bit_joule * _LEAST_FRAME_BIT)


def lost(interval: Interval, most: float) -> bool:
    """Whether an interval is wider than the plausible range from 0 to `most`.

    >>> lost(Interval.plus_minus(0.5, 0.2), most=1.0), lost(Interval.plus_minus(0.5, 3.0), most=1.0)
    (False, True)
    """
    return interval.high - interval.low > most


def most_port_watt(mbps: int) -> float:
    """The most that one port of a card, or of a switch, is taken to draw at the outlet.

    >>> most_port_watt(1_000), most_port_watt(2_500), most_port_watt(25_000)
    (4.0, 10.0, 25.0)
    """
    return next((watt for most_mbps, watt in _PORT_WATT.items() if mbps <= most_mbps), _FAST_PORT_WATT)


def lost_sentence(what: str, interval: Interval, most: float, unit: str) -> str:
    """What was not determined, and why."""
    return (
        f"{what} is lost in the meter's noise: {interval.value:.3g} {unit}, 95 % from {interval.low:.3g} to "
        f"{interval.high:.3g}, where at most {most:.3g} {unit} is plausible for this switch. Measure for longer, in "
        "more blocks, with more ports or traffic, or with a finer meter."
    )
