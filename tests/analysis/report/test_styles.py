"""Figures' files in a publisher's style have its width; what the page shows is the same."""

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from eee_testbed.analysis.report.drawing import PAGE_INCH, Drawing, draw, label
from eee_testbed.analysis.report.styles import STYLES, StyleName


def _paint(figure: Figure) -> None:
    label(figure.add_subplot(), "Mean gap (µs)", "Slower (%)")


def _width_inch(file: Path) -> float:
    found = re.search(r'<svg[^>]* width="([\d.]+)pt"', file.read_text(encoding="utf-8"))
    assert found is not None
    return float(found[1]) / 72


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    return draw("one", "One", "one", _paint, height_inch=2.0, wide_inch=PAGE_INCH)


@pytest.mark.parametrize("name", list(STYLES))
def test_files_are_as_wide_as_a_column(drawing: Drawing, name: StyleName, tmp_path: Path) -> None:
    style = STYLES[name]
    styled = drawing.in_style(style)
    styled.save(tmp_path)
    assert _width_inch(tmp_path / "one.svg") == pytest.approx(style.column_inch, abs=0.01)
    assert _width_inch(tmp_path / "one-wide.svg") == pytest.approx(style.page_inch, abs=0.01)
    assert styled.svg == drawing.svg


def test_publishers_have_serifs(drawing: Drawing) -> None:
    fonts = {name: drawing.in_style(style).figure.axes[0].xaxis.label.get_family() for name, style in STYLES.items()}
    assert fonts == {"page": ["sans-serif"], "ieee": ["serif"], "acm": ["serif"]}
