"""A data set's folder: the same bytes when it is made twice, a description that is right, checksums that hold."""

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.dataset.check import checked
from eee_testbed.dataset.package import write_data_set, wrong_sums
from eee_testbed.dataset.schema import BUILT, TRUTHS
from eee_testbed.lab.errors import LabError
from tests.support.data_set import write_small


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small(tmp_path_factory.mktemp("data") / "set")


def test_equal_inputs_give_equal_bytes(built: Path, tmp_path: Path) -> None:
    again = write_small(tmp_path)
    write_small(tmp_path)  # over the one that is there
    names = sorted(path.name for path in built.iterdir())
    assert names == sorted(path.name for path in again.iterdir())
    assert all((built / name).read_bytes() == (again / name).read_bytes() for name in names)


def test_the_description_is_that_of_the_files(built: Path) -> None:
    about = json.loads((built / "datapackage.json").read_text())
    assert about["licenses"][0]["name"] == "CC-BY-4.0"
    assert about["provenance"]["seeds"] == {"engine": 0}
    assert [one["name"] for one in about["resources"]] == [table.name for table in BUILT]
    for one in about["resources"]:
        content = (built / one["path"]).read_bytes()
        assert one["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert one["bytes"] == len(content)
        frame = pl.read_parquet(built / one["path"])
        assert frame.height == one["rows"]
        assert frame.columns == [field["name"] for field in one["schema"]["fields"]]
    units = {field["name"]: field.get("unit") for field in about["resources"][0]["schema"]["fields"]}
    assert (units["port_watt"], units["interval_us"], units["switch"]) == ("W", "us", None)


def test_its_tables_pass_their_own_check(built: Path) -> None:
    assert list(checked(built).values()) == [[]] * len(BUILT)
    assert not wrong_sums(built)


def test_a_changed_or_lost_file_is_found(tmp_path: Path) -> None:
    folder = write_small(tmp_path)
    (folder / "README.md").write_text("changed")
    (folder / "points.parquet").unlink()
    assert wrong_sums(folder) == [
        f"{folder}/README.md differs from its checksum: build the data set again, or copy it anew.",
        f"{folder}/points.parquet is missing: build the data set again, or copy it anew.",
    ]


def test_the_data_sheet_names_every_column(built: Path) -> None:
    sheet = (built / "README.md").read_text()
    assert all(f"| `{field.name}` |" in sheet for table in BUILT for field in table.fields)


def test_another_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(LabError, match="holds something that is not a data set"):
        write_data_set(tmp_path, "x", {TRUTHS: pl.DataFrame(schema=TRUTHS.types)}, {})
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
