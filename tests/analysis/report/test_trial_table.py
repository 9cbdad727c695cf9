"""Every trial as one line, with units; as a table and as `eeectl report --trials csv` prints it."""

import csv
import io
from pathlib import Path

import pytest

from eee_testbed.analysis.report.report_data import read_report_data
from eee_testbed.analysis.report.trial_table import trial_table
from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.record.trials import read_trials
from tests.support.measured.synthetic_run import Writer, write_run


def _trials(writer: Writer) -> None:
    for block, eee in ((0, "on"), (0, "off"), (1, "off")):
        figures = [("time", 8.0 + block, "s"), ("rate", 3.0, "call/s")]
        begun_ns, ended_ns = writer.write(
            {"eee": eee}, 10.0, figures=figures, block=block, program="command", hosts=("n01", "n02"),
            ranks_per_host=2, parameters={"words": ["/shared/halo", "200"]},
        )  # fmt: skip
        writer.watts(begun_ns - 1_000_000_000, ended_ns + 1_000_000_000, 50.0)
    writer.write({"eee": "on", "size": 4}, 1.0, state="invalid", why="a frame was late, or lost", program="command")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path, _trials)


def test_each_trial_is_a_line_with_units_in_the_head(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["report", str(folder), "--trials", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == len(read_trials(folder)) == 4
    first, *_, last = rows
    assert (first["program"], first["eee"], first["ranks (1)"]) == ("halo", "on", "4")
    assert (float(first["time (s)"]), float(first["rate (call/s)"])) == (8.0, 3.0)
    assert float(first["network energy (J)"]) == pytest.approx(8.0 * 50.0, rel=0.01)
    assert (last["state"], last["why"], last["size"]) == ("invalid", "a frame was late, or lost", "4")
    assert last["time (s)"] == ""
    assert [row["block"] for row in rows] == ["0", "0", "1", "0"]


def test_levels_stand_before_figures(folder: Path) -> None:
    heads = [column.head for column in trial_table(read_report_data([folder], None, "")).columns]
    assert heads.index("size") < heads.index("state") < heads.index("time (s)")


def test_trials_can_go_to_a_file(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trials.csv"
    assert eeectl(["report", str(folder), "--trials", "csv", "-o", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert len(file.read_text(encoding="utf-8").splitlines()) == 5
    assert eeectl(["report", str(folder), "--trials", "csv", "-o", str(tmp_path)]) == 1
    assert "is a folder" in capsys.readouterr().err


def test_a_run_without_trials_has_no_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["report", str(write_run(tmp_path)), "--trials", "csv"]) == 1
    assert "has no trial" in capsys.readouterr().err
