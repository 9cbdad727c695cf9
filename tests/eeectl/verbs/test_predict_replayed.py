"""`eeectl predict --network`: answers from recorded calls, and what it says of runs without them."""

import json
from pathlib import Path

import pytest

from eee_testbed.analysis.calibration import save_calibration
from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.simulation.programs.stencil import Stencil
from eee_testbed.simulation.programs.table import program_of
from eee_testbed.simulation.replay.program import write_program
from tests.support.measured.synthetic_run import calibration, write_measured

_NETWORK = """\
name: pair
network: {kind: graph, routers: 2, nodes: [0, 0, 1, 1], links: [[0, 1]]}
routing: up_down
router: {vcs: 2, buffer_flits: 64, packet_flits: 8, switching: cut_through}
loads: [0.1]
"""


@pytest.fixture
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pair.yaml").write_text(_NETWORK, encoding="utf-8")
    save_calibration(Path("c.yaml"), calibration())
    program = Stencil.model_validate({"procs": [4, 1], "steps": 2, "face_byte": 1000, "grain_ns": 20_000_000})
    write_program(Path("four.replay"), program_of(program))


_PREDICT = ("--network", "pair.yaml", "--calibration", "c.yaml")


@pytest.mark.usefixtures("_folder")
def test_answers_have_intervals_and_the_best_policy(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", "four.replay", *_PREDICT, "--policy", "measured", "--best", "--bound-slowdown", "5%"]
    assert eeectl([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["predictions"]
    (answer,) = found["answers"]
    assert answer["where"] == "pair"
    assert answer["time_s"]["low"] < answer["time_s"]["value"] < answer["time_s"]["high"]
    assert found["best_policy"]["prediction"]["slowdown_percent"]["value"] <= 5
    assert eeectl(words) == 0
    out, err = capsys.readouterr()
    assert "best policy within 5 %: deep,hold_us=" in out
    assert "four, on pair" in out
    Path("four.replay").rename("other")  # a replay file of any name
    assert eeectl(["predict", "other", *words[2:]]) == 0
    assert "other, on pair" in capsys.readouterr().out
    assert err == ""  # nothing was replayed again


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["c.yaml", *_PREDICT], "--trace"),
        (["study", *_PREDICT], "record one with `eeectl bench alltoall --trace`"),
        (["four.replay", *_PREDICT, "--topology", "torus-4x4x4"], "leave --topology out"),
        (["four.replay", "--calibration", "c.yaml", "--output", "here"], "name a network with --network"),
        (["four.replay", "--calibration", "c.yaml", "--network", "none.yaml"], "none.yaml: cannot be read"),
        (["four.replay", "--calibration", "c.yaml", "--network", "lab:nowhere"], "no lab 'nowhere'"),
        (["nothing", *_PREDICT], "not a run's folder"),
    ],
)
def test_a_mistake_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_measured(Path())
    assert eeectl(["predict", *words]) == 1
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1
