"""What is printed at the end of a run: how to go on, where going on helps."""

from pathlib import Path

import pytest

from eee_testbed.eeectl.exit_status import REFUSED
from eee_testbed.eeectl.run_output import print_result
from eee_testbed.lab.errors import LabError, NeverMatched
from eee_testbed.measuring.experiments.blocks import Slot
from eee_testbed.measuring.experiments.running import Outcome
from eee_testbed.measuring.experiments.session import RunResult


@pytest.mark.parametrize(
    ("cause", "helps"), [(LabError("the disk is full."), True), (NeverMatched("2 trials in a row ended alike."), False)]
)
def test_a_run_is_to_be_resumed_unless_it_would_end_alike(
    capsys: pytest.CaptureFixture[str], cause: LabError, *, helps: bool
) -> None:
    missing = (Slot(0, 0, 0, {"eee": "on"}),)
    outcome = Outcome(1, 0, 2, missing, interrupted=False, restored="", cause=cause)
    assert print_result(RunResult(Path("runs/x"), outcome), as_json=False) == REFUSED
    assert ("--resume" in capsys.readouterr().out) is helps
