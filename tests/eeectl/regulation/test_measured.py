"""A pre-run that did not come to its end ends the command that it is for."""

from pathlib import Path

import pytest

from eee_testbed.eeectl.exit_status import INTERRUPTED, REFUSED
from eee_testbed.eeectl.regulation.measured import ended_early
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.running import Outcome
from eee_testbed.measuring.experiments.session import RunResult


@pytest.mark.parametrize(
    ("interrupted", "cause", "status"),
    [(True, None, INTERRUPTED), (False, LabError("the disk is full."), REFUSED), (False, None, None)],
    ids=["stopped", "failed", "whole"],
)
def test_a_pre_run_that_is_stopped_after_its_trial_ends_the_command(
    cause: LabError | None, status: int | None, tmp_path: Path, *, interrupted: bool
) -> None:
    outcome = Outcome(slots=1, valid=1, tried=1, missing=(), interrupted=interrupted, restored="", cause=cause)
    assert ended_early(RunResult(tmp_path, outcome), as_json=False) == status
