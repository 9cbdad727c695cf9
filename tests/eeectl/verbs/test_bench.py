"""`eeectl bench` without a lab: its list of programs, and the mistakes that it reports in one sentence."""

import json
import shlex
from pathlib import Path

import pytest

from eee_testbed.analysis.compare import Metered
from eee_testbed.benchmarks.program import Placement
from eee_testbed.benchmarks.table import PROGRAMS
from eee_testbed.eeectl.cli import run
from eee_testbed.eeectl.program_list import plain_program, print_programs
from eee_testbed.eeectl.verbs.bench import BenchReport
from eee_testbed.record.trials import Trial, TrialFigure


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_parameter_has_a_meaning_a_unit_in_its_name_and_a_word_for_zero(name: str) -> None:
    for parameter in plain_program(PROGRAMS[name])["parameters"]:
        assert parameter["means"], parameter["name"]
        bounds = PROGRAMS[name].parameters.model_json_schema()["properties"][parameter["name"]]
        if bounds.get("minimum") == 0:
            assert "0: " in parameter["means"], f"{parameter['name']}: what does 0 mean?"
        if parameter["name"].endswith(("_byte", "_us", "_s", "_mbps")):
            assert parameter["unit"], parameter["name"]


def test_the_list_fits_a_small_terminal_and_can_be_of_one_program(capsys: pytest.CaptureFixture[str]) -> None:
    print_programs(PROGRAMS.values(), 80)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    assert run(["bench", "hpcc", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("hpcc: HPC Challenge")
    assert "  grid_rows  0        " in lines[4]
    assert "0: as near to a square as the ranks allow" in " ".join(lines[4].split())
    assert run(["bench", "linpack", "--list"]) == 1
    assert "known programs: alltoall" in capsys.readouterr().err


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
    assert run(["bench"]) == 1
    assert "--list" in capsys.readouterr().err


def _trial(number: int, time_s: float, folder: Path) -> Trial:
    return Trial(
        number,
        slot=number,
        block=1,
        repetition=number,
        levels={},
        what="program",
        program="alltoall",
        parameters={},
        hosts=("n01", "n02"),
        ranks_per_host=1,
        state="valid",
        why="",
        answer_right=True,
        begun_ns=0,
        ended_ns=round(time_s * 1e9),
        figures={"time": TrialFigure(time_s, "s")},
        folder=folder,
    )


def _report(folder: Path, metered: dict[int, Metered]) -> BenchReport:
    trials = [_trial(number, time_s, folder) for number, time_s in ((1, 2.0), (2, 4.0), (3, 2.5))]
    return BenchReport("alltoall", folder, trials, {}, Placement(("n01", "n02"), 1), (), metered)


def test_watts_and_joules_of_what_ran_are_shown(tmp_path: Path) -> None:
    metered = {1: Metered(100.0, 2.0), 2: Metered(110.0, 4.0), 3: Metered(102.0, 2.5)}
    report = _report(tmp_path, metered)
    lines = {line[:24].strip(): " ".join(line[24:].split()) for line in report.text().splitlines()}
    assert lines["energy, all meters"] == "255 J [200, 440] in 3 repetitions"
    assert lines["power, all meters"] == "102 W [100, 110] in 3 repetitions"
    plain = report.plain()["repetitions"]
    assert [(one["energy_joule"], one["power_watt"]) for one in plain] == [(200, 100), (440, 110), (255, 102)]


def test_without_a_meter_no_energy_is_claimed(tmp_path: Path) -> None:
    report = _report(tmp_path, {})
    assert "meters" not in report.text()
    assert not any("energy_joule" in one for one in report.plain()["repetitions"])
    one_of_three = _report(tmp_path, {2: Metered(110.0, 4.0)})
    assert "energy, all meters       440 J\n" in one_of_three.text() + "\n"
