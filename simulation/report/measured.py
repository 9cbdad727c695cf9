"""A section of a study's page: energy with a calibration's watts beside the paper's."""

from collections.abc import Sequence
from typing import Final

from matplotlib.figure import Figure

from eee_testbed.analysis.report.drawing import Drawing, draw, error_bars, label, series_style
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.simulation.spreads import DRAWS
from eee_testbed.simulation.studies.measured import Energies
from eee_testbed.simulation.studies.measured_power import MeasuredPower

_MANY: Final = 40
"""Rows of a table that a page shows open."""

_SAVED: Final = ("paper_saved_percent", "measured_saved_percent")


def measured(found: Sequence[Energies], power: MeasuredPower) -> Section:
    """What each case saves if every router is the calibration's switch."""
    columns = (
        Column("choice"), Column("slowdown", "%"), Column("E_net, the paper's watts", "J"),
        Column("saved, the paper's", "%"), Column(f"E_net, {power.switch_name}", "J"),
        Column(f"saved, {power.switch_name}", "%"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            " ".join(one.labels), one.slowdown_percent, one.paper_joule, one.paper_saved_percent, one.measured_joule,
            one.measured_saved_percent,
        )
        for one in found
    ]  # fmt: skip
    table = Table("measured", "Energy with measured watts", columns, tuple(rows), behind_figure=len(rows) > _MANY)
    asleep = [one for one in found if one.paper_saved_percent.value or one.measured_saved_percent.value]
    drawings = (_figure(asleep, power),) if asleep else ()
    return Section("measured", "Energy with your switches", " ".join(remarks(power)), drawings, (table,))


def remarks(power: MeasuredPower) -> list[str]:
    """What a reader should know, in sentences."""
    routers = (
        f"{power.taken()} Every router is taken to be {power.switch_name}: its base, its ports and what they save "
        "asleep. The paper's watts are those of Andújar et al. (2023), Eq. 1 to 3."
    )
    energy = (
        "Energy is that of the switches alone. Intervals (95 %) have the seeds, the errors of watts and, for links "
        "with the fitted times, those of hold, Ts and Tw."
    )
    found = [routers, energy]
    if power.policy is None:
        found.append("The calibration has no links that sleep, so that no times of links are added.")
    return [*found, power.note] if power.note else found


def of_choices(power: MeasuredPower | None) -> str:
    """Whose watts choices are compared by, in sentences."""
    if power is None:
        return "Energy is by the watts of Andújar et al. (2023), Eq. 1 to 7."
    nodes = "those of Andújar et al. (2023), as the calibration has none that were measured busy"
    if power.node is not None:
        nodes = f"{power.node_name}, idle and busy by the share of time that they compute"
    times = "" if power.policy is None else f", and with measured links those of hold, Ts and Tw ({DRAWS} draws)"
    return (
        f"Energy is by measured watts: every router is {power.switch_name}, nodes are {nodes}. Intervals have the "
        f"seeds and the errors of watts{times}."
    )


def _figure(found: Sequence[Energies], power: MeasuredPower) -> Drawing:
    """A mark for each case: equal savings are on the line."""
    policies = list(dict.fromkeys(one.links for one in found))

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for number, policy in enumerate(policies):
            own = [one for one in found if one.links == policy]
            style = series_style(number)
            across, along = ([getattr(one, name) for one in own] for name in _SAVED)
            values = [one.value for one in across], [one.value for one in along]
            axes.errorbar(
                *values,
                xerr=error_bars(across),
                yerr=error_bars(along),
                fmt="none",
                ecolor=style.colour,
                elinewidth=0.8,
            )
            axes.plot(*values, ls="", marker=style.marker, color=style.colour, label=policy)
        most = max(getattr(one, name).value for one in found for name in _SAVED)
        axes.plot([0.0, most], [0.0, most], color="0.5", lw=0.8, label="equal")
        axes.set_xlim(left=min(0.0, *(one.paper_saved_percent.low for one in found)))
        label(axes, "Energy saved, the paper's watts (%)", f"Energy saved, {power.switch_name} (%)")
        figure.legend(loc="outside lower center", ncols=4)

    caption = (
        "Energy of the network against links that never sleep, a mark for each network and program. On the line both "
        "agree; below it the measured switches save less than the paper's."
    )
    return draw("measured", "Energy saved with measured and with assumed watts", caption, paint, height_inch=3.2)
