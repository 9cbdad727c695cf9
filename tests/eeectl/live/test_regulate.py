"""Links that a program does not need go off, and come back when it was measured."""

import json
from pathlib import Path

import pytest

from eee_testbed.record.trials import read_trials
from tests.support.labs.engineer import Engineer, Running
from tests.support.labs.lab_client import EEECTL, eventually
from tests.support.labs.loop_run import PATIENCE_S

PROGRAM = ("--set", "array_byte=4096", "--set", "iterations=100")


@pytest.mark.alone
def test_links_go_off_for_a_program_and_come_back(engineer: Engineer, tmp_path: Path) -> None:
    """By both methods and by the closed loop, in one run. Pauses make most of the program's time."""
    assert engineer.apply("--trees-per-switch", "2").returncode == 0
    before = engineer.read()
    here = ("--lab", engineer.folder, "--runs", str(tmp_path))
    choices = ("--hosts", "n01,n03,n05", "--sweep", "2", "--blocks", "1", "--set", "sleep_us=5000", *PROGRAM)
    loop = ("--epoch", "1s", "--deactivation-epochs", "1", "--baseline-runs", "1", "--slowdown-bound", "99%")
    done = engineer.words("regulate", "compare", "alltoall", *here, *choices, *loop, "--json")
    assert done.returncode == 0, done.stderr
    assert engineer.read() == before
    told = json.loads(done.stdout)
    by_name = {one["name"]: one for one in told["choices"]}
    assert len(by_name) == 5
    looped = by_name.pop("auto")
    assert 0 < looped["links_off"] <= 4, "all but two at most, which are the root network"
    assert looped["slowdown"]["value"] > -1
    largest = [one for one in by_name.values() if len(one["off"]) == 4]
    assert {one["how"] for one in largest} == {"Koibuchi 2011, V.B.3", "heuristic"}
    assert all(one["performance"]["value"] > 0 for one in largest)
    trials = read_trials(Path(told["run"]))
    assert {trial.levels["regulation"] for trial in trials} == {"baseline", *(one["level"] for one in told["choices"])}
    settling = {int(folder.name): len(list(folder.iterdir())) for folder in (Path(told["run"]) / "settling").iterdir()}
    for trial in trials:
        runs = settling[trial.number]
        assert runs > 1 if trial.levels["regulation"] == "auto" else runs == 1


@pytest.mark.alone
def test_a_run_that_was_stopped_ends_with_the_table_of_one_that_was_not(engineer: Engineer, tmp_path: Path) -> None:
    """Ctrl-C in the middle of its trials; then the missing ones, and the table, which is printed as often as asked."""
    assert engineer.apply("--trees-per-switch", "2").returncode == 0
    before = engineer.read()
    words = ("regulate", "run", "alltoall", "--lab", engineer.folder, "--runs", str(tmp_path), *PROGRAM)
    choices = ("--hosts", "n01,n03,n05", "--sweep", "1", "--blocks", "2", "--method", "koibuchi")
    running = Running([*EEECTL, *words, *choices, "--set", "sleep_us=5000", "--json"], engineer.environment())

    def measured() -> Path | None:
        folder = next((one for one in tmp_path.glob("*-regulate-alltoall") if not one.name.endswith("pre-run")), None)
        return folder if folder is not None and any(trial.valid for trial in read_trials(folder)) else None

    folder = eventually("a valid trial", measured, patience_s=PATIENCE_S)
    assert folder is not None
    running.interrupt()
    stopped = running.end()
    assert stopped.returncode == 130, stopped.stderr
    assert engineer.read() == before
    kept = [trial.number for trial in read_trials(folder) if trial.valid]
    resumed = engineer.words("regulate", "resume", str(folder), "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert engineer.read() == before
    table = json.loads(resumed.stdout)
    trials = read_trials(folder)
    assert [trial.number for trial in trials if trial.valid][: len(kept)] == kept
    assert sum(trial.valid for trial in trials) == 4
    (choice,) = table["choices"]
    assert choice["slowdown"]["low"] <= choice["slowdown"]["value"] <= choice["slowdown"]["high"]
    for again in (("regulate", "resume", str(folder)), ("run", str(folder), "--resume")):
        done = engineer.words(*again, "--json")
        assert (done.returncode, json.loads(done.stdout)) == (0, table)
    assert read_trials(folder) == trials, "nothing was measured again"


@pytest.mark.alone
@pytest.mark.parametrize(
    ("knob", "level", "line"),
    [
        (("--knob", "hold", "--hold-us", "500"), "eee", "eee tx-idle-time 500"),
        (("--knob", "speed"), "10 Mb/s", "speed"),
    ],
)
def test_links_that_are_not_needed_sleep_or_slow_down_and_nothing_stays(
    engineer: Engineer, tmp_path: Path, knob: tuple[str, ...], level: str, line: str
) -> None:
    """sw2 can set hold times: its configuration has one while the trial runs that wants it, and afterwards none.

    Dell's ports come with EEE on, with a hold time of their own.
    """
    assert engineer.apply("--trees-per-switch", "2").returncode == 0
    trunks = [str(link.number) for link in engineer.lab.lab.trunks()]
    assert engineer.words("eee", "off", *trunks, "--yes", "--lab", engineer.folder).returncode == 0
    before = engineer.read()
    words = ("regulate", "run", "alltoall", "--lab", engineer.folder, "--runs", str(tmp_path), *PROGRAM, *knob)
    choices = ("--hosts", "n01,n03,n05", "--peak", "90%", "--blocks", "1", "--method", "koibuchi", "--set")
    running = Running([*EEECTL, *words, *choices, "sleep_us=5000", "--json"], engineer.environment())

    def set_at_sw2() -> bool:
        assert running.process.poll() is None, running.end()
        return any(line in shown for shown in engineer.read()["sw2"] - before["sw2"])

    eventually("sw2 has it in its configuration", set_at_sw2, patience_s=PATIENCE_S)
    done = running.end()
    assert done.returncode == 0, done.stderr
    assert engineer.read() == before
    (choice,) = json.loads(done.stdout)["choices"]
    assert choice["off"] == []
    assert level in set(choice["levels"].values())
    assert choice["performance"]["value"] > 0


def test_counters_of_ports_show_the_same_traffic(engineer: Engineer, tmp_path: Path) -> None:
    """With headers, acknowledgements and broadcasts in it."""
    assert engineer.apply().returncode == 0
    here = (
        "regulate",
        "choose",
        "alltoall",
        "--lab",
        engineer.folder,
        "--runs",
        str(tmp_path),
        "--sweep",
        "1",
        "--json",
    )
    longer = ("--set", "array_byte=4096", "--set", "iterations=100", "--set", "sleep_us=30000")
    by_messages = engineer.words(*here, *longer)
    assert by_messages.returncode == 0, by_messages.stderr
    (pre_run,) = tmp_path.glob("*-pre-run")
    by_counters = engineer.words(*here, "--traffic", "counters", "--pre-run", str(pre_run))
    assert by_counters.returncode == 0, by_counters.stderr
    sent, seen = (json.loads(one.stdout)["busiest_channel_byte"] for one in (by_messages, by_counters))
    assert 0.9 * sent <= seen <= 3 * sent


def test_a_lab_without_trees_is_refused_before_anything_is_changed(engineer: Engineer, tmp_path: Path) -> None:
    here = ("--lab", engineer.folder, "--runs", str(tmp_path))
    done = engineer.words("regulate", "run", "alltoall", *here, "--peak", "1GB", *PROGRAM, "--hosts", "n01", "n02")
    assert done.returncode == 1
    assert "run `eeectl apply` first" in done.stderr
    engineer.require_before()
    done = engineer.words("regulate", "run", "alltoall", *here, *PROGRAM)
    assert done.returncode == 1
    assert "how much may a channel carry?" in done.stderr
