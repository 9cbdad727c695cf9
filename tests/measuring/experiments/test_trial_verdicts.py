"""A trial that something else than the network disturbed does not count; the pace of a lab's time is noted."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.guards import GuardSink, LatenessMonitor, TrialMonitor
from eee_testbed.measuring.experiments.measuring import Measured
from eee_testbed.measuring.experiments.recorded_trials import RecordedTrials
from eee_testbed.measuring.experiments.run_progress import RunProgress
from eee_testbed.measuring.experiments.trial_verdicts import TrialVerdicts
from eee_testbed.record.sample_tables import Batch
from eee_testbed.record.store import Run

_TENTH = "1/10 of real time"
_LATE = "its frames were late."
_PROGRAM = {"name": "alltoall", "parameters": {"iterations": 1, "array_byte": 64}, "hosts": ["n1", "n2"]}


def _experiment(**guards: Any) -> Experiment:
    measure = {"program": _PROGRAM}
    return Experiment.model_validate({"name": "x", "lab": "toy", "blocks": 1, "measure": measure, "guards": guards})


def _verdicts(pace: str | None = None, **guards: Any) -> TrialVerdicts:
    """Of trials on nodes of their own, or on a virtual lab whose clock had this pace; empty: the wall's."""
    monitor = None if pace is None else cast("LatenessMonitor", SimpleNamespace())
    found = TrialVerdicts(_experiment(**guards), GuardSink(), monitor, has_strips=False)
    found.pace = pace or ""
    return found


def _measured(**figures: float) -> Measured:
    return Measured(0, 10**9, figures=tuple((name, value, "") for name, value in figures.items()))


def _notes(*paces: str) -> list[tuple[str, ...]]:
    verdicts = _verdicts("")
    return [verdicts.new_pace(pace)[0] for pace in paces]


def test_the_walls_pace_is_not_mentioned() -> None:
    assert _notes("", "") == [(), ()]


def test_each_change_of_pace_is_noted_once() -> None:
    slow = "from this trial on, lab time runs at 1/10 of real time."
    back = "from this trial on, lab time runs in real time."
    assert _notes(_TENTH, _TENTH, "", _TENTH) == [(slow,), (), (back,), (slow,)]


def _all_trials(folder: Path, verdicts: TrialVerdicts, late: str = "") -> list[tuple[str, ...]]:
    """Of each trial until no slot is left: why it does not count, and the notes on it."""
    with Run.create(folder, "x", {}) as run:
        trials = RecordedTrials(verdicts.experiment, run, RunProgress(1, quiet=True), None)
        monitor = cast("TrialMonitor", SimpleNamespace(late=late, violation=""))
        found: list[tuple[str, ...]] = []
        while (slot := trials.next()) is not None:
            number = trials.begin(slot)
            ended, notes = verdicts.of(slot, number, _measured(), monitor, trials)
            found.append((ended.why, *notes))
            trials.end(slot, ended)
    return found


def test_a_late_trial_is_tried_again_while_retries_are_left(tmp_path: Path) -> None:
    found = _all_trials(tmp_path, _verdicts(retries=1), _LATE)
    assert found == [(_LATE,), ("", f"{_LATE} It counts: its slot has no retries left.")]


_FEW = "pdu1 answered 1 time in this window, which needs 3"


def _windows(window_s: float, told: list[str] | None) -> TrialVerdicts:
    """Verdicts on one window of a strip that delivers too little. `told`: what a virtual lab's time is told."""
    measure = {"measure": {"power": {"window_s": window_s}}, "guards": {"retries": 1}}
    experiment = Experiment.model_validate({"name": "x", "lab": "toy", "blocks": 1, **measure})
    clock = SimpleNamespace(read_slower=lambda: told.append("slower") if told is not None else None)
    monitor = None if told is None else cast("LatenessMonitor", clock)
    verdicts = TrialVerdicts(experiment, GuardSink(), monitor, has_strips=True)
    rows = {"strip": "pdu1", "sent_ns": 1, "received_ns": 2, "power_watt": 3.0, "unchanged_s": 0.0, "mark": ""}
    verdicts.guard_sink.take(Batch("watts", 1, rows))
    return verdicts


def test_a_window_with_too_few_samples_is_tried_again_at_a_slower_pace(tmp_path: Path) -> None:
    told: list[str] = []
    slower = f"{_FEW}: lab time runs slower in later windows."
    counts = f"{slower} It counts: its slot has no retries left."
    assert _all_trials(tmp_path, _windows(10, told)) == [(slower,), ("", counts)]
    assert told == ["slower", "slower"]


@pytest.mark.parametrize(("window_s", "told"), [(2, []), (10, None)], ids=["short", "real"])
def test_a_window_that_slower_lab_time_would_not_mend_counts_with_a_note(
    tmp_path: Path, window_s: float, told: list[str] | None
) -> None:
    assert _all_trials(tmp_path, _windows(window_s, told)) == [("", f"{_FEW}: use longer windows.")]
    assert not told


@pytest.mark.parametrize("share", [0.0, 0.04, 0.06, 0.8, 1.22])
def test_a_runs_guard_judges_what_the_program_reports(share: float) -> None:
    done = _measured(time=1.0, processor_wait_share=share)
    assert bool(_verdicts().why_invalid(done)) == (share > 0.05)
    assert bool(_verdicts(processor_wait_share=1.0).why_invalid(done)) == (share > 1.0)
    assert list(_verdicts().shared_processors(done)) == []


@pytest.mark.parametrize("pace", ["", _TENTH])
@pytest.mark.parametrize("share", [0.04, 0.06, 1.22])
def test_ranks_of_a_virtual_lab_share_a_machine_and_it_is_noted(pace: str, share: float) -> None:
    """Spinning ranks wait for each other for the same share of their time at every rate."""
    done = _measured(time=1.0, processor_wait_share=share)
    virtual = _verdicts(pace)
    assert virtual.why_invalid(done) == ""
    assert [f"{share:.0%}" in note for note in virtual.shared_processors(done)] == [True] * (share > 0.05)


@pytest.mark.parametrize(("pace", "counts"), [(None, False), (_TENTH, False), ("", True)])
def test_a_second_mode_is_seen_in_lab_time_too(pace: str | None, *, counts: bool) -> None:
    assert bool(_verdicts(pace).why_invalid(_measured(steal_share=0.5))) is not counts


def test_a_violation_that_later_samples_show_takes_a_trial_back(tmp_path: Path) -> None:
    verdicts = _verdicts(retries=0)
    row = {"switch": "sw1", "port": "1", "sent_ns": 1, "received_ns": 2, "up": True, "changed_ms": 0, "mark": "reset"}
    with Run.create(tmp_path, "x", {}) as run:
        trials = RecordedTrials(verdicts.experiment, run, RunProgress(1, quiet=True), None)
        monitor = cast("TrialMonitor", SimpleNamespace(late="", violation=""))
        slot = trials.next()
        assert slot is not None
        ended, _ = verdicts.of(slot, trials.begin(slot), _measured(), monitor, trials)
        trials.end(slot, ended)
        verdicts.recheck(trials)
        assert trials.done == 1
        verdicts.guard_sink.take(Batch("ports", 1, row))
        verdicts.recheck(trials)
        assert trials.done == 0
