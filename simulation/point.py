"""One point of a simulation: a load and a seed, from an empty network to latencies with an interval."""

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final, Literal

from eee_engine import NetworkSimulation, SimulationError, network_facts

from lab.errors import LabError
from simulation.description import Description
from simulation.energy import energy_use
from simulation.steadiness import MeanInterval, batch_means, mser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_engine import SimulatedInterval

_FIRST_LOOK: Final = 40
"""Batches before the first look whether the series is steady, and between looks."""

_SETTLED_EPOCHS: Final = 3

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
    low_power_share: float
    """Of the time of all channels between routers."""

    off_share: float
    """Of the time of all channels between routers: turned off by TCEP."""

    control_share: float | None
    """TCEP's control packets to packets that arrived."""

    energy_pj_per_flit: float | None
    energy_ratio: float
    """To links that never sleep."""

    doubts: str
    """Sentences of the packet engine about its assumptions."""


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
    least = 2 * tcep.deactivation_cycles if tcep else 0
    settled = tcep is None or _settle(simulation, tcep.deactivation_cycles, precision.most_cycles // 2)
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
    use = energy_use(description.energy, before, after)
    return Point(
        load=load,
        seed=seed,
        engine=engine,
        saturated=accepted < load * (_SHORTFALL - chance) or simulation.outstanding > 0,
        steady=settled
        and found
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
        low_power_share=use.low_power_share,
        off_share=use.off_share,
        control_share=(later - control) / arrived if arrived else None,
        energy_pj_per_flit=use.picojoule / flits if flits else None,
        energy_ratio=use.ratio,
        doubts=" ".join(f"{doubt}." for doubt in simulation.doubts()),
    )


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
