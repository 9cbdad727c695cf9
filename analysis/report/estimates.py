"""Estimated run times against measured ones (Miwa et al. 2013, Figs. 8-11), and predictions with their errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.interval import Floats, Interval
from eee_testbed.analysis.predict.power import switch_power_of
from eee_testbed.analysis.predict.prediction import Prediction, Predictor
from eee_testbed.analysis.predict.run_time import program_time
from eee_testbed.analysis.predict.site import Site
from eee_testbed.analysis.predict.what_if import WhatIf
from eee_testbed.analysis.programs.miwa import modelled_us
from eee_testbed.analysis.report.drawing import Drawing, draw, error_bars, label, logarithmic, series_style
from eee_testbed.analysis.report.energies import energy_of_trial, meters_of, repeated
from eee_testbed.analysis.report.measure import NOT_COUNTED, fit_command, sweep_command
from eee_testbed.analysis.report.report_data import (
    Pair,
    ReportData,
    RunData,
    bars_text,
    file_name,
    natural,
    pairs_of,
    short_names,
    spread_of,
)
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.analysis.run_lab import lab_of_run

_ROWS = 16
_IN_SAMPLE = "of the runs of the fit (in-sample)"
_MEASURED = WhatIf("measured", "measured")


@dataclass(frozen=True, slots=True)
class Estimated:
    """One configuration: measured and estimated run time under EEE, seconds; None if no model was fitted.

    `network_joule`: (measured, predicted) energy of the network.
    """

    run: RunData
    pair: Pair
    on_s: Interval
    miwa_s: float | None
    ours: Prediction | None
    network_joule: tuple[Interval, Interval] | None


def estimates(data: ReportData) -> Section | Missing:
    """Run times without EEE, with EEE, and as estimated."""
    title = "Estimated against measured run times"
    all_estimates = estimated(data)
    if not all_estimates:
        return Missing(title, NOT_COUNTED, sweep_command(data, "eee=on,off", "--gaps", "--traffic"))
    usable = [estimate for estimate in all_estimates if estimate.ours is not None or estimate.miwa_s is not None]
    if not usable:
        return Missing(title, "no run-time model was fitted for these programs.", fit_command(data))
    groups: dict[str, list[Estimated]] = {}
    for estimate in usable:
        groups.setdefault(estimate.pair.configuration.placement, []).append(estimate)
    drawings = [
        drawing
        for name, group in groups.items()
        for number, part in enumerate(_parts(group))
        for drawing in (_times(f"{name}{f', part {number + 1}' if len(group) > _ROWS else ''}", part),)
    ]
    drawings += [_agreement(usable, data.calibration)]
    text = (
        "Each row is a configuration with its run time without EEE, with EEE, and as estimated by two models from the "
        "run without: Miwa's, which uses the mean gap, and ours, which uses all gaps and the links' policy. Joules, "
        "measured and predicted alike, are of the switches that are metered and whose power was fitted."
    )
    return Section(
        "estimates",
        title,
        text,
        tuple(drawings),
        (_table(usable), _errors(usable, data.calibration)),
        tuple(_warnings(data, usable)),
        "tables" if any(estimate.network_joule is not None for estimate in usable) else "none",
    )


def _warnings(data: ReportData, rows: Sequence[Estimated]) -> list[str]:
    calibration = data.calibration
    fitted = set(calibration.runs) if calibration is not None else set()
    sentences = []
    inside = sorted({estimate.run.name for estimate in rows} & fitted)
    if inside:
        sentences.append(
            f"The calibration was fitted to these runs ({', '.join(inside)}): agreement with them is that of a fit, "
            "not of a prediction. Measure other configurations to test predictions."
        )
    sentences += dict.fromkeys(
        warning for estimate in rows if estimate.ours is not None for warning in estimate.ours.warnings
    )
    return [text[:1].upper() + text[1:] for text in sentences]


def fitted_to_these(data: ReportData) -> bool:
    """Whether the calibration was fitted to some of the report's runs, so that agreement with them tests nothing."""
    return data.calibration is not None and bool({run.name for run in data.runs} & {*data.calibration.runs})


def _parts(group: Sequence[Estimated]) -> list[Sequence[Estimated]]:
    count = -(-len(group) // _ROWS)
    return [group[n * len(group) // count : (n + 1) * len(group) // count] for n in range(count)]


@lru_cache(maxsize=1)
def estimated(data: ReportData) -> tuple[Estimated, ...]:
    """Every configuration that ran with and without EEE, in the natural order."""
    rows = []
    for run in data.runs:
        lab = lab_of_run(run.facts)
        whole = None if lab is None else Site.of(lab)
        compared = () if whole is None else _compared(run, whole, data.calibration)
        site = None if whole is None else whole.only(compared)
        joules = _joules(run, compared)
        rows += [_estimated(data, run, pair, site, joules) for pair in pairs_of(run)]
    return tuple(sorted(rows, key=lambda estimate: natural(estimate.pair.configuration)))


def _compared(run: RunData, site: Site, calibration: Calibration | None) -> tuple[str, ...]:
    """Switches whose joules were both measured and predicted: only these can be compared."""
    metered = {meter.feeds for meter in meters_of(run)}
    if calibration is None:
        return ()
    switches = (
        name for name, family in site.families.items() if switch_power_of(calibration, name, family) is not None
    )
    return tuple(name for name in switches if name in metered)


def _joules(run: RunData, switches: Sequence[str]) -> dict[str, Interval]:
    """Measured energy of some switches under EEE, by configuration; without those that a trial does not have."""
    values: dict[str, list[Interval | None]] = {}
    meters = [meter for meter in meters_of(run) if meter.feeds in switches]
    for trial in run.programs():
        if run.factors.with_eee(run.factors.state_of(trial)):
            energy = energy_of_trial(run, trial, meters).network_joule
            values.setdefault(run.factors.configuration_of(trial).name, []).append(energy)
    joules = {}
    for name, energies in values.items():
        measured = [energy for energy in energies if energy is not None]
        if measured and len(measured) == len(energies):
            joules[name] = repeated(measured).interval
    return joules


def _estimated(data: ReportData, run: RunData, pair: Pair, site: Site | None, joules: dict[str, Interval]) -> Estimated:
    on_s = spread_of(pair.on_s).interval
    calibration = data.calibration
    fitted = None if calibration is None else program_time(calibration, pair.profile)
    if calibration is None or fitted is None:
        return Estimated(run, pair, on_s, None, None, None)
    miwa_s = None
    if fitted.miwa is not None:
        over_us = float(modelled_us(fitted.miwa, pair.profile.idle_us))
        miwa_s = pair.profile.base_s.value + pair.profile.call_count * over_us * 1e-6
    hold_us = run.factors.hold_us(pair.configuration)
    asked = _MEASURED if hold_us is None else WhatIf(f"deep,hold_us={hold_us:g}", "deep", hold_us=hold_us)
    ours = Predictor(pair.profile, calibration, site).predict(asked) if fitted.wakes or fitted.rounds else None
    measured = joules.get(pair.configuration.name)
    both = None
    if measured is not None and ours is not None and ours.network_joule is not None:
        both = measured, ours.network_joule
    return Estimated(run, pair, on_s, miwa_s, ours, both)


def _short(pair: Pair, keys: Sequence[str]) -> str:
    values = (value for key, value in pair.configuration.parameters if key in keys)
    text = ", ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in values)
    return text or pair.configuration.placement


def _varied(group: Sequence[Estimated]) -> list[str]:
    """Parameters in which configurations differ."""
    first = group[0].pair.configuration.parameters
    rest = [dict(estimate.pair.configuration.parameters) for estimate in group]
    return [key for key, value in first if any(estimate.get(key) != value for estimate in rest)]


def _times(name: str, group: Sequence[Estimated]) -> Drawing:
    varied = _varied(group)
    keys = ", ".join(key.replace("_", " ") for key in varied)

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        rows: Floats = np.arange(len(group), dtype=np.float64)
        off = [spread_of(estimate.pair.off_s).interval for estimate in group]
        _row(axes, rows + 0.24, off, 0, "without EEE, measured")
        _row(axes, rows + 0.08, [estimate.on_s for estimate in group], 1, "with EEE, measured")
        ours = [
            (row, estimate.ours.time_s) for row, estimate in zip(rows, group, strict=True) if estimate.ours is not None
        ]
        if ours:
            _row(axes, np.array([row for row, _ in ours]) - 0.08, [time for _, time in ours], 2, "with EEE, our model")
        miwa = [
            (row, estimate.miwa_s) for row, estimate in zip(rows, group, strict=True) if estimate.miwa_s is not None
        ]
        if miwa:
            exact = [Interval(time, time, time) for _, time in miwa]
            _row(axes, np.array([row for row, _ in miwa]) - 0.24, exact, 3, "with EEE, Miwa's model")
        axes.set_yticks(rows, [_short(estimate.pair, varied) for estimate in group])
        axes.set_ylim(len(group) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        for row in rows[1:]:
            axes.axhline(row - 0.5, color="0.9", lw=0.5)
        if max(estimate.on_s.value for estimate in group) > 8 * min(estimate.value for estimate in off):
            logarithmic(axes, x=True)
        label(axes, "Run time (s)", f"{keys.capitalize() or 'Configuration'} (as set)")
        figure.legend(loc="outside lower center", ncols=2)

    counts = [min(len(estimate.pair.on_s), len(estimate.pair.off_s)) for estimate in group]
    caption = f"{name}. {bars_text(counts)} Bars of our model are its 95 % interval; Miwa's has none."
    height = 1.5 + 0.28 * len(group)
    return draw(f"times-{file_name(name)}", f"Run times, {name}", caption, paint, height_inch=height)


def _row(axes: Axes, y: Floats, times: Sequence[Interval], place: int, name: str) -> None:
    style = series_style(place)
    axes.errorbar(
        [time.value for time in times],
        y,
        xerr=error_bars(Interval(time.value, time.low, min(time.high, 1e9)) for time in times),
        color=style.colour,
        marker=style.marker,
        mfc=style.colour if place < 2 else "white",
        ms=4,
        ls="none",
        lw=0.8,
        label=name,
    )


def _agreement(rows: Sequence[Estimated], calibration: Calibration | None) -> Drawing:
    """Error of each estimate against the measured time."""
    whose = _whose(rows, calibration)

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        idle_ms = [estimate.pair.profile.idle_us / 1e3 for estimate in rows]
        for place, name, value in ((2, "our model", _ours_s), (3, "Miwa's model", _miwa_s)):
            points = [
                (x, _error_percent(value(estimate), estimate))
                for x, estimate in zip(idle_ms, rows, strict=True)
                if value(estimate)
            ]
            if points:
                style = series_style(place)
                axes.plot(
                    [x for x, _ in points],
                    [y for _, y in points],
                    style.marker,
                    color=style.colour,
                    mfc="white",
                    label=name,
                )
        bars = error_bars(Interval(0.0, -_below_percent(estimate), _above_percent(estimate)) for estimate in rows)
        axes.errorbar(idle_ms, np.zeros(len(rows)), bars, color="0.6", ls="none", lw=0.8, label="measured", zorder=1)
        axes.axhline(0.0, color="0.4", lw=0.6)
        label(axes, "Mean gap I (ms)", "Error of the estimate (%)")
        axes.legend(loc="best")

    caption = (
        f"Error of {len(rows)} estimates, {whose}; the table has those of configurations left out of the fit. Grey "
        "bars: the interval of the measured time; errors within it are not significant."
    )
    return draw("estimate-errors", "Errors of estimated run times", caption, paint)


def _ours_s(estimate: Estimated) -> float | None:
    return None if estimate.ours is None else estimate.ours.time_s.value


def _miwa_s(estimate: Estimated) -> float | None:
    return estimate.miwa_s


def _error_percent(estimated_s: float | None, estimate: Estimated) -> float:
    return float("nan") if estimated_s is None else 100 * (estimated_s / estimate.on_s.value - 1)


def _below_percent(estimate: Estimated) -> float:
    return 100 * (1 - estimate.on_s.low / estimate.on_s.value)


def _above_percent(estimate: Estimated) -> float:
    return 100 * (estimate.on_s.high / estimate.on_s.value - 1)


def _table(shown_rows: Sequence[Estimated]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    names = short_names([estimate.pair.configuration for estimate in shown_rows])
    for estimate in shown_rows:
        ours_s = None if estimate.ours is None else estimate.ours.time_s
        joule, predicted = estimate.network_joule or (None, None)
        rows.append(
            (
                names[estimate.pair.configuration],
                spread_of(estimate.pair.off_s).shown,
                spread_of(estimate.pair.on_s).shown,
                ours_s,
                None if ours_s is None else _error_percent(ours_s.value, estimate),
                estimate.miwa_s,
                None if estimate.miwa_s is None else _error_percent(estimate.miwa_s, estimate),
                joule,
                predicted,
                None if joule is None or predicted is None else 100 * (predicted.value / joule.value - 1),
            )
        )
    columns = (
        Column("configuration"),
        Column("without EEE", "s"),
        Column("with EEE", "s"),
        Column("our prediction", "s"),
        Column("its error", "%"),
        Column("Miwa's estimate", "s"),
        Column("its error", "%"),
        Column("switches with EEE", "J"),
        Column("predicted", "J"),
        Column("its error", "%"),
    )
    table = Table("estimates", "Prediction against measurement", columns, tuple(rows), behind_figure=True)
    return table.without_empty_columns(always=3)


def _whose(rows: Sequence[Estimated], calibration: Calibration | None) -> str:
    """Whether the estimated runs are those of the fit."""
    fitted = set() if calibration is None else set(calibration.runs)
    inside = [estimate.run.name in fitted for estimate in rows]
    return _IN_SAMPLE if all(inside) else "partly of the fit" if any(inside) else "of runs that were not fitted"


def _held_out(shown_rows: Sequence[Estimated], calibration: Calibration | None) -> list[tuple[Cell, ...]]:
    """Errors of cross-validation, as the fit found them."""
    if calibration is None:
        return []
    rows: list[tuple[Cell, ...]] = []
    placements = dict.fromkeys(estimate.pair.configuration.placement for estimate in shown_rows)
    for placement in placements:
        group = next(estimate for estimate in shown_rows if estimate.pair.configuration.placement == placement)
        model = program_time(calibration, group.pair.profile)
        fits = () if model is None else (("ours", model.rounds or model.wakes), ("Miwa's", model.miwa))
        for name, fit in fits:
            if fit is not None and fit.error is not None:
                error = fit.error
                whose = "each left out of its fit" if error.held_out else _IN_SAMPLE
                what = f"run time, {name}, {placement}"
                rows.append((what, error.mean_percent, error.worst_percent, None, error.configuration_count, whose))
    return rows


def _errors(shown_rows: Sequence[Estimated], calibration: Calibration | None) -> Table:
    """Mean and worst error of each model, and how often the predicted interval contains the measured value.

    Errors within a fit stand apart from those of configurations that were left out of it.
    """
    whose = _whose(shown_rows, calibration)
    rows: list[tuple[Cell, ...]] = []
    models: tuple[tuple[str, Callable[[Estimated], float | None]], ...] = (("ours", _ours_s), ("Miwa's", _miwa_s))
    for name, value in models:
        errors = [
            abs(_error_percent(value(estimate), estimate)) for estimate in shown_rows if value(estimate) is not None
        ]
        if errors:
            held = [
                estimate.ours.time_s.holds(estimate.on_s.value) for estimate in shown_rows if estimate.ours is not None
            ]
            share = 100 * sum(held) / len(held) if held and name == "ours" else None
            rows.append((f"run time, {name}", fmean(errors), max(errors), share, len(errors), whose))
    joules = [estimate.network_joule for estimate in shown_rows if estimate.network_joule is not None]
    if joules:
        errors = [100 * abs(predicted.value / measured.value - 1) for measured, predicted in joules]
        share = 100 * fmean(predicted.holds(measured.value) for measured, predicted in joules)
        rows.append(("energy of the network, ours", fmean(errors), max(errors), share, len(errors), whose))
    rows += _held_out(shown_rows, calibration)
    rows.append(("run time, Miwa's as published, 4 ranks", 2.63, 20.0, None, None, "of the paper"))
    rows.append(("run time, Miwa's as published, 16 ranks", 1.11, 15.3, None, None, "of the paper"))
    columns = (
        Column("what"),
        Column("mean error", "%"),
        Column("worst error", "%"),
        Column("measured is in the interval", "%"),
        Column("configurations", "1"),
        Column("whose"),
    )
    return Table("errors", "Errors of the models", columns, tuple(rows))
