"""The files of a report: its page, its figures in a style, its tables as LaTeX."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eee_testbed.analysis.progress import NOBODY, Progress
from eee_testbed.analysis.report.latex import save_latex
from eee_testbed.analysis.report.styles import PAGE, FigureStyle
from eee_testbed.eeectl.output_file import require_place
from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text

if TYPE_CHECKING:
    from eee_testbed.analysis.report.page import Report


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What is written beside the page: figures in a style, and tables as LaTeX if `latex` is a folder."""

    style: FigureStyle = PAGE
    latex: Path | None = None

    def write(self, where: Path, text: str, found: "Report", progress: Progress = NOBODY) -> None:
        """Write all, and say on standard error what is in it; LabError if that fails."""
        from eee_testbed.analysis.report.page import save_figures  # noqa: PLC0415 - drawing takes a second to load

        replace_file(where, text)
        figures = where.parent / "figures"
        drawn = save_figures(found, figures, self.style, progress)
        for finding in found.findings:
            if not finding.command:
                print_text(f"{finding.topic}: {finding.sentence}", file=sys.stderr)
        print_text(
            f"{len(found.sections)} sections, {len(drawn)} figures in {figures}{_missing(found)}", file=sys.stderr
        )
        if self.latex is not None:
            print_text(f"{len(save_latex(found.tables, self.latex))} tables in {self.latex}", file=sys.stderr)


def page_file(output: Path | None, folder: Path) -> Path:
    """Where the page goes; LabError if that is a folder, or in none."""
    where = output if output is not None else folder / "report.html"
    require_place(where, "the page", "report.html")
    return where


def replace_file(where: Path, text: str) -> None:
    """Write a file, whole or not at all; LabError if that fails."""
    try:
        durable.replace(where, text)
    except OSError as error:
        raise LabError(f"{where} cannot be written ({error.strerror}): choose another place with -o.") from error


def _missing(found: "Report") -> str:
    count = len(found.missing)
    which = "1 section is" if count == 1 else f"{count} sections are"
    return f"; {which} missing, and the page says how to measure them" if count else ""
