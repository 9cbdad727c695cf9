"""What links that sleep cost programs and save: run times and energy of replays, over seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import fmean, stdev
from typing import Final

from scipy.special import stdtrit

from eee_testbed.analysis.calibration import AndujarPower
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.predict.other_networks import PAPER_POWER
from eee_testbed.simulation.description import Energy
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.power_models import ALWAYS_ON, Carried, andujar, by_bits, georgakoudis
from eee_testbed.simulation.replay.replayed import Replayed

_FEWEST: Final = 3
"""Seeds of an interval."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What energy depends on besides the replay."""

    routers: int
    nodes: int
    links: int
    """Between routers."""

    energy: Energy
    power: AndujarPower = PAPER_POWER


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure over seeds. The interval is Student's t, None below three seeds; one seed has only a value."""

    name: str
    unit: str
    value: float
    interval: Interval | None
    seeds: int


Figure = Callable[[Replayed, Replayed], float]
"""Of a replay with sleeping links and one with links always on, of the same seed."""


def compared(replays: Sequence[Replayed], machine: Machine) -> tuple[Compared, ...]:
    """The figures of all seeds that have both replays, or of those with links always on if no other is there."""
    by_seed = {(one.seed, one.sleeping): one for one in replays}
    pairs = [(one, by_seed[one.seed, False]) for one in replays if one.sleeping and (one.seed, False) in by_seed]
    awake = [(one, one) for one in replays if not one.sleeping]
    figures = _SLEEPING if pairs else _AWAKE
    return tuple(
        _over_seeds(name, unit, [figure(machine)(*pair) for pair in pairs or awake]) for name, unit, figure in figures
    )


def _over_seeds(name: str, unit: str, values: Sequence[float]) -> Compared:
    """A share stays between 0 and 100 %, and whatever is not a change above 0."""
    found, count = over_seeds(values), len(values)
    if count < _FEWEST:
        return Compared(name, unit, found.value, None, count)
    low, high = found.low, found.high
    if name not in _CHANGES:
        low, high = max(low, 0.0), min(high, 100.0) if unit == "%" else high
    return Compared(name, unit, found.value, Interval(found.value, low, high), count)


def over_seeds(values: Sequence[float]) -> Interval:
    """Student's 95 % interval of the mean; without ends (NaN) below three values."""
    mean, count = fmean(values), len(values)
    if count < _FEWEST:
        return Interval(mean, nan, nan)
    return Interval.plus_minus(mean, float(stdtrit(count - 1, 0.975)) * stdev(values) / sqrt(count))


def utilization(one: Replayed) -> float:
    """U_cpu, 1 at most."""
    return min(one.cpu_use, 1.0)


def network_watt(one: Replayed, machine: Machine) -> float:
    """Power of all switches by Andújar et al. (2023), Eq. 1 to 3."""
    nodes = one.node_shares if one.node_shares != StateShares() else ALWAYS_ON  # without a network no time is counted
    carried = Carried(machine.routers, machine.nodes, machine.links, one.shares, 0.0, 0.0, nodes)
    watt = andujar(carried, machine.power).watt
    return watt.value if watt is not None else 0.0


def cluster_watt(one: Replayed, machine: Machine) -> float:
    """With the nodes' power, Eq. 4 and 5. A node's U_cpu is the mean of its cores'; the paper leaves that open."""
    power = machine.power
    idle = power.idle_node_fraction.value
    each = power.node_watt.value * (idle + (1 - idle) * utilization(one))
    return network_watt(one, machine) + machine.nodes * each


def _ratio(of: Callable[[Replayed, Machine], float]) -> Callable[[Machine], Figure]:
    """A figure's change against links always on, in percent; none of what is 0 there, as of a program without time."""

    def figure(one: Replayed, awake: Replayed, machine: Machine) -> float:
        before = of(awake, machine)
        return 100 * (of(one, machine) / before - 1) if before else 0.0

    return lambda machine: lambda one, awake: figure(one, awake, machine)


def _plain(of: Callable[[Replayed], float]) -> Callable[[Machine], Figure]:
    return lambda _: lambda one, _awake: of(one)


_SLEEPING: Final[Sequence[tuple[str, str, Callable[[Machine], Figure]]]] = (
    ("run time, links always on", "s", lambda _: lambda _one, awake: awake.run_time_s),
    ("run time, links as described", "s", _plain(lambda one: one.run_time_s)),
    ("slowdown", "%", _ratio(lambda one, _: one.run_time_s)),
    ("links in low power", "%", _plain(lambda one: 100 * one.shares.low_power)),
    ("links in Ts and Tw", "%", _plain(lambda one: 100 * (one.shares.sleep + one.shares.wake))),
    ("links turned off", "%", _plain(lambda one: 100 * one.shares.off)),
    ("links being turned on", "%", _plain(lambda one: 100 * one.shares.turning_on)),
    ("links that carried messages, in low power", "%", _plain(lambda one: 100 * one.carried_shares.low_power)),
    ("links that carried messages", "%", _plain(lambda one: 100 * one.carried_channels / max(one.channels, 1))),
    ("link power, TCEP's bits", "%", lambda m: lambda one, _: 100 * (by_bits(m.energy, one.shares).ratio.value - 1)),
    ("link power, Georgakoudis", "%", lambda _: lambda one, _a: 100 * (georgakoudis(one.shares).ratio.value - 1)),
    ("energy of the network, Andujar", "%", _ratio(lambda one, m: one.run_time_s * network_watt(one, m))),
    ("energy of the cluster, Andujar", "%", _ratio(lambda one, m: one.run_time_s * cluster_watt(one, m))),
    ("wakes on the longest chain", "", _plain(lambda one: one.path_wakes)),
    ("messages that came before their receive", "%", _plain(lambda one: 100 * one.unexpected_share)),
)
_CHANGES: Final = frozenset(
    {
        "slowdown",
        "link power, TCEP's bits",
        "link power, Georgakoudis",
        "energy of the network, Andujar",
        "energy of the cluster, Andujar",
    }
)
"""Figures that may be negative."""

_AWAKE: Final[Sequence[tuple[str, str, Callable[[Machine], Figure]]]] = (
    ("run time", "s", _plain(lambda one: one.run_time_s)),
    ("computing", "%", _plain(lambda one: 100 * one.compute_share)),
    ("waiting in calls", "%", _plain(lambda one: 100 * one.wait_share)),
    ("links that carried messages", "%", _plain(lambda one: 100 * one.carried_channels / max(one.channels, 1))),
    ("links sending", "%", _plain(lambda one: 100 * one.shares.transmit)),
    ("energy of the network, Andujar", "J", lambda m: lambda one, _: one.run_time_s * network_watt(one, m)),
    ("energy of the cluster, Andujar", "J", lambda m: lambda one, _: one.run_time_s * cluster_watt(one, m)),
    ("messages that came before their receive", "%", _plain(lambda one: 100 * one.unexpected_share)),
)
