"""From a program's traffic to levels of a regulation: peaks, choices, plans. Pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from eee_testbed.controller.model.state import State
from eee_testbed.controller.planning.limits import Abilities
from eee_testbed.controller.planning.planner import plan_for
from eee_testbed.controller.planning.regulate import cables_with
from eee_testbed.controller.planning.regulated import (
    baseline_of,
    covering,
    fixed,
    regulable_network,
    regulation_of,
    senders_of,
    trunks_on,
)
from eee_testbed.controller.planning.site import Site
from eee_testbed.controller.planning.wishes import Regulated
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.topology import Topology
from eee_testbed.measuring.regulating.kinds import Method
from eee_testbed.regulation.choice import Choice
from eee_testbed.regulation.koibuchi import koibuchi
from eee_testbed.regulation.least_power import least_power, lower_bound, trees_differ
from eee_testbed.regulation.levels import Knob, Level, Levels, Watts, levels_of
from eee_testbed.regulation.network import Network, Stream, Ways, channel_loads, tree_ways
from eee_testbed.regulation.traffic import HostBytes, Senders, streams_of

BASELINE: Final = "baseline"

_PEAK: Final = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>B|kB|MB|GB|%)")
_UNITS: Final = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
_PEAK_MARGIN: Final = 1.001


@dataclass(frozen=True, slots=True)
class Traffic:
    """A lab's trunks that are on, and what a program sends over the trees that are installed."""

    lab: Lab
    state: State
    network: Network
    senders: tuple[Senders, ...]
    streams: tuple[Stream, ...]
    trees: tuple[Ways, ...]

    @classmethod
    def of(cls, lab: Lab, state: State, byte_by_pair: HostBytes) -> "Traffic":
        """From bytes by pair of hosts; PlanError if the lab has no trees."""
        topology = Topology.of(lab)
        network = regulable_network(lab, state)
        senders = senders_of(lab, state)
        homes = {host: end.device for host, end in topology.homes.items()}
        silent = sorted({pair[0] for pair in byte_by_pair} - {host for group in senders for host in group.hosts})
        if silent:
            raise LabError(f"{', '.join(silent)} sent traffic, but their switch ports are shut: enable them first.")
        streams = streams_of(senders, homes, byte_by_pair)
        trees = tuple(tree_ways(network, group.root, group.links) for group in senders)
        return cls(lab, state, network, senders, streams, trees)

    @property
    def busiest_byte(self) -> int:
        """On the busiest channel with all links on, per cable, rounded up."""
        loads = channel_loads(self.streams, self.trees)
        return max((-(-load // self.network.trunks[number].width) for (number, _), load in loads.items()), default=0)

    def sleeping(self) -> frozenset[int]:
        """Trunks that have EEE on at every port."""
        trunks = Topology.of(self.lab).trunks
        return frozenset(
            number
            for number in self.network.trunks
            if all(self.state.port(*place).eee for place in cables_with(self.lab, trunks[number]))
        )

    def bridges(self) -> frozenset[int]:
        """Trunks without which hosts would be apart."""
        every = frozenset(self.network.trunks)
        return frozenset(number for number in every if not self.network.connects(every - {number}))


@dataclass(frozen=True, slots=True)
class Peak:
    """The acceptable amount of traffic on a channel: `text` as it is shown, bytes by trunk for one cable."""

    text: str
    byte_by_trunk: Mapping[int, float]


def peak_in(text: str) -> tuple[float, str]:
    """The number and the unit of a peak as a person writes it: 12MB, 500kB, 40%; LabError if it is none."""
    match = _PEAK.fullmatch(text.strip())
    if match is None or float(match["number"]) <= 0:
        raise LabError(
            f"'{text}' is not a peak: give the amount that a channel may carry, as in --peak 12MB, or its share, as in "
            "--peak 40%."
        )
    return float(match["number"]), match["unit"]


def peak_named(text: str, network: Network, time_s: float) -> Peak:
    """A peak as a person writes it; a share is one of what a cable can carry in the program's time."""
    number, unit = peak_in(text)
    if unit == "%":
        by_trunk = {n: number / 100 * trunk.rate_mbps * 1e6 / 8 * time_s for n, trunk in network.trunks.items()}
    else:
        by_trunk = dict.fromkeys(network.trunks, number * _UNITS[unit])
    return Peak(text.strip(), by_trunk)


def swept(traffic: Traffic, count: int) -> tuple[Peak, ...]:
    """`count` peaks in geometric steps, from just above the busiest channel's load to more than the program sends."""
    low = max(1.0, traffic.busiest_byte * _PEAK_MARGIN)
    high = max(low * _PEAK_MARGIN, sum(sum(stream.byte_to.values()) for stream in traffic.streams) * _PEAK_MARGIN)
    values = np.geomspace(low, high, count) if count > 1 else np.array([low])
    return tuple(Peak(byte_text(value), dict.fromkeys(traffic.network.trunks, float(value))) for value in values)


def byte_text(value: float) -> str:
    """An amount with three digits, as `peak_named` reads it."""
    for unit in ("GB", "MB", "kB"):
        if value >= _UNITS[unit]:
            return f"{value / _UNITS[unit]:.3g}{unit}"
    return f"{value:.3g}B"


@dataclass(frozen=True, slots=True)
class Option:
    """A level of the regulation: its name, the peak that it keeps, and what was chosen."""

    name: str
    peak: str
    levels: Levels
    choice: Choice


@dataclass(frozen=True, slots=True)
class Options:
    """What was chosen under each peak; `same` are choices that set what another one sets too, by name."""

    options: tuple[Option, ...]
    baseline: Mapping[int, Level]
    regulations: Mapping[str, Regulated]
    same: Mapping[str, str]
    trees_apart: Mapping[str, int]
    """Of each peak, how many streams have other trees in the two methods' choices."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How links are chosen: what happens to a link that is not needed, by which methods, and what a link draws.

    `hold_us` is the hold time of the knob `hold`. `time_limit_s` and `seed` are those of the search for the least
    power, for each peak.
    """

    knob: Knob
    method: Method
    watts: Watts
    hold_us: int | None = None
    time_limit_s: float = 10.0
    seed: int = 1


def choose(traffic: Traffic, peaks: Sequence[Peak], rules: Rules, abilities: Abilities) -> Options:
    """Choices under each peak, each proved to be reachable from the lab as it is; PlanError or LabError if not."""
    sleeping = traffic.sleeping()
    network = _switchable(traffic, rules.knob, abilities, sleeping)
    options: list[Option] = []
    apart: dict[str, int] = {}
    for peak in peaks:
        levels = levels_of(network, rules.knob, peak.byte_by_trunk, rules.watts, members=True, sleeping=sleeping)
        choices = _by_method(traffic, network, levels, rules)
        if len(choices) > 1:
            apart[peak.text] = trees_differ(*choices.values())
        bound = [*choices.values()][-1].bound_watt or lower_bound(network, traffic.streams, levels)
        for method, choice in choices.items():
            options.append(Option(f"{method} {peak.text}", peak.text, levels, replace(choice, bound_watt=bound)))
    baseline = {number: levels[0] for number, levels in options[0].levels.items()}
    regulations = {BASELINE: baseline_of(traffic.senders, trunks_on(traffic.lab, traffic.state))}
    regulations |= {option.name: regulation_of(traffic.senders, option.choice) for option in options}
    same: dict[str, str] = {}
    kept: dict[str, Regulated] = {}
    for name, covered in covering(regulations, traffic.state, traffic.lab).items():
        regulation = replace(covered, hold_us=rules.hold_us)
        twin = next((other for other, before in kept.items() if before == regulation), None)
        if twin is None:
            kept[name] = regulation
        else:
            same[name] = twin
    for regulation in kept.values():
        plan_for(Site.of(traffic.lab, abilities), traffic.state, regulation)
    return Options(tuple(options), baseline, kept, same, apart)


def _by_method(traffic: Traffic, network: Network, levels: Levels, rules: Rules) -> dict[str, Choice]:
    """What each method chooses, by the first word of its options' names; the least power last."""
    choices: dict[str, Choice] = {}
    if rules.method != "least":
        choices["peak"] = koibuchi(network, traffic.streams, traffic.trees, levels)
    if rules.method != "koibuchi":
        choices["least"] = least_power(
            network, traffic.streams, traffic.trees, levels, time_limit_s=rules.time_limit_s, seed=rules.seed
        )
    return choices


def _switchable(traffic: Traffic, knob: Knob, abilities: Abilities, sleeping: Collection[int]) -> Network:
    """The network, whose trunks that a knob cannot change are not switchable; LabError if that is all of them."""
    network = traffic.network
    if knob == "eee":
        _require_awake(network, sleeping)
    if knob == "hold":
        network = fixed(network, _without_hold(traffic, abilities))
    if knob != "off":
        # A trunk without another path around it cannot have its traffic moved away while it restarts.
        network = fixed(network, traffic.bridges())
    return network


def _require_awake(network: Network, sleeping: Collection[int]) -> None:
    """LabError if EEE is on at every link that may be switched."""
    if all(number in sleeping for number, trunk in network.trunks.items() if trunk.switchable):
        raise LabError("EEE is on at every link already: switch it off with `eeectl eee off`, or use --knob off.")


def _without_hold(traffic: Traffic, abilities: Abilities) -> frozenset[int]:
    """Trunks whose hold time cannot be set at either end; LabError if that is all of them, or if EEE is on already."""
    lab, network = traffic.lab, traffic.network
    trunks = {number: Topology.of(lab).trunks[number] for number in network.trunks}
    for number, link in trunks.items():
        if (
            any(traffic.state.port(*place).eee for place in cables_with(lab, link))
            and network.trunks[number].switchable
        ):
            raise LabError(
                f"EEE is on at {link.name} already, with a hold time of its own: switch it off with `eeectl eee off`, "
                "or use --knob off."
            )
    able = {switch.name for switch in lab.switches if switch.name in abilities and abilities[switch.name].hold_settable}
    without = frozenset(number for number, link in trunks.items() if able.isdisjoint((link.a.device, link.b.device)))
    if without == trunks.keys():
        families = sorted({switch.family for switch in lab.switches})
        raise LabError(
            f"no switch of lab {lab.name} can set a hold time ({', '.join(families)}): use --knob eee, which leaves it "
            "to the switches."
        )
    return without
