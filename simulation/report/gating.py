"""Section of a study's page: links that sleep beside links that TCEP turns off, against either alone."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from eee_testbed.analysis.report.drawing import Drawing, draw, series_style
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.simulation.studies.pairs import Pair
from eee_testbed.simulation.studies.together import AXIS, Together, energy_percent, together, workload_of

_STATES: Final[Mapping[str, tuple[str, ...]]] = {
    "sending": ("transmit",),
    "idle at full power": ("idle",),
    "Ts and Tw": ("sleep", "wake"),
    "low power": ("quiet", "refresh", "fast"),
    "turning on": ("turning_on",),
    "off": ("off",),
}
"""What is drawn, and the states that it has."""


def gating(pairs: Sequence[Pair]) -> Section:
    """Where the time of links goes with each policy, what they take, and whether both together take less."""
    grouped: dict[str, dict[str, list[Pair]]] = {}
    for pair in pairs:
        grouped.setdefault(workload_of(pair), {}).setdefault(pair.labels[AXIS], []).append(pair)
    columns = (
        Column("program"), Column("links"), Column("slowdown", "%"), Column("energy of links", "%"),
        *(Column(name, "%") for name in _STATES),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            workload,
            policy,
            fmean(one.slowdown_percent for one in own),
            fmean(map(energy_percent, own)),
            *(_share(own, states) for states in _STATES.values()),
        )
        for workload, policies in grouped.items()
        for policy, own in policies.items()
    ]
    table = Table("gating", "Links that sleep and are turned off", columns, tuple(rows), behind_figure=True)
    return Section(
        "gating",
        "Sleep beside links that are off",
        f"{_finding(together(pairs))} Energy is the power of links between switches over the run time, to links always "
        "on: deep sleep takes 0.1, fast wake 0.6 (Georgakoudis et al. 2019), and a link that is off nothing. A link "
        "that is turned on takes full power.",
        (_figure(grouped),),
        (table,),
    )


def _finding(found: Sequence[Together]) -> str:
    """Where both take less than the better one alone, and what the best and the worst case is."""
    if not found:
        return "No two policies are simulated together yet."
    less = [one for one in found if one.gain_percent > 0]
    best, worst = (pick(found, key=lambda one: one.gain_percent) for pick in (max, min))
    words = f"Both together take less energy than the better of the two alone in {len(less)} of {len(found)} cases."
    if len(found) == 1:
        return f"{words} {_case(best)}"
    return f"{words} Best: {_case(best)} Worst: {_case(worst)}"


def _case(one: Together) -> str:
    alone = ", ".join(f"{value:.1f} %" for value in one.alone_percent)
    slower = ", ".join(f"{value:.1f} %" for value in one.alone_slowdown_percent)
    return (
        f"{one.policy} on {one.workload}, {one.energy_percent:.1f} % of links always on (alone {alone}), slowdown "
        f"{one.slowdown_percent:.1f} % (alone {slower})."
    )


def _share(own: Sequence[Pair], states: Sequence[str]) -> float:
    """Percent of the time, mean over seeds."""
    return 100 * fmean(sum(getattr(one.point.replayed.shares, state) for state in states) for one in own)


def _look(number: int) -> dict[str, Any]:
    """Of a state's bars."""
    style = series_style(number)
    return {"facecolor": "white", "edgecolor": style.colour, "hatch": style.hatch, "lw": 0.8}


def _figure(grouped: Mapping[str, Mapping[str, Sequence[Pair]]]) -> Drawing:
    """A panel a workload, a bar a policy."""
    bars = max((len(one) for one in grouped.values()), default=1)

    def paint(figure: Figure) -> None:
        every = figure.subplots(max(len(grouped), 1), 1, squeeze=False, sharex=True)[:, 0]
        for axes, (workload, policies) in zip(every, grouped.items(), strict=False):
            places = np.arange(len(policies))
            left = np.zeros(len(policies))
            for number, states in enumerate(_STATES.values()):
                values = np.array([_share(own, states) for own in policies.values()])
                seen = values > 0
                axes.barh(places[seen], values[seen], left=left[seen], height=0.7, **_look(number))
                left += values
            axes.set_yticks(places, list(policies))
            axes.invert_yaxis()
            axes.set_xlim(0, 100)
            axes.set_title(workload)
        every[-1].set_xlabel("Time of links between switches (%)")
        handles = [Patch(label=name, **_look(number)) for number, name in enumerate(_STATES)]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)

    caption = "Means over seeds. Ts and Tw are at full power, as is a link that is turned on. One panel a program."
    return draw(
        "gating-states", "Time of links by state", caption, paint,
        height_inch=0.9 + max(len(grouped), 1) * (0.45 + 0.24 * bars),
    )  # fmt: skip
