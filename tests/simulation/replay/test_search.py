"""Which policy saves the most within a bound, and what a search that was interrupted keeps."""

from concurrent.futures import Future
from pathlib import Path

import pytest

from eee_testbed.simulation.description import Description, Links
from eee_testbed.simulation.pool import HerePool
from eee_testbed.simulation.replay.replayed import Replayed
from eee_testbed.simulation.replay.search import Asked, Search, Tried, best, candidates, policy_folder
from eee_testbed.simulation.worker import Result, Simulated, Task
from tests.support.replays import DEEP, described, stencil


class _Interrupted(HerePool):
    """Ctrl-C comes when so many replays have been simulated."""

    def __init__(self, most: int) -> None:
        self.left = most

    def submit(self, task: Task[Result]) -> Future[Simulated[Result]]:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return super().submit(task)


def _described() -> Description:
    return described(stencil(2, placement="given", nodes=[0, 4]), links=DEEP)


def _ignored(_: Asked, __: Simulated[Replayed]) -> None:
    pass


def test_modes_are_tried_whose_times_are_known() -> None:
    modes = [
        {one.mode for one in candidates(Links(**times))}
        for times in ({}, {"wake": 80}, {"fast_wake": 10}, {"wake": 80, "fast_wake": 10, "deep_after": 500})
    ]
    assert modes == [set(), {"deep"}, {"fast"}, {"deep", "fast", "hybrid"}]
    assert sorted(one.hold for one in candidates(Links(wake=80))) == [0, 80, 320, 1280, 5120]


def test_a_longer_hold_costs_less_time_and_saves_less(tmp_path: Path) -> None:
    tried = Search(_described(), tmp_path).run(HerePool(), _ignored)
    by_hold = sorted(tried, key=lambda one: one.hold)
    assert [one.slowdown_percent for one in by_hold] == sorted((one.slowdown_percent for one in by_hold), reverse=True)
    assert [one.low_power_percent for one in by_hold] == sorted(
        (one.low_power_percent for one in by_hold), reverse=True
    )
    assert tried == sorted(tried, key=lambda one: one.energy_percent)


def test_an_interrupted_search_goes_on_with_what_it_has(tmp_path: Path) -> None:
    description = _described()
    on_the_disk: list[str] = []

    def done(one: Asked, _: Simulated[Replayed]) -> None:
        assert one.find() is not None
        on_the_disk.append(str(one))

    stopped = Search(description, tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        stopped.run(_Interrupted(3), done)
    again = Search(description, tmp_path / "stopped")
    assert len(on_the_disk) == stopped.kept == again.kept == 3
    rest = _Interrupted(len(again.asked) - 3)
    tried = again.run(rest, done)
    assert rest.left == 0
    assert len(set(on_the_disk)) == len(again.asked)
    assert tried == Search(description, tmp_path / "whole").run(HerePool(), _ignored)


def test_replays_of_a_policy_are_in_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = {policy_folder(tmp_path, links) for links in candidates(Links(wake=80, fast_wake=10, deep_after=500))}
    assert len(folders) == 15


def test_the_best_keeps_the_bound() -> None:
    tried = [Tried("deep", 0, 5.0, -70, 90), Tried("fast", 0, 0.4, -40, 90), Tried("fast", 9, 0.1, -30, 80)]
    assert best(tried, 10) == tried[0]
    assert best(tried, 1) == tried[1]
    assert best(tried, 0) is None
