"""The papers that a report cites are those behind what it used."""

import re
from pathlib import Path

import pytest

from eee_testbed.analysis.report.page import page, report_of
from eee_testbed.analysis.report.references import REFERENCES, references_of, save_bibtex
from eee_testbed.analysis.report.report_data import ReportData, read_report_data
from eee_testbed.lab.errors import LabError
from tests.support.measured.synthetic_run import (
    Writer,
    calibration,
    write_alltoall,
    write_probe,
    write_regulation,
    write_run,
)


def _data(root: Path, *parts: object) -> ReportData:
    return read_report_data([write_run(root, *parts)], calibration(), "calibration.yaml")


def test_a_whole_study_cites_what_it_used(tmp_path: Path) -> None:
    data = _data(tmp_path, write_probe, write_alltoall, write_regulation)
    report = report_of(data)
    keys = [one.key for one in report.references]
    assert keys == ["ieee8023az", "miwa2013", "koibuchi2011", "andujar2023", "student1908"]
    assert "@article{miwa2013," in page(data, report)


def test_blocks_decide_which_interval_is_cited(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        for block in range(6):
            for eee in ("on", "off"):
                writer.write({"eee": eee}, 1.0, figures=[("time", 1.0 + block, "s")], block=block, program="p")

    keys = {one.key for one in references_of(_data(tmp_path, part), ())}
    assert "efron1979" in keys
    assert "student1908" not in keys


@pytest.mark.parametrize("one", REFERENCES, ids=lambda one: one.key)
def test_entries_are_bibtex(one: object) -> None:
    text = one.bibtex  # type: ignore[attr-defined]
    assert re.match(r"@(article|inproceedings|misc)\{[a-z0-9]+,\n  author = \{", text)
    assert text.count("{") == text.count("}")
    assert text.isascii()
    assert "year = {" in text


def test_the_file_has_every_entry(tmp_path: Path) -> None:
    text = save_bibtex(REFERENCES, tmp_path / "figures").read_text(encoding="ascii")
    assert text.count("@") == len(REFERENCES)
    (tmp_path / "taken").write_text("", encoding="ascii")
    with pytest.raises((LabError, FileExistsError)):
        save_bibtex(REFERENCES, tmp_path / "taken")
