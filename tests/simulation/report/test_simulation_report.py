"""The page of simulations: well formed, whole without a network, closed form beside the curve, provenance last."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from eee_testbed.eeectl.cli import run as eeectl

_FILE: Final = """\
name: ring-NAME
network: {kind: torus, radix: [4]}
routing: dor
router: {vcs: 2}
links: {mode: MODE, hold: 10, sleep: 5, wake: 8, wake_during_sleep: 8}
rates: {}
loads: [0.02, 0.2, 1.0]
seeds: [1, 2]
precision: {within_percent: 5, batch_cycles: 50, most_cycles: 20000}
"""
_EMPTY: Final = {"meta", "br", "img", "input", "hr"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sections: list[str] = []
        self.ids: list[str] = []
        self.anchors: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        self.anchors += [given["href"][1:]] if given.get("href", "").startswith("#") else []
        self.sections += [given.get("id", "")] if tag == "section" else []
        assert tag not in ("script", "iframe", "link")
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("simulated")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name, mode in (("awake", '"off"'), ("asleep", "deep")):
            text = _FILE.replace("NAME", name).replace("MODE", mode)
            Path(f"{name}.yaml").write_text(text, encoding="utf-8")
            assert eeectl(["simulate", f"{name}.yaml"]) == 0
        assert eeectl(["report", "ring-awake", "ring-asleep", "-o", "both.html"]) == 0
    return place


@pytest.mark.slow
def test_the_page_is_well_formed_and_needs_no_network(folder: Path) -> None:
    text = (folder / "both.html").read_text(encoding="utf-8")
    found = _Reader()
    found.feed(text)
    found.close()
    assert found.open == []
    assert [name for name, count in Counter(found.ids).items() if count > 1] == []
    assert set(found.anchors) <= set(found.ids)
    assert set(re.findall(r"https?://[^\"'\s<>)]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    # Provenance is last.
    assert found.sections == ["findings", "latency", "power", "doubts", "missing", "simulated"]


@pytest.mark.slow
def test_findings_and_figures_with_their_data(folder: Path) -> None:
    text = (folder / "both.html").read_text(encoding="utf-8")
    assert re.search(r"A packet takes [0-9.]+ cycles \([0-9.]+ to [0-9.]+\) at a load of 0.02", text)
    # 3 cycles, 2 a router and 1 a link: 2 routers in the mean.
    assert "alone, with links awake, it would take 8.00 (closed form)" in text
    assert "the latency, to that of ring-awake, is: ring-asleep" in text
    assert "MSER" in text
    figures = folder / "figures"
    for name in ("latency-by-load", "power-tcep", "power-andujar", "power-georgakoudis", "power-three-rates"):
        assert (figures / f"{name}.svg").is_file()
        assert (figures / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    rows = (figures / "latency-by-load-data.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 6
    assert rows[0].startswith("simulation,load (flits/node/cycle),latency (cycles),latency (cycles) low")


@pytest.mark.slow
def test_one_simulation_has_its_models_in_one_figure(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert eeectl(["simulate", "asleep.yaml", "--report"]) == 0
    assert "report: simulations/ring-asleep/report.html" in capsys.readouterr().out
    figures = {path.name for path in Path("simulations/ring-asleep/figures").glob("*.svg")}
    by_load = {f"{what}-by-load.svg" for what in ("latency", "p99", "accepted", "hops")}
    assert figures == {*by_load, "power.svg"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["ring-awake", "--calibration", "c.yaml"], "leave --calibration out"),
        (["ring-awake", "no-run"], "name only one kind"),
        (["empty"], "has no points yet"),
        (["old"], "not a description of this version"),
    ],
)
def test_mistakes_are_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    monkeypatch.chdir(folder)
    for name in ("empty", "old"):
        Path(name).mkdir(exist_ok=True)
        Path(name, "description.json").write_text("{}", encoding="utf-8")
    Path("old", "points.parquet").write_bytes(Path("simulations/ring-awake/points.parquet").read_bytes())
    assert eeectl(["report", *words]) == 1
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1
