"""The figure of the first screen: what EEE costs and saves, by the mean gap between communications."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eee_testbed.analysis.calibration import MiwaTime
from eee_testbed.analysis.interval import Floats, Interval
from eee_testbed.analysis.programs.miwa import modelled_us
from eee_testbed.analysis.report.changes import Change, changes_of
from eee_testbed.analysis.report.drawing import Drawing, draw, error_bars, label, logarithmic, series_style
from eee_testbed.analysis.report.eee_effect import Effect, effect_bars_text, over_gaps
from eee_testbed.analysis.report.estimates import fitted_to_these
from eee_testbed.analysis.report.overhead import time_model
from eee_testbed.analysis.report.report_data import ReportData, file_name, short_names
from eee_testbed.analysis.report.run_times import configuration_drawing
from eee_testbed.analysis.report.table import Cell, Column, Table

_WIDE_RATIO = 20.0
_CURVE_POINTS = 400


def headline(data: ReportData) -> tuple[Drawing, Table] | None:
    """Of the program with the most gaps; without any, by configuration; None if none ran with EEE off and on."""
    groups = over_gaps(data)
    if not groups:
        return _by_configuration(data)
    name = max(groups, key=lambda key: len(groups[key]))
    effects = sorted(groups[name], key=lambda effect: effect.idle_us)
    model = time_model(data.calibration, [effect.pair for effect in effects])
    fit = None if model is None else model.miwa
    return _drawing(name, effects, fit, in_sample=fitted_to_these(data)), _table(effects)


def _by_configuration(data: ReportData) -> tuple[Drawing, Table] | None:
    """Where no calls were counted there is no mean gap to draw over."""
    grouped: dict[str, list[Change]] = {}
    for change in changes_of(data):
        if change.of_eee:
            grouped.setdefault(change.name, []).append(change)
    if not grouped:
        return None
    name = max(grouped, key=lambda key: len(grouped[key]))
    changes = grouped[name]
    drawing = configuration_drawing(f"headline-{file_name(name)}", f"What EEE costs, {name}", name, changes)
    names = short_names([change.series.configuration for change in changes])
    columns = (
        Column("configuration"),
        Column("slower by EEE", "%"),
        Column("joules saved", "%"),
        Column("blocks", "1"),
    )
    rows = tuple(
        (names[change.series.configuration], change.slower_percent, change.saved_percent, change.time.blocks)
        for change in changes
    )
    return drawing, Table("headline", "What EEE costs and saves", columns, rows, behind_figure=True)


def _drawing(name: str, effects: Sequence[Effect], fit: MiwaTime | None, *, in_sample: bool) -> Drawing:
    saved = [effect for effect in effects if effect.saved_percent is not None]
    predicted = [effect for effect in effects if effect.predicted_saved_percent is not None]
    ours = [
        (effect, effect.predicted_slower_percent) for effect in effects if effect.predicted_slower_percent is not None
    ]
    gaps_us = [effect.idle_us for effect in effects if effect.idle_us > 0]
    wide = bool(gaps_us) and len(gaps_us) == len(effects) and max(gaps_us) > _WIDE_RATIO * min(gaps_us)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(2 if saved or predicted else 1, 1, sharex=True, squeeze=False)[:, 0]
        _panel(panels[0], effects, [effect.slower_percent.interval for effect in effects], 0, "measured")
        _points(panels[0], ours, "our model")
        if fit is not None:
            _curve(panels[0], effects, fit)
        label(panels[0], "Mean gap between communications (ms)", "Slower by EEE (%)")
        if len(panels) > 1:
            panels[0].set_xlabel("")
            _panel(panels[1], saved, [effect.saved_percent for effect in saved if effect.saved_percent], 1, "measured")
            _points(
                panels[1],
                [(effect, effect.predicted_saved_percent) for effect in predicted if effect.predicted_saved_percent],
                "",
            )
            label(panels[1], "Mean gap between communications (ms)", "Joules saved (%)")
        for axes in panels:
            if wide:
                logarithmic(axes, x=True)
            axes.axhline(0.0, color="0.5", lw=0.6)
        if ours or fit is not None:
            panels[0].legend(loc="best")

    what = ["Above: how much longer it takes with EEE" if saved or predicted else "How much longer it takes with EEE"]
    if saved:
        count = saved[0].meter_count
        devices = f"{count} metered devices" if count > 1 else "the metered device"
        what.append(f"below: joules that {devices} of the network save")
    elif predicted:
        what.append("below: joules that the switches whose power was fitted save, as predicted, not measured")
    caption = f"{name}, {len(effects)} configurations. {'; '.join(what)}. {effect_bars_text(effects)}"
    caption += _models_text(of_ours=bool(ours or predicted), of_miwa=fit is not None, in_sample=in_sample)
    height = 3.6 if saved or predicted else 2.4
    return draw(f"headline-{effects[0].file}", f"What EEE costs and saves, {name}", caption, paint, height_inch=height)


def _models_text(*, of_ours: bool, of_miwa: bool, in_sample: bool) -> str:
    """What the marks and the curve of models are, and what they were fitted to."""
    parts = ["open marks: our model of each configuration"] if of_ours else []
    parts += ["curve: Miwa's model (Eq. 3) of a call with the median transfer time"] if of_miwa else []
    if not parts:
        return ""
    text = "; ".join(parts)
    fitted = "to these runs, so they show the fit and are no test of it" if in_sample else "to other runs"
    return f" {text[:1].upper()}{text[1:]}; fitted {fitted}."


def modelled_slower_percent(fit: MiwaTime, idle_us: Floats, transfer_us: float) -> Floats:
    """How much longer a call takes by Miwa's Eq. 1 to 3, percent: f(I) of its time I + S/B without EEE."""
    return 100 * modelled_us(fit, idle_us) / (idle_us + transfer_us)


def _curve(axes: Axes, effects: Sequence[Effect], fit: MiwaTime) -> None:
    profiles = [effect.pair.profile for effect in effects]
    transfer_us = float(
        np.median([1e6 * profile.base_s.value / profile.call_count - profile.idle_us for profile in profiles])
    )
    gaps_us = [effect.idle_us for effect in effects if effect.idle_us > 0] or [1.0]
    around = np.geomspace(min(gaps_us), max(gaps_us), _CURVE_POINTS)
    step = fit.threshold_us.value
    x = np.unique([*around, *(near for near in (step * (1 - 1e-9), step * (1 + 1e-9)) if near < max(gaps_us))])
    style = series_style(3)
    y = modelled_slower_percent(fit, x, transfer_us)
    axes.plot(x / 1e3, y, color=style.colour, ls=style.line, lw=1.0, label="Miwa's model")


def _panel(axes: Axes, effects: Sequence[Effect], values: Sequence[Interval], place: int, name: str) -> None:
    style = series_style(place)
    axes.errorbar(
        [effect.idle_us / 1e3 for effect in effects],
        [value.value for value in values],
        error_bars(values),
        color=style.colour,
        marker=style.marker,
        ls="none",
        lw=0.8,
        label=name if effects else None,
    )


def _points(axes: Axes, effects: Sequence[tuple[Effect, Interval]], name: str) -> None:
    """Estimates of the configurations: nothing is known between them, so nothing is drawn there."""
    style = series_style(2)
    x, y = [effect.idle_us / 1e3 for effect, _ in effects], [value.value for _, value in effects]
    axes.plot(x, y, color=style.colour, marker=style.marker, mfc="none", ls="none", label=name or None)


def _table(effects: Sequence[Effect]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            effect.pair.configuration.name,
            effect.idle_us,
            effect.slower_percent.interval,
            effect.predicted_slower_percent,
            effect.saved_percent,
            effect.predicted_saved_percent,
            effect.slower_percent.count,
        )
        for effect in effects
    ]
    columns = (
        Column("configuration"),
        Column("mean gap", "us"),
        Column("slower by EEE", "%"),
        Column("as our model has it", "%"),
        Column("joules saved", "%"),
        Column("as predicted", "%"),
        Column("trials", "1"),
    )
    table = Table("headline", "What EEE costs and saves", columns, tuple(rows), behind_figure=True)
    return table.without_empty_columns()
