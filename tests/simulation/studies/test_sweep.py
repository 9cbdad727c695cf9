"""A study's folder: it continues, its points do not depend on the pool, and it belongs to one study."""

from pathlib import Path

import polars as pl
import pytest

from eee_testbed.simulation.folder import WrongFolder
from eee_testbed.simulation.pool import HerePool, Pool, local_pool
from eee_testbed.simulation.studies.estimate import estimated_s
from eee_testbed.simulation.studies.expand import Case, cases_of
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.results import COSTS, JOBS, POINTS, StudyResults, read_links, read_points
from eee_testbed.simulation.studies.study import read_study
from eee_testbed.simulation.studies.sweep import missing, simulate_study
from tests.support.studies import TINY, tiny


@pytest.fixture
def cases(tmp_path: Path) -> list[Case]:
    return cases_of(read_study(tiny(tmp_path)), tmp_path, whole=True)


def _simulate(folder: Path, cases: list[Case], pool: Pool) -> StudyResults:
    results = StudyResults(folder, cases)
    simulate_study(tasks_of(cases), results, pool, lambda _: None)
    return results


def test_points_are_the_same_in_one_process_and_in_two(tmp_path: Path, cases: list[Case]) -> None:
    one = _simulate(tmp_path / "one", cases, HerePool())
    with local_pool(2) as pool:
        _simulate(tmp_path / "two", cases, pool)
    names = [POINTS, JOBS, *(str(path.relative_to(tmp_path / "one")) for path in (tmp_path / "one").glob("links/*"))]
    assert len(names) == 2 + 3
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert len(one.points) == 9
    assert [point.key[1] for point in one.points[:3]] == [1, 2, 3]


def test_a_folder_goes_on_and_reads_what_it_wrote(tmp_path: Path, cases: list[Case]) -> None:
    tasks = tasks_of(cases)
    # All cases of a seed come before the next seed.
    assert [task.seed for task in tasks] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    first = StudyResults(tmp_path / "out", cases)
    simulate_study(tasks[:4], first, HerePool(), lambda _: None)
    again = StudyResults(tmp_path / "out", cases)
    assert missing(tasks, again) == tasks[4:]
    simulate_study(tasks, again, HerePool(), lambda _: None)
    asleep = next(point for point in again.points if point.replayed.sleeping)
    assert len(asleep.job_s) == 1
    assert asleep.job_s[0] == pytest.approx(asleep.replayed.run_time_s)
    links = read_links(tmp_path / "out", asleep)
    assert links.height == asleep.replayed.carried_channels
    kept = read_points(tmp_path / "out", ["network", "program", "links"])
    assert [(one.key, one.job_s, one.replayed.shares) for one in kept] == [
        (one.key, one.job_s, one.replayed.shares) for one in again.points
    ]


def test_a_folder_belongs_to_one_study(tmp_path: Path, cases: list[Case]) -> None:
    _simulate(tmp_path / "out", cases, HerePool())
    other = cases_of(read_study(tiny(tmp_path, TINY.replace("2000", "3000"))), tmp_path, whole=True)
    with pytest.raises(WrongFolder, match="another simulation"):
        StudyResults(tmp_path / "out", other)
    (tmp_path / "out" / COSTS).unlink()
    with pytest.raises(WrongFolder, match="remove the folder"):
        StudyResults(tmp_path / "out", cases)


def test_an_estimate_grows_with_what_programs_send(tmp_path: Path, cases: list[Case]) -> None:
    few = estimated_s(tasks_of(cases))
    more = cases_of(read_study(tiny(tmp_path, TINY.replace("steps: 3", "steps: 30000"))), tmp_path, whole=True)
    many = estimated_s(tasks_of(more))
    assert few.keys() == many.keys()
    # 8 ranks send 4 messages of 16 packets in each of 30,000 steps.
    assert all(many[key] > few[key] + 0.5 * 8 * 4 * 30_000 * 1e-6 for key in few)
    assert all(value > 0 for value in few.values())


def test_results_are_in_the_order_of_the_study(tmp_path: Path, cases: list[Case]) -> None:
    results = StudyResults(tmp_path / "out", cases)
    simulate_study(tasks_of(cases)[::-1], results, HerePool(), lambda _: None)
    rows = pl.read_parquet(tmp_path / "out" / POINTS)
    assert rows["network"].to_list() == ["ring"] * 6 + ["square"] * 3
    assert "process_s" not in rows.columns
