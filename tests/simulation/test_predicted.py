"""Predictions on simulated networks: beside hops times wake where both are right, and of labs and files."""

import json
from pathlib import Path

import pytest
from eee_engine import network_facts

from eee_testbed.analysis.calibration import PowerPart, save_calibration
from eee_testbed.analysis.predict.other_networks import predict_topologies
from eee_testbed.analysis.predict.topologies import TABLE_3, TABLE_4
from eee_testbed.analysis.predict.what_if import PHYS, parse_what_if
from eee_testbed.analysis.programs.profile import save_profile
from eee_testbed.eeectl.cli import run
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.predicted import PHY_MBPS, Simulator, network_named
from tests.analysis.predict.test_prediction import exact_calibration, profile
from tests.support.measured.synthetic_run import calibration

_NO_POWER = exact_calibration().model_copy(update={"power": PowerPart()})
_DEEP = parse_what_if("deep,hold_us=0,phy=andujar-10G")
_RARE = profile({20_000.0: 1_000})
"""A kilobyte each 20 ms: messages hardly meet, and links sleep between them."""


def _pair(folder: Path) -> Path:
    """The file of two routers of four nodes each, joined by one link."""
    text = "name: pair\nnetwork: {kind: graph, routers: 2, nodes: [0, 0, 0, 0, 1, 1, 1, 1], links: [[0, 1]]}\n"
    path = folder / "pair.yaml"
    path.write_text(text + "routing: up_down\nloads: [0.1]\n", encoding="utf-8")
    return path


def test_every_network_of_the_paper_has_its_size_when_simulated() -> None:
    for topology in (*TABLE_3, *TABLE_4):
        (found,) = network_named(topology.name)
        description = found.description(1, 0.1)
        facts = network_facts(description.network.form())
        assert facts["nodes"] == topology.nodes
        if topology.family != "fat tree":  # simulated with all switches in its last stage
            assert facts["routers"] == topology.switches
            assert 2 * facts["links"] + facts["nodes"] == topology.network_ports


def test_rare_messages_wait_for_a_wake_at_each_hop() -> None:
    """Where messages hardly meet, a simulation gives hops times wake; a frame that meets a Ts waits a little longer."""
    for name in ("torus-4x4x4", "fattree-k4-n3", "dragonfly-a4-h2-p2"):
        networks = network_named(name)
        where = [networks[0].topology]
        (simple,) = predict_topologies(_RARE, _NO_POWER, where, [_DEEP], draws=20)
        (found,) = predict_topologies(_RARE, _NO_POWER, where, [_DEEP], draws=20, simulated=Simulator(networks))
        by_hops, simulated = (one.time_s.value - _RARE.base_s.value for one in (simple, found))
        assert simulated == pytest.approx(by_hops, rel=0.1)
        assert found.time_s.low < found.time_s.value < found.time_s.high
        # Inner links sleep nearly always, while the program's gaps have one sleeping direction of two.
        assert found.network_watt is not None
        assert simple.network_watt is not None
        assert found.network_watt.value < simple.network_watt.value


def test_busy_links_sleep_less_than_hops_times_wake_assumes() -> None:
    """With much traffic of others, inner links are awake; a hold that the nodes' links reach is never reached there."""
    busy = profile({100.0: 10_000}, rounds=10_000, message_byte=50_000)
    networks = network_named("fattree-k8-n2")
    asked = parse_what_if("deep,hold_us=90,phy=andujar-10G")
    where = [networks[0].topology]
    (simple,) = predict_topologies(busy, _NO_POWER, where, [asked], draws=5)
    (found,) = predict_topologies(busy, _NO_POWER, where, [asked], draws=5, simulated=Simulator(networks))
    assert found.time_s.value < simple.time_s.value


def test_fitted_times_widen_the_interval() -> None:
    networks = network_named("torus-4x4-trunk4")
    known = calibration(power=PowerPart())
    where = [networks[0].topology]
    asked = parse_what_if("measured")
    (found,) = predict_topologies(_RARE, known, where, [asked], draws=40, simulated=Simulator(networks))
    (exact,) = predict_topologies(_RARE, _NO_POWER, where, [asked], draws=40, simulated=Simulator(networks))
    assert found.time_s.half_width > exact.time_s.half_width


def test_saturation_falls_back_or_is_told(tmp_path: Path) -> None:
    full = profile({1.0: 1_000}, message_byte=100_000)
    networks = network_named("torus-4x4x4")
    where = [networks[0].topology]
    asked = parse_what_if("deep,hold_us=0,phy=1000BASE-T")
    (found,) = predict_topologies(full, _NO_POWER, where, [asked], draws=3, simulated=Simulator(networks))
    assert any("saturates torus-4x4x4" in warning for warning in found.warnings)
    # Of half the load of a node's link, the one link between both halves carries four nodes' worth.
    narrow = profile({1_000.0: 1_000}, message_byte=65_000)
    lab = network_named(str(_pair(tmp_path)))
    with pytest.raises(LabError, match="saturates pair"):
        predict_topologies(narrow, _NO_POWER, [lab[0].topology], [asked], draws=3, simulated=Simulator(lab))


def test_coalescing_is_refused() -> None:
    networks = network_named("torus-4x4x4")
    asked = parse_what_if("coalescing,wait_us=100,hold_us=0")
    with pytest.raises(LabError, match="leave --simulated out"):
        predict_topologies(_RARE, _NO_POWER, [networks[0].topology], [asked], draws=3, simulated=Simulator(networks))


def test_every_phy_has_a_rate() -> None:
    assert PHY_MBPS.keys() == PHYS.keys()


@pytest.mark.slow
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    save_calibration(tmp_path / "c.yaml", calibration())
    save_profile(tmp_path / "p.yaml", _RARE)
    _pair(tmp_path)
    predict = ["predict", "p.yaml", "--calibration", "c.yaml", "--what-if", "deep,hold_us=10", "--json"]
    assert (
        run([*predict, "--topology", "pair.yaml", "--topology", "lab:virtual", "--topology", "torus-4x4-trunk4"]) == 0
    )
    (one,) = json.loads(capsys.readouterr().out)["predictions"]
    assert [answer["where"] for answer in one["answers"]] == ["pair", "lab:virtual", "torus-4x4-trunk4"]
    for answer in one["answers"]:
        assert any("messages between switches are simulated" in warning for warning in answer["warnings"])
        assert answer["time_s"]["low"] < answer["time_s"]["value"] < answer["time_s"]["high"]
    assert run([*predict, "--topology", "torus-4x4-trunk4", "--simulated"]) == 0
    capsys.readouterr()
    for words, sentence in (
        (["--simulated"], "--simulated is for other networks"),
        (["--topology", "lab:nowhere"], "no lab 'nowhere'"),
        (["--topology", "none.yaml"], "none.yaml: cannot be read"),
        (["--topology", "ring", "--simulated"], "no topology 'ring'"),
    ):
        assert run([*predict, *words]) == 1
        err = capsys.readouterr().err
        assert sentence in err
        assert err.count("\n") == 1
