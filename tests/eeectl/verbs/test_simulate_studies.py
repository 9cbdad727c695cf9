"""`eeectl simulate` with a study's file."""

import json
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from tests.support import ROOT
from tests.support.studies import TINY, tiny

_CALIBRATION = str(ROOT / "tests" / "support" / "releases" / "0.1.0" / "calibration.yaml")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tiny(tmp_path)


def test_a_reduced_set_says_what_it_leaves_out_and_costs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "tiny: 2 points in the reduced set, 2 to simulate" in err
    assert "left out: The square." in err
    assert "cost: about" in err
    assert "[2 of 2" in err
    assert "simulations/tiny/points.parquet" in out
    assert eeectl(["simulate", str(file)]) == 0
    assert "2 points in the reduced set, 0 to simulate" in capsys.readouterr().err


def test_the_whole_has_a_folder_of_its_own(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--whole", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["folder"], found["points"]) == ("simulations/tiny-whole", 9)


def test_a_statement_stands_above_ours_and_the_verdict(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beside = """beside:
  - {text: Slower by, source: a page, of: {links: deep}, against: {links: always-on}, percent: 900, because: of mice}
"""
    file.write_text(TINY + beside, encoding="utf-8")
    assert eeectl(["simulate", str(file)]) == 0
    out = capsys.readouterr().out
    assert "0 agree, 1 differ, 0 cannot be compared" in out
    number, ours, verdict = out[out.index("\nM1: ") + 1 :].splitlines()[:3]
    assert number.endswith("(a page)")
    assert ours.startswith("    ours: ")
    assert verdict == "    differs, because of mice."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["--best"], "--best is for one simulation"), (["--engine", "flit"], "--engine is for one simulation")],
)
def test_options_of_one_simulation_are_refused(
    file: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert eeectl(["simulate", str(file), *words]) == 1
    assert sentence in capsys.readouterr().err


def test_advice_is_a_table_and_a_page(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--advise"]) == 0
    out = capsys.readouterr().out
    assert "which choice for these jobs" in out
    assert "ring deep" in out
    assert "report: simulations/tiny/report.html" in out
    assert Path("simulations/tiny/figures/advice-wide.svg").is_file()
    assert eeectl(["simulate", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {" ".join(one["labels"].values()) for one in found["choices"]} == {"ring always-on", "ring deep"}
    # One seed has no interval.
    assert found["choices"][0]["run_time_s"]["low"] is None


def test_measured_watts_stand_beside_the_papers(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(TINY.replace("cycle_ns: 1.6", "cycle_ns: 128"), encoding="utf-8")
    assert eeectl(["simulate", str(file), "--power", _CALIBRATION, "--report"]) == 0
    out, err = capsys.readouterr()
    assert "tiny: 11 points in the reduced set" in err
    assert "energy with sw1" in out
    assert "ring stencil measured" in out
    assert "measured-1" not in out
    assert Path("simulations/tiny-measured/figures/measured.svg").is_file()
    assert eeectl(["simulate", str(file), "--power", _CALIBRATION, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["labels"][-1] for one in found["energies"]] == ["always-on", "deep", "measured"]
    assert found["points"] == 3


@pytest.mark.parametrize("option", ["--whole", "--advise", "--power=some.yaml"])
def test_options_of_studies_are_refused_for_a_simulation(
    file: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    file.write_text("name: one\nnetwork: {kind: torus, radix: [4]}\nrouting: dor\nloads: [0.1]\n", encoding="utf-8")
    assert eeectl(["simulate", str(file), option]) == 1
    assert f"{option.partition('=')[0]} is for studies" in capsys.readouterr().err
