"""What was measured elsewhere beside what is simulated: the change of the run time, and the verdict."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from ruamel.yaml import YAML

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.simulation.networks import OfLab
from eee_testbed.simulation.studies.beside import Beside
from eee_testbed.simulation.studies.elsewhere import statements_of
from eee_testbed.simulation.studies.expand import cases_of
from eee_testbed.simulation.studies.pairs import Pair, pairs_of
from eee_testbed.simulation.studies.points import StudyPoint, tasks_of
from eee_testbed.simulation.studies.statement import StudyData, Verdict, judged
from eee_testbed.simulation.studies.study import read_study
from evaluation.accuracy.bruck_engine import Program, choices, run_time_s
from evaluation.accuracy.koibuchi_slowdowns import BLOCK_BYTE, PAUSE_US
from evaluation.accuracy.miwa_slowdowns import slowdown_percent
from tests.support import ROOT
from tests.support.studies import TINY, tiny

_RECORDS = ROOT / "evaluation" / "records"
_TINY_BESIDE = """\
beside:
  - text: The lab, slower
    source: a notebook
    of: {links: deep}
    against: {links: WHICH}
    percent: 5
    because: it was another lab
"""


@pytest.fixture(scope="module")
def awake(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    """A ring and a square with links that never sleep, seeds 1 to 3."""
    folder = tmp_path_factory.mktemp("tiny")
    cases = cases_of(read_study(tiny(folder)), folder, whole=True)
    return pairs_of([task.simulate() for task in tasks_of(cases) if not task.case.sleeps], cases)


def verdict(pairs: list[Pair], **changes: object) -> Verdict:
    """Of the square's run time against the ring's."""
    given = {
        "text": "Slower", "source": "a lab", "of": {"network": "square"}, "against": {"network": "ring"},
        "percent": 0.0, "because": "labs differ",
    }  # fmt: skip
    (statement,) = statements_of([Beside.model_validate(given | changes)])
    return statement.judge(StudyData([], pairs, lambda _: pl.DataFrame()))


def timed(pairs: list[Pair], ring_s: list[float], square_s: list[float]) -> list[Pair]:
    """The pairs with other run times."""
    left = {"ring": iter(ring_s), "square": iter(square_s)}

    def with_time(point: StudyPoint) -> StudyPoint:
        return replace(point, replayed=replace(point.replayed, run_time_s=next(left[point.labels["network"]])))

    return [replace(pair, point=with_time(pair.point)) for pair in sorted(pairs, key=lambda one: one.seed)]


def test_the_change_is_taken_seed_by_seed(awake: list[Pair]) -> None:
    pairs = timed(awake, [1.0, 2.0, 4.0], [1.1, 2.2, 4.4])
    found = verdict(pairs, percent=10.0, within=0.01)
    assert (found.outcome, found.ours) == ("agrees", "10.0 % (10.0 to 10.0)")
    assert verdict(pairs, percent=7.0, within=3.1).outcome == "agrees"
    assert verdict(pairs, percent=7.0, low=6.0, high=10.5).outcome == "agrees"
    off = verdict(pairs, percent=7.0, within=2.9)
    assert (off.outcome, off.because) == ("differs", "labs differ")


def test_our_interval_counts_too(awake: list[Pair]) -> None:
    pairs = timed(awake, [1.0, 1.0, 1.0], [1.05, 1.10, 1.15])
    assert verdict(pairs, percent=20.0).outcome == "agrees"  # 10 % with an interval of 12.4 points on each side
    assert verdict(pairs, percent=23.0).outcome == "differs"


def test_without_its_points_nothing_is_compared(awake: list[Pair]) -> None:
    ring = [pair for pair in awake if pair.labels["network"] == "ring"]
    assert verdict(ring).outcome == "cannot be compared"


def test_cases_have_to_exist(tmp_path: Path) -> None:
    read_study(tiny(tmp_path, _TINY_BESIDE.replace("WHICH", "always-on") + TINY))
    with pytest.raises(ExperimentError, match="the axis links has no value awake"):
        read_study(tiny(tmp_path, _TINY_BESIDE.replace("WHICH", "awake") + TINY))
    wrong = _TINY_BESIDE.replace("WHICH", "always-on").replace("percent: 5", "percent: 5\n    low: 6\n    high: 7")
    with pytest.raises(ExperimentError, match="5 is not between 6 and 7"):
        read_study(tiny(tmp_path, wrong + TINY))


def test_values_of_records_are_those_of_the_record() -> None:
    found = 0
    for path in sorted((ROOT / "studies").glob("*-lab.yaml")):
        for one in read_study(path).beside:
            named = re.match(r"evaluation/records/([\w-]+\.yaml), commit (\w+)$", one.source)
            if named is None:
                continue
            found += 1
            record = YAML(typ="safe").load(_RECORDS / named[1])
            (measured,) = [each for each in record["measured"] if each["commit"] == named[2]]
            assert (one.percent, one.low, one.high) == (measured["value"], measured["low"], measured["high"])
    assert found >= 2


def test_miwas_lab_agrees_with_the_twins_engine_far_from_the_hold() -> None:
    path = ROOT / "studies" / "miwa-lab.yaml"
    study = read_study(path)
    cases = [case for case in cases_of(study, path.parent, whole=True) if case.labels["program"].startswith("4KiB")]
    data = StudyData(cases, pairs_of([task.simulate() for task in tasks_of(cases)], cases), lambda _: pl.DataFrame())
    outcomes = {one.statement.number: one.verdict.outcome for one in judged(statements_of(study.beside), data)}
    assert outcomes == {
        "M1": "differs", "M2": "agrees", "M3": "agrees", "M4": "agrees",
        "M5": "cannot be compared", "M6": "cannot be compared",
    }  # fmt: skip
    long_pause = study.beside[3]
    assert slowdown_percent(4096, 1000, seeds=1, iterations=40).value == pytest.approx(long_pause.percent, abs=3)


def test_koibuchis_lab_is_near_the_twins_engine_without_waits() -> None:
    """A call of Alltoall and its pause, in all three networks: the engine's as `koibuchi_slowdowns` prints them."""
    path = ROOT / "studies" / "koibuchi-lab.yaml"
    study = read_study(path)
    cases = cases_of(study, path.parent, whole=True)
    pairs = pairs_of([task.simulate() for task in tasks_of(cases)], cases)
    data = StudyData(cases, pairs, lambda _: pl.DataFrame())
    found = [one.verdict.outcome for one in judged(statements_of(study.beside), data)]
    assert found == ["differs", "differs", "agrees", "agrees"]
    ours_us = {pair.labels["network"]: 1e6 * pair.run_time_s / 200 for pair in pairs}
    lab = load_lab(find_lab("koibuchi"))
    networks = {case.labels["network"]: case.description.network for case in cases}
    for name, trees in zip(ours_us, choices(lab, BLOCK_BYTE).values(), strict=True):
        assert _links_by_host(networks[name]) == {
            host: {number for _, number in one.ways.values()} for one in trees for host in one.hosts
        }
        twins_us = 1e6 * run_time_s(lab, trees, Program(BLOCK_BYTE, PAUSE_US, 5)) / 5
        assert ours_us[name] == pytest.approx(twins_us, rel=0.015)


def _links_by_host(network: object) -> dict[str, set[int]]:
    assert isinstance(network, OfLab)
    return {host: set(one.links) for one in network.trees or () for host in one.hosts}
