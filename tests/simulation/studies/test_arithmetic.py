"""What follows from the papers' numbers: shares of the network, break-even slowdowns, least savings of hybrid mode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.predict.topologies import TABLE_3, TABLE_4
from eee_testbed.simulation.studies.arithmetic import (
    break_even_slowdown,
    cpu_use_of_share,
    hybrid_deficit,
    least_hybrid_saving,
    least_makespan_s,
    most_network_saving,
    network_share,
)
from tests.support.laws import law

_SHARES = {
    "torus-4x4x4": (10.4, 18.9),
    "torus-4x4-trunk4": (7.7, 14.3),
    "fattree-k4-n3": (7.7, 14.3),
    "fattree-k8-n2": (4.8, 9.1),
    "dragonfly-a4-h2-p2": (5.5, 10.4),
    "dragonfly-a4-h1-p4": (3.2, 6.2),
    "torus-4x4x4x4": (13.0, 23.1),
    "dragonfly-a8-h2-p2": (8.4, 15.5),
    "dragonfly-a6-h2-p4": (4.4, 8.4),
    "dragonfly-a6-h3-p3": (5.8, 10.9),
}
"""Percent of the cluster's power with nodes full, and idle."""


def test_the_networks_shares_of_the_clusters_power() -> None:
    for one in (*TABLE_3, *TABLE_4):
        if one.name in _SHARES:
            found = tuple(round(100 * network_share(one.network_ports, one.nodes, use), 1) for use in (1.0, 0.0))
            assert found == _SHARES[one.name]


@law(50)
@given(st.integers(100, 3000), st.integers(50, 400), st.floats(0, 1))
def test_a_share_has_one_use_of_processors(ports: int, nodes: int, use: float) -> None:
    assert cpu_use_of_share(network_share(ports, nodes, use), ports, nodes) == pytest.approx(use, abs=1e-9)


@pytest.mark.parametrize(
    ("ports", "nodes", "full", "idle"), [(160, 80, 2.4, 4.8), (768, 256, 3.6, 7.2), (2304, 256, 10.6, 20.4)]
)
def test_slowdowns_that_cost_as_much_as_sleep_saves(ports: int, nodes: int, full: float, idle: float) -> None:
    found = [break_even_slowdown(network_share(ports, nodes, use), most_network_saving()) for use in (1.0, 0.0)]
    assert [round(100 * one, 1) for one in found] == [full, idle]


def test_no_set_ends_before_its_bytes_are_out() -> None:
    assert [round(least_makespan_s(each * 1e9, 64, 1.25e9), 1) for each in (645, 1050, 1520)] == [8.1, 13.1, 19.0]


@law(200)
@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0.1, 5), st.floats(0.1, 2))
def test_hybrid_keeps_the_bound_whatever_the_gaps(gaps: list[float], hold: float, sleep: float) -> None:
    # Gap by gap, by the printed model: the second hold is as long as the first.
    busy = 10.0
    total = busy + sum(gaps)
    deep = sum(0.9 * max(gap - hold - sleep, 0) for gap in gaps) / total
    hybrid = sum(0.4 * min(max(gap - hold, 0), hold) + 0.9 * max(gap - 2 * hold - sleep, 0) for gap in gaps) / total
    used = sum(gap > hold + sleep for gap in gaps)
    assert deep - hybrid <= hybrid_deficit(hold, used, total) + 1e-12
    assert hybrid >= least_hybrid_saving(deep, hold, sleep) - 1e-12
