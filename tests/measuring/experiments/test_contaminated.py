"""A trial that something else than the network disturbed does not count, and its slot is run again."""

from types import SimpleNamespace
from typing import Any

import pytest

from eee_testbed.measuring.experiments.blocks import Slot, SlotQueue
from eee_testbed.measuring.experiments.experiment import Guards
from eee_testbed.measuring.experiments.guards import GuardSink
from eee_testbed.measuring.experiments.measuring import Measured
from eee_testbed.measuring.experiments.running import Runner
from eee_testbed.record.trial_events import TrialEnded


def _runner(guards: Guards, pace: str | None = None) -> Any:
    """A runner on nodes of their own, or on a virtual lab whose clock has this pace; empty: the wall's."""
    runner = Runner.__new__(Runner)
    fields = {
        "experiment": SimpleNamespace(guards=guards, measure=SimpleNamespace(what="program")),
        "guard_sink": GuardSink(),
        "lab": SimpleNamespace(strips=()),
        "lateness_monitor": None if pace is None else SimpleNamespace(),
        "_pace": pace or "",
    }
    for name, value in fields.items():
        setattr(runner, name, value)
    return runner


def _measured(**figures: float) -> Measured:
    return Measured(0, 10**9, figures=tuple((name, value, "") for name, value in figures.items()))


@pytest.mark.parametrize("share", [0.0, 0.04, 0.06, 0.8, 1.22])
def test_a_runs_guard_judges_what_the_program_reports(share: float) -> None:
    done = _measured(time=1.0, processor_wait_share=share)
    why = _runner(Guards())._why_invalid(done)
    assert bool(why) == (share > 0.05)
    assert bool(_runner(Guards(processor_wait_share=1.0))._why_invalid(done)) == (share > 1.0)
    for pace in ("", "1/10"):
        virtual = _runner(Guards(), pace)
        assert virtual._why_invalid(done) == ""
        assert bool(list(virtual._shared_processors(done))) == (share > 0.05)


@pytest.mark.parametrize(("pace", "counts"), [(None, False), ("1/10", False), ("", True)])
def test_a_second_mode_is_seen_in_lab_time_too(pace: str | None, *, counts: bool) -> None:
    done = _measured(steal_share=0.5)
    assert bool(_runner(Guards(), pace)._why_invalid(done)) is not counts


def test_its_slot_is_tried_again_as_often_as_the_guards_allow() -> None:
    slot = Slot(0, 0, 0, {})
    queue = SlotQueue((slot,), set(), Guards(retries=2).retries)
    tried = 0
    while (found := queue.next()) is not None:
        tried += 1
        queue.failed(found)
    assert tried == 3
    assert queue.missing() == (slot,)


@pytest.mark.parametrize(("state", "retry_failed", "tries"), [
    ("failed", True, 3), ("failed", False, 1), ("invalid", True, 3), ("invalid", False, 3),
])  # fmt: skip
def test_a_failed_trial_is_repeated_only_where_it_should(state: Any, tries: int, *, retry_failed: bool) -> None:
    runner, slot, said = _runner(Guards(retry_failed=retry_failed)), Slot(0, 0, 0, {}), []
    runner._queue, runner._ended = SlotQueue((slot,), set(), 2), {}
    runner.run = SimpleNamespace(event=lambda *_, **__: None)
    runner.progress = SimpleNamespace(say=said.append)
    runner._flush = lambda: None
    tried = 0
    while (found := runner._queue.next()) is not None:
        runner._record_end(found, TrialEnded(tried, state, "it ended with an error", 0, 1))
        tried += 1
    assert tried == tries
    assert len(said) == 1
    assert "it ended with an error" in said[0]
