"""Sections of a report."""

from dataclasses import dataclass, field, replace
from typing import Literal

from eee_testbed.analysis.report.drawing import Drawing
from eee_testbed.analysis.report.table import Table


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page, in the order text, warnings, figures, tables; an empty line ends a paragraph.

    `watts`: whether its figures, or only its tables, show watts or joules.
    """

    name: str
    title: str
    text: str = ""
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    watts: Literal["none", "figures", "tables"] = "none"

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """Its text."""
        return tuple(part for part in self.text.split("\n\n") if part)

    def with_note(self, note: str) -> "Section":
        """With a sentence beside every figure of watts."""
        if not note or self.watts == "none":
            return self
        if self.watts == "tables" or not self.drawings:
            return replace(self, text=f"{self.text} {note}".strip())
        drawings = tuple(replace(drawing, caption=f"{drawing.caption} {note}") for drawing in self.drawings)
        return replace(self, drawings=drawings)


@dataclass(frozen=True, slots=True)
class Missing:
    """A section without data: what is missing, and the command that measures it."""

    title: str
    why: str
    command: str
