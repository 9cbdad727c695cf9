"""Sections of a study's page beyond the papers: savings within bounds of the slowdown, by size, by rate of links."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.drawing import Drawing, draw, label, series_style
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.report.gating import gating
from eee_testbed.simulation.report.latencies import latencies
from eee_testbed.simulation.report.routings import routings
from eee_testbed.simulation.studies.bounds import BOUNDS_PERCENT, Within, within_bounds
from eee_testbed.simulation.studies.pairs import Pair, by
from eee_testbed.simulation.studies.study import ShownName

_SAVING: Final = "Power saved (%)"
_MANY: Final = 40
"""Rows of a table that a page shows open."""


def bounds(pairs: Sequence[Pair]) -> Section:
    """What each policy saves if a program may be so much slower."""
    found = within_bounds(pairs)
    columns = (
        Column("policy"), Column("bound of the slowdown", "%"), Column("saved", "%"), Column("slowdown", "%"),
        Column("cases that keep it"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (one.policy, one.bound_percent, one.saving_percent, one.slowdown_percent, f"{one.kept} of {one.cases}")
        for one in found
    ]
    text = (
        "For each network and program the setting of a policy is taken that saves the most within the bound, in "
        "hindsight; where none keeps it, links stay awake and save nothing. Means over networks and programs, of all "
        "links between switches."
    )
    table = Table("bounds", "Savings within bounds", columns, tuple(rows))
    return Section("bounds", "Which policy within a bound", text, (_bounds_figure(found),), (table,))


def _bounds_figure(found: Sequence[Within]) -> Drawing:
    policies = list(dict.fromkeys(one.policy for one in found))

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        width = 0.8 / max(len(policies), 1)
        for number, policy in enumerate(policies):
            style = series_style(number)
            own = [one.saving_percent for one in found if one.policy == policy]
            places = np.arange(len(own)) + (number - (len(policies) - 1) / 2) * width
            axes.bar(places, own, width, label=policy, color="white", edgecolor=style.colour, hatch=style.hatch, lw=0.8)
        axes.set_xticks(range(len(BOUNDS_PERCENT)), [f"{bound:g}" for bound in BOUNDS_PERCENT])
        label(axes, "Bound of the slowdown (%)", _SAVING)
        figure.legend(loc="outside lower center", ncols=4)

    caption = "Mean over networks and programs, with the best setting of each policy within the bound."
    return draw("bounds", "Power saved within bounds of the slowdown", caption, paint)


def sizes(pairs: Sequence[Pair]) -> Section:
    """Savings and slowdown by the nodes of the machine."""
    asleep = [pair for pair in pairs if pair.point.replayed.sleeping]
    grouped = by(asleep, *asleep[0].labels) if asleep else {}
    columns = (
        Column("choice"), Column("nodes", "1"), Column("links", "1"), Column("saved", "%"),
        Column("saved, links with traffic", "%"), Column("slowdown", "%"), Column("run time", "s"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            " ".join(key),
            own[0].machine.nodes,
            own[0].machine.links,
            *(_mean(own, name) for name in _FIGURES),
        )
        for key, own in grouped.items()
    ]
    text = "Of links between switches. The programs have as many ranks as the machine has nodes."
    table = Table("sizes", "Savings by size", columns, tuple(rows), behind_figure=len(rows) > _MANY)
    drawings = (
        _along("sizes-saving", "Power saved, by size", _SAVING, "saving_percent", pairs, _SIZES),
        _along("sizes-slowdown", "Slowdown, by size", "Slowdown (%)", "slowdown_percent", pairs, _SIZES),
    )
    return Section("sizes", "Savings by size of the machine", text, drawings, (table,))


_FIGURES: Final = ("saving_percent", "carried_saving_percent", "slowdown_percent", "run_time_s")


def _mean(own: Sequence[Pair], name: str) -> Interval:
    return over_seeds([getattr(one, name) for one in own])


@dataclass(frozen=True, slots=True)
class _Along:
    """What a figure is drawn along: the number of a pair, its workload, the label of the axis, the caption's end."""

    number: Callable[[Pair], int]
    workload: Callable[[Pair], str]
    label: str
    caption: str


def _along(name: str, title: str, unit: str, figure_name: str, pairs: Sequence[Pair], along: _Along) -> Drawing:
    """A panel for each workload, a line for each policy under which links sleep."""
    asleep = [pair for pair in pairs if pair.point.replayed.sleeping]
    workloads = list(dict.fromkeys(along.workload(pair) for pair in asleep))
    policies = list(dict.fromkeys(pair.labels["links"] for pair in asleep))
    numbers = sorted({along.number(pair) for pair in pairs})

    def paint(figure: Figure) -> None:
        every = figure.subplots(max(len(workloads), 1), 1, squeeze=False, sharex=True)[:, 0]
        for axes, workload in zip(every, workloads, strict=False):
            own = [pair for pair in asleep if along.workload(pair) == workload]
            for policy, line in by(own, "links").items():
                number = policies.index(policy[0])
                style = series_style(number)
                grouped: dict[int, list[Pair]] = {}
                for pair in line:
                    grouped.setdefault(along.number(pair), []).append(pair)
                found = [_mean(grouped[place], figure_name) for place in sorted(grouped)]
                axes.plot(
                    sorted(grouped), [one.value for one in found], marker=style.marker, ls=style.line,
                    color=style.colour, clip_on=False, label=policy[0] if axes is every[0] else None,
                    fillstyle="none" if number % 2 else "full",  # marks in one place are both seen
                )  # fmt: skip
            axes.set_xscale("log", base=4)
            axes.set_xticks(numbers, [f"{one:,}" for one in numbers])
            axes.minorticks_off()
            axes.set_xlim(numbers[0] / 1.2, numbers[-1] * 1.2)
            axes.set_ylim(bottom=0)
            label(axes, along.label, f"{workload}: {unit}")
        figure.legend(loc="outside lower center", ncols=4)

    caption = f"Means over seeds. One panel a program; {along.caption}"
    return draw(name, title, caption, paint, height_inch=1.9 * max(len(workloads), 1) + 0.5)


_SIZES: Final = _Along(
    lambda pair: pair.machine.nodes,
    lambda pair: pair.labels["size"].rpartition("-")[0],
    "Nodes (1)",
    "sleep begins after the hold that the policy's name has.",
)
"""A workload's name ends in -SIZE."""

_RATES: Final = _Along(
    lambda pair: int(pair.labels["rate"]),
    lambda pair: " ".join(value for axis, value in pair.labels.items() if axis not in ("rate", "links")),
    "Rate of a link (Gb/s)",
    "there is no mark where the standard gives no times.",
)


def rates(pairs: Sequence[Pair]) -> Section:
    """Savings and slowdown by the rate of links."""
    columns = (
        Column("choice"), Column("rate", "Gb/s"), Column("links"), Column("saved", "%"),
        Column("saved, links with traffic", "%"), Column("slowdown", "%"), Column("run time", "s"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (_RATES.workload(own[0]), _RATES.number(own[0]), own[0].labels["links"], *(_mean(own, one) for one in _FIGURES))
        for own in (by(pairs, *pairs[0].labels) if pairs else {}).values()
    ]
    text = "Of links between switches. A rate without a line has no times of sleep in the standard, and stays awake."
    drawings = (
        _along("rates-saving", "Power saved, by rate of links", _SAVING, "saving_percent", pairs, _RATES),
        _along("rates-slowdown", "Slowdown, by rate of links", "Slowdown (%)", "slowdown_percent", pairs, _RATES),
    )
    table = Table("rates", "Savings by rate of links", columns, tuple(rows), behind_figure=len(rows) > _MANY)
    return Section("rates", "Savings by rate of links", text, drawings, (table,))


BEYOND: Final[Mapping[ShownName, Callable[[Sequence[Pair]], Section]]] = {
    "bounds": bounds,
    "sizes": sizes,
    "rates": rates,
    "gating": gating,
    "routings": routings,
    "latency": latencies,
}
"""By the names in `shows` of a study's file."""
