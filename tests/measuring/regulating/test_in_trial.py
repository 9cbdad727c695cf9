"""A closed loop beside a trial: it has settled when the trial begins, its end is awaited, its failures are told."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eee_testbed.controller.applying.rounds import Stop
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.experiments.experiment import LoopLevel
from eee_testbed.measuring.experiments.measuring import Measured
from eee_testbed.measuring.experiments.signal_handling import SignalHandling
from eee_testbed.measuring.regulating.epoch_counters import EpochCounters, EpochCounts
from eee_testbed.measuring.regulating.in_trial import LoopsInTrials
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch
from tests.support.labs.toy_lab import ToyLab, small_lab, trees_state
from tests.support.regulation.looped_toy import LoopedToy, shut
from tests.support.waiting import eventually

LEVEL = LoopLevel(deactivation_epochs=1, baseline_runs=2).model_copy(update={"epoch_s": 0.01})


class _Sampled:
    """A collector that samples all switches, and never fails."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.states = tuple(type("State", (), {"name": name}) for name in names)

    def check(self) -> None:
        return None


@pytest.fixture
def looped(tmp_path: Path) -> Iterator[LoopedToy]:
    lab = small_lab(tmp_path / "toy")
    with LoopedToy(lab, ToyLab(lab, trees_state(lab)), tmp_path / "runs") as made:
        yield made


def _counters_of(looped: LoopedToy, taken: list[Batch] | None = None) -> type[EpochCounters]:
    """Counters that are those of the toy's trees, without load, whenever an epoch ends; samples go to `taken`."""

    class Counters(EpochCounters):
        def counts(self) -> EpochCounts | str:
            return looped.counts({})

        def take(self, batch: Batch) -> None:
            if taken is not None:
                taken.append(batch)

    return Counters


def _taking(time_s: float = 1.0, why: str = "") -> Measured:
    return Measured(0, 1, answer_right=not why, why=why, figures=(("time", time_s, "s"),))


def _after_an_epoch(looped: LoopedToy) -> Callable[[int], Measured]:
    """A program that runs for an epoch or more: until the loop has recorded another one."""

    def run_once(_number: int) -> Measured:
        known = len(looped.events(EventKind.LOOP_EPOCH))
        eventually("another epoch", lambda: len(looped.events(EventKind.LOOP_EPOCH)) > known, every_s=0.01)
        return _taking()

    return run_once


@contextmanager
def _beside(
    looped: LoopedToy,
    run_once: Callable[[int], Measured],
    level: LoopLevel = LEVEL,
    loops: LoopsInTrials | None = None,
    sampling: type[_Sampled] = _Sampled,
) -> Iterator[str]:
    sampled: Any = sampling(tuple(switch.name for switch in looped.lab.switches))
    loops = loops or LoopsInTrials(_counters_of(looped))
    looped.controller.hand_over()
    with (
        SignalHandling() as signals,
        loops.beside(level, looped.controller, sampled, signals, run_once) as unsteady,
    ):
        yield unsteady


def test_the_trial_begins_with_the_links_that_the_loop_has_left(looped: LoopedToy) -> None:
    with _beside(looped, _after_an_epoch(looped)) as unsteady:
        assert unsteady == ""
        assert len(shut(looped.lab, looped.toys.state)) == 4, "all but two of six, which are the root network"
        assert any(thread.name == "closed loop" for thread in threading.enumerate())
    assert not any(thread.name == "closed loop" for thread in threading.enumerate())
    assert looped.toys.harms == []
    epochs = looped.events(EventKind.LOOP_EPOCH)
    assert [one["active"] for one in epochs[:2]] == [6, 6], "the baseline is measured with all links on"
    assert epochs[-1]["slowdown"] == 0.0


@pytest.mark.slow
def test_levels_that_follow_a_loop_begin_from_the_lab_before_the_run(looped: LoopedToy) -> None:
    with _beside(looped, _after_an_epoch(looped)):
        pass
    looped.controller.stop = Stop()
    assert looped.toys.state != looped.home
    assert looped.controller.set_levels({})
    assert looped.toys.state == looped.home


def test_a_loop_that_does_not_settle_in_time_is_measured_with_a_note(looped: LoopedToy) -> None:
    runs: list[int] = []

    def run_once(number: int) -> Measured:
        runs.append(number)
        return _taking()

    level = LEVEL.model_copy(update={"settle_s": 1e-9})
    with _beside(looped, run_once, level) as unsteady:
        assert "the loop was not steady after 1e-09 s" in unsteady
    assert runs == []


def test_a_program_that_fails_while_the_loop_settles_ends_the_trial(looped: LoopedToy) -> None:
    with (
        pytest.raises(LabError, match="failed 3 times in a row while the loop settled: wrong"),
        _beside(looped, lambda _number: _taking(why="wrong")),
    ):
        raise AssertionError("the trial began")
    assert looped.controller.stop.asked()


class _Failing(_Sampled):
    def check(self) -> None:
        raise LabError("the disk is full.")


def test_what_ends_the_loop_ends_the_trial(looped: LoopedToy) -> None:
    with (
        pytest.raises(LabError, match="the disk is full"),
        _beside(looped, lambda _number: _taking(), sampling=_Failing),
    ):
        raise AssertionError("the trial began")


def test_samples_go_to_the_loop_that_is_running(looped: LoopedToy) -> None:
    early, now, late = (Batch("ports", 0, {"when": when}) for when in ("early", "now", "late"))
    taken: list[Batch] = []
    loops = LoopsInTrials(_counters_of(looped, taken))
    loops.take(early)
    level = LEVEL.model_copy(update={"settle_s": 1e-9})
    with _beside(looped, lambda _: _taking(), level, loops):
        loops.take(now)
    loops.take(late)
    assert taken == [now]
