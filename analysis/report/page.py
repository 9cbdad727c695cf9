"""The page: findings and the headline figure, figures numbered consecutively, parameters, doubts, provenance last."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from eee_testbed.analysis.progress import NOBODY, Progress
from eee_testbed.analysis.report.delay import delay
from eee_testbed.analysis.report.difference import difference
from eee_testbed.analysis.report.doubts import Doubts, doubts_of
from eee_testbed.analysis.report.drawing import Drawing
from eee_testbed.analysis.report.estimates import estimates
from eee_testbed.analysis.report.findings.finding import Finding
from eee_testbed.analysis.report.findings.table import findings_of
from eee_testbed.analysis.report.headline import headline
from eee_testbed.analysis.report.lead import lead_sentence
from eee_testbed.analysis.report.measured import measured
from eee_testbed.analysis.report.methods import methods
from eee_testbed.analysis.report.networks import networks
from eee_testbed.analysis.report.overhead import overhead
from eee_testbed.analysis.report.parameters import parameters
from eee_testbed.analysis.report.power import power
from eee_testbed.analysis.report.references import Reference, references_of, save_bibtex
from eee_testbed.analysis.report.report_data import ReportData
from eee_testbed.analysis.report.run_times import run_times
from eee_testbed.analysis.report.section import Missing, Section
from eee_testbed.analysis.report.styles import PAGE, FigureStyle
from eee_testbed.analysis.report.table import Table, save_table
from eee_testbed.analysis.report.trade import saving, trade

SECTIONS: Final[Sequence[Callable[[ReportData], Section | Missing]]] = (
    run_times,
    delay,
    overhead,
    estimates,
    saving,
    trade,
    power,
    networks,
    parameters,
    methods,
    measured,
)
"""Every section that a report may have, in the order of the page; doubts and what is missing come before `_LAST`."""

_FIRST: Final = 5
"""Findings of the first screen."""

_LAST: Final = ("methods", "measured")


@dataclass(frozen=True, slots=True)
class Report:
    """What a page shows. `lead` is the headline figure, and `lead_table` its numbers."""

    findings: tuple[Finding, ...]
    lead: Drawing | None
    lead_table: Table | None
    sections: tuple[Section, ...]
    doubts: tuple[Doubts, ...]
    missing: tuple[Missing, ...]
    references: tuple[Reference, ...] = ()
    banner: str = ""
    """What holds for every figure of watts; once, above all."""

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """All figures in the order of the page."""
        first = () if self.lead is None else (self.lead,)
        return (*first, *(drawing for section in self.sections for drawing in section.drawings))

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables in the order of the page."""
        first = () if self.lead_table is None else (self.lead_table,)
        return (*first, *(table for section in self.sections for table in section.tables))


def report_of(data: ReportData, progress: Progress = NOBODY) -> Report:
    """Everything that these runs have data for; `progress` hears of each section."""
    progress.begin("sections", len(SECTIONS) + 1)
    made = []
    for section in SECTIONS:
        progress.step(f"section {section.__name__.replace('_', ' ')}")
        made.append(section(data))
    compared = difference(data)
    first = () if compared is None else (compared,)
    sections = (*first, *(section for section in made if isinstance(section, Section)))
    lead, lead_table = headline(data) or (None, None)
    progress.step("")
    return Report(
        findings_of(data),
        lead,
        lead_table,
        sections,
        doubts_of(sections),
        tuple(section for section in made if isinstance(section, Missing)),
        references_of(data, [section.name for section in sections]),
        data.watts_note,
    )


@dataclass(frozen=True, slots=True)
class _Link:
    """Where a finding is shown: an element of the page, and its name in the text."""

    anchor: str
    words: str


def page(data: ReportData, report: Report) -> str:
    """The whole page as HTML, without external references."""
    return render(report, lead_sentence(data), f"{_about(data)}. {_made(data)}", *_LAST)


def render(report: Report, title: str, made: str, *last: str) -> str:
    """A report as HTML, whatever it is about; `last` names the sections that come after doubts and what is missing."""
    jinja = Environment(
        loader=PackageLoader("eee_testbed.analysis.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    numbers = {drawing.name: number for number, drawing in enumerate(report.drawings, start=1)}
    linked = [(finding, _link(finding, report, numbers)) for finding in report.findings]
    return jinja.get_template("page.html.j2").render(
        title=title,
        made=made,
        report=report,
        findings=linked[:_FIRST],
        more_findings=linked[_FIRST:],
        body=[section for section in report.sections if section.name not in last],
        provenance=[section for section in report.sections if section.name in last],
        doubt_counts={doubt.section: len(doubt.sentences) for doubt in report.doubts},
        numbers=numbers,
    )


def _link(finding: Finding, report: Report, numbers: dict[str, int]) -> _Link | None:
    """The first of its figures or tables that the page has; a name may be the beginning of a figure's."""
    tables = {table.name: table for table in report.tables}
    for name in finding.shown_in:
        drawn = next((key for key in numbers if key == name or key.startswith(f"{name}-")), None)
        if drawn is not None:
            return _Link(f"figure-{drawn}", f"Figure {numbers[drawn]}")
        if name in tables:
            return _Link(f"table-{name}", tables[name].title)
    return None


def save_figures(
    report: Report, folder: Path, style: FigureStyle = PAGE, progress: Progress = NOBODY
) -> tuple[Drawing, ...]:
    """Write every figure as SVG and PDF, tables as CSV and references as BibTeX beside them; LabError if that fails.

    `progress` hears of each figure.
    """
    progress.begin("figures", len(report.drawings) + 1)
    for drawing in report.drawings:
        progress.step(f"figure {drawing.name}")
        (drawing if style is PAGE else drawing.in_style(style)).save(folder)
    for table in report.tables:
        save_table(table, folder)
    if report.references:
        save_bibtex(report.references, folder)
    progress.step("")
    return report.drawings


def _about(data: ReportData) -> str:
    labs = " and ".join(dict.fromkeys(str(run.facts.get("lab", "?")) for run in data.runs))
    names = ", ".join(dict.fromkeys(str(run.facts.get("name", run.name)) for run in data.runs))
    return f"Lab {labs}: {names}"


def _made(data: ReportData) -> str:
    count = len(data.runs)
    runs = data.runs[0].name if count == 1 else f"{count} runs"
    return made_from(f"{runs}, with {data.calibration_file}" if data.calibration_file else runs)


def made_from(what: str) -> str:
    """When and by which version a page was made, from what."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"Made {now} by eee-testbed {metadata.version('eee-testbed')} from {what}."
