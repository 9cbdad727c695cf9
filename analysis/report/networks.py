"""A measured program on Andujar's networks: run time against energy (2023, Figs. 4 and 6), as predicted."""

from collections.abc import Sequence
from typing import Final, Literal

from matplotlib.figure import Figure

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.predict.other_networks import predict_topologies
from eee_testbed.analysis.predict.prediction import Prediction
from eee_testbed.analysis.predict.topologies import TABLE_3, TABLE_4, Topology
from eee_testbed.analysis.predict.what_if import PAPER_LINK, parse_what_if
from eee_testbed.analysis.programs.profile import Profile
from eee_testbed.analysis.report.drawing import Drawing, draw, label, series_style
from eee_testbed.analysis.report.measure import fit_command, sweep_command
from eee_testbed.analysis.report.report_data import ReportData
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.table import Cell, Column, Table

_ASKED_SETTINGS: Final = tuple(
    parse_what_if(text) for text in ("off", f"deep,hold_us=10,phy={PAPER_LINK}", f"deep,hold_us=100,phy={PAPER_LINK}")
)
_NAMES: Final = ("always on", "hold 10 µs", "hold 100 µs")
_FAMILIES: Final = ("torus", "fat tree", "dragonfly")
_CASES: Final = (("64", TABLE_3), ("256", TABLE_4))
_DRAWS: Final = 100


def networks(data: ReportData) -> Section | Missing:
    """Predictions for the longest program whose gaps were recorded."""
    title = "On other networks"
    profiles = [profile for run in data.runs for profile in run.profiles if profile.gaps and profile.call_count]
    if not profiles:
        why = "no program ran without EEE while its gaps were recorded."
        return Missing(title, why, sweep_command(data, "eee=on,off", "--gaps", "--traffic"))
    if data.calibration is None:
        return Missing(title, "no calibration was given.", fit_command(data))
    profile = max(profiles, key=lambda profile: profile.base_s.value)
    drawings, rows = [], []
    warnings: dict[str, None] = {}
    for nodes, networks_of in _CASES:
        predictions = _predicted(profile, data.calibration, networks_of)
        drawings += [_drawing(profile, nodes, networks_of, predictions, what) for what in ("network", "system")]
        rows += [_row(prediction) for prediction in predictions]
        warnings |= dict.fromkeys(warning for prediction in predictions for warning in prediction.warnings)
    columns = (
        Column("network"),
        Column("links"),
        Column("run time", "s"),
        Column("slower", "%"),
        Column("network", "J"),
        Column("network and nodes", "J"),
        Column("network saves", "%"),
    )
    text = (
        f"Predicted, not measured: {profile.name} on every node of the networks of Andujar's Tables 3 and 4, with "
        "their power model (Eq. 1-7) and 10 Gb/s links. Lower left is better."
    )
    table = Table("networks", "Predictions on other networks", columns, tuple(rows), behind_figure=True)
    sentences = tuple(warning[:1].upper() + warning[1:] for warning in warnings)
    fitted: Literal["figures", "none"] = "none" if data.calibration.power.andujar is None else "figures"
    return Section("networks", title, text, tuple(drawings), (table,), sentences, fitted)


def _predicted(profile: Profile, calibration: Calibration, where: Sequence[Topology]) -> tuple[Prediction, ...]:
    return predict_topologies(profile, calibration, where, _ASKED_SETTINGS, draws=_DRAWS)


def _drawing(
    profile: Profile, nodes: str, where: Sequence[Topology], predictions: Sequence[Prediction], what: str
) -> Drawing:
    """Markers show the family, their filling how links sleep."""
    families = {network.name: network.family for network in where}

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        fills = ("full", "none", "left")
        for place, family in enumerate(_FAMILIES):
            style = series_style(place)
            for asked, fill in zip(_ASKED_SETTINGS, fills, strict=True):
                points = [
                    prediction
                    for prediction in predictions
                    if families[prediction.where] == family and prediction.what_if == asked
                ]
                joule = [
                    prediction.network_joule if what == "network" else prediction.all_joule for prediction in points
                ]
                axes.plot(
                    [joules.value / 1e3 for joules in joule if joules is not None],
                    [point.time_s.value for point, joules in zip(points, joule, strict=True) if joules is not None],
                    ls="none",
                    marker=style.marker,
                    color=style.colour,
                    fillstyle=fill,
                    markerfacecoloralt="white",
                    label=family if fill == "full" else None,
                )
        for name, fill in zip(_NAMES, fills, strict=True):
            axes.plot([], [], "o", color="0.3", fillstyle=fill, markerfacecoloralt="white", label=name)
        label(axes, f"Energy of the {what} (kJ)", "Run time (s)")
        axes.ticklabel_format(useOffset=False)
        figure.legend(loc="outside lower center", ncols=2)

    title = f"Run time against energy of the {what}, networks of about {nodes} nodes"
    caption = f"{title}; {profile.name}, predicted. Intervals are in the table."
    return draw(f"networks-{nodes}-{what}", title, caption, paint, height_inch=3.0)


def _row(prediction: Prediction) -> tuple[Cell, ...]:
    name = _NAMES[_ASKED_SETTINGS.index(prediction.what_if)]
    return (
        prediction.where,
        name,
        prediction.time_s,
        prediction.slowdown_percent,
        prediction.network_joule,
        prediction.all_joule,
        prediction.saved_percent,
    )
