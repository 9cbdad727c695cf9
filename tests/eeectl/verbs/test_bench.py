"""`eeectl bench` without a lab: its list of programs, and the mistakes that it reports in one sentence."""

import json
import shlex

import pytest

from benchmarks.table import PROGRAMS
from eeectl.cli import run


def test_the_list_names_every_program_and_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--list"]) == 0
    shown = capsys.readouterr().out
    assert run(["bench", "--list", "--json"]) == 0
    programs = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert set(programs) == set(PROGRAMS)
    for name, program in PROGRAMS.items():
        assert name in shown
        assert [one["name"] for one in programs[name]["parameters"]] == list(program.parameters.model_fields)
    assert next(one for one in programs["npb"]["parameters"] if one["name"] == "folder")["required"] is True


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("nonesuch --hosts n01", "unknown program nonesuch; known programs: alltoall"),
        ("alltoall --hosts n01,n99", "unknown host n99"),
        ("alltoall --set sleep=1", "known parameters: array_byte"),
        ("alltoall --set sleep_us", "is not NAME=VALUE"),
        ("alltoall --set sleep_us=-1", "sleep_us"),
        ("alltoall --repetitions 0", "repetitions"),
        ("alltoall --lab nowhere", "nowhere"),
        ("netpipe", "two ranks"),
        ("bit-reversal --hosts n01 n02 n03", "4, 8, 16"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", *shlex.split(words), *([] if "--lab" in words else ["--lab", "miwa"])]) == 1
    printed = capsys.readouterr()
    assert sentence in printed.err, printed.err
    assert printed.out == ""


def test_a_program_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench"]) == 2
    assert "--list" in capsys.readouterr().err
