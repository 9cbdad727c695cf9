"""Styles of figures' files: the column and page widths of publishers, and their fonts. One visible table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

StyleName = Literal["page", "ieee", "acm"]


@dataclass(frozen=True, slots=True)
class FigureStyle:
    """Widths of a column and of the text area, inches; `rules` are Matplotlib's settings that differ."""

    column_inch: float
    page_inch: float
    rules: Mapping[Any, Any] = field(default_factory=dict)


def _serif(size: float, *names: str) -> Mapping[Any, Any]:
    """A publisher's font where it is installed, else STIX, which Matplotlib ships and which looks like Times."""
    return {
        "font.family": "serif",
        "font.serif": [*names, "STIXGeneral", "DejaVu Serif"],
        "font.size": size,
        "axes.labelsize": size,
        "legend.fontsize": size - 1,
        "xtick.labelsize": size - 1,
        "ytick.labelsize": size - 1,
    }


STYLES: Final[Mapping[StyleName, FigureStyle]] = {
    "page": FigureStyle(3.5, 7.2),
    "ieee": FigureStyle(3.5, 7.16, _serif(8, "Times New Roman", "Nimbus Roman")),
    "acm": FigureStyle(3.33, 7.0, _serif(8, "Linux Libertine O", "Libertinus Serif")),
}
"""`page` is that of the report. IEEE: columns of 3.5 in, text 7.16 in wide; ACM (sigconf): 3.33 in and 7 in."""

PAGE: Final = STYLES["page"]
