"""Two runs against each other: of what both ran, in each state of the lab."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.difference import difference, differences_of
from eee_testbed.analysis.report.report_data import ReportData, in_sides, read_report_data
from tests.support.measured.synthetic_run import Writer, write_run


def _program(longer: float, states: tuple[str, ...] = ("on", "off"), count: int = 3) -> Callable[[Writer], None]:
    def part(writer: Writer) -> None:
        for block in range(count):
            for eee in states:
                time_s = longer * (2.0 if eee == "on" else 1.0) * (1 + float(writer.random.normal(0, 0.002)))
                writer.write({"eee": eee}, time_s, figures=[("time", time_s, "s")], block=block, program="p")

    return part


def _data(root: Path, *parts: Callable[[Writer], None]) -> ReportData:
    folders = [write_run(root, part, name=f"run{number}") for number, part in enumerate(parts)]
    return in_sides(read_report_data(folders, None, ""), [[folder] for folder in folders])


def test_b_is_held_against_a_in_each_state(tmp_path: Path) -> None:
    section = difference(_data(tmp_path, _program(1.0), _program(1.1)))
    assert section is not None
    (table,) = section.tables
    assert [row[2] for row in table.rows] == ["eee off", "eee on"]
    for row in table.rows:
        longer = row[5]
        assert isinstance(longer, Interval)
        assert longer.low - 1 < 10.0 < longer.high + 1
        assert longer.low > 5.0
        assert row[6:] == (3, 3)
    assert "A is " in section.text
    assert "no block in common" in section.text


def _metered(watt: float) -> Callable[[Writer], None]:
    def part(writer: Writer) -> None:
        for block in range(4):
            begun_ns = writer.now_ns
            writer.write({"eee": "off"}, 20.0, figures=[("time", 20.0, "s")], block=block, program="p")
            writer.watts(begun_ns - 1_000_000_000, writer.now_ns + 1_000_000_000, watt)

    return part


def test_energy_is_compared_where_every_trial_was_metered(tmp_path: Path) -> None:
    section = difference(_data(tmp_path / "both", _metered(50.0), _metered(45.0)))
    assert section is not None
    _, energy = section.tables
    (row,) = energy.rows
    a_joule, b_joule, more = row[3:6]
    assert a_joule == pytest.approx(1_000.0, rel=0.01)
    assert b_joule == pytest.approx(900.0, rel=0.01)
    assert isinstance(more, Interval)
    assert more.low < -10.0 < more.high < 0.0
    assert "at least as wide as the meters' errors" in section.text
    one = difference(_data(tmp_path / "one", _metered(50.0), _program(1.0)))
    assert one is not None
    assert [table.title for table in one.tables] == ["Run times"]


def test_what_only_one_ran_is_left_out(tmp_path: Path) -> None:
    (found,) = differences_of(_data(tmp_path, _program(1.0, ("off",)), _program(1.1)))
    assert found.state == (("eee", "off"),)


@pytest.mark.parametrize("count", [1, 2])
def test_few_trials_have_no_interval(tmp_path: Path, count: int) -> None:
    section = difference(_data(tmp_path, _program(1.0, count=count), _program(1.1, count=count)))
    assert section is not None
    assert ("–" in section.tables[0].shown[0][5][0]) == (count < 3)  # noqa: RUF001


def test_one_run_or_three_are_not_compared(tmp_path: Path) -> None:
    parts = [_program(1.0), _program(1.1), _program(1.2)]
    assert difference(_data(tmp_path / "one", parts[0])) is None
    assert difference(_data(tmp_path / "three", *parts)) is None
