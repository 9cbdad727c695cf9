"""Other networks by the paper's power model; the best hold; the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from eee_testbed.analysis.calibration import PowerPart, save_calibration
from eee_testbed.analysis.predict.best_hold import best_hold
from eee_testbed.analysis.predict.other_networks import PAPER_POWER, cluster_power, predict_topologies
from eee_testbed.analysis.predict.prediction import Predictor
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.topologies import TABLE_3, TABLE_4, TOPOLOGIES, Topology, topologies_named
from eee_testbed.analysis.predict.what_if import parse_what_if
from eee_testbed.eeectl.cli import run
from tests.analysis.predict.test_prediction import ONE_SWITCH, exact_calibration, profile
from tests.support.measured.andujar_model import TABLE_2
from tests.support.measured.andujar_model import cluster_power as by_paper
from tests.support.measured.synthetic_run import WAKE_US, calibration

NO_POWER = exact_calibration().model_copy(update={"power": PowerPart()})
PAPER = ("off", "deep,hold_us=10,phy=andujar-10G", "deep,hold_us=100,phy=andujar-10G")


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_power_is_that_of_the_papers_equations(name: str) -> None:
    where, awake, busy = TOPOLOGIES[name], 0.3, 0.7
    ours = cluster_power(where, PAPER_POWER, np.full(2, awake), busy, Sampler(2))
    paper = by_paper(TABLE_2, [[awake] * where.ports_per_switch] * where.switches, [busy] * where.nodes, 1.0)
    assert ours.network_watt[0] == pytest.approx(paper.network_watt)
    assert ours.nodes_watt[0] == pytest.approx(paper.nodes_watt)


def _network_share(where: Topology, node_on: float) -> float:
    """Of the whole power, with all ports awake and every node busy for `node_on` of the time."""
    power = cluster_power(where, PAPER_POWER, np.ones(1), node_on, Sampler(1))
    return float(power.network_watt[0] / (power.network_watt[0] + power.nodes_watt[0]))


def test_the_network_takes_the_share_of_energy_that_the_paper_found() -> None:
    """7 to 22 % without saving, over all its configurations of about 256 nodes (section 4.2).

    It does not print how busy nodes were: both ends must be shares of some network whose nodes are neither always idle
    (150 W) nor always busy (300 W), and with one utilisation in between no network is beyond an end by much.
    """
    busy = [_network_share(one, 1.0) for one in TABLE_4]
    idle = [_network_share(one, 0.0) for one in TABLE_4]
    assert min(busy) < 0.07 < min(idle)
    assert max(busy) < 0.22 < max(idle)
    assert all(less < more for less, more in zip(busy, idle, strict=True))


def test_a_prediction_elsewhere_has_that_share_with_all_nodes_busy() -> None:
    found = predict_topologies(profile({500: 1_000}), NO_POWER, TABLE_4, [parse_what_if("off")], draws=3)
    for where, one in zip(TABLE_4, found, strict=True):
        assert one.network_joule is not None
        assert one.all_joule is not None
        assert one.network_joule.value / one.all_joule.value == pytest.approx(_network_share(where, 1.0))


def test_by_hand_on_a_fat_tree() -> None:
    where = topologies_named("fattree-k8-n2")
    (found,) = predict_topologies(
        profile({2_000: 1_000}), NO_POWER, where, [parse_what_if("deep,hold_us=0,phy=andujar-10G")], draws=3
    )
    # 7 of 63 partners are below the same switch, two links away; 56 are four away.
    links = (7 * 2 + 56 * 4) / 63
    assert found.time_s.value == pytest.approx(2.1 + 1_000 * links * 4.16e-6, rel=1e-6)
    rest = 1_000 * (2_000 - 2.88) * 1e-6 / 2 / found.time_s.value  # one direction of two sleeps
    watt = 192 * 5.0 * ((1 - 0.816) + 0.816 * (1 - 0.9 * rest))
    assert found.network_watt is not None
    assert found.network_watt.value == pytest.approx(watt, rel=1e-6)


def test_saving_saves_and_a_longer_hold_saves_less() -> None:
    for one in TABLE_3:
        off, short, long = predict_topologies(
            profile({500: 1_000, 5: 1_000}), NO_POWER, [one], [parse_what_if(text) for text in PAPER], draws=3
        )
        assert off.network_joule is not None
        assert short.network_joule is not None
        assert long.network_joule is not None
        assert short.network_joule.value < long.network_joule.value < off.network_joule.value
        assert off.time_s.value < short.time_s.value


def test_other_networks_are_never_without_a_warning() -> None:
    (found,) = predict_topologies(profile({500: 1_000}), NO_POWER, TABLE_3[:1], [parse_what_if("off")], draws=3)
    printed = " ".join(found.warnings)
    assert "were not measured" in printed
    assert "the paper's, without errors" in printed


@pytest.mark.slow
def test_the_best_hold_is_the_shortest_that_the_bound_allows() -> None:
    """Gaps of 200 us cost a wake each and save little: a hold of more than 200 us avoids them."""
    gaps = {200.0: 1_000, 20_000.0: 100}
    predictor = Predictor(profile(gaps), exact_calibration(), ONE_SWITCH, draws=20)
    wakes_percent = 100 * 1_100 * WAKE_US * 1e-6 / predictor.profile.base_s.value
    best = best_hold(predictor, parse_what_if("deep"), wakes_percent / 4)
    assert best.prediction is not None
    hold_us = best.prediction.what_if.hold_us
    assert hold_us is not None
    assert 200 <= hold_us < 300
    assert best.prediction.slowdown_percent.value <= wakes_percent / 4
    assert 0 < best.within < best.tried
    # Nodes draw far more than the network saves, and for longer.
    assert best.whole_percent is not None
    assert best.whole_percent > 0


@pytest.mark.slow
def test_where_no_hold_saves_eee_off_is_best() -> None:
    best = best_hold(Predictor(profile({30.0: 10_000}), exact_calibration(), ONE_SWITCH), parse_what_if("deep"), 1e-6)
    assert best.prediction is None
    assert best.surely


def test_without_power_the_longest_rest_is_best() -> None:
    best = best_hold(Predictor(profile({4_000.0: 1_000}), NO_POWER, draws=20), parse_what_if("deep"), 100.0)
    assert best.prediction is not None
    assert best.prediction.what_if.hold_us == 0.0


@pytest.fixture
def fitted(tmp_path: Path) -> str:
    save_calibration(tmp_path / "calibration.yaml", calibration())
    return str(tmp_path / "calibration.yaml")


@pytest.mark.slow
def test_predict_prints_and_saves(sweep: Path, fitted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(tmp_path / "profile.yaml")
    chosen = ["--at", "sleep_us=1400", "--at", "array_byte=256"]
    status = run(["predict", str(sweep), "--calibration", fitted, *chosen, "--save", saved, "--bound-slowdown", "1%"])
    text = capsys.readouterr().out
    assert status == 0
    assert "best hold within 1 %" in text
    assert "measured" in text
    assert "warning: no power was fitted for sw5, sw6" in text
    status = run(["predict", saved, "--calibration", fitted, "--topology", "table-3", "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert status == 0
    (one,) = printed["predictions"]
    assert {answer["where"] for answer in one["answers"]} == {network.name for network in TABLE_3}
    assert all(answer["time_s"]["low"] <= answer["time_s"]["value"] for answer in one["answers"])


@pytest.mark.slow
def test_all_configurations_of_a_run_are_predicted(
    sweep: Path, fitted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["predict", str(sweep), "--calibration", fitted, "--json", "--at", "array_byte=256"]) == 0
    printed = json.loads(capsys.readouterr().out)["predictions"]
    assert len(printed) == 8
    assert all([answer["what_if"] for answer in one["answers"]] == ["off", "measured"] for one in printed)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--at", "sleep_us"], "is not KEY=VALUE"),
        (["--at", "sleep_us=7"], "no configuration has sleep_us=7: array_byte is one of 256, 4096"),
        (["--what-if", "deeper"], "is not a mode"),
        (["--bound-slowdown", "much"], "is not a slowdown"),
        (["--topology", "ring"], "no topology 'ring'"),
        (["--topology", "table-3", "--bound-slowdown", "1%"], "leave --topology out"),
        (["--lab", "nix"], "no lab 'nix'"),
        (["--save", "/nonexistent/p.yaml"], "choose one with --at"),
    ],
)
def test_invalid_arguments_are_reported(
    sweep: Path, fitted: str, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["predict", str(sweep), "--calibration", fitted, *words]) == 1
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.count("\n") == 1


def test_invalid_files_are_reported(
    sweep: Path, fitted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["predict", str(tmp_path / "nix"), "--calibration", fitted]) == 1
    assert "is neither a profile's file nor a run's folder" in capsys.readouterr().err
    assert run(["predict", str(sweep), "--calibration", str(tmp_path / "nix")]) == 1
    assert "eeectl fit" in capsys.readouterr().err
    assert run(["predict", str(sweep)]) == 2
