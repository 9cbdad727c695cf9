"""The pace of a lab's time is in the run's events, once for each change."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.yaml_source import YamlSource
from eee_testbed.measuring.experiments.blocks import Slot, SlotQueue
from eee_testbed.measuring.experiments.experiment import Experiment, Guards
from eee_testbed.measuring.experiments.measuring import Measured
from eee_testbed.measuring.experiments.running import Runner
from eee_testbed.measuring.experiments.session import RunOptions, run_new
from tests.support.labs.toy_lab import small_lab


def _notes(paces: list[str]) -> list[list[str]]:
    runner: Any = SimpleNamespace(_pace="")
    return [list(Runner._changed_pace(cast("Runner", runner), pace)) for pace in paces]


def test_the_walls_pace_is_not_mentioned() -> None:
    assert _notes(["", ""]) == [[], []]


def test_each_change_of_pace_is_noted_once() -> None:
    slow = "from this trial on, lab time runs at 1/10 of the wall's pace."
    back = "from this trial on, lab time runs at the wall's pace."
    tenth = "1/10 of the wall's pace"
    assert _notes([tenth, tenth, "", tenth]) == [[slow], [], [back], [slow]]


def test_a_late_trial_is_tried_again_while_retries_are_left() -> None:
    slot = Slot(0, 0, 0, {})
    runner: Any = SimpleNamespace(_queue=SlotQueue([slot], [], retries=1))
    late = "its frames were late."
    assert runner._queue.next() == slot
    assert Runner._too_late(runner, slot, "") == ("", ())
    assert Runner._too_late(runner, slot, late) == (late, ())
    assert runner._queue.failed(slot)
    assert runner._queue.next() == slot
    why, (note,) = Runner._too_late(runner, slot, late)
    assert not why
    assert note.startswith(late)


_TENTH = "1/10 of the wall's pace"


def _runner(pace: str | None) -> Runner:
    """A runner with the usual guards, none of which was violated, in a lab of that pace or on a rack."""
    sink = SimpleNamespace(violations=list)
    experiment = SimpleNamespace(guards=Guards(meters=False), measure=SimpleNamespace(what="program"))
    monitor = None if pace is None else SimpleNamespace()
    runner: Any = SimpleNamespace(lateness_monitor=monitor, experiment=experiment, guard_sink=sink, _pace=pace or "")
    runner._guards = lambda: Runner._guards(runner)
    runner._on_shared_processors = lambda: Runner._on_shared_processors(runner)
    runner._why_invalid = lambda done: Runner._why_invalid(runner, done)
    return cast("Runner", runner)


def _waiting() -> Measured:
    """A trial whose ranks waited for a processor for two fifths of its time."""
    figures = (("time", 1.0, "s"), ("processor_wait_share", 0.4, "1"))
    return cast("Measured", SimpleNamespace(figures=figures, begun_ns=0, ended_ns=1))


def test_ranks_that_wait_spoil_a_trial_on_nodes_of_their_own() -> None:
    runner = _runner(None)
    assert list(Runner._shared_processors(runner, _waiting())) == []
    assert "processor_wait_share" in Runner._why_invalid(runner, _waiting())


@pytest.mark.parametrize("pace", ["", _TENTH])
def test_ranks_of_a_virtual_lab_share_a_machine_and_it_is_noted(pace: str) -> None:
    """Spinning ranks wait for each other for the same share of their time at every rate."""
    runner = _runner(pace)
    (note,) = Runner._shared_processors(runner, _waiting())
    assert "40%" in note
    assert Runner._why_invalid(runner, _waiting()) == ""


def test_a_lab_is_told_that_it_is_measured_before_it_is_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path / "kept"))
    small_lab(tmp_path / "toy")
    program = {"name": "alltoall", "parameters": {"iterations": 1, "array_byte": 64}, "hosts": ["n1", "n2"]}
    content = {"name": "x", "lab": str(tmp_path / "toy"), "measure": {"program": program}}
    source = YamlSource("a file", content)

    def told(_: str) -> None:
        raise LabError("it is told")

    with pytest.raises(LabError, match="it is told"):
        run_new(Experiment.model_validate(content), source, RunOptions(tmp_path / "runs", quiet=True), told)
    (folder,) = (tmp_path / "runs").iterdir()
    assert "sampling_begun" not in (folder / "events.jsonl").read_text(encoding="utf-8")
