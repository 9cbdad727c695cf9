"""`eeectl dataset`: build, check and export, as a stranger uses them."""

import json
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.eeectl.cli import run as eeectl
from tests.support.measured.synthetic_run import write_measured
from tests.support.studies import tiny


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_data_set_has_the_points_of_a_study(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(tiny(folder))]) == 0
    assert eeectl(["dataset", "build", "-o", "data", "--reduced", "--study", "simulations/tiny", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.split("points.parquet\n")[-1])
    assert told["rows"]["points"] == 2
    found = pl.read_parquet("data/points.parquet")
    raw = pl.read_parquet("simulations/tiny/points.parquet")
    assert found["case"].to_list() == [f"network=ring,program=stencil,links={one}" for one in ("always-on", "deep")]
    assert found["run_time_s"].to_list() == raw["run_time_s"].to_list()
    assert found["link_low_power_fraction"].to_list() == raw["quiet_share"].to_list()
    assert found["link_low_power_fraction"][1] > 0
    assert eeectl(["dataset", "check", "data"]) == 0
    assert capsys.readouterr().out == "data: 5 tables have the right form.\n"


def test_truths_are_those_of_the_labs(capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["dataset", "build", "-o", "data", "--reduced"]) == 0
    assert "data/points.parquet: 0 rows, points of simulated studies\n" in capsys.readouterr().out
    truths = pl.read_parquet("data/truths.parquet").filter(
        lab="miwa", key="switches.families.dell_powerconnect_55xx.lpi.hold_us"
    )
    assert truths["value"].to_list() == [1000.0]


def test_a_run_becomes_a_measured_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_measured(folder)
    assert eeectl(["dataset", "export", "study", "-o", "mine.csv"]) == 0
    told = capsys.readouterr()
    assert told.out == "mine.csv: 74 rows\n"
    assert "25 of 99 trials are left out: they have no watts" in told.err
    assert eeectl(["dataset", "check", "mine.csv"]) == 0
    assert eeectl(["dataset", "export", "study", "-o", "mine.csv"]) == 1
    assert "mine.csv exists: name another file, or remove it." in capsys.readouterr().err


def test_faults_are_printed_and_told_by_the_exit_status(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.csv").write_text("run,trial\nr1,first\n")
    assert eeectl(["dataset", "check", "mine.csv"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert "mine.csv, row 1, trial: 'first' is not a valid integer: correct it." in out
    assert eeectl(["dataset", "check", "mine.csv", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["faults"] == out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["build", "-o", "x", "--study", "none"], "none/points.parquet: No such file or directory; name the folder of"),
        (["check", "none"], "none has no table: name a .parquet or .csv file, or a folder with some."),
        (["export", "none", "-o", "x.csv"], "none is not a run's folder"),
        (["export", "none", "-o", "x.xls"], "x.xls is neither .parquet nor .csv: name the file so."),
    ],
)
def test_mistakes_are_sentences(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["dataset", *words]) == 1
    assert sentence in capsys.readouterr().err


def test_points_of_something_else_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (folder / name / "s").mkdir(parents=True)
        pl.DataFrame({"x": [1]}).write_parquet(folder / name / "s" / "points.parquet")
    assert eeectl(["dataset", "build", "-o", "x", "--study", "a/s"]) == 1
    assert "a/s/points.parquet has no points of a study" in capsys.readouterr().err
    assert eeectl(["dataset", "build", "-o", "x", "--study", "a/s", "--study", "b/s"]) == 1
    assert "two studies are named s: rename one of the folders" in capsys.readouterr().err
    assert not (folder / "x").exists()
