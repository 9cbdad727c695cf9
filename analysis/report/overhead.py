"""Overhead of EEE for each communication against the mean gap (Miwa et al. 2013, Figs. 6, 7), and the fitted curve."""

import numpy as np
from matplotlib.figure import Figure

from eee_testbed.analysis.calibration import Calibration, ProgramTime
from eee_testbed.analysis.predict.run_time import program_time
from eee_testbed.analysis.programs.miwa import modelled_us
from eee_testbed.analysis.report.drawing import Drawing, draw, error_bars, label, series_style
from eee_testbed.analysis.report.measure import NOT_COUNTED, fit_command, sweep_command
from eee_testbed.analysis.report.report_data import Pair, ReportData, bars_text, file_name, pairs_of, short_names
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.table import Column, Table


def overhead(data: ReportData) -> Section | Missing:
    """A figure for each program and placement that ran with EEE on and off."""
    title = "Overhead of EEE against the mean gap"
    groups = grouped(data)
    if not groups:
        return Missing(title, NOT_COUNTED, sweep_command(data, "eee=on,off", "--gaps", "--traffic"))
    calibration = data.calibration
    drawings = tuple(_drawing(name, pairs, time_model(calibration, pairs)) for name, pairs in groups.items())
    warnings: tuple[str, ...] = ()
    if calibration is None or any(_miwa(time_model(calibration, pairs)) is None for pairs in groups.values()):
        warnings = (f"Some programs have no fitted curve: {fit_command(data)}, then --calibration.",)
    text = (
        "The overhead is the difference of run times divided by the communications of a node (Miwa's Eq. 1 and 2), "
        "the mean gap is I = T/n - S/B (Eq. 4). The curve is f(I) of Eq. 3."
    )
    return Section("overhead", title, text, drawings, (_table(groups),), warnings)


def grouped(data: ReportData) -> dict[str, list[Pair]]:
    """Pairs by program and placement."""
    groups: dict[str, list[Pair]] = {}
    for run in data.runs:
        for pair in pairs_of(run):
            groups.setdefault(pair.configuration.placement, []).append(pair)
    return groups


def time_model(calibration: Calibration | None, pairs: list[Pair]) -> ProgramTime | None:
    """The fitted run time of that program at that placement."""
    return None if calibration is None else program_time(calibration, pairs[0].profile)


def _miwa(model: ProgramTime | None) -> object:
    return None if model is None else model.miwa


def _drawing(name: str, pairs: list[Pair], model: ProgramTime | None) -> Drawing:
    idle_us = np.array([pair.profile.idle_us for pair in pairs])
    spreads = [pair.overhead_us for pair in pairs]

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        style = series_style(0)
        axes.errorbar(
            idle_us / 1e3,
            [spread.interval.value for spread in spreads],
            error_bars(spread.interval for spread in spreads),
            color=style.colour,
            marker=style.marker,
            ls="none",
            lw=0.8,
            label="measured",
        )
        if model is not None and model.miwa is not None:
            fit = model.miwa
            x = np.linspace(0.0, float(idle_us.max()) * 1.03, 600)
            axes.plot(
                x / 1e3,
                modelled_us(fit, x),
                color=series_style(2).colour,
                ls=series_style(1).line,
                label="fitted, Eq. 3",
            )
        axes.axhline(0.0, color="0.5", lw=0.6)
        axes.set_xlim(left=0.0)
        label(axes, "Mean gap I (ms)", "Overhead of a communication (µs)")
        axes.legend(loc="best")

    goodness = ""
    if model is not None and model.miwa is not None:
        goodness = (
            f" Curve: R² = {model.miwa.explained_fraction:.3f}, residual {model.miwa.residual_us:.1f} µs, from "
            f"{model.configuration_count} configurations."
        )
    caption = f"{name}, {len(pairs)} configurations. {bars_text([spread.count for spread in spreads])}{goodness}"
    return draw(f"overhead-{file_name(name)}", f"Overhead of EEE, {name}", caption, paint)


def _table(groups: dict[str, list[Pair]]) -> Table:
    columns = (
        Column("program"),
        Column("configuration"),
        Column("n", "1"),
        Column("S", "byte"),
        Column("mean gap I", "us"),
        Column("overhead", "us"),
        Column("trials", "1"),
    )
    names = short_names([pair.configuration for pairs in groups.values() for pair in pairs])
    rows = tuple(
        (
            name,
            names[pair.configuration],
            pair.profile.call_count,
            pair.profile.message_byte,
            pair.profile.idle_us,
            pair.overhead_us.shown,
            pair.overhead_us.count,
        )
        for name, pairs in groups.items()
        for pair in pairs
    )
    return Table("overhead", "Overhead of EEE by configuration", columns, rows, behind_figure=True)
