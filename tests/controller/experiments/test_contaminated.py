"""A trial that something else than the network disturbed does not count, and its slot is run again."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from controller.experiments.blocks import Slot, SlotQueue
from controller.experiments.experiment import Guards
from controller.experiments.guards import GuardSink
from controller.experiments.measuring import Measured
from controller.experiments.running import Runner


def _runner(guards: Guards, *, shared_processors: bool = False) -> Any:
    measure = SimpleNamespace(what="program")
    return SimpleNamespace(
        experiment=SimpleNamespace(guards=guards, measure=measure),
        guard_sink=GuardSink(),
        lab=SimpleNamespace(strips=()),
        _on_shared_processors=lambda: shared_processors,
    )


def _measured(**figures: float) -> Measured:
    return Measured(0, 10**9, figures=tuple((name, value, "") for name, value in figures.items()))


@pytest.mark.parametrize("share", [0.0, 0.04, 0.06, 0.8])
def test_a_runs_guard_judges_what_the_program_reports(share: float) -> None:
    done = _measured(time=1.0, processor_wait_share=share)
    why = Runner._why_invalid(cast("Runner", _runner(Guards())), done)
    assert bool(why) == (share > 0.05)
    assert Runner._why_invalid(cast("Runner", _runner(Guards(), shared_processors=True)), done) == ""
    assert Runner._why_invalid(cast("Runner", _runner(Guards(processor_wait_share=1.0))), done) == ""


def test_its_slot_is_tried_again_as_often_as_the_guards_allow() -> None:
    slot = Slot(0, 0, 0, {})
    queue = SlotQueue((slot,), set(), Guards(retries=2).retries)
    tried = 0
    while (found := queue.next()) is not None:
        tried += 1
        queue.failed(found)
    assert tried == 3
    assert queue.missing() == (slot,)
