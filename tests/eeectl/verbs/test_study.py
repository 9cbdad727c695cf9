"""`eeectl study` of a program: what it designs, and the mistakes that it reports before it makes a folder."""

from functools import partial
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from eee_testbed.eeectl.application import parse
from eee_testbed.eeectl.cli import run
from eee_testbed.measuring.live.export.view_options import ViewOptions


def _designed(root: Path, name: str) -> dict[str, object]:
    (file,) = root.glob(f"*/experiments/{name}.yaml")
    found = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_a_command_after_the_dashes_is_the_studys_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = r"time=Time = ([\d.]+) s"
    words = ["study", "miwa", "--design", "--root", str(tmp_path), "--hosts", "n01,n02", "--figure", rule]
    assert run([*words, "--ranks-per-host", "2", "--", "/shared/halo", "100", "--budget", "-x"]) == 0
    assert capsys.readouterr().out.startswith(str(tmp_path))
    experiment = _designed(tmp_path, "program-eee")
    assert experiment["measure"] == {
        "program": {
            "name": "command", "parameters": {"words": ["/shared/halo", "100", "--budget", "-x"]},
            "hosts": ["n01", "n02"], "ranks_per_host": 2, "timeout_s": 600.0, "figures": [rule],
        }
    }  # fmt: skip


def test_a_program_of_the_table_may_be_varied(tmp_path: Path) -> None:
    words = ["study", "miwa", "--design", "--root", str(tmp_path), "--program", "alltoall", "--set", "iterations=50"]
    assert run([*words, "--factor", "sleep_us=0,2000"]) == 0
    experiment = _designed(tmp_path, "program-eee")
    assert isinstance(experiment["factors"], dict)
    assert experiment["factors"]["sleep_us"] == [0, 2000]


def test_without_a_program_it_is_alltoall(tmp_path: Path) -> None:
    assert run(["study", "miwa", "--design", "--root", str(tmp_path)]) == 0
    assert _designed(tmp_path, "alltoall-eee")
    assert not list(tmp_path.glob("*/experiments/program-eee.yaml"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--program", "nonesuch"], "unknown program nonesuch"),
        (["--program", "alltoall", "--set", "slep_us=1"], "known parameters: array_byte"),
        (["--program", "alltoall", "--", "/shared/halo"], "name one"),
        (["--set", "sleep_us=1"], "need a program: add --program NAME, or -- COMMAND"),
        (["--figure", "lammps"], "need a program: add --program NAME, or -- COMMAND"),
        (["--figure", "time=Time", "--", "/shared/halo"], "has 0 groups"),
        (["--resume", "studies/x", "--program", "alltoall"], "a resumed study keeps its program"),
    ],
)
def test_mistakes_are_reported_in_a_sentence(
    tmp_path: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", "miwa", "--design", "--root", str(tmp_path / "studies"), *words]) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert not (tmp_path / "studies").exists(), "nothing is made of what cannot run"


def test_exports_of_a_study_are_those_of_its_runs() -> None:
    options = ViewOptions(prometheus="127.0.0.1:9464", influx="http://127.0.0.1:8086", influx_token_file="token")
    call = parse(["run", "--resume", "runs/x", *options.words], print_error=False)
    assert isinstance(call, partial)
    assert call.keywords["views"] == options
    assert ViewOptions().words == ()
