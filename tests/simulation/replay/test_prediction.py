"""Predictions from replays: intervals that come from the calibration, energy, and the best policy within a bound."""

from pathlib import Path

import pytest

from analysis.calibration import Calibration
from analysis.predict.what_if import parse_what_if
from lab.errors import LabError
from simulation.pool import HerePool
from simulation.replay.prediction import NetworkReplays
from simulation.replay.replayed import Replayed
from simulation.replay.search import Asked
from simulation.worker import Simulated
from tests.analysis.predict.test_prediction import exact_calibration
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
