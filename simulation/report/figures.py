"""Figures of simulations: latency by load, and power to links always on by model."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.interval import Interval
from analysis.report.drawing import Drawing, draw, error_bars, label, logarithmic, series_style
from simulation.power_models import MODELS, RATES
from simulation.report.data import SimulationData

_TALL = 8.0
_WORDS = {
    "TCEP": "TCEP's model",
    "Georgakoudis": "Georgakoudis' model",
    "Andujar": "Andujar's model",
    "calibration": "as calibrated",
    RATES: "each channel at the lowest of three rates (TCEP's comparison)",
}
_LOAD = "Load (flits a node and cycle)"


def latency_drawing(every: Sequence[SimulationData]) -> Drawing:
    """Mean latency by load; a line at the height of the closed form without traffic."""
    values = [one.latency.value for data in every for one in data.loads if one.latency is not None]

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for place, data in enumerate(every):
            works = [(one.load, one.latency) for one in data.loads if one.latency is not None]
            _series(axes, place, data.name if len(every) > 1 else "simulated", works)
            colour = series_style(place).colour
            if data.empty_cycles is not None:
                words = "closed form, no traffic" if place == 0 else None
                axes.axhline(data.empty_cycles, color=colour, lw=0.7, ls=(0, (1, 2)), label=words)
            if data.saturated_from is not None:
                words = "saturated" if place == 0 else None
                axes.axvline(data.saturated_from, color=colour, lw=0.7, ls=(0, (4, 3)), label=words)
        label(axes, _LOAD, "Mean latency (cycles)")
        if values and max(values) > _TALL * min(values):
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


def power_drawings(every: Sequence[SimulationData]) -> tuple[Drawing, ...]:
    """Of one simulation, all models in one figure; of several, a figure for each model."""
    ratios = {data.name: _ratios(data) for data in every}
    if len(every) == 1:
        (only,) = ratios.values()
        return (_power_drawing("power", "Power by load", only, "Power by each model."),)
    return tuple(
        _power_drawing(
            f"power-{model.lower().replace(' ', '-')}",
            f"Power by load: {_WORDS.get(model, model)}",
            {name: found[model] for name, found in ratios.items() if model in found},
            f"Power, {_WORDS.get(model, model)}.",
        )
        for model in MODELS
        if any(model in found for found in ratios.values())
    )


def _ratios(data: SimulationData) -> dict[str, list[tuple[float, Interval]]]:
    """By model: load and power in percent of that with links always on."""
    found: dict[str, list[tuple[float, Interval]]] = {}
    for one in data.loads:
        if not one.saturated:
            for model, power in data.powers(one).items():
                ratio = power.ratio
                percent = Interval(100 * ratio.value, 100 * ratio.low, 100 * ratio.high)
                found.setdefault(model, []).append((one.load, percent))
    return found


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
