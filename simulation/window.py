"""What happened while a point was measured, from counters before and after."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_testbed.simulation.description import Description
from eee_testbed.simulation.energy import EnergyUse, StateShares, energy_use, shares_between
from eee_testbed.simulation.rates import scaled_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_engine import ConsolidationCounts, NetworkSimulation, SimulatedChannel, SimulatedInterval


@dataclass(frozen=True, slots=True)
class Counters:
    """Counters of a moment."""

    channels: "list[SimulatedChannel]"
    control: "ConsolidationCounts"

    @staticmethod
    def of(simulation: "NetworkSimulation") -> "Counters":
        """As they are now."""
        return Counters(simulation.channels(), simulation.consolidation())


@dataclass(frozen=True, slots=True)
class Window:
    """What happened in a while; times in cycles."""

    warm_up: int
    cycles: int
    packets: int
    flits: int
    hops: int
    use: EnergyUse
    shares: StateShares
    scaled: float | None
    """Energy at the lowest of three rates, to full rate; None unless asked."""

    control_share: float | None
    """TCEP's control packets to packets that arrived; None without these."""

    control_latency: float | None
    """Mean, of control packets that arrived; None without any."""


def window_of(
    description: Description, warm_up: int, batches: "Sequence[SimulatedInterval]", before: Counters, after: Counters
) -> Window:
    """The window of these batches, which begins `warm_up` cycles after the start."""
    packets = sum(batch["packets"] for batch in batches)
    control = after.control["control_packets"] - before.control["control_packets"]
    arrived = after.control["control_arrived"] - before.control["control_arrived"]
    waited = after.control["control_latency_cycles"] - before.control["control_latency_cycles"]
    energy, rates = description.energy, description.rates
    return Window(
        warm_up=warm_up,
        cycles=sum(batch["cycles"] for batch in batches),
        packets=packets,
        flits=sum(batch["flits"] for batch in batches),
        hops=sum(batch["hops"] for batch in batches),
        use=energy_use(energy, before.channels, after.channels),
        shares=shares_between(before.channels, after.channels),
        scaled=scaled_ratio(energy, rates, before.channels, after.channels) if rates else None,
        control_share=control / packets if packets else None,
        control_latency=waited / arrived if arrived else None,
    )
