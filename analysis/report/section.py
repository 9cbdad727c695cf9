"""Sections of a report."""

from dataclasses import dataclass, field

from analysis.report.drawing import Drawing
from analysis.report.table import Table


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page, in the order text, warnings, figures, tables."""

    name: str
    title: str
    text: str = ""
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Missing:
    """A section without data: what is missing, and the command that measures it."""

    title: str
    why: str
    command: str
