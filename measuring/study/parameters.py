"""Parameters of a study with what is known of them, from its calibration and runs; and the kinds of its blocks.

Each parameter is to reach the study's precision. That is relative to

* its value, for most;
* the port's watts with a link, for a port that sleeps or is shut, since it may draw nothing;
* the most that such ports draw, for what a card saves and for a port that is never shut, whose watts with a link are
  not measured;
* nothing for slowdowns, where it is in percentage points.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eee_testbed.analysis.calibration import Calibration, Estimate, LinkPolicy, PortPower, SwitchPower
from eee_testbed.analysis.configurations import STREAM
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.links.separate import is_open
from eee_testbed.analysis.power.plausible import most_port_watt
from eee_testbed.analysis.programs.changes import worst_slowdowns
from eee_testbed.measuring.study.decide import BlockKind, Parameter, Past
from eee_testbed.measuring.study.design import OWN_PROGRAM
from eee_testbed.measuring.study.folder import Block

PROBES: Final = "probe-sweep"
PROGRAM: Final = "alltoall-eee"
OWN: Final = OWN_PROGRAM
LINKS: Final = "links-off"
POWER: Final = "power-staged"
TRAFFIC: Final = "power-traffic"
CARDS: Final = "cards-alone"
PORTS: Final = "ports-alone"
EDGES: Final = "edges"
"""Names of experiments, and of the kinds of their blocks; `edges-n01-n02` is of one pair."""

_FEWEST_BLOCKS: Final = {PROGRAM: 2, OWN: 3, LINKS: 3}
"""Blocks before a slowdown is believed: of Alltoall's many pauses the scatter counts together, else three show it."""

_POWER_TRIES: Final = 12  # six times the pilot's blocks: less than half of its noise
_EDGE_KNOWLEDGE: Final = 0.3
_EDGE_SHARE: Final = 0.5
_TRAFFIC_SHARE: Final = 3.0
_MEAN, _EDGE = 0.5, 1.0
_ALONE: Final = {"ports-alone": " cards=off ", "cards-alone": f" {STREAM}="}
"""In the names of the paths of `PORTS` and `CARDS`."""

_STREAMS: Final = 4.0
"""Frames of a stream within the shortest hold that it is to defy."""

_LEAST_STREAM_US: Final = 25.0

_WHOSE: Final = "which wakes are the switch's"
_HIDDEN: Final = ("hold", "Ts")
_NOT_SAID: Final = "echoes over one switch do not say what of their wait is the ports' and what the cards'"
_NOT_ALONE: Final = "the wakes of ports or of cards alone (over a trunk, or beside a stream) are not there or fit both"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a study has: its calibration (None: nothing could be fitted), sentences about the rest, and its runs.

    `runs`: the latest of each experiment, by name, with its number of blocks. `metered`: switches whose power is
    measured, with the half width that the meter's steps leave to a port, in watts; `cards`: the same of hosts whose
    cards sleep in some windows. `third`: whether a host is left that can stream to a probed pair.
    """

    calibration: Calibration | None
    failures: tuple[str, ...]
    runs: Mapping[str, tuple[Path, int]]
    metered: Mapping[str, float]
    cards: Mapping[str, float] = field(default_factory=dict)
    third: bool = False

    @property
    def links(self) -> Mapping[str, LinkPolicy]:
        """The policies that are known."""
        return {} if self.calibration is None else self.calibration.links

    @property
    def stream_us(self) -> float:
        """Time between frames of a stream that keeps ports awake; 0 if there is no host for it, or it is too short.

        A quarter of the shortest hold that a path's ports may have.
        """
        holds = [hold for link in self.links.values() for hold in (link.hold_us, link.card_hold_us) if hold is not None]
        longest_us = min((hold.low for hold in holds), default=0.0) / _STREAMS
        return math.floor(longest_us) if self.third and longest_us >= _LEAST_STREAM_US else 0.0

    @property
    def separable(self) -> bool:
        """Whether echoes can show which times are the ports'."""
        return PORTS in self.runs or CARDS in self.runs or self.stream_us > 0.0


def parameters_of(evidence: Evidence, precision: float) -> tuple[Parameter, ...]:
    """All parameters, in the order of the report."""
    parameters = [
        *_slowdowns(evidence, precision),
        *_policies(evidence, precision),
        *_watts(evidence, precision),
        *_cards(evidence, precision),
        *_traffic(evidence, precision),
    ]
    return tuple(parameters)


def _slowdowns(evidence: Evidence, precision: float) -> Iterator[Parameter]:
    for kind, least_blocks in _FEWEST_BLOCKS.items():
        for name in (name for name in evidence.runs if kind_of(name) == kind):
            for slowdown in worst_slowdowns(evidence.runs[name][0]):
                label = f"{slowdown.program}, slower with {slowdown.state}{_mark(name)}"
                why = "nothing was repeated"
                yield Parameter(label, "%", slowdown.slower_percent, 100 * precision, why, least_blocks=least_blocks)


def kind_of(name: str) -> str:
    """The experiment that a further program's one stands for: `program-eee` for `program-eee-2`."""
    base, _, number = name.rpartition("-")
    return base if number.isdigit() and base in (OWN, LINKS) else name


def _mark(name: str) -> str:
    """What names a further program's experiment behind a parameter."""
    return "" if kind_of(name) == name else f" ({name})"


def _policies(evidence: Evidence, precision: float) -> Iterator[Parameter]:
    links = evidence.links
    for name, link in links.items():
        if link.kind == "off":
            continue
        hidden = is_open(link) and not evidence.separable
        for time_name, estimate in _times(link):
            floor = estimate.interval.half_width if hidden and time_name in _HIDDEN else 0.0
            what = (f"{name}: {time_name}", "us", estimate.interval, precision)
            yield _relative(*what, floor=floor, floor_why=_NOT_SAID, least_blocks=1)
        if is_open(link):
            yield Parameter(f"{name}: {_WHOSE}", "", None, 1.0, _NOT_ALONE, tries=2)
    if PROBES in evidence.runs and not links:
        yield Parameter("EEE policy", "us", None, 1.0, _why(evidence, "no path was probed"))


def _times(link: LinkPolicy) -> Iterator[tuple[str, Estimate]]:
    named = (("hold", link.hold_us), ("Ts", link.sleep_us), ("wakes of a round trip", link.path_wake_us))
    yield from ((time_name, estimate) for time_name, estimate in named if estimate is not None)


def _watts(evidence: Evidence, precision: float) -> Iterator[Parameter]:
    switches = {} if evidence.calibration is None else evidence.calibration.power.switches
    for name, floor_watt in evidence.metered.items():
        if name not in switches:
            why = _why(evidence, "its power could not be fitted", name)
            yield Parameter(f"{name}: port up", "W", None, 1.0, why, tries=_POWER_TRIES)
            continue
        coarse = f"the meter's steps leave ±{floor_watt:.2g} W of a port"
        for what, interval, up_watt in _port_watts(switches[name]):
            whole = precision * up_watt
            yield _relative(
                f"{name}: {what}", "W", interval, precision, least=whole, floor=floor_watt, floor_why=coarse
            )


def _cards(evidence: Evidence, precision: float) -> Iterator[Parameter]:
    nodes = {} if evidence.calibration is None else evidence.calibration.power.nodes
    for name, floor_watt in evidence.cards.items():
        label, node = f"{name}: card asleep saves", nodes.get(name)
        saved = None if node is None else node.card_saved_watt
        if node is None or node.card_mbps is None or saved is None:
            why = node.unknown[0] if node is not None and node.unknown else "its power could not be fitted"
            yield Parameter(label, "W", None, 1.0, why.partition(": ")[2] or why, tries=_POWER_TRIES)
            continue
        half_width_watt = precision * most_port_watt(node.card_mbps)
        coarse = f"the meter's steps leave ±{floor_watt:.2g} W"
        yield Parameter(label, "W", saved.interval, half_width_watt, "", floor_watt, coarse)


def _traffic(evidence: Evidence, precision: float) -> Iterator[Parameter]:
    if POWER not in evidence.runs or not evidence.metered:
        return
    switches = {} if evidence.calibration is None else evidence.calibration.power.switches
    energies = [switch.bit_picojoule.interval for switch in switches.values() if switch.bit_picojoule is not None]
    if energies:
        yield _relative("traffic: energy of a bit", "pJ", energies[0], precision)
    else:
        why = "loads of up to nine tenths of the line rate are lost in the meters"
        yield Parameter("traffic: energy of a bit", "pJ", None, 1.0, why)


def _port_watts(switch: SwitchPower) -> Iterator[tuple[str, Interval, float]]:
    """What is known of a switch's fastest ports, in words, and as their measure the watts of one with a link.

    Where these are not known: the most that such a port draws, or 0.
    """
    speeds: Mapping[int, PortPower] = switch.port_by_mbps or next(iter(switch.port_by_kind.values()), {})
    if not speeds:
        return
    port = speeds[max(speeds)]
    if port.lpi_saved_watt is not None:
        yield "port asleep saves", port.lpi_saved_watt.interval, most_port_watt(max(speeds))
    up_watt = 0.0 if port.link_watt is None else port.link_watt.value
    named = (("port up", port.link_watt), ("port shut", port.residual_watt))
    yield from ((what, one.interval, up_watt) for what, one in named if one is not None)
    if port.link_watt is not None and port.lpi_fraction is not None:
        watt, share = port.link_watt.value, port.lpi_fraction
        yield "port asleep", Interval(watt * share.value, watt * share.low, watt * share.high), up_watt


def _relative(
    name: str,
    unit: str,
    interval: Interval,
    precision: float,
    *,
    least: float = 0.0,
    floor: float = 0.0,
    floor_why: str = "",
    least_blocks: int = 4,
) -> Parameter:
    half_width = max(precision * abs(interval.value), least, 1e-9)
    return Parameter(name, unit, interval, half_width, "", floor, floor_why, least_blocks)


def _why(evidence: Evidence, otherwise: str, about: str = "") -> str:
    """What a fit said about it, without its remedies: the study measures more by itself."""
    sentences = [sentence for sentence in evidence.failures if sentence.startswith(f"{about}: ") or not about]
    return sentences[-1].removeprefix(f"{about}: ").partition(":")[0].rstrip(".") if sentences else otherwise


def kinds_of(evidence: Evidence, parameters: Sequence[Parameter], blocks: Sequence[Block]) -> tuple[BlockKind, ...]:
    """What can be measured next, with the time that a block of its kind last took, or is likely to take."""
    names = [parameter.name for parameter in parameters]
    more = tuple(name for name in evidence.runs if kind_of(name) != name)
    repeated = (*_PILOT, *more, CARDS)
    times = {name: [block.time_s for block in blocks if block.kind == name] for name in (*repeated, TRAFFIC)}
    links = evidence.links
    open_ = {
        f"{pair}: {time_name}" for pair, link in links.items() if is_open(link) for time_name in (*_HIDDEN, _WHOSE)
    }
    kinds = []
    for name in repeated:
        if name in evidence.runs and times[name]:
            count = evidence.runs[name][1]
            later = times[name][1:]  # the first is the pilot's, which may have had several blocks
            first = later[-1] if later else times[name][0] / count
            narrows = _narrowed(name, names)
            if name in (PROBES, CARDS):  # of a pair's own times the latter say only whose they are
                says = {key: (key in open_) == (name == CARDS) or _ALONE[CARDS] in key for key in narrows}
                narrows = {key: exponent for key, exponent in narrows.items() if says[key]}
            kinds.append(BlockKind(name, max(first, 1.0), count, narrows))
    power_s = next((kind.cost_s for kind in kinds if kind.name == POWER), 0.0)
    bit = {name: _MEAN for name in names if name.startswith("traffic: ")}
    if power_s and bit:
        own = times[TRAFFIC]
        cost_s = own[-1] if own else _TRAFFIC_SHARE * power_s
        kinds.append(BlockKind(TRAFFIC, cost_s, evidence.runs.get(TRAFFIC, (None, 0))[1], bit))
    probe_s = next((kind.cost_s for kind in kinds if kind.name == PROBES), 0.0)
    if probe_s and open_ and CARDS not in evidence.runs and evidence.stream_us > 0.0:
        apart = {key: exponent for key, exponent in _narrowed(CARDS, names).items() if key in open_}
        kinds.append(BlockKind(CARDS, evidence.runs[PROBES][1] * probe_s, 0, apart))
    for pair, link in links.items():
        probed = " " not in pair and not is_open(link)
        if probe_s and probed and link.hold_us is not None and link.sleep_us is not None:
            kind = f"{EDGES}-{pair}"
            own = [block.time_s for block in blocks if block.kind == kind]
            cost_s = own[-1] if own else _EDGE_SHARE * probe_s
            narrows = {f"{pair}: hold": _EDGE, f"{pair}: Ts": _MEAN}
            kept = {name: exponent for name, exponent in narrows.items() if name in names}
            count = sum(block.kind == kind and block.complete for block in blocks)
            kinds.append(BlockKind(kind, max(cost_s, 1.0), count + _EDGE_KNOWLEDGE, kept))
    return tuple(kinds)


_PILOT: Final = (PROBES, PORTS, PROGRAM, OWN, LINKS, POWER)


def _narrowed(kind: str, names: Sequence[str]) -> dict[str, float]:
    """The parameters that a kind of block narrows, with their exponents."""
    if kind == POWER:
        return {name: _MEAN for name in names if ": port " in name or ": card " in name}
    if kind in (PROBES, PORTS, CARDS):
        times = {": hold": _EDGE, ": Ts": _MEAN, ": wakes of a round trip": _MEAN, "EEE policy": _MEAN}
        if kind != PROBES:
            times[_WHOSE] = _MEAN
        others = [mark for alone, mark in _ALONE.items() if alone != kind]
        narrowed = [name for name in names if not any(mark in name for mark in others)]
        return {name: exponent for name in narrowed for end, exponent in times.items() if name.endswith(end)}
    eee = kind_of(kind) in (PROGRAM, OWN)
    slower = [name for name in names if ", slower with " in name and ("with eee" in name) == eee]
    return {name: _MEAN for name in slower if name.partition(" (")[2] == _mark(kind).partition(" (")[2]}


def seen_of(parameters: Sequence[Parameter], kinds: Sequence[BlockKind]) -> dict[str, tuple[float, float]]:
    """By parameter, how many blocks narrowed it so far, and its half width; for `Block.seen`."""
    return {
        parameter.name: (
            sum(kind.count for kind in kinds if parameter.name in kind.narrows),
            parameter.interval.half_width,
        )
        for parameter in parameters
        if parameter.interval is not None
    }


def history_of(blocks: Sequence[Block]) -> dict[str, list[Past]]:
    """How each parameter's interval got narrower."""
    history: dict[str, list[Past]] = {}
    for block in blocks:
        for name, (count, half_width) in block.seen.items():
            history.setdefault(name, []).append(Past(count, half_width))
    return history
