"""The section of packets' latency and links' energy by program."""

import pytest

from eee_testbed.analysis.interval import Interval
from eee_testbed.simulation.report.latencies import latencies
from eee_testbed.simulation.studies.expand import cases_of
from eee_testbed.simulation.studies.pairs import Pair, pairs_of, where
from eee_testbed.simulation.studies.points import tasks_of
from eee_testbed.simulation.studies.study import read_study
from eee_testbed.simulation.studies.tcep import injection_rate, to_awake
from eee_testbed.simulation.studies.tcep import link_energy as energy
from tests.support.studies import small, tiny


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    folder = tmp_path_factory.mktemp("latencies")
    cases = cases_of(read_study(tiny(folder, small("tcep"))), folder, whole=True)
    cases = [case for case in cases if case.labels["links"] in ("always-on", "tcep", "act-2")]
    return pairs_of([task.simulate() for task in tasks_of(cases)], cases)


def test_a_row_a_program_and_policy_with_the_least_traffic_first(pairs: list[Pair]) -> None:
    section = latencies(pairs)
    rows = section.tables[0].rows
    assert [row[::2][:2] for row in rows] == [
        ("nb", "tcep"), ("nb", "act-2"), ("bigfft", "tcep"), ("bigfft", "act-2")
    ]  # fmt: skip
    assert max(map(injection_rate, where(pairs, program="nb"))) < min(
        map(injection_rate, where(pairs, program="bigfft"))
    )
    assert rows[0][4] == to_awake(where(pairs, links="tcep"), energy)["nb"]
    assert isinstance(rows[0][3], Interval)


def test_figures_have_no_more_policies_than_can_be_told_apart(pairs: list[Pair]) -> None:
    for drawing in latencies(pairs).drawings:
        (legend,) = drawing.figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["tcep"]
        assert "Other epochs of TCEP are in the table alone." in drawing.caption
