"""Power of simulated networks: the papers' models as printed, and a calibration's switch with its intervals."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.predict.other_networks import PAPER_POWER, cluster_power
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.topologies import torus
from eee_testbed.simulation.description import Energy
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.power_models import Carried, andujar, by_bits, fitted, georgakoudis
from tests.support.measured.synthetic_run import calibration

_AWAKE = StateShares(transmit=0.2, idle=0.8)


@st.composite
def _shares(draw: st.DrawFn) -> StateShares:
    parts = draw(st.lists(st.floats(0, 1), min_size=len(fields(StateShares)), max_size=len(fields(StateShares))))
    total = sum(parts)
    return StateShares(*(part / total for part in parts)) if total else StateShares(idle=1.0)


def _carried(shares: StateShares, accepted: float = 0.1) -> Carried:
    return Carried(routers=16, nodes=32, links=32, shares=shares, accepted=accepted, routers_passed=2.5)


@given(_shares())
def test_sleep_never_costs_and_saves_at_most_what_is_saved(shares: StateShares) -> None:
    switch = calibration().power.switches["sw1"]
    saved = shares.low_power + shares.off
    for found in (
        by_bits(Energy(), shares),
        georgakoudis(shares),
        andujar(_carried(shares)),
        fitted([_carried(shares)], switch, 1000, 48),
    ):
        assert 1 - saved - 1e-9 <= found.ratio.value <= 1 + 1e-9
        assert found.ratio.low <= found.ratio.value <= found.ratio.high


def test_links_always_on_take_all() -> None:
    for found in (by_bits(Energy(), _AWAKE), georgakoudis(_AWAKE), andujar(_carried(_AWAKE))):
        assert found.ratio.value == pytest.approx(1.0)


def test_andujars_is_that_of_predictions() -> None:
    # A torus of 4 x 4 with two nodes a switch; predictions know the ports of a topology, and the share of all of them.
    shares = StateShares(transmit=0.1, idle=0.3, quiet=0.6)
    carried = Carried(16, 32, 32, shares, 0.1, 2.5)
    network = torus((4, 4), trunk=1)
    assert network.network_ports == 16 * 5
    with_nodes = Carried(16, 16, 32, shares, 0.1, 2.5)
    on = (64 * 0.4 + 16) / 80
    sampler = Sampler(2)
    watts = cluster_power(network, PAPER_POWER, sampler.uniform("on", on, on), 1.0, sampler).network_watt
    found = andujar(with_nodes)
    assert found.watt is not None
    assert found.watt.value == pytest.approx(watts[0])
    other = andujar(carried)
    assert other.watt is not None
    assert other.watt.value > found.watt.value


def test_a_calibrations_switch_is_its_sum() -> None:
    switch = calibration().power.switches["sw1"]
    shares = StateShares(transmit=0.1, idle=0.3, quiet=0.6)
    found = fitted([_carried(shares)], switch, 1000, 48)
    assert found.watt is not None
    # Base 40 W; a port 0.75 W, of which 0.7 W fall to a fifth in low power; 30 pJ a bit; 50 nJ a packet of 48 bits.
    bits = 0.1 * 32 * 1e9 * 2.5
    expected = 16 * 40 + 96 * 0.75 - 64 * 0.6 * 0.7 * 0.8 + bits * 30e-12 + bits / 48 * 50e-9
    assert found.watt.value == pytest.approx(expected)
    assert found.watt.low < expected < found.watt.high
    # Draws of the links' times widen it.
    wider = fitted([_carried(shares), _carried(StateShares(idle=1.0))], switch, 1000, 48)
    assert wider.watt is not None
    assert wider.watt.value == found.watt.value
    assert wider.ratio.high > found.ratio.high


def test_a_port_that_is_off_takes_what_a_shut_port_takes() -> None:
    switch = calibration().power.switches["sw1"]
    on, off = (fitted([_carried(one, 0.0)], switch, 1000, 48).watt for one in (_AWAKE, StateShares(off=1.0)))
    assert on is not None
    assert off is not None
    assert on.value - off.value == pytest.approx(64 * (0.75 - 0.06))
