"""What an inventory says of all its watts stands beside every figure of watts: report, fit, predict, compare."""

import html
import json
import shutil
from pathlib import Path

import pytest

from eee_testbed.analysis.calibration import Calibration, load_calibration, save_calibration
from eee_testbed.analysis.report.drawing import Drawing
from eee_testbed.analysis.report.page import page, report_of
from eee_testbed.analysis.report.report_data import read_report_data
from eee_testbed.analysis.report.section import Section
from eee_testbed.eeectl.cli import run
from eee_testbed.lab.folder import find_lab, known_labs, load_lab
from tests.support.measured.stage_run import StageRun
from tests.support.measured.synthetic_run import calibration, write_run

NOTE = load_lab(find_lab("virtual")).watts_note


def test_every_shipped_virtual_lab_says_that_its_watts_were_set_to_give_koibuchis_saving() -> None:
    for folder in known_labs().values():
        note = load_lab(folder).watts_note
        virtual = (folder / "twin").is_dir()
        assert ("invented" in note and "Koibuchi" in note and "23 to 26 %" in note) == virtual, folder


def _report(study: Path, fitted: Calibration | None) -> tuple[dict[str, Section], Drawing | None]:
    found = report_of(read_report_data([study], fitted, "calibration.yaml"))
    return {section.name: section for section in found.sections}, found.lead


@pytest.mark.slow
def test_the_note_is_on_the_page_once_above_all(study: Path) -> None:
    data = read_report_data([study], calibration(), "calibration.yaml")
    text = " ".join(html.unescape(page(data, report_of(data))).split())
    assert text.count(NOTE) == 1
    assert text.index(NOTE) < text.index('id="findings"')


@pytest.mark.slow
def test_a_section_alone_has_the_note_at_each_figure_of_watts(study: Path) -> None:
    sections, _ = _report(study, calibration())
    for section in sections.values():
        of_watts = section.name in ("saving", "trade", "power", "networks")
        noted = section.with_note(NOTE)
        assert all((NOTE in drawing.caption) == of_watts for drawing in noted.drawings), section.name
    assert NOTE in sections["parameters"].with_note(NOTE).text


@pytest.mark.slow
def test_a_lab_without_a_note_has_none(study: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(study, copy)
    facts = copy / "run.yaml"
    facts.write_text(facts.read_text(encoding="utf-8").replace("lab: virtual", "lab: example"), encoding="utf-8")
    sections, _ = _report(copy, None)
    for section in sections.values():
        assert "invented" not in section.text
        assert not any("invented" in drawing.caption for drawing in section.drawings)


@pytest.mark.slow
def test_fits_carry_the_note_and_predictions_and_comparisons_print_it(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = write_run(tmp_path / "runs", StageRun(), name="power")
    fitted = tmp_path / "calibration.yaml"
    assert run(["fit", str(stages), "--what", "power", "-o", str(fitted)]) == 0
    assert NOTE in " ".join(capsys.readouterr().out.split())
    power = load_calibration(fitted).power
    assert power.note == NOTE
    whole = calibration()
    marked = whole.model_copy(update={"power": whole.power.model_copy(update={"note": NOTE})})
    save_calibration(fitted, marked)
    profile = ["--at", "sleep_us=1400", "--at", "array_byte=256"]
    assert run(["predict", str(study), "--calibration", str(fitted), *profile, "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)["predictions"][0]["answers"]
    assert all(NOTE in answer["warnings"] for answer in answers)
    assert run(["predict", str(study), "--calibration", str(fitted), *profile, "--topology", "table-3", "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)["predictions"][0]["answers"]
    assert all(NOTE in answer["warnings"] for answer in answers)
    assert run(["compare", f"{study}:trunks=on", "trunks=off"]) == 0
    assert NOTE in " ".join(capsys.readouterr().out.split())
