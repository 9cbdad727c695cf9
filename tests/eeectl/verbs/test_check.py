"""`eeectl check` on synthetic runs: each answer has its own exit status."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.analysis.report.shown import KINDS
from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.eeectl.exit_status import BROKEN, DONE, NOT_SHOWN, REFUSED
from tests.support.measured.synthetic_run import Writer, write_run

_LEVELS: Sequence[Mapping[str, str]] = ({"eee": "off"}, {"eee": "on"}, {"eee": "off", "uplink": "off"})


def _run(root: Path, blocks: int) -> Path:
    """EEE takes 5 % longer and 10 % less power; the uplink off 20 % longer."""

    def part(writer: Writer) -> None:
        for block in range(blocks):
            for level, longer, watt in zip(_LEVELS, (1.0, 1.05, 1.2), (60.0, 54.0, 57.0), strict=True):
                time_s = 10.0 * longer * (1.1**block) * (1 + float(writer.random.normal(0, 0.002)))
                state = {"uplink": "on", **level}
                figures = [("time", time_s, "s"), ("rate", 1 / time_s, "call/s")]
                begun_ns, ended_ns = writer.write(
                    state, time_s, figures=figures, block=block, program="p", hosts=("n01", "n02"), ranks_per_host=1
                )
                writer.watts(begun_ns - 1_000_000_000, ended_ns + 1_000_000_000, watt)
        writer.write({"eee": "on"}, 1.0, state="invalid", why="late", program="p", hosts=("n01", "n02"))

    return write_run(root, part)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _run(tmp_path_factory.mktemp("runs"), 3)


@pytest.mark.parametrize(
    ("expect", "status"),
    [
        (("time.slowdown < 7 %",), DONE),
        (("time.slowdown < 7%", "energy.saving > 2 %", "trials.invalid <= 1", "rate.change > -7 %"), DONE),
        (("time.slowdown < 1 %",), BROKEN),
        (("time.slowdown < 5 %",), NOT_SHOWN),
        (("time.slowdown < 5 %", "time.slowdown < 1 %"), BROKEN),
        (("time.slowdown[uplink=off] < 10 %",), BROKEN),
        (("time.slowdown[uplink=off] > 10 %", "time.slowdown < 10 %"), DONE),
        (("time[eee=on] < 30 s",), DONE),
        (("time < 30000 ms",), DONE),
        (("power[eee=off,uplink=on] > 50 W",), DONE),
        (("trials.invalid < 1",), BROKEN),
        (("time.speed < 1 %",), REFUSED),
        (("time.slowdown < 1 s",), REFUSED),
    ],
)
def test_the_exit_status_is_the_answer(folder: Path, expect: tuple[str, ...], status: int) -> None:
    assert eeectl(["check", str(folder), *(word for one in expect for word in ("--expect", one))]) == status


def test_two_blocks_show_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _run(tmp_path, 2)
    assert eeectl(["check", str(folder), "--expect", "time.slowdown < 50 %"]) == NOT_SHOWN
    assert "fewer than three blocks" in capsys.readouterr().out
    assert eeectl(["check", str(folder), "--expect", "trials.failed <= 0"]) == DONE


def test_json_has_every_figure_with_all_its_digits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["check", str(folder), "--expect", "time.slowdown < 1 %", "--json"]) == BROKEN
    found = json.loads(capsys.readouterr().out)
    assert found["answer"] == "broken"
    (one,) = found["expectations"]
    (figure,) = one["figures"]
    assert figure["low"] < 5.0 < figure["high"]
    assert (figure["unit"], figure["answer"]) == ("%", "broken")
    assert figure["where"] == "p 2x1: eee on, uplink on against eee off, uplink on"


def test_without_expectations_the_figures_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["check", str(folder), "--json"]) == DONE
    figures: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["figures"]
    names = {one["name"] for one in figures}
    assert names >= {name for name in KINDS if "FIGURE" not in name}
    assert names >= {"rate", "rate.change", "time.slowdown[uplink=off]"}
    assert eeectl(["check", str(folder)]) == DONE
    lines = capsys.readouterr().out.splitlines()
    assert "eee off, uplink off against eee off, uplink on" in lines[lines.index("time.slowdown[uplink=off]") + 1]


@pytest.mark.parametrize(("words", "sentence"), [(["nowhere"], "not a run's folder"), ([], "name a run")])
def test_what_is_no_run_is_told(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["check", *words, "--expect", "time < 1 s"]) == REFUSED
    assert sentence in capsys.readouterr().err


def test_a_studys_folder_stands_for_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "study.yaml").write_text("format: 1\nlab: virtual\nexperiments: [p]\n", encoding="utf-8")
    assert eeectl(["check", str(tmp_path), "--expect", "time < 1 s"]) == REFUSED
    assert "no runs yet" in capsys.readouterr().err
    _run(tmp_path / "runs", 3)
    assert eeectl(["check", str(tmp_path), "--expect", "time.slowdown < 7 %"]) == DONE
