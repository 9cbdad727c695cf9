"""Sentences that fit a terminal: they wrap between words, and stay on one line in a pipe, where programs read them."""

import shutil
import sys
from textwrap import wrap
from typing import Final, TextIO

_NARROWEST: Final = 20
"""Columns that are left beside an indent, on however narrow a terminal."""


def print_text(text: str, *, indent: int = 0, file: TextIO | None = None) -> None:
    """Print each line of a text; on a terminal it wraps, with `indent` spaces before what follows its first line."""
    out = file or sys.stdout
    width = shutil.get_terminal_size().columns if out.isatty() else None
    for line in text.split("\n"):
        print(line if width is None else wrapped(line, width, indent), file=out, flush=True)


def wrapped(line: str, width: int, indent: int = 0) -> str:
    """The line, broken between words to `width` columns; a word that is longer, such as a path, stays whole."""
    lines = wrap(
        line,
        max(width, indent + _NARROWEST),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )
    return "\n".join(lines)
