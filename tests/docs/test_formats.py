"""The promises of docs/reference/formats.md: today's code reads the files that earlier versions wrote."""

import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from eee_testbed import LabError, open_calibration, open_run
from eee_testbed.analysis.calibration import CalibrationError
from eee_testbed.lab.folder import load_lab
from tests.support import ROOT

_RELEASES = ROOT / "tests" / "support" / "releases"
_FIRST = _RELEASES / "0.1.0"
_SECOND = _RELEASES / "0.2.0"
_RELEASED = re.findall(r"^## \[?([\d.]+)\]?", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("version", _RELEASED)
def test_every_released_version_has_its_files_here(version: str) -> None:
    """Each is read; what the files of a version hold is asserted below."""
    folder = _RELEASES / version
    for run in (folder / "run", *folder.glob("run-of-*")):
        assert open_run(run).trials().height > 0
    assert open_calibration(folder / "calibration.yaml").links().height > 0
    for inventory in (folder / "inventory").iterdir():
        assert load_lab(inventory).switches


def test_a_run_of_the_first_version_reads_as_it_was_written() -> None:
    run = open_run(_FIRST / "run")
    trials = run.trials()
    assert (trials.height, trials.filter(state="valid").height) == (19, 18)
    assert trials.filter(state="invalid")["why"].to_list() == ["the twin was 412 us late"]
    assert trials.filter(program="alltoall", state="valid")["factor_eee"].to_list() == ["off", "on", "off", "on"]
    assert run.results().filter(trial=2, name="time").row(0)[3:] == (0.5, "s")
    assert (run.echoes().height, run.echoes()["rtt_ns"].null_count()) == (80, 2)
    assert run.gaps().select("trial", "host", "direction", "gaps_count").rows() == [
        (2, "n01", "transmit", 1_000.0),
        (2, "n01", "receive", 1_000.0),
    ]
    watts = run.samples("watts").group_by("feeds").agg(pl.col("power_watt").median()).sort("feeds")
    assert watts["power_watt"].to_list() == pytest.approx([250.0, 58.0], abs=0.75)
    assert run.events().filter(kind="actuation").height == 12


def test_a_calibration_of_the_first_version_reads_as_it_was_written() -> None:
    calibration = open_calibration(_FIRST / "calibration.yaml")
    assert calibration.links().filter(parameter="hold_us").row(0) == (
        *("path n01 - n02", "hold_us", "us"),
        *(1_000.0, 995.0, 1_005.0),
    )
    assert calibration.power().filter(of="sw1", parameter="base_watt")["value"].to_list() == [40.0]
    assert calibration.run_time().filter(parameter="miwa.threshold_us")["value"].to_list() == [900.0]


@pytest.mark.parametrize(("name", "counts"), [("example", (4, 16, 25, 2)), ("virtual", (6, 12, 42, 2))])
def test_an_inventory_of_the_first_version_is_the_lab_that_it_was(name: str, counts: tuple[int, ...]) -> None:
    lab = load_lab(_FIRST / "inventory" / name)
    assert (len(lab.switches), len(lab.hosts), len(lab.links), len(lab.strips)) == counts


def test_runs_of_the_second_version_read_as_they_were_written() -> None:
    run = open_run(_SECOND / "run")
    assert run.trials()["factor_eee"].to_list() == ["on", "off", "off", "on"]
    assert run.results().filter(trial=0, name="time").row(0)[3:] == (0.128667535, "s")
    assert run.gaps()["gaps_count"].sum() == 1_994.0
    echoes = open_run(_SECOND / "run-of-echoes")
    assert sorted(echoes.trials()["state"]) == 5 * ["invalid"] + 6 * ["valid"]
    assert (echoes.echoes().height, echoes.echoes()["rtt_ns"].null_count()) == (1650, 0)
    power = open_run(_SECOND / "run-of-power")
    assert power.trials().filter(factor_link="off").height == 2
    watts = power.samples("watts").filter(feeds="sw2")["power_watt"]
    assert (watts.median(), watts.len()) == (pytest.approx(27.49824), 118)


def test_a_calibration_of_the_second_version_reads_as_it_was_written() -> None:
    calibration = open_calibration(_SECOND / "calibration.yaml")
    hold = calibration.links().filter(parameter="hold_us").row(0)
    assert hold == ("n01-n02", "hold_us", "us", 976.2337, 935.8701, 1_223.065)
    assert calibration.power().filter(of="sw1", parameter="base_watt")["value"].to_list() == [25.99416]


def test_an_inventory_of_the_second_version_is_the_lab_that_it_was() -> None:
    lab = load_lab(_SECOND / "inventory" / "small")
    assert (len(lab.switches), len(lab.hosts), len(lab.links), len(lab.strips)) == (2, 4, 6, 1)


def test_a_run_and_a_calibration_of_a_format_to_come_are_refused(tmp_path: Path) -> None:
    shutil.copytree(_FIRST / "run", tmp_path / "run")
    for name in ("run/run.yaml", "calibration.yaml"):
        text = (_FIRST / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("format: 1\n", "format: 2\n", 1), encoding="utf-8")
    with pytest.raises(LabError, match="read it with the version that wrote it"):
        open_run(tmp_path / "run").facts  # noqa: B018 - reads the file
    with pytest.raises(CalibrationError, match="format 2, not 1"):
        open_calibration(tmp_path / "calibration.yaml")
