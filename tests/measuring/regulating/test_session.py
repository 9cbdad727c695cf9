"""A closed loop beside a program: when it may decide, what it is told, and when the program's failures end it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.lab.errors import LabError, Unreachable
from eee_testbed.measuring.experiments.experiment import Experiment, Measure, ProgramRun
from eee_testbed.measuring.experiments.measuring import Measured
from eee_testbed.measuring.experiments.run_progress import RunProgress
from eee_testbed.measuring.experiments.session import RunOptions
from eee_testbed.measuring.experiments.signal_handling import SignalHandling
from eee_testbed.measuring.regulating.session import LoopOptions, LoopSession, Nodes
from eee_testbed.record.event_kinds import EventKind
from tests.support.labs.toy_lab import ToyLab, small_lab, trees_state
from tests.support.regulation.looped_toy import LoopedToy

EXPERIMENT = Experiment(
    name="looped", lab="toy", measure=Measure(program=ProgramRun(name="alltoall", hosts=("n1", "n2")))
)


@pytest.fixture
def looped(tmp_path: Path) -> Iterator[LoopedToy]:
    lab = small_lab(tmp_path / "toy")
    with LoopedToy(lab, ToyLab(lab, trees_state(lab)), tmp_path / "runs") as made:
        made.loop.decides.clear()
        yield made


def _beside(looped: LoopedToy, measured: Callable[[], Measured]) -> LoopSession:
    """A session whose program is a function."""

    def measure(*_: Any) -> Measured:
        return measured()

    options = LoopOptions(baseline_runs=2)
    return LoopSession(
        looped.lab,
        EXPERIMENT,
        looped.run,
        looped.controller,
        RunProgress(0, quiet=True),
        SignalHandling(),
        options,
        RunOptions(),
        Nodes(await_reach=lambda _hosts: None, measure=measure),
    )


def _taking(time_s: float) -> Measured:
    return Measured(0, 1, answer_right=True, figures=(("time", time_s, "s"), ("elapsed", 99.0, "s")))


def test_the_loop_decides_after_the_baseline_and_is_told_medians(looped: LoopedToy) -> None:
    times_s = iter((1.0, 3.0, 2.2, 2.4, 9.0))
    deciding: list[bool] = []

    def measured() -> Measured:
        deciding.append(looped.loop.decides.is_set())
        if len(deciding) == 4:
            looped.loop.ended.set()
        return _taking(next(times_s))

    beside = _beside(looped, measured)
    beside.beside(looped.loop)
    assert deciding == [False, False, True, True]
    looped.epochs(1)
    (epoch,) = looped.events(EventKind.LOOP_EPOCH)
    assert epoch["slowdown"] == pytest.approx(2.3 / 2.0 - 1), "the median of 2.2 and 2.4 by that of 1 and 3"
    ended = looped.events(EventKind.TRIAL_ENDED)
    assert [one["state"] for one in ended] == ["valid"] * 4


def test_a_program_that_fails_again_and_again_ends_the_loop(looped: LoopedToy) -> None:
    def measured() -> Measured:
        raise Unreachable("n1", "does not answer.")

    with pytest.raises(LabError, match="failed 3 times in a row, the last with: n1: does not answer"):
        _beside(looped, measured).beside(looped.loop)
    assert not looped.loop.decides.is_set()
    assert [one["state"] for one in looped.events(EventKind.TRIAL_ENDED)] == ["failed"] * 3


def test_the_loops_thread_ends_when_it_is_asked_to(looped: LoopedToy) -> None:
    looped.controller.stop.ask()
    looped.loop.run()
    assert looped.loop.ended.is_set()
    assert looped.loop.failure is None


def test_the_loops_thread_keeps_what_ended_it_early(looped: LoopedToy) -> None:
    def fail() -> None:
        raise LabError("the disk is full.")

    looped.loop.epoch_s = 0.01
    looped.loop.check = fail
    looped.loop.run()
    assert looped.loop.ended.is_set()
    assert str(looped.loop.failure) == "the disk is full."
