"""Figures of a report: vector graphics that are legible in grey, with units on their axes.

Series differ in marker, line style and lightness, never in hue alone. A figure is as wide as a column of a paper
(`styles.py`), so that its text is legible on a telephone and in print; one that needs more space is drawn a second time
for wide screens (`PAGE_INCH`). Files can have a publisher's style in place of the page's.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any, Final, Literal, Self

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from eee_testbed.analysis.interval import Interval
from eee_testbed.analysis.report.drawn import Drawn
from eee_testbed.analysis.report.pdf_font import WHOLE, pdf_rules
from eee_testbed.analysis.report.styles import PAGE, FigureStyle
from eee_testbed.lab.errors import LabError

PAGE_INCH: Final = PAGE.page_inch

_RULES: Final[dict[Any, Any]] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "errorbar.capsize": 2,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",  # the page's colour shows through, which may be dark
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "font.family": "sans-serif",
    "font.size": 8,
    "font.sans-serif": [WHOLE],
    "grid.color": "0.88",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.fontsize": 7,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "0.8",
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a dollar sign in a device's name is no formula
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

    `svg` is for the page; `wide_svg` a second version for wide screens and paper, empty if not needed. `figure` is one
    column wide. `drawn` is the same for files; `wide_drawn` as wide as a page, None if not needed.
    """

    name: str
    title: str
    caption: str
    svg: str
    wide_svg: str
    figure: Figure = field(compare=False)
    paint: Paint = field(compare=False)
    height_inch: float = field(compare=False)
    drawn: Drawn = field(compare=False)
    wide_drawn: Drawn | None = field(default=None, compare=False)
    style: FigureStyle = field(default=PAGE, compare=False)

    @property
    def pdf(self) -> bytes:
        """One column wide; its fonts are embedded, of a type that journals accept (Type 42)."""
        return self._file(self.drawn, "pdf")

    def in_style(self, style: FigureStyle) -> Self:
        """Its files painted anew in another style; what the page shows stays."""
        wide = self.wide_drawn and _drawn(_painted(self.paint, style.page_inch, self.height_inch, style), style)
        figure = _painted(self.paint, style.column_inch, self.height_inch, style)
        return replace(self, figure=figure, drawn=_drawn(figure, style), wide_drawn=wide, style=style)

    def save(self, folder: Path) -> tuple[Path, ...]:
        """Write NAME.svg and NAME.pdf, of a wide version NAME-wide.svg and NAME-wide.pdf; LabError if that fails.

        Text in these files needs no font of the reader's: PDF embeds it, SVG has it as outlines.
        """
        figures = {self.name: self.drawn}
        if self.wide_drawn is not None:
            figures[f"{self.name}-wide"] = self.wide_drawn
        paths = []
        try:
            folder.mkdir(exist_ok=True)
            for name, figure in figures.items():
                for form in ("svg", "pdf"):
                    paths.append(folder / f"{name}.{form}")
                    paths[-1].write_bytes(self._file(figure, form))
        except OSError as error:
            raise LabError(
                f"the figures cannot be written to {folder} ({error.strerror}): check its permissions and free space."
            ) from error
        return tuple(paths)

    def _file(self, drawn: Drawn, form: str) -> bytes:
        dated = {"pdf": {"Title": self.title, "CreationDate": None}, "svg": {"Title": self.title, "Date": None}}
        found = io.BytesIO()
        font = pdf_rules(drawn.texts_shown) if form == "pdf" and self.style is PAGE else {}
        with _rules("path", self.style), mpl.rc_context(font):
            drawn.savefig(found, format=form, metadata=dated[form])
        return found.getvalue()


def draw(
    name: str, title: str, caption: str, paint: Paint, *, height_inch: float = 2.6, wide_inch: float = 0.0
) -> Drawing:
    """Draw a figure with `paint`; with `wide_inch` also a second one of that width."""
    figure = _painted(paint, PAGE.column_inch, height_inch)
    small = _drawn(figure)
    svg = _svg(small, name, title)
    wide_svg, wide = "", None
    if wide_inch:
        wide = _drawn(_painted(paint, wide_inch, height_inch))
        wide_svg = _svg(wide, f"{name}-wide", title)
    return Drawing(name, title, caption, svg, wide_svg, figure, paint, height_inch, small, wide)


def _drawn(figure: Figure, style: FigureStyle = PAGE) -> Drawn:
    with _rules(style=style):
        return Drawn(figure)


def _painted(paint: Paint, width_inch: float, height_inch: float, style: FigureStyle = PAGE) -> Figure:
    with _rules(style=style):
        figure = Figure(figsize=(width_inch, height_inch))
        paint(figure)
    return figure


def label(axes: Axes, x: str, y: str) -> None:
    """Name both axes; each name ends in its unit, as in "run time (s)"."""
    for text in (x, y):
        if not re.search(r"\([^()]+\)$", text):
            raise ValueError(f"axis label without a unit: '{text}'")
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def error_bars(values: Iterable[Interval]) -> tuple[list[float], list[float]]:
    """Lengths of the bars below and above each value; NaN, which draws none, where nothing is known of its spread."""
    ends = [(nan, nan) if one.low == one.high else (one.value - one.low, one.high - one.value) for one in values]
    return [below for below, _ in ends], [above for _, above in ends]


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
def _rules(text_in_svg: Literal["none", "path"] = "none", style: FigureStyle = PAGE) -> Iterator[None]:
    """Matplotlib's settings; text in SVG as text, or as outlines."""
    with mpl.rc_context({**_RULES, **style.rules, "svg.hashsalt": "report", "svg.fonttype": text_in_svg}):
        yield


def _svg(drawn: Drawn, name: str, title: str) -> str:
    """The figure as an element for a page: with unique ids, and scaled to its column."""
    text = io.StringIO()
    with _rules():
        drawn.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
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
