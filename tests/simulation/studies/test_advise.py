"""Advice: choices that no other beats, over all workloads and seeds."""

from pathlib import Path

import pytest

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.studies.advise import Choice, advised, beats
from eee_testbed.simulation.studies.expand import cases_of, workload_axes
from eee_testbed.simulation.studies.pairs import Pair, pairs_of
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.study import read_study
from tests.support.studies import TINY, tiny


@pytest.fixture
def pairs(tmp_path: Path) -> list[Pair]:
    text = TINY.replace(
        "  program:\n", "  program:\n    other: {programs: {jobs: [{program: {kind: alltoall, iterations: 2}}]}}\n"
    )
    cases = cases_of(read_study(tiny(tmp_path, text)), tmp_path, whole=True)
    return pairs_of([task.simulate() for task in tasks_of(cases)], cases)


def test_choices_run_everything(pairs: list[Pair], tmp_path: Path) -> None:
    workloads = workload_axes(read_study(tiny(tmp_path)))
    found = advised(pairs, workloads)
    assert {one.name for one in found} == {"ring always-on", "ring deep", "square always-on"}
    assert all(one.seeds == 3 for one in found)
    ring = next(one for one in found if one.name == "ring always-on")
    both = [one.run_time_s for one in pairs if one.labels["network"] == "ring" and one.labels["links"] == "always-on"]
    assert ring.run_time_s.value == pytest.approx(sum(both) / 3)
    # Without one program on one network that choice is not compared.
    fewer = [one for one in pairs if (one.labels["network"], one.labels["program"]) != ("square", "other")]
    assert {one.name for one in advised(fewer, workloads)} == {"ring always-on", "ring deep"}
    assert advised([], workloads) == []


def test_a_choice_is_beaten_beyond_both_intervals() -> None:
    def choice(time: float, width: float = 0.1) -> Choice:
        return Choice({"a": "b"}, Interval.plus_minus(time, width), Interval(1, 1, 1), Interval(1, 1, 1), 3)

    assert beats(choice(1), choice(2))
    assert not beats(choice(1), choice(1.1))
    assert not beats(choice(2), choice(1))
    unknown = Interval(1.0, float("nan"), float("nan"))
    assert beats(Choice({}, unknown, unknown, unknown, 1), choice(2))
    # Of one seed each: the errors of the other's link times count, and its own where it has some.
    assert not beats(Choice({}, unknown, unknown, unknown, 1), choice(1.05))
    assert not beats(choice(0.95), Choice({}, unknown, unknown, unknown, 1))
    assert beats(choice(0.85), Choice({}, unknown, unknown, unknown, 1))
