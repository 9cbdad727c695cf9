"""Savings within bounds: of each case the best setting that keeps the bound, and nothing if none does."""

from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.simulation.studies.bounds import within_bounds
from eee_testbed.simulation.studies.expand import cases_of, workload_axes
from eee_testbed.simulation.studies.pairs import Pair, pairs_of
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.study import read_study
from tests.support.studies import TINY, tiny

_DEEP = "    deep: {links: {mode: deep, hold: 1000, sleep: 200, wake: 300, wake_during_sleep: 300}}\n"
BEYOND = (
    TINY.replace("name: tiny\n", "name: tiny\nshows: [bounds]\n")
    .replace(
        _DEEP,
        "    deep-0: {links: &deep {mode: deep, hold: 0, sleep: 200, wake: 300, wake_during_sleep: 300}}\n"
        "    deep-1: {links: {mode: deep, hold: 8000, sleep: 200, wake: 300, wake_during_sleep: 300}}\n"
        "    own-1: {links: *deep, programs: {bound: {percent: 1, epoch: 5000}}}\n",
    )
    .replace("links: [deep]", "links: [deep-0]")
)


@pytest.fixture
def pairs(tmp_path: Path) -> list[Pair]:
    cases = cases_of(read_study(tiny(tmp_path, BEYOND)), tmp_path, whole=True)
    return pairs_of([task.simulate() for task in tasks_of(cases) if task.seed == 1], cases)


def test_links_that_choose_their_holds_are_compared_with_links_that_never_sleep(
    pairs: list[Pair], tmp_path: Path
) -> None:
    assert workload_axes(read_study(tiny(tmp_path, BEYOND))) == ["program"]
    own = [pair for pair in pairs if pair.labels["links"] == "own-1"]
    assert [pair.awake.labels["links"] for pair in own] == ["always-on", "always-on"]
    fixed = [pair for pair in pairs if pair.labels["links"] == "deep-0"]
    assert own[0].point.replayed.shares != fixed[0].point.replayed.shares


def test_the_best_setting_within_a_bound_is_taken(pairs: list[Pair]) -> None:
    by_case = {(pair.labels["network"], pair.labels["links"]): pair for pair in pairs}
    short, long, square = by_case["ring", "deep-0"], by_case["ring", "deep-1"], by_case["square", "deep-1"]
    assert long.slowdown_percent < short.slowdown_percent
    assert long.saving_percent < short.saving_percent
    between = (long.slowdown_percent + short.slowdown_percent) / 2
    tight, middle, wide = within_bounds([short, long], (0.0, between, 1000.0))
    assert (tight.policy, tight.kept, tight.saving_percent, tight.slowdown_percent) == ("deep", 0, 0.0, 0.0)
    assert (middle.kept, middle.saving_percent) == (1, pytest.approx(long.saving_percent))
    assert (wide.slowdown_percent, wide.saving_percent) == (
        pytest.approx(short.slowdown_percent),
        pytest.approx(short.saving_percent),
    )
    (both,) = within_bounds([short, long, square], (1000.0,))
    assert (both.kept, both.cases) == (2, 2)
    assert both.saving_percent == pytest.approx((short.saving_percent + square.saving_percent) / 2)


def test_a_setting_is_judged_by_its_mean_over_seeds(pairs: list[Pair]) -> None:
    short = next(pair for pair in pairs if (pair.labels["network"], pair.labels["links"]) == ("ring", "deep-0"))
    same = Pair(replace(short.awake, labels=short.labels, replayed=replace(short.awake.replayed, sleeping=True)),
                short.awake, short.machine)  # fmt: skip
    (found,) = within_bounds([short, same], (short.slowdown_percent * 0.6,))
    assert (found.kept, found.saving_percent) == (1, pytest.approx(short.saving_percent / 2))


def test_nothing_asleep_has_no_rows(pairs: list[Pair]) -> None:
    assert within_bounds([pair for pair in pairs if pair.labels["links"] == "always-on"]) == []
