"""The calibration file, which fits write and predictions read."""

import math
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from eee_testbed.analysis.calibration import (
    Calibration,
    CalibrationError,
    Estimate,
    PortPower,
    PowerPart,
    SwitchPower,
    load_calibration,
    save_calibration,
)


def _estimate(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.1, high=math.inf)


def _switch(base_watt: float) -> SwitchPower:
    return SwitchPower(
        base_watt=_estimate(base_watt),
        port_by_mbps={1000: PortPower(link_watt=_estimate(0.512345678))},
        drift_watt=0.1,
        noise_watt=0.2,
        explained_fraction=0.99,
        window_count=12,
    )


def _calibration(lab: str = "miwa", run: str = "r1", **switches: float) -> Calibration:
    power = PowerPart(switches={name: _switch(watt) for name, watt in switches.items()})
    return Calibration.begin(lab, "abc", [run], power=power)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "calibration.yaml"
    written = _calibration(sw1=30.0)
    save_calibration(path, written)
    read = load_calibration(path)
    assert read.power.switches["sw1"].base_watt == written.power.switches["sw1"].base_watt
    assert read.power.switches["sw1"].port_by_mbps[1000].link_watt == Estimate(
        value=0.5123457, low=0.4123457, high=math.inf
    )
    assert (read.runs, read.lab, read.made, read.versions) == (("r1",), "miwa", written.made, written.versions)
    assert [file.name for file in tmp_path.iterdir()] == ["calibration.yaml"]


def test_a_later_fit_replaces_the_same_part_only() -> None:
    both = _calibration(run="r1", sw1=30.0, sw2=40.0).merged(_calibration(run="r2", sw2=41.0, sw3=50.0))
    assert {name: power.base_watt.value for name, power in both.power.switches.items()} == {
        "sw1": 30.0,
        "sw2": 41.0,
        "sw3": 50.0,
    }
    assert both.runs == ("r1", "r2")


def test_calibrations_of_two_labs_cannot_be_merged() -> None:
    with pytest.raises(CalibrationError, match="cannot be merged"):
        _calibration("miwa").merged(_calibration("virtual"))


def test_an_interval_holds_its_value() -> None:
    with pytest.raises(ValidationError, match="does not hold"):
        Estimate(value=2.0, low=0.0, high=1.0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("format: 2\n", "format 2, not 1"),
        ("- a\n", "has no key `format`"),
        ("a: [b\n", "not YAML"),
        ("format: 1\nlab: x\nlab_digest: y\n", "made: Field required"),
        ("format: 1\nmade: m\nlab: x\nlab_digest: y\nwatts: 3\n", "watts: Extra inputs"),
    ],
)
def test_invalid_files_are_reported_in_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text(text)
    with pytest.raises(CalibrationError, match=sentence):
        load_calibration(path)


def test_no_file_and_no_place(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="eeectl fit"):
        load_calibration(tmp_path / "none.yaml")
    with pytest.raises(CalibrationError, match="cannot be written"):
        save_calibration(tmp_path / "none" / "calibration.yaml", _calibration())


def test_every_number_of_the_file_has_its_unit_in_its_name() -> None:
    """But for the parts of an estimate, and R2-like figures that say what they are."""
    units = {"us", "watt", "picojoule", "nanojoule", "fraction", "percent", "count", "mbps"}
    plain = {"value", "low", "high", "evidence", "format", "held_out"}

    def walk(schema: dict[str, Any]) -> None:
        for part in schema.get("$defs", {}).values():
            for name, said in part.get("properties", {}).items():
                numeric = "number" in str(said) or "integer" in str(said) or "Estimate" in str(said)
                if numeric and name not in plain:
                    assert name.rsplit("_", 1)[-1] in units, name

    walk(Calibration.model_json_schema())
