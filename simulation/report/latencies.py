"""Section of a study's page: latency of packets and energy of links by program, as Kim et al. (2018), Figs. 13, 14."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.drawing import PAGE_INCH, Drawing, draw, error_bars, logarithmic, series_style
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.studies.pairs import Pair, by
from eee_testbed.simulation.studies.tcep import OTHER_EPOCHS, injection_rate, latency_cycles, link_energy, to_awake

_AXIS: Final = "links"
_MEGA: Final = 1e6
_SPREAD: Final = 0.7
"""Of a program's row, between its first and last policy."""

_Ratios = Mapping[str, Mapping[str, Interval]]
"""By policy of links, then by program."""


def latencies(pairs: Sequence[Pair]) -> Section:
    """Ratios to links always on, the program with the least traffic first."""
    asleep = {key: own for (key,), own in by(_asleep(pairs), _AXIS).items()}
    latency = {policy: to_awake(own, latency_cycles) for policy, own in asleep.items()}
    energy = {policy: to_awake(own, link_energy) for policy, own in asleep.items()}
    columns = (
        Column("program"), Column("injected by a node", "MB/s"), Column("links"), Column("latency", "1"),
        Column("energy of links", "1"), Column("slowdown", "%"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            program,
            over_seeds([injection_rate(one) / _MEGA for one in own]),
            policy,
            latency[policy].get(program),
            energy[policy].get(program),
            over_seeds([one.slowdown_percent for one in own]),
        )
        for (policy, program), own in sorted(by(_asleep(pairs), _AXIS, "program").items(), key=_traffic)
    ]
    text = (
        "Ratios to links always on, seed by seed. A packet's latency is from its turn at its node's channel to its "
        "tail's arrival. Energy is of links between switches over the run time, by bits and idle bits (Kim et al. "
        "2018, section V). A link that is off takes nothing, one in deep sleep 0.1 and in fast wake 0.6 of idle power."
    )
    drawings = (
        _dots("latency", "Latency of packets", "Latency, to links always on (1)", latency, is_log=True),
        _dots("latency-energy", "Energy of links", "Energy of links, to links always on (1)", energy, is_log=False),
    )
    table = Table("latencies", "Latency and energy by program", columns, tuple(rows), behind_figure=True)
    return Section("latency", "Latency and energy by program", text, drawings, (table,))


def _asleep(pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.point.replayed.sleeping]


def _traffic(group: tuple[tuple[str, ...], Sequence[Pair]]) -> float:
    return min(map(injection_rate, group[1]))


def _dots(name: str, title: str, unit: str, found: _Ratios, *, is_log: bool) -> Drawing:
    """A row a program, a mark a policy; more marks than styles could not be told apart."""
    shown_policies = {policy: own for policy, own in found.items() if policy not in OTHER_EPOCHS}
    programs = list(dict.fromkeys(program for own in found.values() for program in own))

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for number, (policy, own) in enumerate(shown_policies.items()):
            style = series_style(number)
            shown = [program for program in programs if program in own]
            shift = _SPREAD * (number / max(len(shown_policies) - 1, 1) - 0.5)
            places = np.array([programs.index(program) + shift for program in shown])
            values = [own[program] for program in shown]
            width = error_bars([Interval(one.value, *one.ends) for one in values])
            axes.errorbar(
                [one.value for one in values], places, xerr=width, ls="", marker=style.marker, color=style.colour,
                label=policy, elinewidth=0.8, fillstyle="none" if number % 2 else "full",
            )  # fmt: skip
        axes.axvline(1, color="0.4", lw=0.8)
        if is_log:
            logarithmic(axes, x=True)
        else:
            axes.set_xlim(left=0)
        axes.set_yticks(range(len(programs)), programs)
        axes.set_ylim(len(programs) - 0.5, -0.5)
        axes.set_xlabel(unit)
        figure.legend(loc="outside lower center", ncols=3)

    caption = (
        "Means over seeds, with 95 % intervals from three on; programs with little traffic first. Other epochs of TCEP "
        "are in the table alone."
    )
    return draw(name, title, caption, paint, height_inch=1.2 + 0.45 * len(programs), wide_inch=PAGE_INCH)
