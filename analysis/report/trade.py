"""The cost of saving power: performance against power saved, and run time against energy, as figures and tables.

As in Koibuchi et al. (2011), Figs. 3-6, and in Andujar et al. (2023), Figs. 4 and 6.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from eee_testbed.analysis.configurations import state_text
from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.drawing import STYLES, Drawing, draw, error_bars, label, logarithmic, series_style
from eee_testbed.analysis.report.measure import sweep_command
from eee_testbed.analysis.report.report_data import ReportData, Spread, bars_text, file_name, short_names
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.series import Series, StatePoint, performance, saved_percent, series_of
from eee_testbed.analysis.report.table import Cell, Column, Table


def saving(data: ReportData) -> Section | Missing:
    """Performance against power saved."""
    title = "Performance against power saved"
    series = [program for program in series_of(data) if program.points[0].network_joule is not None]
    if not series:
        return Missing(
            title, "no program ran in two states of the lab with the network's power measured.", sweep_command(data)
        )
    text = (
        "Performance is the run time without saving divided by that with saving; the power saved is that of the "
        "network, as the mean measured in the same trials, not as computed from the nominal power of ports."
    )
    drawings = tuple(_saving_drawing(name, group) for name, group in _grouped(series).items())
    return Section("saving", title, text, drawings, (_saving_table(series),), watts="figures")


def trade(data: ReportData) -> Section | Missing:
    """Run time against energy."""
    title = "Run time against energy"
    series = [program for program in series_of(data) if program.points[0].all_joule is not None]
    if not series:
        return Missing(title, "no program ran in two states of the lab with power measured.", sweep_command(data))
    text = "Lower left is better. Each point is a program in one state of the lab."
    drawings = []
    for name, group in _grouped(series).items():
        for what, joule in (("network", "network_joule"), ("all that is metered", "all_joule")):
            if all(getattr(point, joule) is not None for program in group for point in program.points):
                drawings.append(_trade_drawing(name, group, what, joule))
    return Section("trade", title, text, tuple(drawings), (_trade_table(series),), watts="figures")


def _grouped(series: Sequence[Series]) -> dict[str, list[Series]]:
    """By program and placement."""
    groups: dict[str, list[Series]] = {}
    for program in series:
        groups.setdefault(program.configuration.placement, []).append(program)
    return groups


def _saving_drawing(name: str, group: Sequence[Series]) -> Drawing:
    """Each series is a configuration, or a state of the lab if there are many configurations."""
    by_state = len(group) > len(STYLES)
    names = short_names([program.configuration for program in group])
    series: dict[str, list[tuple[Series, StatePoint]]] = {}
    for program in group:
        for point in program.points:
            if not (by_state and point is program.points[0]):
                key = state_text(point.state) if by_state else names[program.configuration]
                series.setdefault(key, []).append((program, point))

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for number, (key, points) in enumerate(series.items()):
            style = series_style(number)
            relative = [performance(program, point) for program, point in points]
            saved = [saved_percent(program, point) for program, point in points]
            axes.errorbar(
                [value.value for value in saved],
                [value.value for value in relative],
                error_bars(relative),
                error_bars(saved),
                color=style.colour,
                marker=style.marker,
                ls="none",
                lw=0.8,
                label=key,
            )
        axes.axhline(1.0, color="0.5", lw=0.6)
        axes.axvline(0.0, color="0.5", lw=0.6)
        label(axes, "Power of the network saved (%)", "Performance (relative to no saving)")
        if len(series) > 1 or by_state:
            axes.legend(loc="best")

    counts = [point.time_s.count for program in group for point in program.points]
    states = "; ".join(dict.fromkeys(state_text(point.state) for program in group for point in program.points))
    count = f"{len(group)} configuration{'s' if len(group) > 1 else ''}"
    caption = f"{name}, {count}; states of the lab: {states}. {bars_text(counts)}"
    return draw(f"saving-{file_name(name)}", f"Performance against power saved, {name}", caption, paint)


def _trade_drawing(name: str, group: Sequence[Series], what: str, joule: str) -> Drawing:
    states = list(dict.fromkeys(point.state for program in group for point in program.points))

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for number, state in enumerate(states):
            style = series_style(number)
            points = [point for program in group for point in program.points if point.state == state]
            energy = [getattr(point, joule) for point in points]
            axes.errorbar(
                [spread.interval.value for spread in energy],
                [point.time_s.interval.value for point in points],
                error_bars(point.time_s.interval for point in points),
                error_bars(spread.interval for spread in energy),
                color=style.colour,
                marker=style.marker,
                mfc=style.colour if number % 2 == 0 else "white",
                ls="none",
                lw=0.8,
                label=state_text(state),
            )
        if len(group) > 3:
            logarithmic(axes, x=True, y=True)
        label(axes, f"Energy, {what} (J)", "Run time (s)")
        axes.legend(loc="best")

    counts = [point.time_s.count for program in group for point in program.points]
    caption = (
        f"{name}: energy of {what}, {len(group)} configuration{'s' if len(group) > 1 else ''}. {bars_text(counts)}"
    )
    short = what.split(maxsplit=1)[0]
    return draw(f"trade-{file_name(name)}-{short}", f"Run time against energy ({what}), {name}", caption, paint)


def _saving_table(series: Sequence[Series]) -> Table:
    names = short_names([program.configuration for program in series])
    rows: list[tuple[Cell, ...]] = [
        (
            names[program.configuration],
            state_text(point.state),
            None if point.network_watt is None else point.network_watt.shown,
            _shown(saved_percent(program, point), program, point),
            _shown(performance(program, point), program, point),
            point.time_s.count,
        )
        for program in series
        for point in program.points
    ]
    columns = (
        Column("configuration"),
        Column("state of the lab"),
        Column("network", "W"),
        Column("saved", "%"),
        Column("performance", "relative"),
        Column("trials", "1"),
    )
    return Table("saving", "Performance against power saved", columns, tuple(rows), behind_figure=True)


def _shown(interval: Interval, program: Series, point: StatePoint) -> Interval:
    """A ratio to the first point, for a table."""
    if point is program.points[0]:
        return interval
    return Spread(interval, min(program.points[0].time_s.count, point.time_s.count)).shown


def _trade_table(series: Sequence[Series]) -> Table:
    names = short_names([program.configuration for program in series])
    rows: list[tuple[Cell, ...]] = [
        (
            names[program.configuration],
            state_text(point.state),
            point.time_s.shown,
            None if point.network_joule is None else point.network_joule.shown,
            None if point.all_joule is None else point.all_joule.shown,
            point.time_s.count,
        )
        for program in series
        for point in program.points
    ]
    columns = (
        Column("configuration"),
        Column("state of the lab"),
        Column("run time", "s"),
        Column("network", "J"),
        Column("all that is metered", "J"),
        Column("trials", "1"),
    )
    return Table("trade", "Run time and energy", columns, tuple(rows), behind_figure=True)
