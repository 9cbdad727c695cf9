"""Which policy saves the most within a bound."""

from simulation.description import Links
from simulation.pool import HerePool
from simulation.replay.search import Tried, best, candidates, search
from tests.support.replays import DEEP, described, stencil


def test_modes_are_tried_whose_times_are_known() -> None:
    modes = [
        {one.mode for one in candidates(Links(**times))}
        for times in ({}, {"wake": 80}, {"fast_wake": 10}, {"wake": 80, "fast_wake": 10, "deep_after": 500})
    ]
    assert modes == [set(), {"deep"}, {"fast"}, {"deep", "fast", "hybrid"}]
    assert sorted(one.hold for one in candidates(Links(wake=80))) == [0, 80, 320, 1280, 5120]


def test_a_longer_hold_costs_less_time_and_saves_less() -> None:
    job = stencil(2, placement="given", nodes=[0, 4])
    tried = search(described(job, links=DEEP), HerePool())
    by_hold = sorted(tried, key=lambda one: one.hold)
    assert [one.slowdown_percent for one in by_hold] == sorted((one.slowdown_percent for one in by_hold), reverse=True)
    assert [one.low_power_percent for one in by_hold] == sorted(
        (one.low_power_percent for one in by_hold), reverse=True
    )
    assert tried == sorted(tried, key=lambda one: one.energy_percent)


def test_the_best_keeps_the_bound() -> None:
    tried = [Tried("deep", 0, 5.0, -70, 90), Tried("fast", 0, 0.4, -40, 90), Tried("fast", 9, 0.1, -30, 80)]
    assert best(tried, 10) == tried[0]
    assert best(tried, 1) == tried[1]
    assert best(tried, 0) is None
