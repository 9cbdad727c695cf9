"""The package for notebooks: its examples run, on a run and a calibration with known values."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import polars as pl
import pytest

import eee_testbed
from eee_testbed import LabError, figures, open_calibration, open_data_set, open_run, units
from eee_testbed.analysis.report.page import SECTIONS
from tests.support.data_set import write_small
from tests.support.measured.synthetic_run import write_measured, write_run

_PUBLIC = (found.name for found in pkgutil.iter_modules(eee_testbed.__path__) if not found.ispkg)
MODULES = ["eee_testbed", *(f"eee_testbed.{name}" for name in _PUBLIC)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `runs/study`, `calibration.yaml` and `data-set`."""
    folder = tmp_path_factory.mktemp("notebook")
    write_measured(folder)
    write_small(folder / "data-set")
    return folder


@pytest.fixture(autouse=True)
def _there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_documentation_run(name: str) -> None:
    known = {
        "open_run": open_run,
        "open_calibration": open_calibration,
        "open_data_set": open_data_set,
        "units": units,
    }
    module = importlib.import_module(name)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(module, extraglobs=known, optionflags=flags)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_section_of_a_report_is_a_function() -> None:
    assert set(figures.SECTIONS.values()) == set(SECTIONS)
    for name in figures.SECTIONS:
        assert callable(getattr(figures, name)), name
        assert getattr(figures, name).__doc__


def test_a_figure_shows_itself_in_a_notebook_and_can_be_saved(tmp_path: Path) -> None:
    made = figures.overhead(open_run("study"), calibration=open_calibration("calibration.yaml"))
    drawn = next(iter(made.figures.values()))
    assert drawn._repr_svg_().startswith("<svg")
    drawn.figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1_000
    assert made.tables
    assert all(isinstance(table, pl.DataFrame) and table.height for table in made.tables.values())


def test_results_agree_with_the_trials() -> None:
    run = open_run("runs/study")
    times = run.results().filter(name="time", state="valid")
    assert set(times["unit"]) == {"s"}
    joined = run.trials().join(times, on="trial")
    assert joined.height == times.height
    assert (joined["window_s"] - joined["value"]).abs().max() < 1e-6


def test_echoes_are_those_of_the_probes_with_their_losses() -> None:
    run = open_run("runs/study")
    echoes = run.echoes()
    probes = run.trials().filter(what="probe")
    assert set(echoes["trial"]) == set(probes["trial"])
    assert units(echoes)["rtt_ns"] == "ns"
    lost = echoes.group_by("trial").agg(pl.col("rtt_ns").is_null().sum())
    assert lost["rtt_ns"].to_list() == [1] * probes.height
    medians = echoes.join(run.trials(), on="trial").group_by("factor_eee").agg(pl.col("rtt_ns").median())
    assert medians.sort("rtt_ns")["factor_eee"].to_list() == ["off", "on"]


def test_gaps_are_the_bins_that_the_recorder_counted() -> None:
    run = open_run("runs/study")
    gaps = run.gaps()
    assert set(gaps["direction"]) == {"transmit", "receive"}
    assert (gaps["low_us"] < gaps["high_us"]).all()
    assert (gaps["gaps_count"] > 0).all()
    with_gaps = run.trials().filter(pl.col("trial").is_in(gaps["trial"].implode()))
    assert set(with_gaps["what"]) == {"program"}


def test_a_run_without_recordings_has_empty_frames(tmp_path: Path) -> None:
    write_run(tmp_path)
    run = open_run(tmp_path / next(tmp_path.iterdir()).name)
    assert run.echoes().is_empty()
    assert run.gaps().is_empty()


def test_what_is_not_a_run_or_a_calibration_is_one_sentence() -> None:
    with pytest.raises(LabError, match="name one below runs/"):
        open_run("nowhere")
    with pytest.raises(LabError, match="eeectl fit"):
        open_calibration("nowhere.yaml")
    with pytest.raises(KeyError, match="name one of ports, watts"):
        open_run("study").samples("joules")


def test_a_data_set_is_read_as_it_was_written(tmp_path: Path) -> None:
    data = open_data_set("data-set")
    assert data.about["provenance"]["commit"] == "abc"
    assert data.table("power").columns == data.columns_of("power")["column"].to_list()
    with pytest.raises(KeyError, match="name one of power, points, truths"):
        data.table("watts")
    with pytest.raises(LabError, match="is no data set"):
        open_data_set(tmp_path)
    (tmp_path / "datapackage.json").write_text('{"resources": [{"name": "x", "format": "csv"}]}')
    with pytest.raises(LabError, match="describes no tables in Parquet"):
        open_data_set(tmp_path)
