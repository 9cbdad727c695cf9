"""Figures of a report: vector graphics that are legible in grey, with units on their axes.

Series differ in marker, line style and lightness, never in hue alone. A figure is as wide as a column of a paper
(`COLUMN_INCH`), so that its text is legible on a telephone and in print; one that needs more space is drawn a second
time for wide screens (`PAGE_INCH`).
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from analysis.interval import Interval
from lab.errors import LabError

COLUMN_INCH: Final = 3.5
PAGE_INCH: Final = 7.2

_RULES: Final[dict[Any, Any]] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "errorbar.capsize": 2,
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.size": 8,
    "font.sans-serif": ["DejaVu Sans"],
    "grid.color": "0.88",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.fontsize": 7,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "0.8",
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """Style of a series; no two in `STYLES` share marker, line or lightness."""

    colour: str
    marker: str
    line: str
    hatch: str


STYLES: Final = (
    SeriesStyle("#000000", "o", "-", ""),
    SeriesStyle("#0072b2", "s", "--", "////"),
    SeriesStyle("#d55e00", "^", "-.", "...."),
    SeriesStyle("#56b4e9", "D", ":", "xxxx"),
    SeriesStyle("#8c8c8c", "v", (0, (5, 1, 1, 1, 1, 1)), "\\\\\\\\"),  # type: ignore[arg-type]
    SeriesStyle("#e0b400", "P", (0, (1, 2)), "----"),  # type: ignore[arg-type]
)


def series_style(number: int) -> SeriesStyle:
    """The style of a series; with more series than styles, they repeat."""
    return STYLES[number % len(STYLES)]


Paint = Callable[[Figure], None]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with title and caption, which explains points and bars and gives the number of trials.

    `svg` is for the page; `wide_svg` a second version for wide screens and paper, empty if not needed. `figure` is the
    larger one, for its file.
    """

    name: str
    title: str
    caption: str
    svg: str
    wide_svg: str
    figure: Figure = field(compare=False)

    @property
    def pdf(self) -> bytes:
        """The larger version; its fonts are of a type that journals accept (Type 42)."""
        found = io.BytesIO()
        with _rules():
            self.figure.savefig(found, format="pdf", metadata={"Title": self.title, "CreationDate": None})
        return found.getvalue()

    def save(self, folder: Path) -> tuple[Path, Path]:
        """Write NAME.svg and NAME.pdf; LabError if that fails."""
        paths = folder / f"{self.name}.svg", folder / f"{self.name}.pdf"
        try:
            folder.mkdir(exist_ok=True)
            paths[0].write_text('<?xml version="1.0" encoding="utf-8"?>\n' + (self.wide_svg or self.svg), "utf-8")
            paths[1].write_bytes(self.pdf)
        except OSError as error:
            raise LabError(
                f"the figures cannot be written to {folder} ({error.strerror}): check its permissions and free space."
            ) from error
        return paths


def draw(
    name: str, title: str, caption: str, paint: Paint, *, height_inch: float = 2.6, wide_inch: float = 0.0
) -> Drawing:
    """Draw a figure with `paint`; with `wide_inch` also a second one of that width."""
    with _rules():
        small = Figure(figsize=(COLUMN_INCH, height_inch))
        paint(small)
        svg = _svg(small, name, title)
        wide_svg, last = "", small
        if wide_inch:
            last = Figure(figsize=(wide_inch, height_inch))
            paint(last)
            wide_svg = _svg(last, f"{name}-wide", title)
    return Drawing(name, title, caption, svg, wide_svg, last)


def label(axes: Axes, x: str, y: str) -> None:
    """Name both axes; each name ends in its unit, as in "run time (s)"."""
    for text in (x, y):
        if not re.search(r"\([^()]+\)$", text):
            raise ValueError(f"axis label without a unit: '{text}'")
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def error_bars(values: Iterable[Interval]) -> tuple[list[float], list[float]]:
    """Lengths of the bars below and above each value."""
    kept = list(values)
    return [one.value - one.low for one in kept], [one.high - one.value for one in kept]


def logarithmic(axes: Axes, *, x: bool = False, y: bool = False) -> None:
    """Logarithmic axes whose ticks are plain numbers that do not overlap."""
    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if not wanted:
            continue
        (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
        axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0), numticks=8))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


@contextmanager
def _rules() -> Iterator[None]:
    with mpl.rc_context({**_RULES, "svg.hashsalt": "report"}):
        yield


def _svg(figure: Figure, name: str, title: str) -> str:
    """The figure as an element for a page: with unique ids, and scaled to its column."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    figure.set_layout_engine("none")  # keep the positions that the layout engine found
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(xlink:href|href)="#([^"]+)"', rf'\1="#{name}-\2"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    head, rest = svg.split(">", 1)
    return f'{head} role="img"><title>{_escaped(title)}</title>{rest}'.strip()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
