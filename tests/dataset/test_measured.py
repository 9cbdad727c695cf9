"""A run's folder becomes a measured file, which passes the check of such files."""

from pathlib import Path

import polars as pl
import pytest

from eee_testbed.dataset.check import faults_of
from eee_testbed.dataset.measured import measured_of
from eee_testbed.lab.errors import LabError
from eee_testbed.record.trials import read_trials
from tests.support.measured.synthetic_run import write_measured, write_run


def test_rows_are_the_trials_that_a_meter_resolves(tmp_path: Path) -> None:
    write_measured(tmp_path)
    run = tmp_path / "runs" / "study"
    found = measured_of(run)
    by_number = {trial.number: trial for trial in read_trials(run)}
    assert found.trials == len(by_number) == found.frame["trial"].n_unique() + found.without_watts
    for row in found.frame.iter_rows(named=True):
        trial = by_number[row["trial"]]
        assert (row["begun_ns"], row["state"], row["eee"]) == (trial.begun_ns, trial.state, trial.levels["eee"])
        assert row["power_low_watt"] <= row["power_watt"] <= row["power_high_watt"]
        assert row["interval_us"] == trial.parameters.get("sleep_us", trial.levels.get("sleep_us"))
    assert set(found.frame["device_model"]) == {"PowerConnect 5524"}
    assert set(found.frame["lab_kind"]) == {"virtual"}
    long = found.frame.filter(pl.col("interval_us") > 2000).group_by("eee").agg(pl.col("power_watt").median())
    watts = dict(long.iter_rows())
    assert watts["on"] < watts["off"]
    found.frame.write_parquet(tmp_path / "mine.parquet")
    assert faults_of(tmp_path / "mine.parquet") == []


def test_a_run_without_watts_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path)
    with pytest.raises(LabError, match="has no watts of a switch in any trial: measure with a metered strip"):
        measured_of(next(tmp_path.iterdir()))
