"""What differs between two runs or studies: before and after a firmware, one switch and another.

Trials of different runs share no blocks, so whatever drifted between the runs is part of the difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eee_testbed.analysis.compare import Comparison, compare
from eee_testbed.analysis.configurations import Configuration, State, state_text
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.changes import percent_of
from eee_testbed.analysis.report.report_data import ReportData, RunData, short_names
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.series import StatePoint, series_of, with_meter_errors
from eee_testbed.analysis.report.table import Cell, Column, Table

_SIDES: Final = 2


_Key = tuple[Configuration, State]


@dataclass(frozen=True, slots=True)
class Difference:
    """One configuration in one state of the lab, in A and in B; `time` is of run times, not paired.

    `joules` of the network in A and in B, and `joule_ratio`, B's by A's; None unless known of every trial.
    """

    configuration: Configuration
    state: State
    time: Comparison
    joules: Comparison | None = None
    joule_ratio: Interval | None = None


def differences_of(data: ReportData) -> tuple[Difference, ...]:
    """Of what both sides ran; none unless the report has two sides."""
    if len(data.sides) != _SIDES:
        return ()
    first, second = (_points(data, runs) for runs in data.sides)
    return tuple(_difference(key, points, second[key]) for key, points in first.items() if key in second)


def difference(data: ReportData) -> Section | None:
    """Run times and energy of B against A's, by configuration and state; None where nothing can be compared."""
    differences = differences_of(data)
    if not differences:
        return None
    names = short_names(list(dict.fromkeys(pair.configuration for pair in differences)))
    a, b = (", ".join(run.name for run in runs) for runs in data.sides)
    tables = [
        Table(
            "difference", "Run times", _columns("s", "B is longer"), tuple(_row(pair, names) for pair in differences)
        ),
    ]
    text = (
        f"A is {a}; B is {b}. Run times of B against those of A, medians with 95 % intervals by bootstrap. The two "
        "have no block in common, so what drifted between them is part of the difference."
    )
    if rows := tuple(_joule_row(pair, names) for pair in differences if pair.joules is not None):
        tables.append(Table("difference-energy", "Energy of the network", _columns("J", "B takes more"), rows))
        text += (
            " Energy is that of the network's metered devices in a trial; its intervals are at least as wide as the "
            "meters' errors."
        )
    return Section("difference", "B against A", text, tables=tuple(tables))


def _columns(unit: str, more: str) -> tuple[Column, ...]:
    return (
        Column("program"),
        Column("configuration"),
        Column("state of the lab"),
        Column("A", unit),
        Column("B", unit),
        Column(more, "%"),
        Column("trials of A", "1"),
        Column("trials of B", "1"),
    )


def _row(pair: Difference, names: Mapping[Configuration, str]) -> tuple[Cell, ...]:
    time = pair.time
    return (*_what(pair, names), time.a.value, time.b.value, percent_of(time), *time.counts)


def _joule_row(pair: Difference, names: Mapping[Configuration, str]) -> tuple[Cell, ...]:
    joules, ratio = pair.joules, pair.joule_ratio
    if joules is None or ratio is None:
        raise AssertionError("rows are only of differences with joules")
    return (*_what(pair, names), joules.a.value, joules.b.value, ratio.above_percent, *joules.counts)


def _what(pair: Difference, names: Mapping[Configuration, str]) -> tuple[Cell, ...]:
    return pair.configuration.placement, names[pair.configuration], state_text(pair.state)


def _difference(key: _Key, first: Sequence[StatePoint], second: Sequence[StatePoint]) -> Difference:
    times = [[time_s for point in points for time_s in point.times_s] for points in (first, second)]
    time = compare({0: times[0]}, {0: times[1]}, "time", "s", pairing="none")
    if not all(point.joules for point in (*first, *second)):
        return Difference(*key, time)
    sides = [[joule for point in points for joule in point.joules] for points in (first, second)]
    values = [[joule.value for joule in side] for side in sides]
    joules = compare({0: values[0]}, {0: values[1]}, "energy", "J", pairing="none")
    return Difference(*key, time, joules, with_meter_errors(joules, *sides))


def _points(data: ReportData, runs: Sequence[RunData]) -> Mapping[_Key, list[StatePoint]]:
    """What some runs measured of each configuration in each state."""
    points: dict[_Key, list[StatePoint]] = {}
    for program in series_of(data, least=True):
        if program.run in runs:
            for point in program.points:
                points.setdefault((program.configuration, point.state), []).append(point)
    return points
