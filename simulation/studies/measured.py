"""A study with measured switches: links with a calibration's times, and its watts beside the papers'.

To each case whose links never sleep a case is added with the policy of a calibration's link (hold, Ts, Tw), and one for
each draw of these times from their intervals; the k-th draw takes the seeds in turn. Watts are computed from points:
those of a switch of the calibration, which each router is taken to be, and those of Andújar et al. (2023).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.predict.asked_mode import asked_mode
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.what_if import parse_what_if
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.link_times import link_times
from eee_testbed.simulation.power_models import Carried, ModelPower, andujar, fitted
from eee_testbed.simulation.replay.carried import carried_of, measured_mbps, packet_bits
from eee_testbed.simulation.replay.comparison import utilization
from eee_testbed.simulation.replay.on_network import node_links_follow, rate_mbps
from eee_testbed.simulation.replay.prediction import with_policy
from eee_testbed.simulation.spreads import DRAWS, around, product, spread, total
from eee_testbed.simulation.studies.advise import EnergyOf
from eee_testbed.simulation.studies.expand import Case
from eee_testbed.simulation.studies.measured_power import MeasuredPower
from eee_testbed.simulation.studies.pairs import Pair

MEASURED: Final = "measured"
"""Value of the axis of links that a calibration adds; its draws are measured-1, measured-2, ..."""

_AXIS: Final = "links"


def with_measured(cases: Sequence[Case], power: MeasuredPower) -> list[Case]:
    """The cases, and those with the calibration's links; LabError if it does not fit them."""
    for case in cases:
        if _AXIS not in case.labels or case.labels[_AXIS] == MEASURED:
            raise LabError(f"--power adds '{MEASURED}' to the axis {_AXIS}: give the study one without that value.")
        if measured_mbps(case.description, power.switch) is None:
            rates = ", ".join(map(str, power.switch.ports_of(""))) or "no rate"
            raise LabError(
                f"{power.file} has ports of {power.switch_name} at {rates} Mb/s, and links of {case.key} have "
                f"{rate_mbps(case.description):.0f} Mb/s: measure ports at that rate, or simulate at a measured one."
            )
    if power.policy is None:
        return list(cases)
    sampler = Sampler(1 + DRAWS)
    mode = asked_mode(parse_what_if(MEASURED), power.policy, sampler)
    found = list(cases)
    for case in cases:
        if case.sleeps:
            continue
        description, seeds = case.description, list(dict.fromkeys(case.description.seeds))
        cycle_us = 0.0 if description.programs is None else description.programs.cycle_ns / 1e3
        for draw in range(1 + DRAWS):
            links = link_times(mode, draw).links(cycle_us)
            own = with_policy(description, links, nodes_too=node_links_follow(description))
            if draw:
                own = own.model_copy(update={"seeds": [seeds[draw % len(seeds)]]})
            label = f"{MEASURED}-{draw}" if draw else MEASURED
            found.append(Case(dict(case.labels) | {_AXIS: label}, own))
    place = {key: number for number, key in enumerate(dict.fromkeys(case.awake_key for case in cases))}
    return sorted(found, key=lambda case: place[case.awake_key])


def is_draw(pair: Pair) -> bool:
    """Whether its links have drawn times."""
    return pair.labels.get(_AXIS, "").startswith(f"{MEASURED}-")


def draws_of(drawn: Sequence[Pair]) -> list[list[Pair]]:
    """By draw: its points, with the labels of those that have the calibration's values."""
    found: dict[str, list[Pair]] = {}
    for pair in drawn:
        labels = dict(pair.labels) | {_AXIS: MEASURED}
        found.setdefault(pair.labels[_AXIS], []).append(replace(pair, point=replace(pair.point, labels=labels)))
    return list(found.values())


def energy_with(cases: Sequence[Case], power: MeasuredPower) -> EnergyOf:
    """What judges choices by measured watts: energy of the network and of the cluster of a point, in J.

    Nodes are the calibration's, idle and busy by the share of time that they compute; without one, the paper's.
    """
    described = {case.key: case.description for case in cases}

    def energy(pair: Pair) -> tuple[Interval, Interval]:
        description, time_s = described[pair.point.key[0]], pair.run_time_s
        carried = carried_of(description, pair.point.replayed)
        network = _times(_watt([_by_switch([carried], description, power)]), time_s)
        return network, total(network, _nodes_joule(pair, power))

    return energy


def _nodes_joule(pair: Pair, power: MeasuredPower) -> Interval:
    if power.node is None or power.node.loaded_watt is None:
        return _times(Interval(1.0, 1.0, 1.0), pair.cluster_joule - pair.network_joule)
    busy = utilization(pair.point.replayed)
    watt = total(_times(power.node.idle_watt.interval, 1 - busy), _times(power.node.loaded_watt.interval, busy))
    return _times(watt, pair.machine.nodes * pair.run_time_s)


def _times(one: Interval, factor: float) -> Interval:
    return Interval(*(factor * end for end in (one.value, one.low, one.high)))


@dataclass(frozen=True, slots=True)
class Energies:
    """Energy of the network and what of it is saved against links always on, with the paper's and measured watts."""

    labels: tuple[str, ...]
    links: str
    """The value of the axis of links."""

    slowdown_percent: Interval
    paper_joule: Interval
    paper_saved_percent: Interval
    measured_joule: Interval
    measured_saved_percent: Interval


def energies_of(pairs: Sequence[Pair], cases: Sequence[Case], power: MeasuredPower) -> list[Energies]:
    """By case, in the order of the study; intervals have seeds, draws of times, and errors of watts."""
    described = {case.key: case.description for case in cases}
    grouped: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        label = MEASURED if is_draw(pair) else pair.labels[_AXIS]
        grouped.setdefault(tuple((dict(pair.labels) | {_AXIS: label}).values()), []).append(pair)
    return [
        _energies(labels, sorted(own, key=is_draw), described, power)
        for labels, own in grouped.items()
        if not all(is_draw(pair) for pair in own)
    ]


def _energies(
    labels: tuple[str, ...], own: Sequence[Pair], described: Mapping[str, Description], power: MeasuredPower
) -> Energies:
    """Of the points of a case: with the values of links' times first, then with draws."""
    description = described[own[0].point.key[0]]
    carried = [carried_of(description, pair.point.replayed) for pair in own]
    time_s = spread([pair.run_time_s for pair in own], 0.0)
    slower = spread([pair.run_time_s / pair.awake.replayed.run_time_s for pair in own], 0.0)
    by_paper = [andujar(one) for one in carried]
    mine = _by_switch(carried, description, power)
    return Energies(
        labels,
        own[0].labels[_AXIS],
        slower.above_percent,
        product(_watt(by_paper), time_s),
        product(around([one.ratio for one in by_paper]), slower).below_percent,
        product(_watt([mine]), time_s),
        product(mine.ratio, slower).below_percent,
    )


def _by_switch(carried: Sequence[Carried], description: Description, power: MeasuredPower) -> ModelPower:
    mbps = measured_mbps(description, power.switch) or 0  # `with_measured` has refused rates that were not measured
    return fitted(carried, power.switch, mbps, packet_bits(description))


def _watt(powers: Sequence[ModelPower]) -> Interval:
    return around([one.watt for one in powers if one.watt is not None])
