"""Slots are tried again as often as the guards allow, and a resumed run goes on where it was."""

from pathlib import Path
from typing import Any

import pytest

from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.recorded_trials import RecordedTrials
from eee_testbed.measuring.experiments.run_progress import RunProgress
from eee_testbed.record.store import Run, RunFolder
from eee_testbed.record.trial_events import TrialEnded

_PROGRAM = {"name": "alltoall", "parameters": {"iterations": 1, "array_byte": 64}, "hosts": ["n1", "n2"]}


def _experiment(**guards: Any) -> Experiment:
    measure = {"program": _PROGRAM}
    return Experiment.model_validate({"name": "x", "lab": "toy", "blocks": 2, "measure": measure, "guards": guards})


def _trials(run: Run, **guards: Any) -> RecordedTrials:
    return RecordedTrials(_experiment(**guards), run, RunProgress(1, quiet=False), None)


@pytest.mark.parametrize(("state", "retry_failed", "tries"), [
    ("failed", True, 3), ("failed", False, 1), ("invalid", True, 3), ("invalid", False, 3),
])  # fmt: skip
def test_a_failed_trial_is_repeated_only_where_it_should(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], state: Any, tries: int, *, retry_failed: bool
) -> None:
    with Run.create(tmp_path, "x", {}) as run:
        trials = _trials(run, retries=2, retry_failed=retry_failed)
        while (slot := trials.next()) is not None:
            trials.end(slot, TrialEnded(trials.begin(slot), state, "it ended with an error", 0, 1))
    assert trials.tried == tries * trials.slot_count
    assert len(trials.missing()) == trials.slot_count
    assert capsys.readouterr().err.count("it ended with an error") == trials.slot_count


def test_a_resumed_run_keeps_valid_trials_and_numbers_on(tmp_path: Path) -> None:
    with Run.create(tmp_path, "x", {}) as run:
        trials = _trials(run)
        for state in ("valid", "invalid"):
            slot = trials.next()
            assert slot is not None
            trials.end(slot, TrialEnded(trials.begin(slot), state, "", 0, 1))
        slots = trials.slot_count
    with Run.resume(RunFolder.read(run.folder)) as again:
        trials = _trials(again)
        assert (trials.done, trials.tried, len(trials.missing())) == (1, 2, slots - 1)
