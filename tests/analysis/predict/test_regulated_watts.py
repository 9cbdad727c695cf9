"""Power of a lab with trunks at levels, from fitted stages of ports."""

import pytest

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.predict.regulated_watts import NetworkWatts
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.topology import Topology
from eee_testbed.regulation.levels import Levels, levels_of
from eee_testbed.regulation.network import Network, Trunk
from tests.support.graph_lab import graph_lab
from tests.support.regulation.port_calibration import port_calibration

LAB = graph_lab(3, [(0, 1), (0, 2), (1, 2)], [1, 1, 1])


def _calibration(residual_watt: float | None = 0.1, *, ports: bool = True) -> Calibration:
    return port_calibration(LAB, residual_watt, ports=ports)


def _levels(watts: NetworkWatts, knob: str) -> Levels:
    network = Network.of(Topology.of(LAB))
    return levels_of(network, knob, dict.fromkeys(network.trunks, 1e9), watts.of_trunk)  # type: ignore[arg-type]


def test_a_trunk_draws_at_both_ends_and_shut_ports_draw_what_is_left() -> None:
    watts = NetworkWatts(LAB, _calibration())
    trunk = Trunk(4, "sw1", "sw2", 1000)
    assert watts.of_trunk(trunk, 1000, eee=False) == pytest.approx(2.0)
    assert watts.of_trunk(trunk, 0, eee=False) == pytest.approx(0.2)
    assert watts.of_trunk(trunk, 1000, eee=True) == pytest.approx(2 * (0.2 + 0.25 * 0.8))
    assert not watts.warnings


def test_the_network_is_bases_and_all_cabled_ports() -> None:
    watts = NetworkWatts(LAB, _calibration())
    levels = _levels(watts, "off")
    baseline = {number: own[0] for number, own in levels.items()}
    assert watts.watt(baseline).value == pytest.approx(3 * 20 + 3 * 1.0 + 3 * 2.0)
    one_off = baseline | {4: levels[4][1]}
    assert watts.watt(one_off).value == pytest.approx(69.0 - 1.8)
    assert watts.ratio(one_off, baseline).value == pytest.approx(67.2 / 69.0)
    phases = [(0.25, one_off), (0.75, baseline)]
    assert watts.mean_ratio(phases, baseline).value == pytest.approx((69.0 - 0.25 * 1.8) / 69.0)


def test_what_was_not_measured_is_said() -> None:
    watts = NetworkWatts(LAB, _calibration(residual_watt=None))
    trunk = Trunk(4, "sw1", "sw2", 1000)
    assert watts.of_trunk(trunk, 0, eee=False) == pytest.approx(0.4)
    assert watts.of_trunk(trunk, 100, eee=False) == pytest.approx(2.0)
    assert any("shut was not measured" in warning for warning in watts.warnings)
    assert any("100 Mb/s was not measured" in warning for warning in watts.warnings)


def test_a_calibration_without_ports_or_switches_is_refused() -> None:
    trunk = Trunk(4, "sw1", "sw2", 1000)
    with pytest.raises(LabError, match="no power of sw1's ports"):
        NetworkWatts(LAB, _calibration(ports=False)).of_trunk(trunk, 1000, eee=False)
    empty = Calibration(lab=LAB.name, lab_digest="0" * 64, made="2026-01-01T00:00:00Z")
    with pytest.raises(LabError, match="no power of sw1 or its family"):
        NetworkWatts(LAB, empty).of_trunk(trunk, 1000, eee=False)
