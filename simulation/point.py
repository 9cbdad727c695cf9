"""One point of a simulation: a load and a seed, from an empty network to latencies with an interval."""

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final, Literal

from eee_engine import NetworkSimulation, SimulationError, network_facts

from lab.errors import LabError
from simulation.description import Description, Links
from simulation.energy import StateShares, energy_use, shares_between
from simulation.steadiness import MeanInterval, batch_means, mser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_engine import SimulatedInterval

_FIRST_LOOK: Final = 40
"""Batches before the first look whether the series is steady, and between looks."""

_SETTLED_EPOCHS: Final = 3

_PAUSES: Final = 4
"""Times that a link could fall asleep and wake, at least, while it is measured."""

_SHORTFALL: Final = 0.98
"""A network that accepts less than this share of the load, beyond what chance does, is saturated."""


class BrokenSimulation(LabError):
    """A description whose parts do not fit together."""


@dataclass(frozen=True, slots=True)
class Point:
    """What one load and seed gave. Latencies are in cycles, from a packet's creation to its tail's arrival."""

    load: float
    seed: int
    engine: Literal["flit", "packet"]
    saturated: bool
    """The network accepts less than is offered; latencies then only say how long the simulation ran."""

    steady: bool
    """A steady part was found, links no longer come and go (TCEP), no backlog is being worked off, and the interval is
    as narrow as was asked."""

    latency: float | None
    latency_half_width: float | None
    """Of the 95 % interval, by batch means."""

    p50: int | None
    p99: int | None
    largest: int
    packets: int
    hops: float | None
    """Links between routers, mean."""

    accepted: float
    """Flits a node and cycle."""

    warm_up_cycles: int
    cycles: int
    transmit_share: float
    """Of the time of all channels between routers, as all shares; these eight add up to 1."""

    idle_share: float
    """At full power, sending nothing."""

    sleep_share: float
    wake_share: float
    quiet_share: float
    refresh_share: float
    fast_share: float
    off_share: float
    """Turned off by TCEP."""

    low_power_share: float
    """Quiet, refresh and fast wake's low power together."""

    control_share: float | None
    """TCEP's control packets to packets that arrived."""

    energy_pj_per_flit: float | None
    energy_ratio: float
    """To links that never sleep."""

    doubts: str
    """Sentences of the packet engine about its assumptions."""

    draw: int = 0
    """Of the links' times: 0 for their values, else the number of the draw from a calibration's intervals."""

    @property
    def shares(self) -> StateShares:
        """Of the time of all channels between routers."""
        return StateShares(
            self.transmit_share,
            self.idle_share,
            self.sleep_share,
            self.wake_share,
            self.quiet_share,
            self.refresh_share,
            self.fast_share,
            self.off_share,
        )


def simulate_point(description: Description, load: float, seed: int) -> Point:
    """Simulate until the mean latency is known as well as asked, or the most cycles are over.

    The warm-up ends when the series of batches has a steady part by MSER; only packets made after that count.
    BrokenSimulation if the description's parts do not fit together.
    """
    engine = description.chosen_engine
    try:
        simulation = NetworkSimulation(
            topology=description.network.form(),
            routing=description.routing,
            parameters=description.router.form(),
            traffic=description.traffic.form(),
            load=load,
            seed=seed,
            engine=engine,
            link=description.links.form(),
            consolidation=description.consolidation.form() if description.consolidation else None,
        )
    except SimulationError as error:
        raise BrokenSimulation(f"{description.name}: {error}; change the simulation's file.") from error
    precision = description.precision
    tcep = description.consolidation
    pause = _pause(description.links)
    least = max(2 * tcep.deactivation_cycles if tcep else 0, _PAUSES * pause)
    settled = tcep is None or _settle(simulation, tcep.deactivation_cycles, precision.most_cycles // 2)
    if pause:
        simulation.advance(min(pause, precision.most_cycles // 4))
    warm_up, found = _warm_up(simulation, precision.batch_cycles, simulation.now_cycles + precision.most_cycles // 4)
    before, control = simulation.channels(), simulation.consolidation()["control_packets"]
    begun = simulation.now_cycles
    simulation.measure(True)
    batches: list[SimulatedInterval] = []
    interval = None
    while simulation.now_cycles < precision.most_cycles:
        batches += [simulation.advance(precision.batch_cycles) for _ in range(_FIRST_LOOK)]
        interval = _latency(batches)
        enough = simulation.now_cycles - begun >= least
        if enough and interval and interval.percent <= precision.within_percent:
            break
    cycles = simulation.now_cycles - begun
    after, later = simulation.channels(), simulation.consolidation()["control_packets"]
    simulation.measure(False)
    _drain(simulation, precision.batch_cycles, precision.most_cycles)
    latencies = simulation.latencies()
    flits, arrived = sum(one["flits"] for one in batches), sum(one["packets"] for one in batches)
    accepted = flits / (network_facts(description.network.form())["nodes"] * cycles)
    chance = 4 / sqrt(max(arrived, 1))
    use, shares = energy_use(description.energy, before, after), shares_between(before, after)
    return Point(
        load=load,
        seed=seed,
        engine=engine,
        saturated=accepted < load * (_SHORTFALL - chance) or simulation.outstanding > 0,
        steady=settled
        and found
        and cycles >= least
        and accepted <= load * (2 - _SHORTFALL + chance)
        and interval is not None
        and interval.percent <= precision.within_percent,
        latency=latencies["mean_cycles"],
        latency_half_width=interval.half_width if interval else None,
        p50=latencies["p50_cycles"],
        p99=latencies["p99_cycles"],
        largest=latencies["largest_cycles"],
        packets=latencies["packets"],
        hops=sum(one["hops"] for one in batches) / arrived if arrived else None,
        accepted=accepted,
        warm_up_cycles=warm_up,
        cycles=cycles,
        transmit_share=shares.transmit,
        idle_share=shares.idle,
        sleep_share=shares.sleep,
        wake_share=shares.wake,
        quiet_share=shares.quiet,
        refresh_share=shares.refresh,
        fast_share=shares.fast,
        off_share=shares.off,
        low_power_share=shares.low_power,
        control_share=(later - control) / arrived if arrived else None,
        energy_pj_per_flit=use.picojoule / flits if flits else None,
        energy_ratio=use.ratio,
        doubts=" ".join(f"{doubt}." for doubt in simulation.doubts()),
    )


def needed_cycles(links: Links) -> int:
    """The `most_cycles` that links need to be seen falling asleep and waking as often as wanted."""
    return 2 * _PAUSES * _pause(links)


def _pause(links: Links) -> int:
    """Cycles of the longest way to sleep and back: a shorter measurement would not see that links sleep."""
    if links.mode == "off":
        return 0
    return links.hold + links.deep_after + links.sleep + max(links.wake, links.fast_wake)


def _settle(simulation: NetworkSimulation, epoch: int, most: int) -> bool:
    """Go on until TCEP turns hardly a link off or on any more; whether it came to that.

    Hardly means one link in a hundred over three deactivation epochs.
    """
    few = len(simulation.channels()) / 2 / 100
    changes = [0]
    while simulation.now_cycles < most:
        simulation.advance(epoch)
        counts = simulation.consolidation()
        changes.append(counts["activations"] + counts["deactivations"])
        if len(changes) > _SETTLED_EPOCHS and changes[-1] - changes[-1 - _SETTLED_EPOCHS] <= few:
            return True
    return False


def _warm_up(simulation: NetworkSimulation, batch: int, most: int) -> tuple[int, bool]:
    """Cycles of the warm-up, and whether a steady part was found."""
    latencies: list[float] = []
    while simulation.now_cycles < most:
        for _ in range(_FIRST_LOOK):
            interval = simulation.advance(batch)
            if interval["packets"]:
                latencies.append(interval["latency_cycles"] / interval["packets"])
        if len(latencies) >= _FIRST_LOOK and mser(latencies) < len(latencies) // 2:
            return simulation.now_cycles, True
    return simulation.now_cycles, False


def _drain(simulation: NetworkSimulation, batch: int, most: int) -> None:
    """Let measured packets arrive, with traffic going on, for at most as long as the point took."""
    end = simulation.now_cycles + most
    while simulation.outstanding and simulation.now_cycles < end:
        simulation.advance(batch)


def _latency(batches: "Sequence[SimulatedInterval]") -> MeanInterval | None:
    return batch_means([one["latency_cycles"] for one in batches], [one["packets"] for one in batches])
