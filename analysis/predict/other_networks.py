"""A program on other networks: Andujar's topologies with the paper's power model (2023, Eq. 1-7).

The equations are evaluated over draws; a test compares them with the equations as printed.

The program is assumed to run on every node as on the measured ones: same run time without EEE, same communications,
same gaps on each node's link. A communication passes as many links as the network's mean path has, and waits at each
that sleeps. All ports are in low power as long as the nodes' links are.

With a simulation of the network (`NetworkModel`), the links between switches are its: what they add to a message, and
their time in low power. The nodes' own links stay those of the program's gaps.

Simplifications without one: no contention, so topologies differ only in hops and port counts, not in throughput; no
frames of other nodes keep inner links awake or wake them more often; all links of a path sleep at the same time. With
and without one, a larger machine changes neither gaps nor run time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

import numpy as np

from eee_testbed.analysis.calibration import AndujarPower, Calibration, Estimate
from eee_testbed.analysis.interval import Floats, Interval
from eee_testbed.analysis.predict.asked_mode import AskedMode, asked_mode
from eee_testbed.analysis.predict.power import share_of_run, slept_of
from eee_testbed.analysis.predict.prediction import Prediction, interval_of
from eee_testbed.analysis.predict.run_time import GapTable, seen_of_rounds
from eee_testbed.analysis.predict.sampling import DRAWS, Sampler
from eee_testbed.analysis.predict.topologies import Topology
from eee_testbed.analysis.predict.what_if import PAPER_LINK, WhatIf
from eee_testbed.analysis.programs.profile import Profile
from eee_testbed.lab.errors import LabError


def _exactly(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


PAPER_POWER: Final = AndujarPower(
    port_watt=_exactly(5.0),
    ports_fraction=_exactly(0.816),
    sleeping_port_fraction=_exactly(0.1),
    node_watt=_exactly(300.0),
    idle_node_fraction=_exactly(0.5),
)
"""The paper's Table 2, which gives no errors."""

_NODE_LINKS: Final = 2
"""Of a path: that of the sender and that of the receiver."""

_IGNORED: Final = (
    "these networks were not measured: contention and effects of a larger machine on the program are ignored."
)
_SIMULATED: Final = (
    "these networks were not measured: messages between switches are simulated, at random times and to random nodes; "
    "effects of a larger machine on the program are ignored."
)


@dataclass(frozen=True, slots=True)
class InnerLinks:
    """Links between switches, as simulated: what they add to a message by sleeping, shares of low power; draws."""

    wait_us: Floats
    deep: Floats
    fast: Floats


class NetworkModel(Protocol):
    """A simulation of networks."""

    def __call__(
        self, where: Topology, profile: Profile, asked: WhatIf, mode: AskedMode, draws: int
    ) -> InnerLinks | None:
        """Links between switches while the program runs; None if the network is saturated by its traffic."""
        ...


@dataclass(frozen=True, slots=True)
class ClusterPower:
    """Watts of a network and of its nodes; draws."""

    network_watt: Floats
    nodes_watt: Floats


def cluster_power(topology: Topology, power: AndujarPower, port_on: Floats, node_on: float, s: Sampler) -> ClusterPower:
    """Eq. 1-5 with every port awake for the share `port_on` of the time, and every node busy for `node_on`.

    Eq. 4's fixed term is summed over the nodes, as the paper's text says; the printed equation lacks this sum.
    """
    port = s.of("port_watt", power.port_watt)
    ports, sleeping = s.of("ports_fraction", power.ports_fraction), s.of("sleeping", power.sleeping_port_fraction)
    relative = sleeping + (1 - sleeping) * port_on  # Eq. 1
    network = topology.network_ports * port * ((1 - ports) + ports * relative)  # Eq. 2 and 3
    idle = s.of("idle_node_fraction", power.idle_node_fraction)
    nodes = topology.nodes * s.of("node_watt", power.node_watt) * (idle + (1 - idle) * node_on)  # Eq. 4
    return ClusterPower(network, nodes)


def predict_topologies(
    profile: Profile,
    calibration: Calibration,
    topologies: Sequence[Topology],
    what_ifs: Sequence[WhatIf],
    draws: int = DRAWS,
    simulated: NetworkModel | None = None,
) -> tuple[Prediction, ...]:
    """Answer every question on every network; savings are against the same network with EEE off.

    LabError if a network is saturated whose links on a path are not known either.
    """
    questions = [_Question.of(profile, calibration, asked, draws) for asked in what_ifs]
    return tuple(
        _predict(profile, calibration, topology, question, draws, simulated)
        for topology in topologies
        for question in questions
    )


@dataclass(frozen=True, slots=True)
class _Question:
    """A question, and what the program and the nodes' links do on every network alike.

    `seen_us`: how long a round waits at one link. `slept_us`: in low power, by `slept_of`. Both are draws.
    """

    asked: WhatIf
    times: Sampler
    mode: AskedMode
    gaps: GapTable
    seen_us: Floats
    slept_us: tuple[Floats, Floats]

    @classmethod
    def of(cls, profile: Profile, calibration: Calibration, asked: WhatIf, draws: int) -> Self:
        """It is the same whatever the network."""
        times = Sampler(draws)
        mode = asked_mode(asked, next(iter(calibration.links.values()), None), times)
        gaps = GapTable.of(profile)
        seen_us = slept_us = np.zeros(draws)
        if not asked.saves:
            return cls(asked, times, mode, gaps, seen_us, (slept_us, slept_us))
        if gaps.rounds:
            seen_us, _ = seen_of_rounds(gaps, mode, ("transmit",), np.ones(draws), np.zeros(draws))
        return cls(asked, times, mode, gaps, seen_us, slept_of(gaps, mode, draws))


def _saved_share(deep: Floats, fast: Floats, mode: AskedMode, power: AndujarPower, watts: Sampler) -> Floats:
    """The share of deep sleep that saves as much as both kinds, as the model has no fast wake."""
    if mode.fast_fraction is None:
        return deep + fast
    sleeping = watts.of("sleeping", power.sleeping_port_fraction)
    saved: Floats = deep + fast * (1 - mode.fast_fraction[:, 0]) / (1 - sleeping)
    return saved


def _power(calibration: Calibration, warnings: list[str]) -> AndujarPower:
    power = calibration.power.andujar
    if power is None:
        warnings.append(
            "no power of ports and nodes was fitted for this model: the paper's, without errors, is assumed."
        )
        return PAPER_POWER
    if calibration.power.note:
        warnings.append(calibration.power.note)
    return power


def _saturated(where: Topology, inner: InnerLinks | None) -> Sequence[str]:
    if inner is not None:
        return ()
    if not np.isfinite(where.mean_links):
        raise LabError(f"the program's traffic saturates {where.name}: choose a network with more or faster links.")
    return (f"its traffic saturates {where.name} as simulated: hops times wake are assumed.",)


def _extra_s(where: Topology, question: _Question, inner: InnerLinks | None, warnings: list[str]) -> Floats:
    """What sleeping links add to the run time: each round waits at every link of its path."""
    gaps, seen_us = question.gaps, question.seen_us
    if not gaps.rounds:
        return np.zeros(seen_us.size)
    if gaps.assumed:
        warnings.append("no gaps were recorded: all are assumed to be the mean gap.")
    path_us = where.mean_links * seen_us if inner is None else _NODE_LINKS * seen_us + inner.wait_us
    extra_s: Floats = gaps.rounds * path_us * 1e-6
    return extra_s


def _predict(
    profile: Profile,
    calibration: Calibration,
    where: Topology,
    question: _Question,
    draws: int,
    simulated: NetworkModel | None,
) -> Prediction:
    asked, mode, gaps = question.asked, question.mode, question.gaps
    warnings = [_IGNORED if simulated is None else _SIMULATED]
    if asked.off_links or asked.speed_mbps:
        warnings.append(
            "links off or slower are not predicted on other networks: all are assumed to be up, at full speed."
        )
    power = _power(calibration, warnings)
    if not asked.phy and asked.mode != "off":
        warnings.append(f"links are assumed to behave as this lab's do; phy={PAPER_LINK} gives the paper's.")
    times, watts = question.times, Sampler(draws)
    warnings += mode.warnings
    base_s = times.of("base_s", profile.base_s)
    time_s = base_s
    rested: Floats = np.zeros(draws)
    saved_share: Floats = np.zeros(draws)
    if asked.saves:
        inner = None
        if simulated is not None:
            inner = simulated(where, profile, asked, mode, draws)
            warnings += _saturated(where, inner)
        time_s = base_s + _extra_s(where, question, inner, warnings)
        rest = share_of_run(question.slept_us, gaps, time_s)
        rested, saved_share = rest.share, _saved_share(rest.deep, rest.fast, mode, power, watts)
        if inner is not None:
            between = 1 - where.nodes / where.network_ports
            inner_share = _saved_share(inner.deep, inner.fast, mode, power, watts)
            saved_share = (1 - between) * saved_share + between * inner_share
    now = cluster_power(where, power, 1 - saved_share, 1.0, watts)
    before = cluster_power(where, power, np.ones(draws), 1.0, watts)
    open_time = bool(times.unbounded)

    def power_interval(samples: Floats, least: float = 0.0) -> Interval:
        return interval_of(samples, opened=open_time or bool(watts.unbounded), least=least)

    joule = now.network_watt * time_s
    saved = 100 * (1 - joule / (before.network_watt * base_s))
    return Prediction(
        asked,
        where.name,
        interval_of(time_s, opened=open_time),
        interval_of(100 * (time_s / base_s - 1), opened=open_time),
        interval_of(100 * rested, opened=open_time),
        power_interval(now.network_watt),
        power_interval(joule),
        power_interval((now.network_watt + now.nodes_watt) * time_s),
        power_interval(saved, float("-inf")),
        tuple(dict.fromkeys(warnings)),
    )
