"""Simulations with a calibration: links as fitted, draws of their times, watts, and mistakes in one sentence."""

import json
from pathlib import Path
from typing import Final

import pytest

from eee_testbed.analysis.calibration import Calibration, Estimate, save_calibration
from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.simulation.calibrated import Calibrated, WrongCalibration
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.description_file import read_description
from eee_testbed.simulation.report.data import read_simulation
from tests.support.measured.synthetic_run import HOLD_US, SLEEP_US, WAKE_US, calibration

_FILE: Final = """\
name: fitted
network: {kind: torus, radix: [4]}
routing: dor
router: {vcs: 2, packet_flits: 2}
energy: {flit_bits: 12000}
calibration: {file: calibration.yaml, mbps: 1000, draws: 3}
loads: [0.001]
precision: {within_percent: 10, most_cycles: 40000}
"""


def _calibration(**parts: object) -> Calibration:
    """The synthetic one, with a hold that is known badly."""
    (name, policy), *_ = calibration().links.items()
    hold = Estimate(value=HOLD_US, low=0.8 * HOLD_US, high=1.2 * HOLD_US)
    return calibration(links={name: policy.model_copy(update={"hold_us": hold})}, **parts)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab").mkdir()
    save_calibration(tmp_path / "lab" / "calibration.yaml", _calibration())
    path = tmp_path / "lab" / "fitted.yaml"
    path.write_text(_FILE, encoding="utf-8")
    return path


def _of(description: Description) -> Calibrated:
    found = Calibrated.of(description)
    assert found is not None
    return found


def test_links_have_the_fitted_times_in_cycles(file: Path) -> None:
    # A flit of 12,000 bits takes 12 us.
    variants = _of(read_description(file)).variants()
    links = [one.links for one in variants]
    assert len(variants) == 4
    assert (links[0].mode, links[0].hold, links[0].sleep, links[0].wake) == (
        "deep", round(HOLD_US / 12), round(SLEEP_US / 12), round(WAKE_US / 12),
    )  # fmt: skip
    assert links[0].wake_during_sleep == links[0].wake
    assert len({one.hold for one in links}) == 4
    # More draws leave the first ones as they were.
    more = read_description(file)
    use = more.calibration
    assert use is not None
    more = more.model_copy(update={"calibration": use.model_copy(update={"draws": 6})})
    assert [one.links for one in _of(more).variants()][:4] == links


def test_links_of_the_file_stay(file: Path) -> None:
    file.write_text(_FILE + "links: {mode: fast, hold: 3, fast_wake: 1}\n", encoding="utf-8")
    (only,) = _of(read_description(file)).variants()
    assert (only.links.mode, only.links.hold) == ("fast", 3)


def test_points_watts_and_intervals(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert [point["draw"] for point in json.loads(out)["points"]] == [0, 1, 2, 3]
    assert "Links as fitted (hold): hold 83, Ts 15, Tw 5 cycles of 1.2e+04 ns." in " ".join(err.split())
    data = read_simulation(Path("simulations/fitted"))
    (load,) = data.loads
    assert load.count == 4
    assert len(load.drawn_shares) == 3
    power = data.powers(load)["calibration"]
    assert power.watt is not None
    # Four switches of 40 W, with two ports to others and one to its node.
    assert 4 * 40 < power.watt.low < power.watt.value < power.watt.high < 4 * 44
    # The same command has nothing to do; another calibration is another simulation.
    assert eeectl(["simulate", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "load 0.001 seed 1" not in err
    assert "power of the network, as calibrated" in out
    assert " W (" in out
    save_calibration(file.parent / "calibration.yaml", _calibration(run_time={}))
    assert eeectl(["simulate", str(file)]) == 1
    assert "another simulation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mbps: 1000", "mbps: 10000", "no power of ports at 10000 Mb/s"),
        ("draws: 3", "link: nowhere", "has no link 'nowhere': use one of path n01 - n02"),
        ("draws: 3", "switch: sw9", "has no switch 'sw9': use one of sw1"),
    ],
)
def test_mistakes_are_one_sentence(file: Path, old: str, new: str, words: str) -> None:
    file.write_text(_FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(WrongCalibration, match=words):
        Calibrated.of(read_description(file))


def test_a_missing_calibration_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file.parent / "calibration.yaml").unlink()
    assert eeectl(["simulate", str(file)]) == 1
    err = capsys.readouterr().err
    assert "calibration.yaml" in err
    assert err.count("\n") == 1
