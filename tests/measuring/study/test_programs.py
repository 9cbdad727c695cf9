"""A file of programs: what it says of each, and its mistakes with their lines."""

from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run
from eee_testbed.lab.errors import ExperimentError
from eee_testbed.measuring.study.programs import programs_in

_FILE = r"""
- command: /shared/halo 1000
  figures: ['time=Time = ([\d.]+) s']
  ranks_per_host: 2
- program: alltoall
  parameters: {iterations: 50}
  factors: {sleep_us: [0, 2000]}
"""


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "programs.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_entry_is_a_program(tmp_path: Path) -> None:
    halo, alltoall = programs_in(_written(tmp_path, _FILE))
    assert (halo.name, halo.parameters, halo.ranks_per_host) == ("command", {"words": "/shared/halo 1000"}, 2)
    assert halo.figures == (r"time=Time = ([\d.]+) s",)
    assert (alltoall.name, alltoall.factors) == ("alltoall", {"sleep_us": (0, 2000)})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- {command: a}\n- {program: b, command: c}\n", "programs.yaml:2: 1: `program` or `command`"),
        ("- {command: a}\n- command: b\n  rank_per_host: 2\n", "programs.yaml:3: 1.rank_per_host: is unknown here"),
        ("- command: a\n  ranks_per_host: 0\n- command: b\n  timeout_s: -1\n", "programs.yaml:4: 1.timeout_s"),
        ("[]\n", "at least 1 item"),
        ("command: a\n", "programs.yaml"),
        ("- [\n", "is not YAML"),
    ],
)
def test_mistakes_have_their_lines(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        programs_in(_written(tmp_path, text))
    assert says in str(caught.value)


def test_a_study_has_experiments_of_each_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(_written(tmp_path, _FILE))
    words = ["study", "virtual", "--design", "--root", str(tmp_path / "studies"), "--programs", file]
    assert run(words) == 0
    names = {path.stem for path in tmp_path.glob("studies/*/experiments/*.yaml")}
    assert {"program-eee", "program-eee-2", "links-off", "links-off-2"} <= names
    assert "alltoall-eee" not in names
    assert run([*words, "--", "/shared/halo"]) == 1
    assert "leave other programs and their options out" in capsys.readouterr().err
