"""The page of a study: statements with verdicts, distributions, trade-offs, advice."""

from html import unescape
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.simulation.report.studies import StudyReport, counted, page, report_of
from eee_testbed.simulation.studies.expand import cases_of, workload_axes
from eee_testbed.simulation.studies.pairs import pairs_of
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.statement import StudyData
from eee_testbed.simulation.studies.study import read_study
from tests.support.studies import small, tiny

_DISTRIBUTIONS = {"saving-ecdf", "slowdown-ecdf", "saving-violin", "slowdown-violin", "advice"}
_TRADE_OFFS = {f"trade-off-{which}-{size}" for which in ("network", "cluster") for size in (64, 256)} | {"advice"}

_GATED = {"latency", "latency-energy", "gating-states", "advice"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "figures"), [("andujar", _TRADE_OFFS), ("georgakoudis-multi", _DISTRIBUTIONS), ("tcep", _GATED)]
)
def test_a_page_has_statements_figures_and_what_was_chosen(tmp_path: Path, paper: str, figures: set[str]) -> None:
    study = read_study(tiny(tmp_path, small(paper)))
    cases = cases_of(study, tmp_path, whole=True)
    tasks = [task for task in tasks_of(cases) if task.seed == 1]
    data = StudyData(
        cases, pairs_of([task.simulate() for task in tasks], cases), lambda one: pl.DataFrame(one.replayed.links)
    )
    found = StudyReport(study, tmp_path, data, workload_axes(study), ["A part."], len(tasks) + 1)
    report = report_of(found)
    assert {one.name for one in report.drawings} == figures
    text = page(found, report)
    assert counted(found.judged) in text
    assert f"{len(tasks)} of {len(tasks) + 1} points are simulated: the verdicts may change." in text
    assert "A part." in text
    for one in found.judged:
        assert one.statement.how in unescape(text)
