"""TCEP's figures: energy by bits, latency of packets, and changes over programs; known points and laws."""

from dataclasses import replace
from math import isnan

import pytest

from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.power_models import by_bits
from eee_testbed.simulation.studies.expand import cases_of
from eee_testbed.simulation.studies.pairs import Pair, pairs_of, where
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.study import read_study
from eee_testbed.simulation.studies.tcep import change, latency_cycles, link_energy, ratios, to_awake
from tests.support.studies import small, tiny


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    """Of both programs, always on and with TCEP."""
    folder = tmp_path_factory.mktemp("tcep")
    cases = cases_of(read_study(tiny(folder, small("tcep"))), folder, whole=True)
    cases = [case for case in cases if case.labels["links"] in ("always-on", "tcep")]
    return pairs_of([task.simulate() for task in tasks_of(cases)], cases)


def _with(pair: Pair, shares: StateShares) -> Pair:
    return replace(pair, point=replace(pair.point, replayed=replace(pair.point.replayed, shares=shares)))


def _scaled(pair: Pair, factor: int) -> Pair:
    found = pair.point.replayed
    return replace(pair, point=replace(pair.point, replayed=replace(found, packet_cycles=factor * found.packet_cycles)))


def test_energy_is_that_of_bits_and_idle_bits(pairs: list[Pair]) -> None:
    for pair in where(pairs, links="tcep"):
        shares = pair.point.replayed.shares
        ratio = link_energy(pair) / link_energy(_with(pair, replace(shares, idle=shares.idle + shares.off, off=0.0)))
        assert ratio == pytest.approx(by_bits(pair.machine.energy, shares).ratio.value)


def test_deep_sleep_takes_a_tenth_of_idle_and_fast_wake_six(pairs: list[Pair]) -> None:
    idle, deep, fast, off = (
        link_energy(_with(pairs[0], shares))
        for shares in (StateShares(idle=1.0), StateShares(quiet=1.0), StateShares(fast=1.0), StateShares(off=1.0))
    )
    assert (deep / idle, fast / idle, off) == (pytest.approx(0.1), pytest.approx(0.6), 0.0)


def test_packets_take_longer_where_links_are_off(pairs: list[Pair]) -> None:
    """A channel has 10 cycles, and a packet 14 flits."""
    for name, one in to_awake(where(pairs, links="tcep"), latency_cycles).items():
        assert one.value > 1, name
    for pair in where(pairs, links="always-on"):
        assert latency_cycles(pair) > 14
        assert pair.point.replayed.packets >= pair.point.replayed.messages
        assert pair.point.replayed.control_packets == 0
    assert all(pair.point.replayed.control_packets > 0 for pair in where(pairs, links="tcep"))


def test_a_change_is_the_geometric_mean_over_programs(pairs: list[Pair]) -> None:
    own = where(pairs, links="always-on")
    longer = [_scaled(pair, 2 if pair.labels["program"] == "nb" else 8) for pair in own]
    found = change(longer, own, latency_cycles)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((300, 300, 300))  # the root of 2 times 8 is 4
    assert change(where(longer, program="nb"), own, latency_cycles) is None


def test_points_of_before_packets_were_counted_have_no_latency(pairs: list[Pair]) -> None:
    old = [replace(one, point=replace(one.point, replayed=replace(one.point.replayed, packets=0))) for one in pairs]
    assert isnan(latency_cycles(old[0]))
    assert ratios(old, pairs, latency_cycles) == []
    assert to_awake(old, latency_cycles) == {}
