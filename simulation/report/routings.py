"""A section of a study's page beyond the papers: what routings make of links that sleep."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.drawing import Drawing, draw, error_bars, label, series_style
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies.pairs import Pair, by

_AXIS: Final = "routing"
_NETWORK: Final = "network"
_MANY: Final = 40
"""Rows of a table that a page shows open."""

_NOTHING: Final = Interval(0.0, 0.0, 0.0)

_Value = Callable[[Pair], float]


def slower_percent(pairs: Sequence[Pair]) -> _Value:
    """Of a point: its run time against links that never sleep, under the study's first routing, of the same seed.

    So routings are compared with each other, and not each with itself.
    """
    first = pairs[0].labels[_AXIS] if pairs else ""
    known = {_place(one): one.awake.replayed.run_time_s for one in pairs if one.labels[_AXIS] == first}

    def value(one: Pair) -> float:
        return 100 * (one.run_time_s / known[_place(one)] - 1)

    return value


def _place(one: Pair) -> tuple[tuple[str, ...], int]:
    return tuple(value for axis, value in one.labels.items() if axis not in (_AXIS, "links")), one.seed


def over_programs(pairs: Sequence[Pair], value: _Value) -> Interval:
    """The mean over programs of each seed, and over seeds."""
    seeds: dict[int, list[float]] = {}
    for one in pairs:
        seeds.setdefault(one.seed, []).append(value(one))
    return over_seeds([fmean(values) for values in seeds.values()])


def routings(pairs: Sequence[Pair]) -> Section:
    """Savings and run times by routing."""
    slower = slower_percent(pairs)
    columns = (
        Column("choice"), Column("saved", "%"), Column("saved, links with traffic", "%"),
        Column("slower than the first routing, awake", "%"), Column("run time", "s"),
    )  # fmt: skip
    figures: tuple[_Value, ...] = (
        lambda one: one.saving_percent, lambda one: one.carried_saving_percent, slower, lambda one: one.run_time_s,
    )  # fmt: skip
    groups = by(pairs, *pairs[0].labels) if pairs else {}
    rows: list[tuple[Cell, ...]] = [
        (" ".join(key), *(over_seeds([figure(one) for one in own]) for figure in figures))
        for key, own in groups.items()
    ]
    text = (
        "Of links between switches; means over seeds, with Student's 95 % interval from three seeds on. Slowdowns are "
        "against links that never sleep under the first routing of the study, so that a routing that is slower by "
        "itself shows it."
    )
    table = Table("routings", "Savings by routing", columns, tuple(rows), behind_figure=len(rows) > _MANY)
    asleep = [pair for pair in pairs if pair.point.replayed.sleeping]
    drawings = (
        _bars("routings-saving", "Power saved, by routing", "Power saved (%)", asleep, figures[0]),
        _bars("routings-slowdown", "Slowdown, by routing", "Slowdown (%)", asleep, slower),
    )
    return Section("routings", "Savings by routing", text, drawings, (_means(asleep, figures[0], slower), table))


def _means(asleep: Sequence[Pair], saving: _Value, slower: _Value) -> Table:
    """Over all programs: what the figures show."""
    axes = [axis for axis in (_NETWORK, "links", _AXIS) if asleep and axis in asleep[0].labels]
    rows: list[tuple[Cell, ...]] = [
        (" ".join(key), over_programs(own, saving), over_programs(own, slower))
        for key, own in by(asleep, *axes).items()
    ]
    columns = (Column("choice"), Column("saved", "%"), Column("slower than the first routing, awake", "%"))
    return Table("routings-means", "Savings by routing, over all programs", columns, tuple(rows))


def _bars(name: str, title: str, unit: str, asleep: Sequence[Pair], value: _Value) -> Drawing:
    """A panel for each network, a group for each policy of links, a bar for each routing."""
    names = list(dict.fromkeys(one.labels[_AXIS] for one in asleep))
    policies = list(dict.fromkeys(one.labels["links"] for one in asleep))
    networks = _by_network(asleep)

    def paint(figure: Figure) -> None:
        every = figure.subplots(max(len(networks), 1), 1, squeeze=False, sharex=True)[:, 0]
        width = 0.8 / max(len(names), 1)
        for axes, (network, own) in zip(every, networks.items(), strict=False):
            means = {key: over_programs(each, value) for key, each in by(own, _AXIS, "links").items()}
            for number, routing in enumerate(names):
                style = series_style(number)
                found = [means.get((routing, policy), _NOTHING) for policy in policies]
                places = np.arange(len(policies)) + (number - (len(names) - 1) / 2) * width
                axes.bar(
                    places, [one.value for one in found], width, yerr=error_bars(found),
                    color="white", edgecolor=style.colour, hatch=style.hatch, lw=0.8,
                    ecolor="black", error_kw={"elinewidth": 0.8},
                    label=routing if axes is every[0] else None,
                )  # fmt: skip
            axes.set_xticks(range(len(policies)), policies)
            label(axes, "Policy of links (1)", f"{network}: {unit}" if network else unit)
        figure.legend(loc="outside lower center", ncols=4)

    caption = "Means over programs and seeds, with 95 % intervals from three seeds on. One panel a network."
    return draw(name, title, caption, paint, height_inch=1.9 * max(len(networks), 1) + 0.5)


def _by_network(pairs: Sequence[Pair]) -> Mapping[str, list[Pair]]:
    """Under "" if the study has no such axis."""
    if pairs and _NETWORK not in pairs[0].labels:
        return {"": list(pairs)}
    return {key: own for (key,), own in by(pairs, _NETWORK).items()}
