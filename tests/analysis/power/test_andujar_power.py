"""Andujar's model as printed, and its parameters from four states."""

from dataclasses import replace

import numpy as np
import pytest

from eee_testbed.analysis.interval import Interval, NotEnoughData
from eee_testbed.analysis.power.andujar_power import fit_andujar
from tests.support.measured.andujar_model import TABLE_2, cluster_power, network_watt, nodes_watt, switch_watt


def _exact(watt: float, half: float = 0.5) -> Interval:
    return Interval(watt, watt - half, watt + half)


def test_the_parameters_of_table_2_from_the_papers_four_states() -> None:
    fit = fit_andujar(_exact(33), _exact(180), 36, _exact(150), _exact(300), Interval(0.1, 0.08, 0.12))
    assert fit.port_watt.value == TABLE_2.port_watt
    assert fit.ports_fraction.value == pytest.approx(TABLE_2.ports_fraction, abs=0.001)
    assert fit.ports_fraction.half_width == pytest.approx(33 / 180 * np.hypot(0.5 / 33, 0.5 / 180))
    assert (fit.node_watt.value, fit.idle_node_fraction.value) == (300, 0.5)


def test_an_unmeasured_sleep_fraction_may_have_any_value() -> None:
    fit = fit_andujar(_exact(33), _exact(180), 36, _exact(150), _exact(300))
    assert (fit.sleeping_port_fraction.low, fit.sleeping_port_fraction.high) == (0.0, 1.0)


def test_a_switch_awake_and_asleep() -> None:
    assert switch_watt(TABLE_2, [1.0] * 36) == pytest.approx(180)
    assert switch_watt(TABLE_2, [0.0] * 36) == pytest.approx(180 * (0.184 + 0.816 * 0.1))
    half = switch_watt(TABLE_2, [0.5] * 36)
    assert half == pytest.approx((switch_watt(TABLE_2, [1.0] * 36) + switch_watt(TABLE_2, [0.0] * 36)) / 2)


def test_every_node_has_its_fixed_part() -> None:
    """Eq. 4's erratum: with one fixed term for all nodes, 64 idle nodes would draw as much as one."""
    assert nodes_watt(TABLE_2, [0.0] * 64) == pytest.approx(64 * 150)
    assert nodes_watt(TABLE_2, [1.0, 0.0]) == pytest.approx(450)


def test_network_and_cluster_add_up() -> None:
    awake = [[1.0] * 8, [0.25] * 8]
    whole = cluster_power(TABLE_2, awake, [1.0] * 4, run_s=10.0)
    assert whole.network_watt == pytest.approx(network_watt(TABLE_2, awake))
    assert whole.cluster_watt == pytest.approx(whole.network_watt + 1200)
    assert whole.cluster_joule == pytest.approx(whole.network_joule + 12_000)
    none = replace(TABLE_2, sleeping_port_fraction=1.0)
    assert network_watt(none, awake) == pytest.approx(2 * 8 * 5)


def test_indistinguishable_states_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="not seen to draw more than without"):
        fit_andujar(_exact(178, 3), _exact(180, 3), 36, _exact(150), _exact(300))
    with pytest.raises(NotEnoughData, match="load all"):
        fit_andujar(_exact(33), _exact(180), 36, _exact(299), _exact(300, 3))
    with pytest.raises(NotEnoughData, match="without ports"):
        fit_andujar(_exact(33), _exact(180), 0, _exact(150), _exact(300))
