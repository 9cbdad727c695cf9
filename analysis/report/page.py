"""The page: sections in order, figures numbered consecutively, missing sections at the end."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.report.delay import delay
from analysis.report.drawing import Drawing
from analysis.report.estimates import estimates
from analysis.report.measured import measured
from analysis.report.networks import networks
from analysis.report.overhead import overhead
from analysis.report.parameters import parameters
from analysis.report.power import power
from analysis.report.report_data import ReportData
from analysis.report.section import Missing, Section
from analysis.report.trade import saving, trade

SECTIONS: Final[Sequence[Callable[[ReportData], Section | Missing]]] = (
    measured,
    delay,
    overhead,
    estimates,
    saving,
    trade,
    power,
    networks,
    parameters,
)
"""Every section that a report may have, in the order of the page."""


def parts_of(data: ReportData) -> tuple[tuple[Section, ...], tuple[Missing, ...]]:
    """The sections that these runs have data for, and the missing ones."""
    made = [section(data) for section in SECTIONS]
    return (
        tuple(one.with_note(data.watts_note) for one in made if isinstance(one, Section)),
        tuple(one for one in made if isinstance(one, Missing)),
    )


def page(data: ReportData, sections: Sequence[Section], missing: Sequence[Missing]) -> str:
    """The whole page as HTML, without external references."""
    jinja = Environment(
        loader=PackageLoader("analysis.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawn = [drawing for section in sections for drawing in section.drawings]
    return jinja.get_template("page.html.j2").render(
        title=_title(data),
        made=_made(data),
        sections=sections,
        missing=missing,
        numbers={drawing.name: number for number, drawing in enumerate(drawn, start=1)},
    )


def save_figures(sections: Sequence[Section], folder: Path) -> tuple[Drawing, ...]:
    """Write every figure as SVG and PDF."""
    drawn = tuple(drawing for section in sections for drawing in section.drawings)
    for drawing in drawn:
        drawing.save(folder)
    return drawn


def _title(data: ReportData) -> str:
    labs = " and ".join(dict.fromkeys(str(run.facts.get("lab", "?")) for run in data.runs))
    names = ", ".join(dict.fromkeys(str(run.facts.get("name", run.name)) for run in data.runs))
    return f"{names} on lab {labs}"


def _made(data: ReportData) -> str:
    count = len(data.runs)
    runs = data.runs[0].name if count == 1 else f"{count} runs"
    calibration = f", with {data.calibration_file}" if data.calibration_file else ""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"Made {now} by eee-testbed {metadata.version('eee-testbed')} from {runs}{calibration}."
