"""The rows of TCEP's figures: every part finds its runs, and a small run has what the rows need."""

from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.accuracy.tcep_figures import PARTS, Figures, by_seed, least_active_share, point, simulate
from evaluation.accuracy.tcep_runs import Measured, carry_out

_ANY = Measured(30.0, 0.1, 0.5, 0.01, 9000.0, 0.5, 0.7, 0.003, 15.0, 5000)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_needs_no_runs_but_its_own(name: str) -> None:
    needs, rows = PARTS[name]
    found = list(rows(Figures({run.key: _ANY for run in needs()})))
    assert found
    assert all(len(row) == 4 and row[0] and row[2] for row in found)


def test_a_row_is_the_mean_of_its_seeds_with_their_interval() -> None:
    found = {}
    for run in PARTS["low"][0]():
        for one, latency in zip(by_seed(run, 3), (29.0, 30.0, 31.0), strict=True):
            found[one.key] = replace(_ANY, latency=latency)
    # Student's 97.5 % quantile with two degrees of freedom, 4.303, over the root of three.
    assert next(iter(PARTS["low"][1](Figures(found, 3))))[2] == "30.00 ± 2.48 (at 0.01)"


def test_a_part_without_its_runs_says_so() -> None:
    with pytest.raises(KeyError):
        list(PARTS["low"][1](Figures({})))


@pytest.mark.slow
def test_kept_runs_are_not_carried_out_again(tmp_path: Path) -> None:
    small = [replace(point(policy, "UR", 0.01), warm=200, cycles=400) for policy in ("TCEP", "SLaC")]
    first = simulate(small, tmp_path / "kept", 1)
    written = (tmp_path / "kept").read_text(encoding="utf-8")
    assert simulate(small, tmp_path / "kept", 1) == first
    assert (tmp_path / "kept").read_text(encoding="utf-8") == written
    assert first[small[0].key] == carry_out(small[0])
    assert 30 < first[small[0].key].latency < 45


def test_the_bound_is_the_papers() -> None:
    assert least_active_share(0.41) == pytest.approx(0.5816, abs=1e-4)
    assert least_active_share(1.0) == 1.0
