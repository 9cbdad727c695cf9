"""The page: valid, whole without a network, with what the runs have and nothing else; every axis has a unit."""

import base64
import csv
import io
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from eee_testbed.analysis.report.delay import delay
from eee_testbed.analysis.report.overhead import overhead
from eee_testbed.analysis.report.page import Report, page, report_of
from eee_testbed.analysis.report.report_data import read_report_data
from eee_testbed.analysis.report.section import Section
from eee_testbed.eeectl.cli import run
from tests.support.measured.synthetic_run import (
    Writer,
    calibration,
    echoes_text,
    write_probe,
    write_regulation,
    write_run,
)

VOID = {"meta", "link", "br", "img", "input", "hr"}
SVG = "{http://www.w3.org/2000/svg}"


class _Reader(HTMLParser):
    """Whether tags are closed in their order; ids, links, and everything that would be fetched."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: list[str] = []
        self.anchors: list[str] = []
        self.fetched: list[str] = []
        self.downloads: dict[str, str] = {}
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        href = given.get("href", given.get("xlink:href", ""))
        if "download" in given:
            self.downloads[given["download"]] = href
        elif href.startswith("#"):
            self.anchors.append(href[1:])
        elif href:
            self.fetched.append(href)
        self.fetched += [value for key, value in given.items() if key in ("src", "srcset", "data", "poster")]
        if tag in ("script", "iframe", "object", "link"):
            self.wrong.append(f"a {tag}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _read(text: str) -> _Reader:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def report(study: Path) -> Report:
    return report_of(read_report_data([study], calibration(), "calibration.yaml"))


@pytest.fixture(scope="module")
def text(study: Path, report: Report) -> str:
    return page(read_report_data([study], calibration(), "calibration.yaml"), report)


@pytest.mark.slow
def test_the_page_is_well_formed(text: str) -> None:
    found = _read(text)
    assert found.open == []
    assert found.wrong == []
    assert [name for name, count in Counter(found.ids).items() if count > 1] == []
    assert set(found.anchors) <= set(found.ids)


@pytest.mark.slow
def test_the_page_needs_no_network(text: str) -> None:
    assert _read(text).fetched == []
    assert "@import" not in text
    addresses = set(re.findall(r"https?://[^\"'\s<>)]+", text))
    # Names of XML vocabularies, which are never fetched.
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert all(url.startswith("#") for url in re.findall(r"url\(([^)]*)\)", text))


def test_everything_measured_is_there(report: Report) -> None:
    sections, missing = report.sections, report.missing
    names = [
        "run-times",
        "delay",
        "overhead",
        "estimates",
        "saving",
        "trade",
        "power",
        "networks",
        "parameters",
        "methods",
        "measured",
    ]
    assert [section.name for section in sections] == names
    assert missing == ()
    drawn = {drawing.name for section in sections for drawing in section.drawings}
    assert {
        "delay-1",
        "overhead-alltoall-4x1",
        "times-alltoall-4x1",
        "saving-hpl-4x2",
        "power-1",
        "networks-64-system",
    } <= drawn


def _titles(svg: str) -> list[str]:
    return ["".join(node.itertext()).strip() for node in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own


def test_every_axis_has_a_unit(report: Report) -> None:
    for section in report.sections:
        for drawing in section.drawings:
            for svg in filter(None, (drawing.svg, drawing.wide_svg)):
                texts = _titles(svg)
                axes = ET.fromstring(svg).findall(f".//{SVG}g")  # noqa: S314
                panels = sum(bool(re.search(r"-axes_\d+$", group.get("id", ""))) for group in axes)
                assert panels >= 1
                units = [text for text in texts if re.search(r"\([^()]+\)$", text)]
                # Panels that share their horizontal axis name it once.
                assert len(units) >= panels + 1, (drawing.name, texts)


def test_captions_say_what_bars_are(report: Report) -> None:
    for section in report.sections:
        if section.name in ("overhead", "saving", "trade"):
            for drawing in section.drawings:
                assert "n = 3 trials, too few for a 95 % interval" in drawing.caption


def test_excluded_trials_are_reported_with_their_reason(text: str) -> None:
    printed = " ".join(_read(text).text)
    assert "the twin was 412 us late" in printed
    assert "1 trial does not count" in printed
    assert "sysUpTime" in printed
    assert "alltoall 4x1 iterations=1000" in printed
    assert "trunks of trunks: on, off" in printed


def test_tables_can_be_copied(text: str, report: Report) -> None:
    downloads = _read(text).downloads
    for section in report.sections:
        for table in section.tables:
            head, data = downloads[f"{table.name}.csv"].split(",")
            assert head == "data:text/csv;charset=utf-8;base64"
            rows = list(csv.reader(io.StringIO(base64.b64decode(data).decode())))
            assert len(rows) == len(table.rows) + 1
            assert {len(row) for row in rows} == {len(rows[0])}


def test_the_same_runs_make_the_same_drawings(study: Path) -> None:
    data = read_report_data([study], calibration(), "")
    assert overhead(data) == overhead(data)


def test_predictions_stand_beside_measurements(report: Report) -> None:
    (estimates,) = (section for section in report.sections if section.name == "estimates")
    tables = {table.name: table for table in estimates.tables}
    heads = [column.name for column in tables["estimates"].columns]
    assert "our prediction" in heads
    assert "switches with EEE" in heads
    errors = {str(row[0]): row for row in tables["errors"].rows}
    ours, miwa = errors["run time, ours"], errors["run time, Miwa's"]
    assert isinstance(ours[1], float)
    assert isinstance(miwa[1], float)
    # The synthetic program has gaps about a step: a model that knows them all errs less than one that knows their mean.
    assert ours[1] < miwa[1]


def test_missing_sections_are_reported_with_the_command_that_fills_them(tmp_path: Path) -> None:
    folder = write_run(tmp_path, write_probe)
    data = read_report_data([folder], None, "")
    found = report_of(data)
    assert [section.name for section in found.sections] == ["delay", "methods", "measured"]
    assert len(found.missing) == 8
    assert all(one.command.startswith("eeectl ") for one in found.missing)
    printed = _read(page(data, found))
    assert printed.wrong == []
    assert "missing" in printed.ids


def test_an_empty_run_has_a_report(tmp_path: Path) -> None:
    found = report_of(read_report_data([write_run(tmp_path)], calibration(), "c.yaml"))
    assert [section.name for section in found.sections] == ["parameters", "methods", "measured"]
    assert len(found.missing) == 8
    assert found.lead is None


def test_hostile_names_are_text(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        writer.write(
            {"eee": "off"}, 1.0, program="<script>alert(1)</script>", hosts=("n01",), state="failed", why="<b>"
        )

    data = read_report_data([write_run(tmp_path, part)], None, "")
    text = page(data, report_of(data))
    assert "<script" not in text
    assert _read(text).wrong == []


@pytest.mark.slow
def test_the_command_writes_page_and_figures(
    tmp_path: Path, calibration_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_run(tmp_path, write_probe, write_regulation)
    assert run(["report", str(folder), "--calibration", str(calibration_file)]) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(folder / "report.html")
    assert "3 sections are missing" in printed.err
    figures = folder / "figures"
    names = {path.stem for path in figures.glob("*.svg")}
    assert names == {path.stem for path in figures.glob("*.pdf")}
    assert {"delay-1", "saving-hpl-4x2", "trade-hpl-4x2-network", "power-1", "power-1-wide"} <= names
    assert {"delay", "saving", "power", "trade"} <= {path.stem for path in figures.glob("*.csv")}
    assert all(path.read_bytes().startswith(b"%PDF-") for path in figures.glob("*.pdf"))
    for path in figures.glob("*.svg"):
        root = ET.parse(path).getroot()  # noqa: S314
        assert root.tag == f"{SVG}svg"
        assert not list(root.iter(f"{SVG}text")), "text in a file is outlines: it needs no font of its reader's"


def test_figures_lie_beside_the_page_wherever_it_is(tmp_path: Path) -> None:
    folder = write_run(tmp_path, write_probe)
    (study := tmp_path / "study").mkdir()
    assert run(["report", str(folder), "--output", str(study / "report.html")]) == 0
    assert list((study / "figures").glob("*.svg"))
    assert not list((folder / "figures").glob("*.svg"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name at least one run"),
        (["nix"], "is not a run's folder"),
        (["STUDY", "-o", "/nonexistent/report.html"], "cannot be written"),
        (["STUDY", "-o", "."], "is a folder"),
        (["STUDY", "-o", "no-such-folder/report.html"], "no-such-folder is not a folder"),
        (["STUDY", "--calibration", "/nonexistent/c.yaml"], "eeectl fit"),
    ],
)
def test_invalid_arguments_are_reported(
    tmp_path: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_run(tmp_path)
    assert run(["report", *(str(folder) if word == "STUDY" else word for word in words)]) == 1
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.count("\n") == 1


def test_an_invalid_probe_file_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def part(writer: Writer) -> None:
        writer.write({"eee": "on"}, 1.0, what="probe", files={"echoes.jsonl": "{}\n"}, hosts=("n01", "n02"))

    assert run(["report", str(write_run(tmp_path, part))]) == 1
    assert "is not what agents/echo_probe.py writes" in capsys.readouterr().err


def test_a_path_that_two_runs_probed_is_drawn_once_with_the_echoes_of_both(tmp_path: Path) -> None:
    runs = [write_run(tmp_path, write_probe, name=name) for name in ("one", "two")]
    found = delay(read_report_data(runs, calibration(), ""))
    assert isinstance(found, Section)
    (drawing,) = found.drawings
    assert "600 echoes with EEE on, 600 with EEE off" in drawing.caption


def test_holds_are_not_drawn_as_one(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        for hold_us in (100, 1_000):
            for eee in ("off", "on"):
                files = {"echoes.jsonl": echoes_text(eee, writer.random)}
                levels = {"eee": eee, "hold_us": hold_us}
                writer.write(levels, 5.0, what="probe", files=files, hosts=("n01", "n02"))

    policy = calibration().links["path n01 - n02"]
    links = {"n01-n02 eee=on hold_us=100": policy, "n01-n02 eee=on hold_us=1000": policy}
    found = delay(read_report_data([write_run(tmp_path, part)], calibration(links=links), ""))
    assert isinstance(found, Section)
    assert [drawing.title for drawing in found.drawings] == [
        "Response delay, n01 - n02, hold_us 100",
        "Response delay, n01 - n02, hold_us 1000",
    ]
    assert found.warnings == ()
