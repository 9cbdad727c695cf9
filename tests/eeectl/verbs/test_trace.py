"""`eeectl trace`: from a trace to a replay file, and what it shows."""

import gzip
import json
import os
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.simulation.programs.stencil import Stencil
from eee_testbed.simulation.programs.table import program_of
from eee_testbed.simulation.replay.calls import ANY, Call
from eee_testbed.simulation.replay.program import read_program, write_program
from eee_testbed.simulation.replay.summary import summary_of
from tests.support.recorded_bytes import write_recorded
from tests.support.replay_programs import of_calls, ring

_TRACE = "0 init\n1 init\n0 compute 2000\n0 send 1 0 1e6\n1 recv 0 0 1e6\n0 barrier\n1 barrier\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_trace_becomes_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.txt").write_text(_TRACE)
    assert eeectl(["trace", "import", "t.txt", "-o", "two.replay", "--flops-per-s", "2e9"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("two.replay: 2 ranks, 4 calls, 1 message, 976.6 KiB in total;")
    assert "Assumed: Computing is given in operations: 2e+09 of them take a second.\n" in out
    program = read_program(folder / "two.replay")
    assert (program.name, program.ranks, program.calls["compute_ns"][0]) == ("two", 2, 1000)
    assert eeectl(["trace", "show", "two.replay"]) == 0
    out = capsys.readouterr().out
    assert "calls: 2 barrier, 1 send, 1 recv\n" in out
    assert "2 of 2 gaps between calls (100%) are below 1000 ns\n" in out
    assert "assumed: Computing" in out


def test_a_list_of_the_ranks_files_is_imported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "0").write_text("0 init\n0 send 1 0 8\n0 finalize\n")
    (folder / "1").write_text("1 init\n1 recv 0 0 8\n1 finalize\n")
    (folder / "list").write_text("0\n1\n")
    assert eeectl(["trace", "import", "list", "-o", "x"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("x: 2 ranks, 2 calls, 1 message, 8 B in total")
    assert err == ""


def test_what_it_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(folder / "r", ring(ranks=4, size=1 << 40, passes=1000))
    assert eeectl(["trace", "show", "r"]) == 0
    out = capsys.readouterr().out
    assert "messages: 4000 between 4 pairs of ranks, 4000 TiB in total\n" in out
    assert "a rank sends to 1 to 1 (median 1) ranks, 1000 TiB to 1000 TiB (median 1000 TiB)\n" in out
    assert "a rank computes 0.0005001 to 0.0005001 s" in out
    assert "allreduce" in out
    assert eeectl(["trace", "show", "r", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["recorded_ns"], found["messages"]) == ("ring", None, 4000)
    assert found["pairs"][0] == {"source": 0, "target": 1, "messages": 1000.0, "byte": 1000.0 * (1 << 40)}


def test_a_generated_program_is_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["generate", "stencil", "--set", "procs=[4, 2]", "--set", "steps=3", "--set", "variant=chatterbug"]
    assert eeectl(["trace", *words, "-o", "s.replay"]) == 0
    assert capsys.readouterr().out.startswith("s.replay: stencil, 8 ranks;")
    parameters = Stencil(procs=[4, 2], steps=3)
    assert read_program(folder / "s.replay").calls.equals(program_of(parameters).calls)


def test_a_file_is_exported_and_comes_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(folder / "r", ring(ranks=4, size=100, passes=3))
    assert eeectl(["trace", "export", "r", "-o", "archive"]) == 0
    assert eeectl(["trace", "import", "archive/traces.otf2", "-o", "back"]) == 0
    found = [summary_of(read_program(folder / name)) for name in ("r", "back")]
    assert found[0].pairs == found[1].pairs
    assert found[0].by_call == found[1].by_call
    capsys.readouterr()
    assert eeectl(["trace", "export", "r", "-o", "archive"]) == 1
    assert "archive is there already: name a new folder with -o." in capsys.readouterr().err


def test_what_cannot_be_exported_leaves_no_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(folder / "r", of_calls(2, {"rank": 0, "call": Call.RECV, "peer": ANY}))
    assert eeectl(["trace", "export", "r", "-o", "archive"]) == 1
    assert "has receives from any rank" in capsys.readouterr().err
    assert [file.name for file in folder.iterdir()] == ["r"]


def test_a_trace_is_never_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.txt").write_text(_TRACE)
    (folder / "other").symlink_to("t.txt")
    for name in ("t.txt", "./t.txt", "other"):
        assert eeectl(["trace", "import", "t.txt", "-o", name]) == 1
        assert "is a file of the trace: name another one with -o." in capsys.readouterr().err
    assert (folder / "t.txt").read_text() == _TRACE


def test_files_that_are_no_plain_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with gzip.open(folder / "t.gz", "wb") as file:
        file.write(_TRACE.encode())
    os.mkfifo(folder / "pipe")  # nobody writes into it
    for name, sentence in (
        ("t.gz", "t.gz is compressed: unpack it first, as with gunzip."),
        ("pipe", "pipe is a pipe or a device: save what it gives as a file, and name that."),
    ):
        for words in ([], ["--format", "ti"]):
            assert eeectl(["trace", "import", name, "-o", "x", *words]) == 1
            assert f"eeectl: {sentence}" in capsys.readouterr().err


def test_options_of_other_formats_are_refused_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t").write_text(_TRACE, encoding="utf-8")
    for words, sentence in (
        (["--ranks-per-node", "2"], "--ranks-per-node is for calls that `--trace` recorded: leave it out."),
        (["--codes", "c.yaml"], "the format ti takes no --codes: leave it out, or say another"),
    ):
        assert eeectl(["trace", "import", "t", "-o", "x.replay", *words]) == 1
        assert sentence in capsys.readouterr().err
        assert not (folder / "x.replay").exists()


def test_n_and_s_of_recorded_calls_depend_on_the_ranks_of_a_node(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_recorded(folder)
    assert eeectl(["trace", "import", ".", "-o", "x.replay"]) == 0
    assert "A node makes n = 9 calls, of S = 85.1111 B to other nodes each.\n" in capsys.readouterr().out
    assert eeectl(["trace", "import", ".", "-o", "x.replay", "--ranks-per-node", "2"]) == 0
    assert "A node makes n = 18 calls, of S = 0 B to other nodes each.\n" in capsys.readouterr().out


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
        (["generate", "no", "-o", "x"], "there is no generated program no: use hpl, random_access,"),
        (["generate", "hpl", "--set", "x=1", "-o", "x"], "hpl has no key x: use grain_ns,"),
        (["generate", "stencil", "--set", "procs=4", "-o", "x"], "stencil: procs: Input should be a valid list;"),
        (["generate", "stencil", "-o", "no/x"], "no is not a folder, so x cannot be written"),
        (["export", "none", "-o", "x"], "none cannot be read (No such file or directory): name a replay file."),
    ],
)
def test_refusals(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["trace", *words]) == 1
    assert f"eeectl: {sentence}" in capsys.readouterr().err
