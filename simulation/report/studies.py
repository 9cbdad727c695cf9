"""The page of a study: a paper's statements beside ours, figures, advice, points, and what was chosen."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eee_testbed.analysis.report.doubts import doubts_of
from eee_testbed.analysis.report.findings.finding import Finding
from eee_testbed.analysis.report.page import Report, made_from, render
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import Cell, Column, Table
from eee_testbed.simulation.replay.comparison import over_seeds
from eee_testbed.simulation.report.beyond import BEYOND
from eee_testbed.simulation.report.measured import measured, of_choices
from eee_testbed.simulation.report.study_figures import distributions, front, trade_offs
from eee_testbed.simulation.studies.advise import Choice, advised, by_papers
from eee_testbed.simulation.studies.elsewhere import statements_of
from eee_testbed.simulation.studies.measured import Energies, draws_of, energies_of, energy_with
from eee_testbed.simulation.studies.measured_power import MeasuredPower
from eee_testbed.simulation.studies.pairs import Pair, by
from eee_testbed.simulation.studies.papers import PAPERS
from eee_testbed.simulation.studies.statement import Judged, Outcome, StudyData, judged
from eee_testbed.simulation.studies.study import PaperName, Study

if TYPE_CHECKING:
    from eee_testbed.analysis.report.drawing import Drawing

_LAST: Final = "simulated"
_STATEMENTS: Final = "statements"


@dataclass(frozen=True, slots=True)
class StudyReport:
    """What a page is made of. `left_out`: sentences about what a reduced set lacks; `asked`: points of the set."""

    study: Study
    folder: Path
    data: StudyData
    workloads: Sequence[str]
    left_out: Sequence[str]
    asked: int
    power: MeasuredPower | None = None
    """A calibration whose watts are shown beside the paper's; its drawn times are in `drawn` alone."""

    drawn: Sequence[Pair] = ()

    @property
    def energies(self) -> list[Energies]:
        """With the calibration's watts; none without one."""
        every = [*self.data.pairs, *self.drawn]
        return [] if self.power is None else energies_of(every, self.data.cases, self.power)

    @property
    def judged(self) -> list[Judged]:
        """The paper's statements, if there is one, and values that were measured elsewhere."""
        own = PAPERS[self.study.paper].statements if self.study.paper is not None else ()
        return judged([*own, *statements_of(self.study.beside)], self.data)

    @property
    def choices(self) -> list[Choice]:
        """What programs can run on, the best first; with the calibration's watts, if there is one."""
        energy = by_papers if self.power is None else energy_with(self.data.cases, self.power)
        return advised(self.data.pairs, self.workloads, energy, draws_of(self.drawn))


def report_of(found: StudyReport) -> Report:
    """Everything that the study has."""
    statements = found.judged
    choices = found.choices
    sections = [_compared(statements)] if statements else []
    sections += [BEYOND[name](found.data.pairs) for name in found.study.shows]
    sections += [measured(found.energies, found.power)] if found.power is not None else []
    sections += [_figures(found), _advice(choices, found.power), _simulated(found)]
    return Report(_findings(found, statements, choices), None, None, tuple(sections), doubts_of(sections), ())


def page(found: StudyReport, report: Report) -> str:
    """The whole page as HTML, without external references."""
    return render(report, f"Study: {found.study.name}", made_from(str(found.folder)), _LAST)


def counted(statements: Sequence[Judged]) -> str:
    """How many agree, differ and cannot be compared, to read."""
    counts = Counter(one.verdict.outcome for one in statements)
    words = (f"{counts[one]} {each}" for one, each in _COUNTED.items())
    return ", ".join(words)


_COUNTED: Final[Mapping[Outcome, str]] = {
    "agrees": "agree",
    "differs": "differ",
    "cannot be compared": "cannot be compared",
}


def _findings(found: StudyReport, statements: Sequence[Judged], choices: Sequence[Choice]) -> tuple[Finding, ...]:
    findings = []
    if statements:
        title = PAPERS[found.study.paper].title if found.study.paper is not None else "Measured elsewhere"
        findings.append(Finding(title, f"of {len(statements)} statements {counted(statements)}.", (_STATEMENTS,)))
    best = [one for one in choices if not one.beaten_by]
    if best:
        findings.append(Finding("Choices", f"{len(best)} of {len(choices)} are beaten by no other.", ("advice",)))
    simulated = len(found.data.pairs) + len(found.drawn)
    if simulated < found.asked:
        words = f"{simulated} of {found.asked} points are simulated: the verdicts may change."
        findings.append(Finding("Incomplete", words))
    findings += [Finding("Left out", sentence) for sentence in found.left_out]
    return tuple(findings)


def _compared(statements: Sequence[Judged]) -> Section:
    columns = (
        Column("no"), Column("statement"), Column("ours"), Column("verdict"), Column("computed from"),
        Column("line or source"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            one.statement.number,
            one.statement.text,
            one.verdict.ours,
            one.verdict.words,
            one.statement.how,
            one.statement.line,
        )
        for one in statements
    ]
    text = (
        "Each statement with the line of a paper's text, or the source of what was measured; how it is computed from "
        "the points, within which bounds, what came out, and the verdict. A reason is what we take for the cause; "
        "unless it has a number, it was not measured by itself."
    )
    return Section(_STATEMENTS, "Statements", text, tables=(Table(_STATEMENTS, "Statements", columns, tuple(rows)),))


_AS_IN_PAPER: Final[Mapping[PaperName, Callable[[Sequence[Pair]], "tuple[Drawing, ...]"]]] = {
    "andujar": trade_offs,
    "georgakoudis-single": distributions,
    "georgakoudis-multi": distributions,
}
"""Figures that repeat a paper's, of all points; TCEP's are a section of their own (`shows: [latency]`)."""


def _figures(found: StudyReport) -> Section:
    draws = _AS_IN_PAPER.get(found.study.paper) if found.study.paper is not None else None
    drawings = draws(found.data.pairs) if draws is not None else ()
    columns = (
        Column("choice"), Column("run time", "s"), Column("slowdown", "%"), Column("saved, all links", "%"),
        Column("saved, links with traffic", "%"), Column("E_net", "J"), Column("E_cluster", "J"), Column("seeds"),
    )  # fmt: skip
    groups = by(found.data.pairs, *found.data.pairs[0].labels) if found.data.pairs else {}
    rows: list[tuple[Cell, ...]] = [
        (
            " ".join(key),
            *(
                over_seeds([getattr(one, name) for one in own])
                for name in (
                    "run_time_s", "slowdown_percent", "saving_percent", "carried_saving_percent", "network_joule",
                    "cluster_joule",
                )
            ),
            len(own),
        )
        for key, own in groups.items()
    ]  # fmt: skip
    text = (
        "Means over seeds, with Student's 95 % interval from three seeds on. Savings by Georgakoudis et al. (2019), "
        "IV.B, over links between switches; E_net and E_cluster by Andújar et al. (2023), Eq. 1 to 7, whose one "
        "low-power state takes fast wake for deep sleep."
    )
    table = Table("points", "Points", columns, tuple(rows), behind_figure=True)
    return Section("figures", "Run time, savings and energy", text, drawings, (table,))


def _advice(choices: Sequence[Choice], power: MeasuredPower | None) -> Section:
    columns = (
        Column("choice"), Column("run time", "s"), Column("energy of the network", "J"),
        Column("energy of the cluster", "J"), Column("seeds"), Column("beaten by"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (one.name, one.run_time_s, one.network_joule, one.cluster_joule, one.seeds, one.beaten_by) for one in choices
    ]
    text = (
        "All workloads one after the other. A choice is beaten if another is not worse in any mean, and better in one "
        f"beyond both 95 % intervals. {of_choices(power)}"
    )
    drawings = (front(choices),) if choices else ()
    return Section(
        "advice", "Which choice for these jobs", text, drawings, (Table("choices", "Choices", columns, tuple(rows)),)
    )


def _simulated(found: StudyReport) -> Section:
    """What was chosen, and what it cost: the last section."""
    rows: list[tuple[Cell, ...]] = [("chosen", sentence) for sentence in found.study.chosen]
    rows += [("left out", sentence) for sentence in found.left_out]
    pairs: Sequence[Pair] = [*found.data.pairs, *found.drawn]
    spent_s = sum(one.point.replayed.process_s for one in pairs)
    rows += [
        ("points", f"{len(pairs)} of {found.asked}"),
        ("processor time", f"{spent_s:.0f} s"),
        ("messages", f"{sum(one.point.replayed.messages for one in pairs):.4g}"),
    ]
    table = Table("chosen", "Set-up", (Column("what"), Column("sentence")), tuple(rows))
    return Section(_LAST, "What was simulated, and what was chosen", found.study.about, tables=(table,))
