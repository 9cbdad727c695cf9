"""The cut font of PDFs: letters as wide as before, and the whole font where it lacks one."""

import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

from eee_testbed.analysis.report.drawing import draw, label
from eee_testbed.analysis.report.pdf_font import WHOLE, cut_font


def _advances(family: str, letters: str) -> list[int]:
    font = get_font(findfont(FontProperties(family=[family]), fallback_to_default=False))
    font.set_size(10, 72)
    return [font.load_char(ord(letter)).linearHoriAdvance for letter in letters]


def test_letters_are_as_wide_as_in_the_whole_font() -> None:
    letters = "Wakefi 0123,% \u03bcs \u2212\u2192\u2264\u00e9"
    cut = cut_font()
    assert cut != WHOLE
    assert _advances(cut, letters) == _advances(WHOLE, letters)


@pytest.mark.filterwarnings("error:Glyph")
def test_a_figure_with_a_letter_that_it_lacks_has_the_whole_font() -> None:
    def byte(text: str) -> int:
        def paint(figure: Figure) -> None:
            axes = figure.subplots()
            axes.plot([0, 1], [0, 1])
            label(axes, "Time (s)", f"{text} (W)")

        return len(draw("figure", text, text, paint).pdf)

    plain, foreign = byte("Power of offices"), byte("\u0429\u0429\u0429\u0429\u0429\u0429\u0429\u0429")
    assert plain > 5_000
    assert foreign > 5_000
