"""Errors become one sentence and a documented exit status."""

import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from eee_testbed.eeectl.application import _told, execute
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, REFUSED, Unsuccessful
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.plain_text import is_safe
from tests.support.measured.synthetic_run import write_alltoall, write_run
from tests.support.waiting import eventually


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (LabError("no lab 'x'."), REFUSED, "no lab 'x'."),
        (KeyboardInterrupt(), INTERRUPTED, "interrupted."),
        (KeyboardInterrupt("pdu1:1 is off."), INTERRUPTED, "interrupted; pdu1:1 is off."),
        (PermissionError(13, "Permission denied", "/a/file"), REFUSED, "/a/file cannot be used: Permission denied."),
        (KeyError("x"), REFUSED, "unexpected KeyError: 'x'; run it again with --debug and report the trace."),
        (OSError("odd"), REFUSED, "unexpected OSError: odd; run it again with --debug and report the trace."),
    ],
)
def test_an_error_is_told_in_one_sentence(error: BaseException, status: int, sentence: str) -> None:
    assert _told(error) == (status, (sentence,))


def test_what_failed_of_a_result_is_told_line_by_line_with_its_own_status() -> None:
    assert _told(Unsuccessful(["sw1 is away.", "sw2 is away."], INTERRUPTED)) == (
        INTERRUPTED,
        ("sw1 is away.", "sw2 is away."),
    )


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--version"]) == DONE
    assert capsys.readouterr().out.startswith(f"eeectl {metadata.version('eee-testbed')}")


_WAITING = """
import sys
import threading
import polars
from eee_testbed.eeectl.application import app, execute

@app.command
def wait_long() -> int:
    print("waiting", flush=True)
    threading.Event().wait()
    return 0

sys.exit(execute(["wait-long"]))
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_wait_although_polars_is_imported() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _WAITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "waiting\n"
        # A signal just before the system call of a wait leaves CPython waiting for the next one, without polars, too.
        status = Path(f"/proc/{waiting.pid}/status")
        eventually("it waits", lambda: "\nState:\tS" in status.read_text(encoding="utf-8"), every_s=0.001)
        waiting.send_signal(signal.SIGINT)
        try:
            _, said = waiting.communicate(timeout=60)
        finally:
            waiting.kill()
    assert waiting.returncode == INTERRUPTED
    assert said == "eeectl: interrupted.\n"


def test_what_is_lost_of_a_damaged_run_is_a_line_on_standard_error_and_the_rest_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_run(tmp_path, write_alltoall)
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b"\x1b[2J\n")
    lines = len((folder / "events.jsonl").read_bytes().splitlines())
    assert execute(["compare", f"{folder}:eee=on", "eee=off"]) == 0
    printed = capsys.readouterr()
    assert printed.out
    (said,) = printed.err.splitlines()
    assert said.startswith(f"eeectl: {folder / 'events.jsonl'}:{lines}: this line is left out: ")
    assert is_safe(said)
