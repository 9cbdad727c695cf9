"""What a report consists of."""

from dataclasses import dataclass, field

from analysis.report.drawing import Drawing
from analysis.report.table import Table


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page, in the order text, drawings, tables."""

    name: str
    title: str
    text: str = ""
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Missing:
    """A part that these runs cannot give: what is missing, and the command that would measure it."""

    title: str
    why: str
    command: str
