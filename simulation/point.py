"""One point of a simulation: a load and a seed, from an empty network to latencies with an interval."""

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final, Literal

from eee_engine import NetworkSimulation, SimulationError, network_facts

from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import BATCHES_AT_ONCE, Description, Links
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.steadiness import MeanInterval, batch_means, drifts, mser, narrow_enough
from eee_testbed.simulation.window import Counters, Window, window_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_engine import SimulatedInterval

_SETTLED_EPOCHS: Final = 3

_PAUSES: Final = 4
"""Times that a link could fall asleep and wake, at least, while it is measured."""

_BATCH_STEP: Final = 10
"""Cycles between looks whether batches are done."""

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
    """The network accepts less than is offered; latencies would only say how long the simulation ran."""

    steady: bool
    """The point is settled, and the interval is as narrow as was asked."""

    latency: float | None
    """Of a point that is saturated or not settled this is None, as are all figures of latency: there is no value."""

    latency_half_width: float | None
    """Of the 95 % interval, by batch means."""

    p50: int | None
    p99: int | None
    largest: int | None
    packets: int
    hops: float | None
    """Links between routers, mean."""

    accepted: float
    """Flits a node and cycle."""

    warm_up_cycles: int
    cycles: int
    transmit_share: float
    """Of the time of all channels between routers, as all shares; these nine add up to 1."""

    idle_share: float
    """At full power, sending nothing."""

    sleep_share: float
    wake_share: float
    quiet_share: float
    refresh_share: float
    fast_share: float
    off_share: float
    """Turned off by TCEP or SLaC."""

    turning_on_share: float
    """On the way from off to active, by TCEP; SLaC's counts as idle."""

    low_power_share: float
    """Quiet, refresh and fast wake's low power together."""

    control_share: float | None
    """TCEP's control packets to packets that arrived."""

    control_latency: float | None
    """Mean cycles from a control packet's making to its arrival; None without any."""

    energy_pj_per_flit: float | None
    energy_ratio: float
    """To links that never sleep."""

    scaled_ratio: float | None
    """The same if each channel had run at the lowest of three rates that carries its traffic; None unless asked."""

    doubts: str
    """Sentences of the packet engine about its assumptions."""

    settled: bool = True
    """A steady part was found, it does not drift, links no longer come and go (TCEP, SLaC), no backlog is being worked
    off: what was measured is the network, and not how it began."""

    draw: int = 0
    """Of the links' times: 0 for their values, else the number of the draw from a calibration's intervals."""

    @property
    def without_value(self) -> str:
        """Why the point has no latency, in a word or two; empty if it has one."""
        if self.saturated:
            return "saturated"
        return "" if self.settled else "not settled"

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
            self.turning_on_share,
        )


def begin(description: Description, load: float, seed: int, engine: Literal["flit", "packet"]) -> NetworkSimulation:
    """A simulation at cycle 0; BrokenSimulation if the description's parts do not fit together."""
    try:
        return NetworkSimulation(
            topology=description.network.form(),
            routing=description.routing,
            parameters=description.router.form(),
            traffic=description.traffic.form(),
            load=load,
            seed=seed,
            engine=engine,
            link=description.links.form(),
            consolidation=description.consolidation.form() if description.consolidation else None,
            stages=description.stages.form() if description.stages else None,
        )
    except SimulationError as error:
        raise BrokenSimulation(f"{description.name}: {error}; change the simulation's file.") from error


@dataclass(frozen=True, slots=True)
class PointTask:
    """A point that is to be simulated, by whichever process."""

    description: Description
    load: float
    seed: int

    def __str__(self) -> str:
        return f"load {self.load:g}, seed {self.seed}"

    def simulate(self) -> Point:
        """The point; BrokenSimulation as `simulate_point`."""
        return simulate_point(self.description, self.load, self.seed)


def simulate_point(description: Description, load: float, seed: int) -> Point:
    """Simulate until the mean latency is known as well as asked, the most cycles are over, or batches are done.

    The warm-up ends when the series of batches has a steady part by MSER; only packets made after that count.
    BrokenSimulation if the description's parts do not fit together.
    """
    simulation = begin(description, load, seed, description.chosen_engine)
    if description.traffic.packets is None:
        return _steady_point(description, simulation, load, seed)
    return _batch_point(description, simulation, load, seed)


def _steady_point(description: Description, simulation: NetworkSimulation, load: float, seed: int) -> Point:
    precision, tcep, slac = description.precision, description.consolidation, description.stages
    pause = _pause(description.links)
    least = max(2 * tcep.deactivation_cycles if tcep else 0, _PAUSES * pause)
    change = tcep.deactivation_cycles if tcep else slac.off_after if slac else 0
    settled = change == 0 or _settle(simulation, change, precision.most_cycles // 2)
    if pause:
        simulation.advance(min(pause, precision.most_cycles // 4))
    warm_up, found = _warm_up(simulation, precision.batch_cycles, simulation.now_cycles + precision.most_cycles // 4)
    before = Counters.of(simulation)
    simulation.measure(True)
    batches: list[SimulatedInterval] = []
    looks: list[MeanInterval | None] = []
    while simulation.now_cycles < precision.most_cycles:
        batches += [simulation.advance(precision.batch_cycles) for _ in range(BATCHES_AT_ONCE)]
        looks.append(_latency(batches))
        narrow = narrow_enough(looks, precision.within_percent)
        if simulation.now_cycles - warm_up >= least and narrow and not _drifts(batches):
            break
    interval = looks[-1] if looks else None
    window = window_of(description, warm_up, batches, before, Counters.of(simulation))
    simulation.measure(False)
    _drain(simulation, precision.batch_cycles, precision.most_cycles)
    accepted = _accepted(description, window)
    chance = 4 / sqrt(max(window.packets, 1))
    wanted = load * _mean_share(description)
    rests = settled and found and window.cycles >= least and not _drifts(batches)
    return _point(
        description,
        simulation,
        window,
        (load, seed),
        _Ending(
            saturated=window.packets > 0 and (accepted < wanted * (_SHORTFALL - chance) or simulation.outstanding > 0),
            settled=rests and window.packets > 0 and accepted <= wanted * (2 - _SHORTFALL + chance),
            narrow=interval is not None and interval.percent <= precision.within_percent,
            half_width=interval.half_width if interval else None,
        ),
    )


def _batch_point(description: Description, simulation: NetworkSimulation, load: float, seed: int) -> Point:
    """All packets of all batches count; the cycles are those until the last has arrived."""
    precision = description.precision
    before = Counters.of(simulation)
    simulation.measure(True)
    batches: list[SimulatedInterval] = []
    while (simulation.batch_left or simulation.outstanding) and simulation.now_cycles < precision.most_cycles:
        batches.append(simulation.advance(_BATCH_STEP))
    done = not (simulation.batch_left or simulation.outstanding)
    window = window_of(description, 0, batches, before, Counters.of(simulation))
    return _point(
        description,
        simulation,
        window,
        (load, seed),
        _Ending(saturated=not done, settled=done, narrow=True),
    )


def _accepted(description: Description, window: Window) -> float:
    nodes = network_facts(description.network.form())["nodes"]
    return window.flits / (nodes * window.cycles) if window.cycles else 0.0


def _mean_share(description: Description) -> float:
    """Of the load, over all nodes."""
    traffic = description.traffic
    if traffic.shares is None or not traffic.sizes:
        return 1.0
    return sum(share * size for share, size in zip(traffic.shares, traffic.sizes, strict=True)) / sum(traffic.sizes)


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a point ended; `half_width` of its latency's interval, if there is one."""

    saturated: bool
    settled: bool
    narrow: bool
    half_width: float | None = None


def _point(
    description: Description,
    simulation: NetworkSimulation,
    window: Window,
    at: tuple[float, int],
    ending: _Ending,
) -> Point:
    latencies, use, shares, arrived = simulation.latencies(), window.use, window.shares, window.packets
    known = ending.settled and not ending.saturated
    load, seed = at
    return Point(
        load=load,
        seed=seed,
        engine=description.chosen_engine,
        saturated=ending.saturated,
        settled=ending.settled,
        steady=ending.settled and ending.narrow,
        latency=latencies["mean_cycles"] if known else None,
        latency_half_width=ending.half_width if known else None,
        p50=latencies["p50_cycles"] if known else None,
        p99=latencies["p99_cycles"] if known else None,
        largest=latencies["largest_cycles"] if known else None,
        packets=latencies["packets"],
        hops=window.hops / arrived if arrived else None,
        accepted=_accepted(description, window),
        warm_up_cycles=window.warm_up,
        cycles=window.cycles,
        transmit_share=shares.transmit,
        idle_share=shares.idle,
        sleep_share=shares.sleep,
        wake_share=shares.wake,
        quiet_share=shares.quiet,
        refresh_share=shares.refresh,
        fast_share=shares.fast,
        off_share=shares.off,
        turning_on_share=shares.turning_on,
        low_power_share=shares.low_power,
        control_share=window.control_share,
        control_latency=window.control_latency,
        energy_pj_per_flit=use.picojoule / window.flits if window.flits else None,
        energy_ratio=use.ratio,
        scaled_ratio=window.scaled,
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
    """Go on until hardly a link is turned off or on any more; whether it came to that.

    Hardly means one link in a hundred over three of TCEP's deactivation epochs, or of SLaC's times before a stage goes.
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
        for _ in range(BATCHES_AT_ONCE):
            interval = simulation.advance(batch)
            if interval["packets"]:
                latencies.append(interval["latency_cycles"] / interval["packets"])
        if len(latencies) >= BATCHES_AT_ONCE and mser(latencies) < len(latencies) // 2:
            return simulation.now_cycles, True
    # At the lowest loads too few packets come for the rule to say anything: whether the point drifts is left to say.
    return simulation.now_cycles, len(latencies) < BATCHES_AT_ONCE


def _drain(simulation: NetworkSimulation, batch: int, most: int) -> None:
    """Let measured packets arrive, with traffic going on, for at most as long as the point took."""
    end = simulation.now_cycles + most
    while simulation.outstanding and simulation.now_cycles < end:
        simulation.advance(batch)


def _latency(batches: "Sequence[SimulatedInterval]") -> MeanInterval | None:
    return batch_means([one["latency_cycles"] for one in batches], [one["packets"] for one in batches])


def _drifts(batches: "Sequence[SimulatedInterval]") -> bool:
    return drifts([one["latency_cycles"] for one in batches], [one["packets"] for one in batches])
