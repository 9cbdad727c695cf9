"""Predictions from replays: intervals that come from the calibration, energy, and the best policy within a bound."""

from pathlib import Path

import pytest

from eee_testbed.analysis.calibration import Calibration, NodePower
from eee_testbed.analysis.predict.what_if import parse_what_if
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.pool import HerePool
from eee_testbed.simulation.replay.prediction import NetworkReplays
from eee_testbed.simulation.replay.replayed import Replayed
from eee_testbed.simulation.replay.search import Asked
from eee_testbed.simulation.worker import Simulated
from tests.analysis.predict.test_prediction import exact_calibration, exactly
from tests.support.measured.synthetic_run import calibration
from tests.support.replays import described, stencil

_SLOW = {"program": {"kind": "stencil", "procs": [4, 1], "steps": 3, "face_byte": 1000, "grain_ns": 3_000_000}}
"""Computes for longer than the hold, which is 1 ms."""


def _replays(folder: Path, known: Calibration, **changes: object) -> NetworkReplays:
    job = stencil(4, placement="given", nodes=[0, 4, 8, 12]) | _SLOW
    return NetworkReplays(described(job, programs={"cycle_ns": 128.0}, **changes), folder, known, draws=4)


def _ignored(_: Asked, __: Simulated[Replayed]) -> None:
    pass


def test_the_calibration_gives_times_and_their_intervals(tmp_path: Path) -> None:
    asked = [parse_what_if(text) for text in ("off", "measured", "deep,hold_us=100000")]
    off, measured, awake = _replays(tmp_path, calibration()).answer(asked, HerePool(), _ignored)
    assert off.time_s.low == off.time_s.value == off.time_s.high
    assert off.slowdown_percent.value == off.saved_percent.value == off.rest_percent.value == 0
    assert measured.slowdown_percent.low < measured.slowdown_percent.value < measured.slowdown_percent.high
    assert measured.slowdown_percent.value > 0
    assert 30 < measured.rest_percent.value < 90
    # A hold that never ends costs and saves nothing.
    assert awake.time_s.value == off.time_s.value
    assert awake.rest_percent.value == 0


def test_without_errors_of_times_a_question_is_replayed_once(tmp_path: Path) -> None:
    said: list[str] = []
    asked = [parse_what_if("measured")]
    (found,) = _replays(tmp_path, exact_calibration()).answer(asked, HerePool(), lambda one, _: said.append(str(one)))
    assert len(said) == 2  # always on, and asleep
    assert found.time_s.low == found.time_s.high
    again = list[str]()
    (other,) = _replays(tmp_path, exact_calibration()).answer(asked, HerePool(), lambda one, _: again.append(str(one)))
    assert again == []
    assert other == found


def test_links_to_nodes_sleep_unless_the_file_keeps_them(tmp_path: Path) -> None:
    asked = [parse_what_if("measured")]
    (both,) = _replays(tmp_path / "a", exact_calibration()).answer(asked, HerePool(), _ignored)
    (between,) = _replays(tmp_path / "b", exact_calibration(), node_links={"mode": "off"}).answer(
        asked, HerePool(), _ignored
    )
    assert both.time_s.value > between.time_s.value
    assert both.network_watt is not None
    assert between.network_watt is not None
    assert both.network_watt.value < between.network_watt.value
    joule, watt, time_s = both.network_joule, both.network_watt, both.time_s
    assert joule is not None
    assert joule.value == pytest.approx(watt.value * time_s.value)


def test_nodes_that_were_measured_are_in_all_joules(tmp_path: Path) -> None:
    known = exact_calibration()
    node = NodePower(idle_watt=exactly(50.0), loaded_watt=exactly(90.0), card_mbps=1_000, card_saved_watt=exactly(0.8))
    measured = known.model_copy(update={"power": known.power.model_copy(update={"nodes": {"n01": node}})})
    asked = [parse_what_if(text) for text in ("off", "measured")]
    off, asleep = _replays(tmp_path, measured).answer(asked, HerePool(), _ignored)
    watts = []
    for one in (off, asleep):
        assert one.all_joule is not None
        assert one.network_joule is not None
        watts.append((one.all_joule.value - one.network_joule.value) / one.time_s.value)
    assert watts[0] == pytest.approx(4 * 90.0 + 12 * 50.0)
    assert watts[0] - 16 * 0.8 < watts[1] < watts[0]


def test_without_measured_nodes_energy_is_the_networks_alone(tmp_path: Path) -> None:
    known = exact_calibration()
    bare = known.model_copy(update={"power": known.power.model_copy(update={"nodes": {}})})
    (off,) = _replays(tmp_path, bare).answer([parse_what_if("off")], HerePool(), _ignored)
    assert off.network_joule is not None
    assert off.all_joule is None
    assert "no node's power was fitted: energy is that of the network alone." in off.warnings


def test_on_a_network_of_another_rate_nodes_follow_eq_4(tmp_path: Path) -> None:
    job = stencil(4) | _SLOW
    replays = NetworkReplays(described(job, programs={"cycle_ns": 1.28}), tmp_path, exact_calibration(), draws=1)
    (off,) = replays.answer([parse_what_if("off")], HerePool(), _ignored)
    assert off.all_joule is not None
    assert off.network_joule is not None
    # Four of sixteen nodes compute nearly all the time.
    nodes_watt = (off.all_joule.value - off.network_joule.value) / off.time_s.value
    assert nodes_watt == pytest.approx(16 * 300 * (0.5 + 0.5 * 4 / 16), rel=0.01)


def test_the_best_policy_keeps_the_bound(tmp_path: Path) -> None:
    found = _replays(tmp_path, calibration()).best("", 2.0, HerePool(), _ignored)
    assert found.prediction is not None
    assert found.prediction.slowdown_percent.value <= 2.0
    assert found.prediction.rest_percent.value > 0
    assert 0 < found.within <= found.tried
    assert found.surely == (found.prediction.slowdown_percent.high <= 2.0)


@pytest.mark.parametrize("text", ["coalescing,wait_us=10", "deep,hold_us=10,off_links=1", "speed_mbps=100"])
def test_what_replays_lack_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(LabError, match="leave it out"):
        _replays(tmp_path, calibration()).answer([parse_what_if(text)], HerePool(), _ignored)
