"""A figure is well-formed whatever its labels say, and shows them as they are."""

from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from eee_testbed.analysis.report.drawing import draw, label
from eee_testbed.lab.plain_text import one_line


@pytest.mark.parametrize("name", ["$_{", "$x$ of sw$1", "<b>&amp;", one_line("core\x1b[2J\n\u202e\ud800\ufffe")])
def test_any_name_that_passed_the_border_can_be_drawn(name: str) -> None:
    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], label=name)
        axes.legend()
        label(axes, "time (s)", f"{name} (W)")

    drawing = draw("figure", name, name, paint)
    texts = "".join(ET.fromstring(drawing.svg).itertext())  # noqa: S314 - our own figure; that it parses is the test
    assert name in texts
    assert drawing.pdf.startswith(b"%PDF")
