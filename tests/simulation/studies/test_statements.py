"""The papers' statements: every verdict of small sets, which are simulated; what lacks points cannot be compared."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from eee_testbed.simulation.studies.expand import cases_of
from eee_testbed.simulation.studies.pairs import pairs_of
from eee_testbed.simulation.studies.papers import PAPERS
from eee_testbed.simulation.studies.points import StudyPoint, tasks_of
from eee_testbed.simulation.studies.statement import Outcome, StudyData, Verdict, judged
from eee_testbed.simulation.studies.study import PaperName, read_study
from tests.support.studies import small, tiny


def _links(point: StudyPoint) -> pl.DataFrame:
    return pl.DataFrame(point.replayed.links)


def _data(folder: Path, paper: PaperName, keep: Sequence[str] = ()) -> StudyData:
    """Of the small set of a paper, or of its cases with these policies of links alone."""
    cases = cases_of(read_study(tiny(folder, small(paper))), folder, whole=True)
    cases = [case for case in cases if not keep or case.labels["links"] in keep]
    points = [task.simulate() for task in tasks_of(cases)]
    return StudyData(cases, pairs_of(points, cases), _links)


def _verdicts(data: StudyData, paper: PaperName) -> dict[str, Verdict]:
    return {one.statement.number: one.verdict for one in judged(PAPERS[paper].statements, data)}


AGREES: dict[PaperName, set[str]] = {
    "andujar": {"4", "6", "8b", "A1", "A2"},
    "georgakoudis-single": {"1", "3", "9", "13"},
    "georgakoudis-multi": {"4", "9"},
    "tcep": {"2", "7", "A1"},
}
NOT_COMPARED: dict[PaperName, set[str]] = {
    "andujar": {"A3"},
    "georgakoudis-single": {"12"},
    "georgakoudis-multi": set(),
    "tcep": {"8", "9", "10", "11"},
}
"""Of the small sets; the other statements differ there."""


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_verdicts_of_a_small_set(tmp_path: Path, paper: PaperName) -> None:
    found = _verdicts(_data(tmp_path, paper), paper)
    of: dict[Outcome, set[str]] = {"agrees": set(), "differs": set(), "cannot be compared": set()}
    for number, one in found.items():
        of[one.outcome].add(number)
    assert (of["agrees"], of["cannot be compared"]) == (AGREES[paper], NOT_COMPARED[paper])
    for one in found.values():
        assert (one.outcome == "agrees") == (one.because == "")
        assert one.ours


@pytest.mark.parametrize("paper", PAPERS)
def test_what_has_no_points_cannot_be_compared(paper: PaperName) -> None:
    found = _verdicts(StudyData((), (), _links), paper)
    assert {one.outcome for one in found.values()} == {"cannot be compared"}


def test_hybrid_of_mixes_names_what_the_printed_model_allows(tmp_path: Path) -> None:
    found = _verdicts(_data(tmp_path, "georgakoudis-multi", keep=("always-on", "hybrid-1")), "georgakoudis-multi")["2"]
    assert found.outcome == "differs"
    assert "at least 79.8 %, 79.0 %, 78.4 % with holds of 1, 2 and 4 Ts" in found.because
