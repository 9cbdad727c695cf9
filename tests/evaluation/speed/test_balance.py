"""Points on many processes, on paper: known cases, bounds that hold for all, and a study's own times."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.eeectl.cli import run as eeectl
from evaluation.speed.balance import balance, makespan_s, times_of
from tests.support.laws import law
from tests.support.studies import tiny

TIMES = st.lists(st.floats(0.1, 100.0), min_size=1, max_size=40)


def test_equal_points_fill_processes_evenly() -> None:
    assert [balance([2.0] * 64, workers).efficiency for workers in (1, 4, 64)] == [1.0, 1.0, 1.0]
    assert balance([2.0] * 64, 128).efficiency == 0.5  # more processes than points
    assert balance([2.0] * 64, 63).makespan_s == 4.0


def test_grahams_worst_case_for_points_that_come_as_they_are() -> None:
    """The longest of m (m - 1) short points and one of length m comes last: 2 m - 1 instead of m (Graham 1966)."""
    m = 6
    times_s = [1.0] * (m * (m - 1)) + [float(m)]
    found = balance(times_s, m)
    assert found.makespan_s == 2 * m - 1
    assert found.longest_first == found.most == pytest.approx(1.0)
    assert found.efficiency == pytest.approx(m / (2 * m - 1))


def test_points_are_kept_one_after_the_other() -> None:
    assert makespan_s([1.0, 1.0, 1.0], 3, keep_s=0.5) == 2.5
    assert makespan_s([1.0, 2.0], 1, keep_s=0.5) == 3.5  # the first is kept while the second is simulated


@law(100)
@given(times_s=TIMES, workers=st.integers(1, 50))
def test_no_order_passes_the_bound_and_any_order_ends_within_twice_of_it(times_s: list[float], workers: int) -> None:
    found = balance(times_s, workers)
    assert found.most * (1 + 1e-9) >= max(found.efficiency, found.longest_first)
    assert min(found.efficiency, found.longest_first) >= found.most / 2


def test_times_of_a_study_are_handed_out_seed_by_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert eeectl(["simulate", str(tiny(tmp_path)), "--whole"]) == 0
    found = times_of(tmp_path / "simulations" / "tiny-whole")
    assert [len(seed) for seed in found] == [3, 3, 3]
    assert all(time_s > 0 for seed in found for time_s in seed)
