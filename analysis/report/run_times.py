"""Run time of every program by configuration and state of the lab, as a table and figures."""

from collections.abc import Sequence
from typing import Final

from matplotlib.figure import Figure

from eee_testbed.analysis.configurations import state_text
from eee_testbed.analysis.power.trial_energy import run_time_name
from eee_testbed.analysis.report.changes import Change, changes_of, percent_of, saved_percent_of
from eee_testbed.analysis.report.drawing import Drawing, draw, error_bars, label, series_style
from eee_testbed.analysis.report.eee_effect import over_gaps
from eee_testbed.analysis.report.measure import sweep_command
from eee_testbed.analysis.report.report_data import ReportData, file_name, short_names
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.series import Series, compared, series_of
from eee_testbed.analysis.report.table import Cell, Column, Table

_MOST_ROWS: Final = 24
_LEAST_INCH: Final = 1.75
"""Below this the axis is shorter than its name."""
_RUN_TIME: Final = {
    "time_steady": "the program's own, without outliers of the machine",
    "time": "the program's own",
    "mpi_time": "from MPI_Init to MPI_Finalize",
    "": "from the start of mpirun to its end, launch included",
}


def run_times(data: ReportData) -> Section | Missing:
    """A table of every program, and a figure by configuration where no mean gap is known to draw it over."""
    title = "Run time by configuration and state of the lab"
    every = series_of(data, least=True)
    if not every:
        return Missing(title, "no program has a valid trial.", sweep_command(data))
    drawings = tuple(_drawing(name, group) for name, group in by_configuration(data).items())
    names = dict.fromkeys(run_time_name(trial) for run in data.runs for trial in run.programs())
    text = f"Run time is {'; or '.join(_RUN_TIME[name] for name in names)}. A ratio is the median of the blocks' own"
    text += ", against the first state of the same configuration; fewer than three blocks say nothing of chance (–)."  # noqa: RUF001
    return Section("run-times", title, text, drawings, (_table(every),), watts="tables" if _metered(every) else "none")


def by_configuration(data: ReportData) -> dict[str, list[Change]]:
    """Changes by program and placement, of those that have no mean gap to be drawn over."""
    drawn = over_gaps(data)
    groups: dict[str, list[Change]] = {}
    for change in changes_of(data):
        if change.name not in drawn and change.base is change.series.points[0]:
            groups.setdefault(change.name, []).append(change)
    return groups


def _metered(every: Sequence[Series]) -> bool:
    return any(point.network_joule is not None for program in every for point in program.points)


def _drawing(name: str, changes: Sequence[Change]) -> Drawing:
    return configuration_drawing(f"run-times-{file_name(name)}", f"Run time by configuration, {name}", name, changes)


def configuration_drawing(key: str, title: str, name: str, changes: Sequence[Change]) -> Drawing:
    """How much longer each configuration takes in each state; of many, those that change most."""
    names = short_names(list(dict.fromkeys(change.series.configuration for change in changes)))
    kept = sorted(changes, key=lambda change: -abs(change.slower_percent.value))[:_MOST_ROWS]
    shown = [change for change in changes if change in kept]
    rows = list(dict.fromkeys(names[change.series.configuration] for change in shown))
    states = list(dict.fromkeys(state_text(change.point.state) for change in shown))

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for number, state in enumerate(states):
            style = series_style(number)
            mine = [change for change in shown if state_text(change.point.state) == state]
            shift = 0.5 * ((number + 1) / (len(states) + 1) - 0.5)
            axes.errorbar(
                [change.slower_percent.value for change in mine],
                [rows.index(names[change.series.configuration]) + shift for change in mine],
                xerr=_bars(mine),
                color=style.colour,
                marker=style.marker,
                ls="none",
                lw=0.8,
                label=state,
            )
        axes.axvline(0.0, color="0.5", lw=0.6)
        axes.set_yticks(range(len(rows)), [_short(row) for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        label(axes, "Longer than in the first state (%)", "Configuration (name)")
        axes.legend(loc="best")

    first = state_text(shown[0].base.state)
    blocks = sorted({change.time.blocks for change in shown})
    n = f"{blocks[0]}" if len(blocks) == 1 else f"{blocks[0]} to {blocks[-1]}"
    bars = "bars are 95 % intervals" if any(change.time.has_interval for change in shown) else "too few blocks for bars"
    left = f" {len(changes) - len(shown)} that change less are in the table." if len(changes) > len(shown) else ""
    caption = f"{name}: run time in other states of the lab than {first}; {n} blocks, {bars}.{left}"
    return draw(key, title, caption, paint, height_inch=max(_LEAST_INCH, 1.3 + 0.24 * len(rows)))


def _bars(changes: Sequence[Change]) -> tuple[list[float], list[float]]:
    """Lengths of the bars; none where there is no interval."""
    return error_bars(change.slower_percent for change in changes)


def _short(text: str, most: int = 28) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _table(every: Sequence[Series]) -> Table:
    names = short_names([program.configuration for program in every])
    rows: list[tuple[Cell, ...]] = []
    for program in every:
        for point in program.points:
            time = None if point is program.points[0] else compared(program.points[0], point)
            change = None if time is None else percent_of(time)
            saved = None if time is None else saved_percent_of(program.points[0], point)
            blocks = len(point.by_block) if time is None else time.blocks
            rows.append(
                (
                    program.configuration.placement,
                    names[program.configuration],
                    state_text(point.state),
                    point.time_s.interval.value,
                    change,
                    None if point.network_joule is None else point.network_joule.interval.value,
                    saved,
                    blocks,
                    point.time_s.count,
                )
            )
    columns = (
        Column("program"),
        Column("configuration"),
        Column("state of the lab"),
        Column("run time", "s"),
        Column("longer", "%"),
        Column("network", "J"),
        Column("joules saved", "%"),
        Column("blocks", "1"),
        Column("trials", "1"),
    )
    return Table("run-times", "Run time of every program", columns, tuple(rows)).without_empty_columns(5)
