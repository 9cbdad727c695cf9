"""What routings make of links that sleep: all against the first one, with links that never sleep."""

from pathlib import Path

import pytest

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.simulation.report.routings import over_programs, routings, slower_percent
from eee_testbed.simulation.studies.expand import cases_of
from eee_testbed.simulation.studies.pairs import Pair, pairs_of, where
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.study import read_study
from tests.support import ROOT
from tests.support.studies import tiny

_STUDY = """\
name: ways
shows: [routings]
common:
  network: {kind: torus, radix: [4, 4]}
  router: {vcs: 4, buffer_flits: 64, packet_flits: 8, switching: cut_through}
  programs:
    cycle_ns: 1.6
    flit_byte: 16
    jobs: [{program: {kind: stencil, procs: [4, 4], steps: 2, face_byte: 20000, grain_ns: 20000}, placement: random}]
  seeds: [1, 2, 3]
axes:
  routing:
    dor: {routing: dor}
    min_adaptive: {routing: min_adaptive}
    min_awake: {routing: min_awake}
  links:
    always-on: {}
    deep: {links: {mode: deep, hold: 1000, sleep: 200, wake: 300, wake_during_sleep: 300}}
"""


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    folder = tmp_path_factory.mktemp("ways")
    cases = cases_of(read_study(tiny(folder, _STUDY)), folder, whole=True)
    return pairs_of([task.simulate() for task in tasks_of(cases)], cases)


def test_all_are_compared_with_the_first_routing_awake(pairs: list[Pair]) -> None:
    slower = slower_percent(pairs)
    assert [slower(one) for one in where(pairs, routing="dor", links="always-on")] == [0.0, 0.0, 0.0]
    for one in where(pairs, routing="min_awake", links="deep"):
        (first,) = [
            other.run_time_s for other in where(pairs, routing="dor", links="always-on") if other.seed == one.seed
        ]
        assert slower(one) == pytest.approx(100 * (one.run_time_s / first - 1))
        assert slower(one) != pytest.approx(one.slowdown_percent)


def test_a_page_has_a_row_a_choice_and_a_figure_of_both(pairs: list[Pair]) -> None:
    section = routings(pairs)
    assert [one.name for one in section.drawings] == ["routings-saving", "routings-slowdown"]
    means, each = section.tables
    assert [row[0] for row in means.rows] == [f"deep {routing}" for routing in ("dor", "min_adaptive", "min_awake")]
    assert [row[1:] for row in means.rows] == [
        row[1:4:2] for row in each.rows if row[0].endswith(" deep")
    ]  # one program
    assert [row[0] for row in each.rows] == [
        f"{routing} {links}" for routing in ("dor", "min_adaptive", "min_awake") for links in ("always-on", "deep")
    ]


def test_means_over_programs_scatter_as_seeds_do(pairs: list[Pair]) -> None:
    """Seeds of 16, 17 and 18: Student's 4.303 times their deviation of 1, by the root of 3."""
    own = where(pairs, routing="dor", links="deep")
    found = over_programs([*own, *own], lambda one: 15.0 + one.seed)
    assert found.value == pytest.approx(17)
    assert found.high - found.value == pytest.approx(4.303 / 3**0.5, rel=1e-3)


def test_the_section_needs_its_axis(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="shows routings needs an axis routing"):
        read_study(tiny(tmp_path, _STUDY.replace("  routing:\n", "  way:\n")))


def test_the_shipped_study_is_whole() -> None:
    path = ROOT / "studies" / "beyond-routings.yaml"
    study = read_study(path)
    assert len(tasks_of(cases_of(study, path.parent, whole=True))) == 720
    assert len(tasks_of(cases_of(study, path.parent, whole=False))) == 216
