"""A window in which a switch was in one state, and the ports that it had then. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PortCounts:
    """How many ports with one kind of cable or transceiver were in which state.

    `cabled`, `enabled_by_mbps` (admin up, by the speed that they are set to; 0: they negotiate it), `up_by_mbps`: all
    counts. `lpi_by_mbps`: the sum over those that are up of their
    share of time in LPI (mean of both directions). `carrying_by_mbps`: those that carry traffic, in either direction.
    `left`: those that are shut and were up before.
    """

    cabled: float = 0.0
    enabled_by_mbps: Mapping[int, float] = field(default_factory=dict)
    up_by_mbps: Mapping[int, float] = field(default_factory=dict)
    lpi_by_mbps: Mapping[int, float] = field(default_factory=dict)
    carrying_by_mbps: Mapping[int, float] = field(default_factory=dict)
    left: float = 0.0


@dataclass(frozen=True, slots=True)
class StageWindow:
    """A period in which a switch was in one state, with its meter's readings.

    `power_watt` is the mean, `noise_watt` the standard deviation of its error by the readings' noise, `scatter_watt`
    that of a reading. `shown_watt` are the lowest and the highest reading. `ports` by kind of cable or transceiver.
    Traffic is what all ports of the switch send: bits and packets that it forwards; packets are None where the switch
    does not count them.
    """

    at_s: float
    power_watt: float
    noise_watt: float
    scatter_watt: float
    shown_watt: tuple[float, float]
    ports: Mapping[str, PortCounts]
    rate_bps: float = 0.0
    rate_pps: float | None = 0.0
