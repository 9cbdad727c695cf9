"""Figures of simulations: latency by load, and power to links always on by model."""

from collections.abc import Callable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.drawing import Drawing, draw, error_bars, label, logarithmic, series_style
from eee_testbed.simulation.power_models import MODELS, RATES
from eee_testbed.simulation.report.data import SimulationData
from eee_testbed.simulation.summaries import LoadSummary

_TALL_RATIO = 8.0
_MODEL_NAMES = {
    "TCEP": "TCEP's model",
    "Georgakoudis": "Georgakoudis' model",
    "Andujar": "Andujar's model",
    "calibration": "as calibrated",
    RATES: "each channel at the lowest of three rates (TCEP's comparison)",
}
_LOAD = "Load (flits a node and cycle)"


def latency_drawings(every: Sequence[SimulationData]) -> tuple[Drawing, ...]:
    """By load: mean latency, its 99th percentile, accepted traffic, links that a packet takes."""
    return latency_drawing(every), _p99_drawing(every), _accepted_drawing(every), _hops_drawing(every)


def latency_drawing(every: Sequence[SimulationData]) -> Drawing:
    """Mean latency by load; a line at the height of the closed form without traffic."""
    values = [point.latency.value for data in every for point in data.loads if point.latency is not None]

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for place, data in enumerate(every):
            works = [(point.load, point.latency) for point in data.loads if point.latency is not None]
            _series(axes, place, data.name if len(every) > 1 else "simulated", works)
            colour = series_style(place).colour
            if data.empty_cycles is not None:
                words = "closed form, no traffic" if place == 0 else None
                axes.axhline(data.empty_cycles, color=colour, lw=0.7, ls=(0, (1, 2)), label=words)
            if data.saturated_from is not None:
                words = "saturated" if place == 0 else None
                axes.axvline(data.saturated_from, color=colour, lw=0.7, ls=(0, (4, 3)), label=words)
        label(axes, _LOAD, "Mean latency (cycles)")
        if values and max(values) > _TALL_RATIO * min(values):
            logarithmic(axes, y=True)
        axes.set_xlim(left=0)
        figure.legend(loc="outside lower center", ncols=2)

    caption = (
        "Mean latency from a packet's creation to its tail's arrival. Bars: 95 % intervals, by batch means, of the "
        "mean over seeds; where links' times were drawn from a calibration, with the spread of the draws. Dotted: one "
        "packet alone with links awake, in closed form, mean over all pairs of nodes. Dashed: the lowest load that "
        "the network does not accept."
    )
    return draw("latency-by-load", "Latency by load", caption, paint, height_inch=3.0)


def _p99_drawing(every: Sequence[SimulationData]) -> Drawing:
    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        values = _curves(axes, every, lambda one: one.p99)
        label(axes, _LOAD, "99th percentile of latency (cycles)")
        if values and max(values) > _TALL_RATIO * min(values):
            logarithmic(axes, y=True)
        axes.set_xlim(left=0)
        figure.legend(loc="outside lower center", ncols=2)

    caption = "99 of 100 packets take less: mean over seeds. Loads that are saturated or not settled have none."
    return draw("p99-by-load", "99th percentile of latency by load", caption, paint, height_inch=3.0)


def _accepted_drawing(every: Sequence[SimulationData]) -> Drawing:
    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        _curves(axes, every, lambda one: one.accepted)
        most = max(one.load for data in every for one in data.loads)
        axes.plot((0, most), (0, most), color="0.6", lw=0.7, ls=(0, (1, 2)), label="accepted = offered")
        label(axes, "Offered (flits a node and cycle)", "Accepted (flits a node and cycle)")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside lower center", ncols=2)

    caption = "Accepted against offered traffic: mean over seeds. Beyond saturation the curve leaves the dotted line."
    return draw("accepted-by-load", "Accepted against offered traffic", caption, paint, height_inch=3.0)


def _hops_drawing(every: Sequence[SimulationData]) -> Drawing:
    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        _curves(axes, every, lambda one: one.hops)
        label(axes, _LOAD, "Links between routers (mean of packets)")
        axes.set_xlim(left=0)
        axes.set_ylim(0.0, 1.1 * axes.get_ylim()[1])
        figure.legend(loc="outside lower center", ncols=2)

    caption = "Links between routers that a packet takes: adaptive routing goes round what is full or asleep."
    return draw("hops-by-load", "Links that a packet takes, by load", caption, paint, height_inch=3.0)


def _curves(axes: Axes, every: Sequence[SimulationData], value: Callable[[LoadSummary], float | None]) -> list[float]:
    """A curve of each simulation by load; returns the values of all."""
    curves = [_plain(data, value) for data in every]
    for place, (data, points) in enumerate(zip(every, curves, strict=True)):
        _series(axes, place, data.name, points)
    return [interval.value for points in curves for _, interval in points]


def _plain(data: SimulationData, value: Callable[[LoadSummary], float | None]) -> list[tuple[float, Interval]]:
    """A value of each load that is settled and has it; no intervals are known."""
    points = [(point.load, value(point)) for point in data.loads if point.settled]
    return [(load, Interval.plus_minus(known, 0.0)) for load, known in points if known is not None]


def power_drawings(every: Sequence[SimulationData]) -> tuple[Drawing, ...]:
    """Of one simulation, all models in one figure; of several, a figure for each model."""
    ratios = {data.name: _ratios(data) for data in every}
    if len(every) == 1:
        (only,) = ratios.values()
        return (_power_drawing("power", "Power by load", only, "Power by each model."),)
    return tuple(
        _power_drawing(
            f"power-{model.lower().replace(' ', '-')}",
            f"Power by load: {_MODEL_NAMES.get(model, model)}",
            {name: models[model] for name, models in ratios.items() if model in models},
            f"Power, {_MODEL_NAMES.get(model, model)}.",
        )
        for model in MODELS
        if any(model in models for models in ratios.values())
    )


def _ratios(data: SimulationData) -> dict[str, list[tuple[float, Interval]]]:
    """By model: load and power in percent of that with links always on."""
    ratios: dict[str, list[tuple[float, Interval]]] = {}
    for point in data.loads:
        if point.settled and not point.saturated:
            for model, power in data.powers(point).items():
                ratio = power.ratio
                percent = Interval(100 * ratio.value, 100 * ratio.low, 100 * ratio.high)
                ratios.setdefault(model, []).append((point.load, percent))
    return ratios


def _power_drawing(
    name: str, title: str, series: Mapping[str, Sequence[tuple[float, Interval]]], which: str
) -> Drawing:
    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for place, (words, points) in enumerate(series.items()):
            _series(axes, place, words, points)
        label(axes, _LOAD, "Power to links always on (%)")
        axes.set_ylim(0, 105)
        axes.set_xlim(left=0)
        figure.legend(loc="outside lower center", ncols=2)

    caption = (
        f"{which} TCEP and Georgakoudis count links between routers alone, Andujar all ports of switches and the "
        "logic behind them, a calibration whole switches and traffic. Bars: 95 % intervals of a calibration's "
        "parameters; the papers give none."
    )
    return draw(name, title, caption, paint, height_inch=3.0)


def _series(axes: Axes, place: int, words: str, points: Sequence[tuple[float, Interval]]) -> None:
    style = series_style(place)
    axes.errorbar(
        [load for load, _ in points],
        [one.value for _, one in points],
        error_bars(one for _, one in points),
        color=style.colour,
        marker=style.marker,
        ls=style.line,
        elinewidth=0.8,
        label=words,
    )
