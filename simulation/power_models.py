"""Power of a simulated network from its channels' time in each state: the papers' models, and a calibration's.

All give the power as a share of that with links always on, under the same traffic; with watts where the model has them.

* `by_bits`: Kim et al. (2018), section V: see `simulation.energy`. Channels between routers alone.
* `georgakoudis`: Georgakoudis et al. (2019), IV.B: mean power over links; deep sleep takes 0.1 of active, fast wake 0.6
  (their Table VI). Channels between routers alone.
* `andujar`: Andujar et al. (2023), Eq. 1 to 3: ports of switches and the logic behind them, those to nodes included.
  Their Eq. 4 to 7 add nodes and a program's run time, which replays know (`simulation.replay.summary_of_replays`) and
  predictions (`analysis.predict.other_networks`).
* `fitted`: a switch of a calibration (`analysis.calibration.SwitchPower`), each router being one: base, ports by stage,
  bits and packets. Every router is assumed to be that switch, whatever its number of ports.

Ts, Tw, refresh and turning on are at full power, but in `fitted`, whose fraction in low power was measured with
refresh in it. A channel that is off takes nothing by bits and by averages, what a sleeping port takes in Andujar's
model, and in `fitted` what a port that is shut takes. A port's transmitter stands for the port: 1000BASE-T is in low
power only while both directions are, so that `fitted` is a lower bound there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eee_testbed.analysis.calibration import AndujarPower, SwitchPower
from eee_testbed.analysis.interval import Floats, Interval
from eee_testbed.analysis.predict.other_networks import PAPER_POWER
from eee_testbed.analysis.predict.prediction import interval_of
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.what_if import DEEP_FRACTION, FAST_FRACTION
from eee_testbed.simulation.description import Energy
from eee_testbed.simulation.energy import StateShares

ALWAYS_ON: Final = StateShares(idle=1.0)


@dataclass(frozen=True, slots=True)
class Carried:
    """A network and what it carried: shares of its channels' time, flits a node and cycle, routers that they passed."""

    routers: int
    nodes: int
    links: int
    """Between routers; each is two channels, and a port at both ends."""

    shares: StateShares
    accepted: float
    routers_passed: float
    node_shares: StateShares = ALWAYS_ON
    """Of the channels between routers and nodes."""


@dataclass(frozen=True, slots=True)
class ModelPower:
    """`ratio`: to links always on; `watt`: of the network, None where the model has none."""

    model: str
    ratio: Interval
    watt: Interval | None = None


def by_bits(energy: Energy, shares: StateShares) -> ModelPower:
    """Kim et al. (2018), section V.

    >>> by_bits(Energy(), StateShares(idle=0.5, off=0.5)).ratio.value
    0.5
    """
    active = shares.transmit * energy.active_pj_per_bit
    on = shares.idle + shares.sleep + shares.wake + shares.turning_on
    now = active + (on + shares.low_power * energy.low_power_share) * energy.idle_pj_per_bit
    before = active + (on + shares.low_power + shares.off) * energy.idle_pj_per_bit
    return ModelPower("TCEP", _exactly(now / before if before else 1.0))


def georgakoudis(shares: StateShares) -> ModelPower:
    """Georgakoudis et al. (2019), IV.B, over all channels.

    >>> round(georgakoudis(StateShares(transmit=0.1, quiet=0.5, fast=0.4)).ratio.value, 2)
    0.39
    """
    active = shares.on + shares.refresh
    time = active + shares.quiet + shares.fast + shares.off
    now = active + DEEP_FRACTION * shares.quiet + FAST_FRACTION * shares.fast
    return ModelPower("Georgakoudis", _exactly(now / time if time else 1.0))


def andujar(carried: Carried, power: AndujarPower = PAPER_POWER) -> ModelPower:
    """Andujar et al. (2023), Eq. 1 to 3; with the paper's Table 2, or parameters that were fitted.

    Two switches with a node each, joined by a link that sleeps all the time: of 20 W the ports' part is 81.6 %, and of
    that half sleeps at a tenth.

    >>> found = andujar(Carried(2, 2, 1, StateShares(quiet=1.0), 0.0, 0.0))
    >>> round(found.watt.value, 3), round(20 * (1 - 0.816 * 0.5 * 0.9), 3)
    (12.656, 12.656)
    """
    draws = Sampler()
    ports = 2 * carried.links + carried.nodes
    between, to_nodes = (shares.on + shares.refresh for shares in (carried.shares, carried.node_shares))
    on = (2 * carried.links * between + carried.nodes * to_nodes) / ports if ports else 1.0
    sleeping, share = draws.of("sleeping", power.sleeping_port_fraction), draws.of("ports", power.ports_fraction)
    relative = sleeping + (1 - sleeping) * on  # Eq. 1
    ratio = (1 - share) + share * relative  # Eq. 2
    watt = ports * draws.of("port_watt", power.port_watt) * ratio  # Eq. 3
    opened = bool(draws.unbounded)
    return ModelPower("Andujar", interval_of(ratio, opened=opened), interval_of(watt, opened=opened))


def fitted(carried: Sequence[Carried], power: SwitchPower, mbps: int, packet_bits: int) -> ModelPower:
    """A calibration's switch as each router, over draws of its parameters.

    The first of `carried` is of the links' fitted times; the others, of drawn times, widen the interval.
    """
    draws = Sampler()
    found = [_fitted_watt(one, power, mbps, packet_bits, draws) for one in carried]
    now, before = (np.concatenate(part) for part in zip(*found, strict=True))
    opened = bool(draws.unbounded)
    return ModelPower("calibration", interval_of(now / before, opened=opened), interval_of(now, opened=opened))


def _fitted_watt(
    carried: Carried, power: SwitchPower, mbps: int, packet_bits: int, draws: Sampler
) -> tuple[Floats, Floats]:
    """Watts now, and with links always on."""
    stages = power.ports_of("")[mbps]
    up_watt = draws.of("enabled_watt", stages.enabled_watt) + draws.of("link_watt", stages.link_watt)
    cable_watt = draws.of("cable_watt", stages.cable_watt)
    carrying_watt = draws.of("carrying_watt", stages.carrying_watt)
    shut_watt = cable_watt if stages.residual_watt is None else draws.of("residual_watt", stages.residual_watt)
    kept = np.clip(draws.of("lpi_fraction", stages.lpi_fraction, missing=1.0), 0.0, 1.0)
    shares, channels = carried.shares, 2 * carried.links
    awake_watt = cable_watt + up_watt + carrying_watt
    saved_watt = up_watt * ((shares.quiet + shares.refresh) * (1 - kept) + shares.fast * (1 - FAST_FRACTION))
    before = carried.routers * draws.of("base_watt", power.base_watt) + (channels + carried.nodes) * awake_watt
    bits = carried.accepted * carried.nodes * mbps * 1e6 * carried.routers_passed
    for estimate, name, each in (
        (power.bit_picojoule, "bit_picojoule", bits * 1e-12),
        (power.packet_nanojoule, "packet_nanojoule", bits / packet_bits * 1e-9),
    ):
        # As in predictions: what is not significantly above nothing is noise.
        if estimate is not None and power.bit_picojoule is not None and power.bit_picojoule.low > 0:
            before = before + each * draws.of(name, estimate)
    now: Floats = before - channels * (saved_watt + shares.off * (awake_watt - shut_watt))
    to_nodes = carried.node_shares
    now -= (
        carried.nodes
        * up_watt
        * ((to_nodes.quiet + to_nodes.refresh) * (1 - kept) + to_nodes.fast * (1 - FAST_FRACTION))
    )
    return now, before


def _exactly(value: float) -> Interval:
    return Interval(value, value, value)


def three_rates(ratio: float) -> ModelPower:
    """A point's `scaled_ratio` (`simulation.rates`): TCEP's comparison with voltage and frequency scaling."""
    return ModelPower(RATES, _exactly(ratio))


RATES: Final = "three rates"
MODELS: Final = ("TCEP", RATES, "Georgakoudis", "Andujar", "calibration")
"""In the order of tables and figures."""
