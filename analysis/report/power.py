"""Power against time, with changes of the lab and runs of programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.report.drawing import PAGE_INCH, Drawing, draw, label, series_style
from eee_testbed.analysis.report.energies import meters_of
from eee_testbed.analysis.report.measure import study_command
from eee_testbed.analysis.report.report_data import ReportData, RunData
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import PowerSeries

_SERIES = 6
_POINTS = 1_500
_NAMED_EVENTS = 12
_LONG_S = 3_600.0


@dataclass(frozen=True, slots=True)
class _Series:
    """Power of a device, or a sum: seconds since the run began, and watts."""

    name: str
    time_s: Floats
    power_watt: Floats


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of the lab."""

    at_s: float
    words: str


def power(data: ReportData) -> Section | Missing:
    """A figure for each run with watts."""
    title = "Power against time"
    runs = [run for run in data.runs if not run.watts.filter(pl.col("power_watt").is_not_null()).is_empty()]
    if not runs:
        return Missing(title, "no run has readings of a meter.", study_command(data))
    drawings, rows = [], []
    for number, run in enumerate(runs):
        start_ns = _start_ns(run)
        series, changes = _series_of(run, start_ns), _changes(run, start_ns)
        drawings.append(_drawing(number, run, series, changes, start_ns))
        rows += [_row(run, one) for one in series]
    columns = tuple(Column(name) for name in ("run", "device"))
    figures = tuple(Column(name, "W") for name in ("mean", "least", "most"))
    table = Table(
        "power", "Power by device", (*columns, *figures, Column("readings", "1")), tuple(rows), behind_figure=True
    )
    text = "Readings as the meters showed them: they lag by up to a refresh, and are rounded to steps."
    return Section("power", title, text, tuple(drawings), (table,), watts="figures")


def _start_ns(run: RunData) -> int:
    times: list[int] = [trial.begun_ns for trial in run.trials] + run.watts["sent_ns"].head(1).to_list()
    return min(times)


def _series_of(run: RunData, start_ns: int) -> list[_Series]:
    """Sum of the network, sum of the nodes, then the single devices with the largest changes."""
    single: dict[str, list[PowerSeries]] = {}
    nodes: list[PowerSeries] = []
    for meter in meters_of(run):
        (nodes if meter.feeds in run.hosts else single.setdefault(meter.name, [])).append(meter.series)
    network = [one for series in single.values() for one in series]
    wholes = []
    if len(single) > 1:
        wholes.append(_sum(f"network, {len(single)} devices", network, start_ns))
    if nodes:
        wholes.append(_sum(f"{len(nodes)} nodes" if len(nodes) > 1 else "1 node", nodes, start_ns))
    each = [_sum(name, series, start_ns) for name, series in single.items()]
    each.sort(key=lambda one: -float(np.ptp(one.power_watt)))
    return [*wholes, *each][:_SERIES]


def _sum(name: str, meters: Sequence[PowerSeries], start_ns: int) -> _Series:
    """Sum of several meters at the times of the first one, using each one's latest reading."""
    times_ns = meters[0].received_ns
    total: Floats = np.zeros(times_ns.size)
    for meter in meters:
        place = np.searchsorted(meter.received_ns, times_ns, side="right") - 1
        total += meter.power_watt[np.maximum(place, 0)]
    return _Series(name, (times_ns - start_ns) / 1e9, total)


def _changes(run: RunData, start_ns: int) -> list[_Change]:
    """Actuations; those of several links with the same result within a second are merged."""
    changes: list[_Change] = []
    counts: list[int] = []
    for event in run.events:
        if event["kind"] != EventKind.ACTUATION:
            continue
        at_s = (int(event.get("ended_ns", event["time_ns"])) - start_ns) / 1e9
        words = f"{event['what']} {event['after']}"
        if changes and changes[-1].words.split(" of ")[0] == words and at_s - changes[-1].at_s < 1.0:
            counts[-1] += 1
            changes[-1] = _Change(changes[-1].at_s, f"{words} of {counts[-1]} links")
        else:
            changes.append(_Change(at_s, words))
            counts.append(1)
    return changes


def _drawing(
    number: int, run: RunData, series: Sequence[_Series], changes: Sequence[_Change], start_ns: int
) -> Drawing:
    end_s = max(float(one.time_s.max()) for one in series)
    share, unit = (60.0, "min") if end_s > _LONG_S / 6 else (1.0, "s")
    changed = [event.at_s / share for event in changes]
    ran = [
        tuple((time_ns - start_ns) / 1e9 / share for time_ns in (trial.begun_ns, trial.ended_ns))
        for trial in run.trials
        if trial.what == "program"
    ]

    def paint(figure: Figure) -> None:
        panels = figure.subplots(len(series), 1, sharex=True, squeeze=False)[:, 0]
        for place, (axes, one) in enumerate(zip(panels, series, strict=True)):
            _panel(axes, one, place, share)
            _mark(axes, changed, ran)
            label(axes, f"Time since the run began ({unit})" if place == len(series) - 1 else f"({unit})", "Power (W)")
            if place < len(series) - 1:
                axes.set_xlabel("")
        room = _NAMED_EVENTS if figure.get_figwidth() >= PAGE_INCH else _NAMED_EVENTS // 2
        for event in changes if len(changes) <= room else ():
            panels[0].annotate(
                event.words,
                (event.at_s / share, 1.0),
                xycoords=("data", "axes fraction"),
                fontsize=5.5,
                rotation=90,
                ha="right",
                va="top",
                bbox={"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.85},
            )

    events = f" Dashed lines: {len(changes)} changes of the lab." if changes else ""
    caption = f"{run.name}. Grey: a program runs.{events} Steps are as the meters showed them."
    height = 0.7 + 1.1 * len(series)
    title = f"Power against time, {run.name}"
    return draw(f"power-{number + 1}", title, caption, paint, height_inch=height, wide_inch=PAGE_INCH)


def _panel(axes: Axes, one: _Series, place: int, share: float) -> None:
    time_s, watt = _thinned(one)
    style = series_style(place)
    axes.plot(time_s / share, watt, color=style.colour, ls="-", lw=0.9, drawstyle="steps-post")
    axes.set_title(one.name, fontsize=7.5, loc="left", pad=2)
    axes.margins(x=0.01)


def _mark(axes: Axes, changed: Sequence[float], ran: Sequence[tuple[float, ...]]) -> None:
    """Lines where the lab changed, and grey where a program ran: one artist each, as hundreds take long to draw."""
    lines = [[(at, 0.0), (at, 1.0)] for at in changed]
    spans = [[(begun, 0.0), (begun, 1.0), (ended, 1.0), (ended, 0.0)] for begun, ended in ran]
    for marks in (
        LineCollection(lines, colors="0.35", linewidths=0.7, linestyles=(0, (2, 2))),
        PolyCollection(spans, facecolors="0.93", linewidths=0, zorder=0),
    ):
        marks.set_transform(axes.get_xaxis_transform())
        axes.add_collection(marks, autolim=False)
    axes.update_datalim([(at, 0.0) for at in (*changed, *chain.from_iterable(ran))], updatey=False)


def _thinned(one: _Series) -> tuple[Floats, Floats]:
    """At most `_POINTS` points, including the minimum and maximum of each section."""
    if one.time_s.size <= _POINTS:
        return one.time_s, one.power_watt
    parts = np.array_split(np.arange(one.time_s.size), _POINTS // 2)
    kept = np.unique([place for part in parts for place in _ends(one.power_watt, part)])
    return one.time_s[kept], one.power_watt[kept]


def _ends(watt: Floats, part: np.typing.NDArray[np.int64]) -> tuple[int, int, int]:
    """Indices of the first point of a section, its minimum and its maximum."""
    here = watt[part]
    return int(part[0]), int(part[0] + np.argmin(here)), int(part[0] + np.argmax(here))


def _row(run: RunData, one: _Series) -> tuple[Cell, ...]:
    watt = one.power_watt
    return run.name, one.name, float(watt.mean()), float(watt.min()), float(watt.max()), int(watt.size)
