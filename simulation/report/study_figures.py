"""Figures of studies: distributions of savings and slowdowns, run time against energy, and which choices win."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.drawing import PAGE_INCH, Drawing, draw, error_bars, label, series_style
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies import andujar
from eee_testbed.simulation.studies.advise import Choice
from eee_testbed.simulation.studies.georgakoudis import DEEP, FAST, HYBRID
from eee_testbed.simulation.studies.pairs import Pair, by, where

_MODES: Final = {"deep sleep": DEEP, "hybrid": HYBRID, "fast wake": FAST}
_SAVING: Final = "Power saved (%)"
_SLOWDOWN: Final = "Slowdown (%)"
_KILO: Final = 1e3
_MARKS: Final = ("o", "s", "^", "D", "v", "P", "X", "*", "p", "<", ">", "h")
"""More than series have styles."""

Value = Callable[[Pair], float]


def distributions(pairs: Sequence[Pair]) -> tuple[Drawing, ...]:
    """As Figs. 6 and 7 of Georgakoudis et al. (2019): by mode over all points, and by mode and hold."""
    asleep = [pair for pair in pairs if pair.point.replayed.sleeping]
    saving = "Over links between switches that carried traffic."
    slower = "Run time against the same programs with links that never sleep."
    return (
        _ecdf("saving-ecdf", "Power saved, by mode", _SAVING, asleep, lambda one: one.carried_saving_percent, saving),
        _ecdf("slowdown-ecdf", "Slowdown, by mode", _SLOWDOWN, asleep, lambda one: one.slowdown_percent, slower),
        _violins("saving-violin", "Power saved, by mode and hold", _SAVING, asleep,
                 lambda one: one.carried_saving_percent, saving),
        _violins("slowdown-violin", "Slowdown, by mode and hold", _SLOWDOWN, asleep,
                 lambda one: one.slowdown_percent, slower),
    )  # fmt: skip


def _ecdf(name: str, title: str, unit: str, pairs: Sequence[Pair], value: Value, which: str) -> Drawing:
    """Share of points at or below a value."""

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for place, (mode, links) in enumerate(_MODES.items()):
            values = np.sort([value(pair) for pair in where(pairs, links=links)])
            if len(values):
                style = series_style(place)
                axes.step(
                    np.concatenate([values[:1], values]),
                    100 * np.arange(len(values) + 1) / len(values),
                    where="post",
                    color=style.colour,
                    ls=style.line,
                    label=mode,
                )
        _long_axis(axes, unit, pairs, value)
        label(axes, unit, "Points at or below (%)")
        figure.legend(loc="outside lower center", ncols=3)

    caption = f"Share of points with at most that value: each network, mapping and program at each hold. {which}"
    return draw(name, title, caption, paint)


def _long_axis(axes: Axes, unit: str, pairs: Sequence[Pair], value: Value) -> None:
    """Slowdowns from less than 1 % to some 1,000 %: linear up to 1, logarithmic from there."""
    if unit == _SLOWDOWN and any(value(one) > 100 for one in pairs):
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])


def _violins(name: str, title: str, unit: str, pairs: Sequence[Pair], value: Value, which: str) -> Drawing:
    groups = {key[0]: [value(one) for one in own] for key, own in by(pairs, "links").items()}

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        spread = {key: values for key, values in groups.items() if len(values) > 1 and np.ptp(values) > 0}
        places = {key: place for place, key in enumerate(groups)}
        logarithm = unit == _SLOWDOWN and any(one > 100 for values in groups.values() for one in values)
        drawn = {
            key: np.log10(1 + np.maximum(values, 0)) if logarithm else np.asarray(values)
            for key, values in groups.items()
        }
        if spread:
            bodies = axes.violinplot(
                [drawn[key] for key in spread], [places[key] for key in spread], widths=0.8, showextrema=False
            )["bodies"]
            for body in bodies:  # type: ignore[attr-defined]
                body.set_facecolor("0.75")
                body.set_edgecolor("0.3")
                body.set_alpha(1.0)
        medians = [float(np.median(drawn[key])) for key in groups]
        axes.plot(list(places.values()), medians, "o", color="black", ms=3, label="median")
        axes.set_xticks(list(places.values()), list(groups), rotation=60, ha="right")
        if logarithm:
            ticks = [0, 1, 10, 100, 1000]
            axes.set_yticks([np.log10(1 + one) for one in ticks], [f"{one}" for one in ticks])
        label(axes, "Mode and hold (Ts)", unit)
        figure.legend(loc="outside lower center")

    caption = f"Distribution over networks, mappings and programs at each mode and hold; dots are medians. {which}"
    return draw(name, title, caption, paint, height_inch=3.2)


def trade_offs(pairs: Sequence[Pair]) -> tuple[Drawing, ...]:
    """As Figs. 4 and 6 of Andújar et al. (2023): run time against the energy of network and cluster, set by set."""
    sizes = {"64": andujar.SMALL, "256": andujar.LARGE}
    figures: Mapping[str, Value] = {
        "network": lambda one: one.network_joule,
        "cluster": lambda one: one.cluster_joule,
    }
    return tuple(
        _trade_off(f"{which}-{size}", which, size, where(pairs, network=networks), figure)
        for size, networks in sizes.items()
        for which, figure in figures.items()
        if where(pairs, network=networks)
    )


def _trade_off(name: str, which: str, size: str, pairs: Sequence[Pair], figure_of: Value) -> Drawing:
    sets = list(dict.fromkeys(one.labels["set"] for one in pairs))
    networks = list(dict.fromkeys(one.labels["network"] for one in pairs))
    marks = {"always-on": "none", "pdt-10": "full", "pdt-100": "left"}

    def paint(figure: Figure) -> None:
        every = figure.subplots(len(sets), 1, squeeze=False)[:, 0]
        for axes, one in zip(every, sets, strict=True):
            for (network, links), own in by(where(pairs, set=one), "network", "links").items():
                number = networks.index(network)
                style = series_style(number)
                energy = over_seeds([figure_of(pair) for pair in own])
                time = over_seeds([pair.run_time_s * _KILO for pair in own])
                axes.plot(
                    [energy.value], [time.value], marker=_MARKS[number % len(_MARKS)],
                    color=style.colour, fillstyle=marks.get(links, "full"), ls="",
                    label=network if links == "always-on" and axes is every[0] else None,
                )  # fmt: skip
            label(axes, f"Energy of the {which}, set {one} (J)", "Run time (ms)")
        figure.legend(loc="outside lower center", ncols=4)

    caption = (
        f"Means over seeds on about {size} nodes. Hollow: links always on; full: they sleep after 10 us; half: after "
        "100 us. Low and to the left is better."
    )
    return draw(
        f"trade-off-{name}", f"Run time and energy of the {which}, {size} nodes", caption, paint,
        height_inch=2.1 * len(sets) + 0.6,
    )  # fmt: skip


def front(choices: Sequence[Choice]) -> Drawing:
    """Run time against the cluster's energy; choices that another one beats are crosses."""

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        kilo = max(choice.cluster_joule.value for choice in choices) > _KILO
        unit, scale = ("kJ", 1 / _KILO) if kilo else ("J", 1.0)
        best = [choice for choice in choices if not choice.beaten_by]
        beaten = [choice for choice in choices if choice.beaten_by]
        axes.plot(
            [choice.cluster_joule.value * scale for choice in beaten],
            [choice.run_time_s.value * _KILO for choice in beaten],
            ls="", marker="x", color="0.6", label="beaten",
        )  # fmt: skip
        for number, choice in enumerate(best):
            style = series_style(number)
            width, height = (error_bars([_ends(each)]) for each in (choice.cluster_joule, choice.run_time_s))
            place = [choice.cluster_joule.value * scale], [choice.run_time_s.value * _KILO]
            axes.errorbar(
                *place, xerr=np.asarray(width) * scale, yerr=np.asarray(height) * _KILO,
                fmt="none", ecolor=style.colour, elinewidth=0.8,
            )  # fmt: skip
            axes.plot(*place, marker=_MARKS[number % len(_MARKS)], color=style.colour, ls="", label=choice.name)
        label(axes, f"Energy of network and nodes ({unit})", "Run time (ms)")
        figure.legend(loc="outside lower center", ncols=2)

    caption = (
        "All workloads of the study, one after the other; means over seeds, bars: 95 % intervals from three seeds on. "
        "Crosses: another choice is not slower, needs no more energy in network and cluster, and is better in one."
    )
    return draw("advice", "Which choice for these jobs", caption, paint, height_inch=3.6, wide_inch=PAGE_INCH)


def _ends(interval: Interval) -> Interval:
    """Without a width where there are too few seeds for an interval."""
    return Interval(interval.value, interval.value, interval.value) if isnan(interval.low) else interval
