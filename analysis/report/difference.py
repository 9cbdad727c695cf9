"""What differs between two runs or studies: before and after a firmware, one switch and another.

Trials of different runs share no blocks, so whatever drifted between the runs is part of the difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analysis.compare import Comparison, compare
from analysis.configurations import Configuration, State, state_text
from analysis.report.changes import percent_of
from analysis.report.report_data import ReportData, RunData, short_names
from analysis.report.section import Section
from analysis.report.series import series_of
from analysis.report.table import Cell, Column, Table

_SIDES: Final = 2


@dataclass(frozen=True, slots=True)
class Difference:
    """One configuration in one state of the lab, in A and in B; `time` is of run times, not paired."""

    configuration: Configuration
    state: State
    time: Comparison


def differences_of(data: ReportData) -> tuple[Difference, ...]:
    """Of what both sides ran; none unless the report has two sides."""
    if len(data.sides) != _SIDES:
        return ()
    first, second = (_points(data, runs) for runs in data.sides)
    found = []
    for (configuration, state), times_s in first.items():
        other_s = second.get((configuration, state))
        if other_s is not None:
            time = compare({0: times_s}, {0: other_s}, "time", "s", pairing="none")
            found.append(Difference(configuration, state, time))
    return tuple(found)


def difference(data: ReportData) -> Section | None:
    """Run times of B against those of A, by configuration and state of the lab; None where nothing can be compared."""
    found = differences_of(data)
    if not found:
        return None
    names = short_names(list(dict.fromkeys(one.configuration for one in found)))
    a, b = (", ".join(run.name for run in runs) for runs in data.sides)
    rows = tuple(_row(one, names[one.configuration]) for one in found)
    columns = (
        Column("program"),
        Column("configuration"),
        Column("state of the lab"),
        Column("A", "s"),
        Column("B", "s"),
        Column("B is longer", "%"),
        Column("trials of A", "1"),
        Column("trials of B", "1"),
    )
    text = (
        f"A is {a}; B is {b}. Run times of B against those of A, medians with 95 % intervals by bootstrap. The two "
        "have no block in common, so what drifted between them is part of the difference."
    )
    return Section("difference", "B against A", text, tables=(Table("difference", "Run times", columns, rows),))


def _row(one: Difference, name: str) -> tuple[Cell, ...]:
    time = one.time
    return (
        one.configuration.placement,
        name,
        state_text(one.state),
        time.a.value,
        time.b.value,
        percent_of(time),
        *time.counts,
    )


def _points(data: ReportData, runs: Sequence[RunData]) -> Mapping[tuple[Configuration, State], list[float]]:
    """Run times of the trials of some runs."""
    found: dict[tuple[Configuration, State], list[float]] = {}
    for one in series_of(data, least=True):
        if one.run in runs:
            for point in one.points:
                found.setdefault((one.configuration, point.state), []).extend(point.times_s)
    return found
