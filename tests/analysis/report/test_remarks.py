"""The remarks of a report: every kind of event that a reader of the figures has to know about is shown."""

from pathlib import Path
from typing import Any

import pytest

from eee_testbed.analysis.report.measured import measured
from eee_testbed.analysis.report.report_data import read_report_data
from eee_testbed.analysis.report.section import Section
from eee_testbed.measuring.collecting.collect import Collector, Timed
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.store import Run
from tests.record.test_event_kinds import _FACTS
from tests.support.measured.toy_sources import ToySource, silent


def _remarks(section: Section) -> list[tuple[Any, ...]]:
    return [row for table in section.tables if table.name == "remarks" for row in table.rows]


def _section(run: Run) -> Section:
    run.close()
    return measured(read_report_data([run.folder], None, ""))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path, "toy", {})


@pytest.mark.parametrize("kind", EventKind)
def test_a_kind_is_shown_if_and_only_if_it_is_a_remark(run: Run, kind: EventKind) -> None:
    facts = {name: value for name, value in _FACTS.items() if kind not in _TRIALS}
    if kind not in _TRIALS:
        run.event(kind, **facts)
    shown = {row[0] for row in _remarks(_section(run))}
    assert shown == ({kind.value.replace("_", " ")} if kind.remark else set())


_TRIALS = {EventKind.TRIAL_BEGUN, EventKind.TRIAL_ENDED}


def test_a_source_that_fails_is_in_the_report_once(run: Run) -> None:
    def act(number: int) -> None:
        if number in {1, 3}:
            raise silent("pdu1")

    source = ToySource("pdu1", act)
    with Collector([Timed(source, 0.05)], run):
        source.wait_for(5)
    assert _remarks(_section(run)) == [("failed", "pdu1", "pdu1: does not answer: check it.")]


def test_many_remarks_of_one_kind_hide_no_other_kind(run: Run) -> None:
    for number in range(60):
        run.event(EventKind.SOURCE_FAILED, source="sw1", why=f"try {number}")
    run.event(EventKind.CLOCK_JUMP, jump_ns=-5_000_000)
    section = _section(run)
    rows = _remarks(section)
    assert len(rows) == 40
    assert rows[1] == ("clock jump", "", "this machine's clock jumped by -5 ms")
    assert "21 more remarks are not shown: see events.jsonl in the runs' folders." in section.warnings
