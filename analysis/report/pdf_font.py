"""The font of PDFs: DejaVu Sans without what figures do not use, so that embedding it takes a twelfth of the time.

A PDF embeds the glyphs that it needs. To find them Matplotlib reads the whole font each time, with the tables that
place letters of many scripts. Here it is cut down once in a process. Widths of letters stay. A figure with letters that
are not in it keeps the whole font.
"""

import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from matplotlib.font_manager import findfont, fontManager

WHOLE: Final = "DejaVu Sans"
_NAME: Final = "DejaVu Sans of figures"
_FAMILY_RECORDS: Final = (1, 16)
_SCRIPTS: Final = (range(0x20, 0x250), range(0x370, 0x400), range(0x2010, 0x2060), range(0x2190, 0x2300))
"""Latin, Greek, punctuation, arrows and signs of mathematics."""

_PLACING: Final = ("GSUB", "GPOS", "GDEF", "MATH", "FFTM")


def pdf_rules(texts: Iterable[str]) -> dict[Any, Any]:
    """Matplotlib's settings under which a PDF with these texts has this font, if that has all their letters."""
    letters = set().union(*texts) - {"\n"}
    if all(any(ord(letter) in script for script in _SCRIPTS) for letter in letters):
        return {"font.sans-serif": [cut_font()]}
    return {}


@cache
def cut_font() -> str:
    """The name by which Matplotlib knows the font. Its file lives as long as the process."""
    folder = tempfile.TemporaryDirectory(prefix="eee-font-")
    _FOLDERS.append(folder)
    path = Path(folder.name) / "figures.ttf"
    _cut(Path(findfont(WHOLE)), path)
    fontManager.addfont(path)
    return _NAME


_FOLDERS: Final[list[tempfile.TemporaryDirectory[str]]] = []


def _cut(whole: Path, path: Path) -> None:
    from fontTools.subset import Options, Subsetter, load_font, save_font  # type: ignore[import-untyped]  # noqa: PLC0415 - only files need it

    options = Options()
    options.drop_tables += _PLACING
    options.glyph_names = options.notdef_outline = options.legacy_kern = True
    font = load_font(str(whole), options)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[code for script in _SCRIPTS for code in script])
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in _FAMILY_RECORDS:
            record.string = _NAME
    save_font(font, str(path), options)
