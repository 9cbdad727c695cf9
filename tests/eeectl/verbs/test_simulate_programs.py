"""`eeectl simulate` with programs: from a file to figures and a page."""

import json
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl

_FILE = """\
name: row
network: {kind: hyperx, sizes: [4], concentration: 4}
routing: dor
router: {vcs: 2, buffer_flits: 64, packet_flits: 8, switching: cut_through}
links: {mode: deep, hold: 100, sleep: 50, wake: 80, wake_during_sleep: 80}
programs:
  cycle_ns: 1
  flit_byte: 16
  jobs:
    - {program: {kind: stencil, procs: [4, 2], steps: 2, face_byte: 1000, grain_ns: 10000}, placement: random}
seeds: [1, 2, 3]
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "row.yaml"
    path.write_text(_FILE, encoding="utf-8")
    return path


def test_programs_give_a_slowdown_a_saving_and_a_page(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    figures = {one["name"]: one for one in found["figures"]}
    assert figures["slowdown"]["value"] > 0
    assert figures["slowdown"]["interval"]["low"] <= figures["slowdown"]["value"]
    assert [(one["seed"], one["sleeping"]) for one in found["replays"]] == [
        (seed, sleeping) for seed in (1, 2, 3) for sleeping in (False, True)
    ]
    assert "packet engine (programs run on it)" in " ".join(err.split())
    assert "[6 of 6]" in err
    # Again: nothing is replayed, and the table is printed.
    assert eeectl(["simulate", str(file), "--report"]) == 0
    out, err = capsys.readouterr()
    assert "seed 1, links" not in err
    assert "slowdown" in out
    assert "report: simulations/row/report.html" in out
    page = Path("simulations/row/report.html").read_text(encoding="utf-8")
    assert "Run time and energy" in page
    assert eeectl(["report", "simulations/row", "-o", "page.html"]) == 0
    assert Path("page.html").is_file()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("  cycle_ns: 1\n", "", "cycle_ns"),
        ("procs: [4, 2]", "procs: [4, 5]", "needs 20 nodes and 16 are free"),
        ("kind: stencil, procs: [4, 2], steps: 2, face_byte: 1000, grain_ns: 10000", "kind: file, path: none", "none"),
        ("placement: random", "placement: randomly", "placement"),
    ],
)
def test_mistakes_are_one_sentence(
    file: Path, old: str, new: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(_FILE.replace(old, new), encoding="utf-8")
    assert eeectl(["simulate", str(file)]) != 0
    err = capsys.readouterr().err
    assert words in err
    assert "Traceback" not in err


def test_programs_and_traffic_have_pages_of_their_own(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file)]) == 0
    ring = "name: ring\nnetwork: {kind: torus, radix: [4]}\nrouting: dor\nrouter: {vcs: 2}\nloads: [0.1]\n"
    file.write_text(ring, encoding="utf-8")
    assert eeectl(["simulate", str(file)]) == 0
    assert eeectl(["report", "simulations/row", "simulations/ring"]) != 0
    assert "name only one kind" in capsys.readouterr().err


def test_the_best_policy_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--best", "--bound-slowdown", "50", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"] in found["tried"]
    assert found["best"]["slowdown_percent"] <= 50
    assert eeectl(["simulate", str(file), "--best", "--bound-slowdown", "0"]) == 0
    out = capsys.readouterr().out
    assert "no policy slows the programs down by 0 % or less" in out or "best within 0 %" in out
    ring = "name: ring\nnetwork: {kind: torus, radix: [4]}\nrouting: dor\nrouter: {vcs: 2}\nloads: [0.1]\n"
    file.write_text(ring, encoding="utf-8")
    assert eeectl(["simulate", str(file), "--best"]) != 0
    assert "write programs" in capsys.readouterr().err


def test_computing_is_scaled_to_a_run_time(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--run-time", "0.5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["run_time_s"] == pytest.approx(0.5, rel=1e-4)
    (scale,) = found["compute_scale"]
    file.write_text(_FILE.replace("random}", f"random, compute_scale: {scale!r}}}"), encoding="utf-8")
    assert eeectl(["simulate", str(file), "--run-time", "0.5"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"job 0 (stencil): compute_scale: {scale:.6g}"
    assert eeectl(["simulate", str(file), "--run-time", "1e-9"]) == 1
    assert "messages alone take" in capsys.readouterr().err


def test_a_run_time_is_of_programs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ring = "name: ring\nnetwork: {kind: torus, radix: [4]}\nrouting: dor\nrouter: {vcs: 2}\nloads: [0.1]\n"
    file.write_text(ring, encoding="utf-8")
    assert eeectl(["simulate", str(file), "--run-time", "1"]) == 1
    assert "--run-time is about programs: write programs" in capsys.readouterr().err
