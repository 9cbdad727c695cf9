"""Files of others are checked cell by cell: one sentence a fault, with its row."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eee_testbed.dataset.check import SHOWN, checked, faults_of
from eee_testbed.dataset.schema import MEASURED
from eee_testbed.lab.errors import LabError

GOOD: Mapping[str, Any] = {
    "run": "r1", "trial": 0, "begun_ns": 1_795_000_000_000_000_000, "duration_s": 60.0, "state": "valid",
    "device": "sw1", "device_model": "X1", "meter": "pdu1:3", "lab_kind": "hardware", "eee": "on",
    "links_up_count": 24, "link_mbps": 1000, "program": None, "interval_us": None, "size_byte": None,
    "run_time_s": None, "power_watt": 30.25, "power_low_watt": 30.0, "power_high_watt": 30.5,
}  # fmt: skip


def write(folder: Path, suffix: str = "csv", *changes: Mapping[str, Any]) -> Path:
    path = folder / f"mine.{suffix}"
    rows = [dict(GOOD) | dict(change) for change in changes or ({},)]
    frame = pl.DataFrame(rows, schema=MEASURED.types, orient="row")
    frame.write_csv(path) if suffix == "csv" else frame.write_parquet(path)
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_right_file_has_no_faults(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, suffix, {}, {"trial": 1, "begun_ns": GOOD["begun_ns"] + 1})
    assert checked(tmp_path) == {path: []}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"power_watt": None}, "row 2, power_watt: it is empty: write a value."),
        ({"power_watt": float("nan")}, "row 2, power_watt: nan is not a measured value: write one."),
        ({"interval_us": float("nan")}, "row 2, interval_us: nan is not a measured value: leave the cell empty."),
        ({"power_watt": -1.0}, "row 2, power_watt: -1.0 is below 0 W: correct it, or its unit."),
        ({"power_watt": 2e6}, "row 2, power_watt: 2000000.0 is above 1e+06 W: correct it, or its unit."),
        ({"eee": "yes"}, "row 2, eee: 'yes' is unknown: write one of on, off, unknown."),
        (
            {"begun_ns": 5},
            "row 2, begun_ns: 5 is before 1795000000000000000 of the row above: sort the rows by it.",
        ),
        (
            {"power_low_watt": 31.0},
            "row 2, power_watt: 30.25 W is not between 31.0 and 30.5 W: correct the interval.",
        ),
    ],
)
def test_each_fault_is_a_sentence(tmp_path: Path, suffix: str, change: Mapping[str, Any], sentence: str) -> None:
    path = write(tmp_path, suffix, {}, change)
    assert faults_of(path) == [f"{path}, {sentence}"]


def test_columns_and_types_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    frame = pl.DataFrame([GOOD], schema=MEASURED.types, orient="row").drop("power_watt")
    frame.with_columns(pl.lit(1).alias("watts"), pl.lit(value=True).alias("trial")).write_parquet(path)
    found = faults_of(path)
    assert found[0] == f"{path}: the column power_watt is missing: add it (mean power in the window, in W)."
    assert found[1].startswith(f"{path}: the column watts is unknown: remove it, or name it as one of run, trial,")
    assert found[2:] == [f"{path}, column trial: it has the type Boolean: write integer."]


def test_a_word_for_a_number_and_many_faults(tmp_path: Path) -> None:
    path = write(tmp_path, "csv", *({"begun_ns": GOOD["begun_ns"] + number} for number in range(SHOWN + 5)))
    path.write_text(path.read_text().replace("60.0", "a minute"))
    found = faults_of(path)
    assert len(found) == SHOWN + 1
    assert found[0] == f"{path}, row 1, duration_s: 'a minute' is not a valid number: correct it."
    assert found[-1] == f"{path}, column duration_s: 5 more rows have faults like these."


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="has no table"):
        checked(tmp_path)
    for name, content, sentence in (
        ("x.txt", b"a", "neither .parquet nor .csv"),
        ("x.parquet", b"not parquet", "is damaged, or not what its name says"),
        ("x.csv", b"", "is damaged, or not what its name says"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(LabError, match=sentence):
            checked(tmp_path / name)
