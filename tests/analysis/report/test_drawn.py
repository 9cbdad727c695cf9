"""A figure that is drawn once has the files that it would have by itself, also if it is drawn in other dots later."""

import io

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from eee_testbed.analysis.report.drawn import Drawn

_RULES = {"svg.hashsalt": "test", "figure.constrained_layout.use": True, "savefig.facecolor": "none"}


def _figure() -> Figure:
    """With all that figures of reports have: markers, bars, hatches, clipped and turned texts, colours of cells."""
    figure = Figure(figsize=(3.4, 4.0), facecolor="none")
    above, below = figure.subplots(2, 1)
    above.errorbar([1, 2, 3], [2.0, 4.0, 3.0], yerr=0.3, marker="s", label="measured\nin W")
    above.bar([1, 2], [1.0, 2.0], hatch="////", label="bars")
    above.annotate("off", (2, 1.0), xycoords=("data", "axes fraction"), rotation=90, va="top", bbox={"fc": "white"})
    above.axvline(1.5, ls=(0, (2, 2)))
    above.legend()
    cells = below.pcolormesh(np.arange(12.0).reshape(3, 4))
    cells.set_clip_path(Circle((2, 1.5), 1.0, transform=below.transData))
    below.scatter([0.5, 1.5], [0.5, 2.5], c=[0.1, 0.9])
    below.set_ylabel("Power (W)")
    return figure


def _saved(figure: Figure, form: str) -> bytes:
    found = io.BytesIO()
    with mpl.rc_context({**_RULES, "figure.constrained_layout.use": False}):
        figure.savefig(found, format=form, metadata={"Date" if form == "svg" else "CreationDate": None})
    return found.getvalue()


def test_its_files_are_those_of_the_figure() -> None:
    with mpl.rc_context(_RULES):
        figure = _figure()
        drawn = Drawn(figure)
        for text in ("none", "path"):
            with mpl.rc_context({"svg.fonttype": text}):
                assert _saved(drawn, "svg") == _saved(figure, "svg")
        before = _saved(drawn, "pdf")
        assert before.startswith(b"%PDF")
        assert len(before) > 0.9 * len(_saved(figure, "pdf"))
        figure.set_dpi(31)
        figure.draw_without_rendering()
        assert _saved(drawn, "pdf") == before
        assert {"Power (W)", "off", "measured", "in W"} <= drawn.texts_shown


def test_the_figure_stays_as_it_was() -> None:
    with mpl.rc_context(_RULES):
        figure = _figure()
        dpi, canvas = figure.dpi, figure.canvas
        Drawn(figure)
        assert figure.dpi == dpi
        assert figure.canvas is canvas
