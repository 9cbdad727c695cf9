"""`eeectl compare` on a synthetic run: two levels of one run, paired by block, with energy from a meter."""

import json
import shutil
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch, Column
from eee_testbed.record.store import Run
from eee_testbed.record.trial_events import TrialBegun, TrialEnded

_S = 1_000_000_000
_ZERO_NS = 1_700_000_000 * _S
_WINDOW_S, _BLOCKS = 20, 6


def _written(root: Path, blocks: int) -> Path:
    """EEE on takes 2 % longer and 10 % less power; every block has 3 % more of both than the block before."""
    with Run.create(root, "made-up", {"lab": "toy"}) as run:
        at_ns = _ZERO_NS
        for number in range(2 * blocks):
            block, eee = number // 2, ("on", "off")[number % 2]
            drift = 1.03**block
            watt, time_s = drift * (18.0 if eee == "on" else 20.0), drift * (1.02 if eee == "on" else 1.0)
            begun = TrialBegun(number, number, block, 0, {"eee": eee, "n": 4}, "program", "alltoall")
            run.event(EventKind.TRIAL_BEGUN, **begun.plain())
            _meter(run, at_ns, watt)
            ended = TrialEnded(
                number, "valid", "", at_ns, at_ns + _WINDOW_S * _S, True, (("time", time_s, "s"), ("lost", 0.0, "1"))
            )
            run.event(EventKind.TRIAL_ENDED, **ended.plain())
            at_ns += (_WINDOW_S + 5) * _S
        return run.folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _written(tmp_path / "runs", _BLOCKS)


def _meter(run: Run, at_ns: int, watt: float) -> None:
    sent = [at_ns + n * _S for n in range(-2, _WINDOW_S + 3)]
    empty: dict[str, Column] = dict.fromkeys(("on", "energy_joule", "energy_step_joule"))
    times: dict[str, Column] = {"tick": 0, "due_ns": sent, "sent_ns": sent, "received_ns": [one + 1000 for one in sent]}
    flickering = [watt + 0.01 * (n % 2) for n in range(len(sent))]
    shown: dict[str, Column] = {"power_watt": flickering, "power_step_watt": 0.01, "unchanged_s": 0.0, "mark": ""}
    who: dict[str, Column] = {"strip": "pdu1", "outlet": 3, "feeds": "sw1"}
    run.append(Batch("watts", len(sent), {**who, **times, **shown, **empty}))


def _compare(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, object]]:
    assert eeectl(["compare", *words, "--json"]) == 0
    comparisons = json.loads(capsys.readouterr().out)["comparisons"]
    return {one["figure"]: one for one in comparisons}


def test_levels_of_one_run_are_compared_block_by_block_whatever_drifts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    comparisons = _compare(capsys, f"{folder}:eee=off", "eee=on")
    assert list(comparisons) == ["time", "energy", "power"]
    assert list(_compare(capsys, f"{folder}:eee=off", "eee=on", "--all")) == ["time", "energy", "power", "lost"]
    assert list(_compare(capsys, f"{folder}:eee=off", "eee=on", "--figure", "power,lost")) == ["power", "lost"]
    for figure, ratio in (("time", 1.02), ("power", 0.9), ("energy", 0.9 * 1.02)):
        one = comparisons[figure]["ratio"]
        assert isinstance(one, dict)
        assert one["low"] - 1e-4 <= ratio <= one["high"] + 1e-4
        assert one["high"] - one["low"] < 0.002
        assert comparisons[figure]["differs"]
        assert not comparisons[figure]["weak"]
    assert comparisons["power"]["unit"] == "W"
    assert set(_compare(capsys, f"{folder}:eee=off", "eee=on", "--figure", "time")) == {"time"}
    assert "energy" in _compare(capsys, f"{folder}:eee=off", "eee=on", "--devices", "sw1")


def test_two_runs_are_compared_without_pairs(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = tmp_path / "runs" / "other"
    shutil.copytree(folder, other)
    comparisons = _compare(capsys, f"{folder}:eee=off", f"{other}:eee=on")
    assert comparisons["time"]["pairing"] == "none"
    assert not comparisons["time"]["differs"]  # the drift is larger than the effect, and nothing takes it out


def test_a_single_block_has_a_ratio_and_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = _written(tmp_path / "runs", 1)
    time = _compare(capsys, f"{once}:eee=off", "eee=on")["time"]
    assert time["ratio"] == {"value": pytest.approx(1.02), "low": None, "high": None}
    assert (time["weak"], time["differs"]) == (True, False)
    assert eeectl(["compare", f"{once}:eee=off", "eee=on", "--figure", "time"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("time"))
    assert row.split() == ["time", "n", "4", "s", "1", "1.02", "1.0200", "-", "+0.02", "-", "1,", "1", "few", "blocks"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("{folder}:eee=half", "eee=on"), "has no valid trial of eee half"),
        (("eee=on", "eee=off"), "names no run"),
        (("{folder}:eee", "eee=on"), "'eee' is not a level"),
        (("{folder}:eee=on", "/nowhere:eee=off"), "is not a run's folder"),
        (("{folder}", "{folder}"), "have trials of one run in common"),
        (("{folder}:eee=on", "{folder}"), "have trials of one run in common"),
        (("{folder}:eee=on", "n=4"), "have trials of one run in common"),
        (("{folder}:eee=on", "eee=off", "--figure", "speed"), "have no figure in common"),
        (("{folder}:eee=on", "eee=off", "--devices", "sw9"), "feeds sw9"),
    ],
)
def test_incomparable_trials_are_reported_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    assert eeectl(["compare", *(word.format(folder=folder) for word in words)]) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_the_table_reads_without_a_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["compare", f"{folder}:eee=off", "eee=on"]) == 0
    said = capsys.readouterr().out
    assert "paired by block" in said
    assert "power" in said
    assert "0.9000" in said


def test_ratios_that_their_medians_contradict_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """B is 2 % faster in each block, but the blocks drift, and the last of B was repeated."""
    with Run.create(tmp_path / "runs", "drifting", {"lab": "toy"}) as run:
        times = [
            (block, eee, 1.1**block * (0.98 if eee == "on" else 1.0)) for block in range(6) for eee in ("off", "on")
        ]
        times += [(5, "on", times[-1][2])] * 6
        for number, (block, eee, time_s) in enumerate(times):
            begun = TrialBegun(number, number, block, 0, {"eee": eee}, "program", "alltoall")
            run.event(EventKind.TRIAL_BEGUN, **begun.plain())
            ended = TrialEnded(number, "valid", "", number * _S, (number + 1) * _S, True, (("time", time_s, "s"),))
            run.event(EventKind.TRIAL_ENDED, **ended.plain())
    assert eeectl(["compare", f"{run.folder}:eee=off", "eee=on"]) == 0
    said = capsys.readouterr().out
    assert "B / A paired" in said
    assert "0.9800" in said
    assert "time: the medians point the other way" in said
