"""Sections beyond the papers: figures and tables by bounds and by sizes."""

from pathlib import Path

import pytest

from eee_testbed.analysis.report.table import Table
from eee_testbed.lab.errors import ExperimentError
from eee_testbed.simulation.report.beyond import bounds, rates, sizes
from eee_testbed.simulation.studies.expand import cases_of
from eee_testbed.simulation.studies.pairs import Pair, pairs_of
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.study import read_study
from tests.support.studies import tiny

_STUDY = """\
name: grows
shows: [bounds, sizes]
common:
  routing: dor
  router: {vcs: 2, buffer_flits: 64, packet_flits: 8, switching: cut_through}
  programs: {cycle_ns: 1.6, flit_byte: 16}
axes:
  size:
    stencil-4:
      network: {kind: torus, radix: [4]}
      programs: {jobs: [{program: {kind: stencil, procs: [2, 2], steps: 2, face_byte: 2000, grain_ns: 20000}}]}
    stencil-8:
      network: {kind: torus, radix: [8]}
      programs: {jobs: [{program: {kind: stencil, procs: [4, 2], steps: 2, face_byte: 2000, grain_ns: 20000}}]}
  links:
    always-on: {}
    deep-1: {links: {mode: deep, hold: 1000, sleep: 200, wake: 300, wake_during_sleep: 300}}
"""


_RATES = """\
name: faster
shows: [rates]
common:
  network: {kind: torus, radix: [4]}
  routing: dor
  router: {vcs: 2, buffer_flits: 64, packet_flits: 8, switching: cut_through}
  programs:
    flit_byte: 16
    jobs: [{program: {kind: stencil, procs: [2, 2], steps: 2, face_byte: 2000, grain_ns: 20000}}]
axes:
  rate:
    "400": {programs: {cycle_ns: 0.32}, links: {phy: 400GBASE-R}}
    "800": {programs: {cycle_ns: 0.16}, links: {phy: 800GBASE-R}}
  links:
    always-on: {}
    fast: {links: {mode: fast, hold_us: 1}}
without: [{rate: ["800"], links: [fast]}]
"""


def test_rates_without_times_stay_awake(tmp_path: Path) -> None:
    cases = cases_of(read_study(tiny(tmp_path, _RATES)), tmp_path, whole=True)
    section = rates(pairs_of([task.simulate() for task in tasks_of(cases)], cases))
    assert [one.name for one in section.drawings] == ["rates-saving", "rates-slowdown"]
    assert [(row["rate"], row["links"], row["saved"].value > 0) for row in rows_of(section.tables[0])] == [  # type: ignore[attr-defined]
        (400, "always-on", False),
        (400, "fast", True),
        (800, "always-on", False),
    ]


def test_rates_are_numbers(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="the axis rate has quick, which is not a number"):
        read_study(tiny(tmp_path, _RATES.replace('"800": {', "quick: {").replace('["800"]', "[quick]")))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    folder = tmp_path_factory.mktemp("grows")
    cases = cases_of(read_study(tiny(folder, _STUDY)), folder, whole=True)
    return pairs_of([task.simulate() for task in tasks_of(cases)], cases)


def rows_of(table: Table) -> list[dict[str, object]]:
    return [dict(zip((column.name for column in table.columns), row, strict=True)) for row in table.rows]


def test_sizes_have_a_row_for_each_machine_and_policy(pairs: list[Pair]) -> None:
    section = sizes(pairs)
    assert [one.name for one in section.drawings] == ["sizes-saving", "sizes-slowdown"]
    rows = rows_of(section.tables[0])
    assert [(row["choice"], row["nodes"], row["links"]) for row in rows] == [
        ("stencil-4 deep-1", 4, 4),
        ("stencil-8 deep-1", 8, 8),
    ]
    asleep = [pair for pair in pairs if pair.point.replayed.sleeping]
    assert [row["saved"].value for row in rows] == [pair.saving_percent for pair in asleep]  # type: ignore[attr-defined]


def test_bounds_have_a_row_for_each_policy_and_bound(pairs: list[Pair]) -> None:
    section = bounds(pairs)
    assert [one.name for one in section.drawings] == ["bounds"]
    assert [(row["policy"], row["bound of the slowdown"]) for row in rows_of(section.tables[0])] == [
        ("deep", 0.1),
        ("deep", 1.0),
        ("deep", 5.0),
    ]
    assert "Bound of the slowdown" in section.drawings[0].svg
