"""`--notify`: what the command gets, when it is started, and that nothing it does changes anything."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, PENDING, REFUSED
from eee_testbed.eeectl.notice import Notice
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.running import Outcome
from eee_testbed.measuring.experiments.session import RunResult

_NOTE = "import os, sys, json; json.dump([dict(os.environ), sys.argv[1:]], open({path!r}, 'w'))"


def _noting(folder: Path) -> tuple[str, Path]:
    """A command that writes its environment and arguments to a file."""
    path = folder / "told.json"
    return shlex.join([sys.executable, "-c", _NOTE.format(path=str(path)), "first"]), path


def _told(path: Path) -> tuple[dict[str, str], list[str]]:
    environment, arguments = json.loads(path.read_text())
    return environment, arguments


@pytest.mark.parametrize(
    ("status", "state"), [(DONE, "done"), (PENDING, "incomplete"), (INTERRUPTED, "stopped"), (REFUSED, "failed")]
)
def test_the_command_is_told_how_it_ended(tmp_path: Path, status: int, state: str) -> None:
    command, path = _noting(tmp_path)
    os.environ["EEE_INFLUX_TOKEN"] = os.environ["LD_PRELOAD_SECRET"] = "hunter2"
    try:
        with Notice(command, "study") as notice:
            notice.run = tmp_path
            assert notice.ended(status, "3 of 4 parameters\nare known") == status
    finally:
        del os.environ["EEE_INFLUX_TOKEN"], os.environ["LD_PRELOAD_SECRET"]
    environment, arguments = _told(path)
    summary = f"eeectl study {state}: 3 of 4 parameters are known"
    assert arguments == ["first", summary]
    told = {name: value for name, value in environment.items() if name.startswith("EEE_")}
    assert told == {
        "EEE_VERB": "study",
        "EEE_STATE": state,
        "EEE_SUMMARY": summary,
        "EEE_RUN": str(tmp_path.resolve()),
    }
    assert "hunter2" not in environment.values()


@pytest.mark.parametrize(
    ("error", "state"), [(LabError("sw1 does not answer: switch it on."), "failed"), (KeyboardInterrupt(), "stopped")]
)
def test_an_error_is_told_and_goes_on(tmp_path: Path, error: BaseException, state: str) -> None:
    command, path = _noting(tmp_path)
    with pytest.raises(type(error)), Notice(command, "run"):
        raise error
    environment, _ = _told(path)
    assert environment["EEE_STATE"] == state
    assert str(error) in environment["EEE_SUMMARY"]
    assert environment["EEE_RUN"] == ""


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("sh -c 'exit 7'", "ended with status 7"),
        ("sh -c 'sleep 60; true'", "was ended after 0.2 s"),
    ],
)
def test_a_command_that_fails_is_one_sentence_and_changes_nothing(
    command: str, why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with Notice(command, "run", longest_s=0.2 if "sleep" in command else 30.0) as notice:
        status = notice.ended(PENDING, "1 of 2 trials")
    assert status == PENDING
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err == f"eeectl: --notify: sh {why}: the message may not have been sent; the measurements are kept.\n"


def test_what_the_command_prints_does_not_get_into_json(capfd: pytest.CaptureFixture[str]) -> None:
    with Notice("echo said", "run") as notice:
        notice.ended(DONE, "all")
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err == "said eeectl run done: all\n"


def test_a_summary_is_text_for_the_command_and_never_for_a_shell(capfd: pytest.CaptureFixture[str]) -> None:
    with Notice("echo", "run") as notice:
        notice.ended(DONE, "$(id) `id` ; id")
    assert "$(id) `id` ; id" in capfd.readouterr().err


def test_a_run_is_told_with_its_trials_and_what_ended_it(tmp_path: Path) -> None:
    command, path = _noting(tmp_path)
    cause = LabError("the disk is full: free some space.")
    outcome = Outcome(slots=4, valid=3, tried=4, missing=(), interrupted=False, restored="", cause=cause)
    with Notice(command, "sweep") as notice:
        assert notice.run_ended(REFUSED, RunResult(tmp_path, outcome)) == REFUSED
    environment, _ = _told(path)
    assert f"3 of 4 trials are valid: {tmp_path}; the disk is full" in environment["EEE_SUMMARY"]


@pytest.mark.parametrize(
    "words",
    [
        ["sweep", "alltoall", "--lab", "no-such-lab"],
        ["bench", "no-such-program", "--lab", "miwa"],
        ["study", "no-such-lab"],
        ["run", "no-such-file.yaml"],
        ["run", "no-such-run", "--resume"],
        ["regulate", "run", "alltoall", "--peak", "1MB", "--lab", "no-such-lab"],
        ["regulate", "resume", "no-such-run"],
    ],
)
def test_what_is_refused_before_anything_is_measured_is_told(
    words: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command, path = _noting(tmp_path)
    assert eeectl([*words, "--notify", command]) == REFUSED
    environment, _ = _told(path)
    assert (environment["EEE_VERB"], environment["EEE_STATE"]) == (words[0], "failed")
    why = " ".join(capfd.readouterr().err.removeprefix("eeectl: ").split())
    assert environment["EEE_SUMMARY"] == f"eeectl {words[0]} failed: {why}"


def test_what_only_shows_tells_nobody(tmp_path: Path) -> None:
    command, path = _noting(tmp_path)
    assert (
        eeectl(["sweep", "alltoall", "--lab", "miwa", "--factor", "eee=on,off", "--order", "--notify", command]) == DONE
    )
    assert not path.exists()


@pytest.mark.parametrize("command", ["'open", "no-such-program-here --now", "''"])
def test_a_command_that_cannot_be_started_is_refused_before_anything_is_measured(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    of_miwa = ["--lab", "miwa"]
    for words in (
        ["study", "miwa"],
        ["regulate", "run", "alltoall", *of_miwa],
        *([verb, "alltoall", *of_miwa] for verb in ("sweep", "bench")),
    ):
        assert eeectl([*words, "--notify", command]) == 1
        assert "--notify" in capsys.readouterr().err
