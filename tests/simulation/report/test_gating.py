"""The section of links that sleep beside links that TCEP turns off."""

from pathlib import Path

import pytest

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.simulation.report.gating import gating
from eee_testbed.simulation.studies.expand import cases_of
from eee_testbed.simulation.studies.pairs import Pair, pairs_of
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.study import read_study
from eee_testbed.simulation.studies.together import energy_percent, together
from tests.support.studies import tiny

_STUDY = """\
name: both
shows: [gating]
common:
  network: {kind: hyperx, sizes: [4], concentration: 2}
  routing: pal
  router: {vcs: 4, buffer_flits: 64, packet_flits: 8, switching: cut_through}
  programs: {cycle_ns: 1.6, flit_byte: 16}
axes:
  program:
    stencil: {programs: {jobs: [{program: {kind: stencil, procs: [4, 2], steps: 4, face_byte: 2000, grain_ns: 20000}}]}}
  links:
    always-on: {}
    tcep: {consolidation: {epoch: 200, wake: 200}}
    deep: {links: {mode: deep, hold: 1000, sleep: 200, wake: 300, wake_during_sleep: 300}}
    tcep+deep: {consolidation: {epoch: 200, wake: 200}, links: {mode: deep, hold: 1000, sleep: 200, wake: 300}}
"""


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    folder = tmp_path_factory.mktemp("both")
    cases = cases_of(read_study(tiny(folder, _STUDY)), folder, whole=True)
    return pairs_of([task.simulate() for task in tasks_of(cases)], cases)


def test_both_are_held_against_the_better_alone(pairs: list[Pair]) -> None:
    (one,) = together(pairs)
    energies = {pair.labels["links"]: energy_percent(pair) for pair in pairs}
    assert energies["always-on"] == 100
    assert (one.policy, one.workload) == ("tcep+deep", "stencil")
    assert (one.energy_percent, one.alone_percent) == (energies["tcep+deep"], (energies["tcep"], energies["deep"]))
    best = min(one.alone_percent)
    assert one.gain_percent == pytest.approx(100 * (best - one.energy_percent) / best)
    assert together([pair for pair in pairs if pair.labels["links"] != "tcep"]) == []


def test_the_page_says_whether_both_take_less_and_where_the_time_goes(pairs: list[Pair]) -> None:
    section = gating(pairs)
    (one,) = together(pairs)
    assert f"in {int(one.gain_percent > 0)} of 1 cases" in section.text
    assert f"{one.energy_percent:.1f} % of links always on" in section.text
    names = [column.name for column in section.tables[0].columns]
    states = names[names.index("sending") :]
    rows = {row[1]: dict(zip(names, row, strict=True)) for row in section.tables[0].rows}
    for row in rows.values():
        assert sum(row[state] for state in states) == pytest.approx(100)  # type: ignore[misc]
    assert rows["deep"]["off"] == 0 < rows["tcep+deep"]["off"]
    assert rows["tcep"]["low power"] == 0 < rows["tcep+deep"]["low power"]
    assert "Time of links between switches" in section.drawings[0].svg


def test_a_study_without_two_policies_together_is_refused(tmp_path: Path) -> None:
    alone = _STUDY[: _STUDY.index("    tcep+deep")]
    with pytest.raises(ExperimentError, match="two policies together"):
        read_study(tiny(tmp_path, alone))
