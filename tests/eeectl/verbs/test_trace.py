"""`eeectl trace`: from a trace to a replay file, and what it shows."""

import json
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.simulation.replay.program import read_program, write_program
from tests.support.replay_programs import ring

_TRACE = "0 init\n1 init\n0 compute 2000\n0 send 1 0 1e6\n1 recv 0 0 1e6\n0 barrier\n1 barrier\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_trace_becomes_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.txt").write_text(_TRACE)
    assert eeectl(["trace", "import", "t.txt", "-o", "two.replay", "--flops-per-s", "2e9"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("two.replay: 2 ranks, 4 calls, 1 messages of together 976.6 KiB;")
    assert "Assumed: Computing is given in operations: 2e+09 of them take a second.\n" in out
    program = read_program(folder / "two.replay")
    assert (program.name, program.ranks, program.calls["compute_ns"][0]) == ("two", 2, 1000)
    assert eeectl(["trace", "show", "two.replay"]) == 0
    out = capsys.readouterr().out
    assert "calls: 2 barrier, 1 send, 1 recv\n" in out
    assert "2 of 2 gaps between calls (100%) are below 1000 ns\n" in out
    assert "assumed: Computing" in out


def test_what_it_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(folder / "r", ring(ranks=4, size=1 << 40, passes=1000))
    assert eeectl(["trace", "show", "r"]) == 0
    out = capsys.readouterr().out
    assert "messages: 4000 between 4 pairs of ranks, 4000 TiB\n" in out
    assert "a rank sends to 1 to 1 (median 1) ranks, 1000 TiB to 1000 TiB (median 1000 TiB)\n" in out
    assert "a rank computes 0.0005001 to 0.0005001 s" in out
    assert "allreduce" in out
    assert eeectl(["trace", "show", "r", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["recorded_ns"], found["messages"]) == ("ring", None, 4000)
    assert found["pairs"][0] == {"source": 0, "target": 1, "messages": 1000.0, "byte": 1000.0 * (1 << 40)}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["show", "none"], "none cannot be read (No such file or directory): name a replay file."),
        (["import", "-o", "x"], "no file is named: name the files of the trace."),
        (["import", "none", "-o", "x"], "none cannot be read (No such file or directory): name the trace's files."),
        (
            ["import", "none", "-o", "x", "--format", "abc"],
            "the format abc is unknown: use otf2, dumpi, goal, ti, vef, recorder.",
        ),
    ],
)
def test_refusals(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["trace", *words]) == 1
    assert f"eeectl: {sentence}" in capsys.readouterr().err
