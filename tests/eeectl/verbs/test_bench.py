"""`eeectl bench` where no lab is needed: what it shows, and what it refuses in a sentence."""

import json
import shlex

import pytest

from benchmarks.table import PROGRAMS
from eeectl.cli import run


def test_the_list_names_every_program_and_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--list"]) == 0
    shown = capsys.readouterr().out
    assert run(["bench", "--list", "--json"]) == 0
    told = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert set(told) == set(PROGRAMS)
    for name, program in PROGRAMS.items():
        assert name in shown
        assert [one["name"] for one in told[name]["parameters"]] == list(program.parameters.model_fields)
    assert next(one for one in told["npb"]["parameters"] if one["name"] == "folder")["required"] is True


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("nonesuch --hosts n01", "there is no program nonesuch; known are alltoall"),
        ("alltoall --hosts n01,n99", "there is no host n99"),
        ("alltoall --set sleep=1", "known are array_byte"),
        ("alltoall --set sleep_us", "is not NAME=VALUE"),
        ("alltoall --set sleep_us=-1", "sleep_us"),
        ("alltoall --repetitions 0", "repetitions"),
        ("alltoall --lab nowhere", "nowhere"),
        ("netpipe", "two ranks"),
        ("bit-reversal --hosts n01 n02 n03", "4, 8, 16"),
    ],
)
def test_it_refuses_in_a_sentence(words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", *shlex.split(words), *([] if "--lab" in words else ["--lab", "miwa"])]) == 1
    printed = capsys.readouterr()
    assert sentence in printed.err, printed.err
    assert printed.out == ""


def test_it_wants_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench"]) == 2
    assert "--list" in capsys.readouterr().err
