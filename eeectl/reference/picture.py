"""A command's output in a terminal of a given size, as an SVG file for the pages.

python -m eee_testbed.eeectl.reference.picture docs/pictures/eee-show-80x24.svg 80x24 eeectl eee show virtual
"""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

_FONTS: Final = re.compile(r"@font-face \{.*?\}", re.DOTALL)


def output_in_terminal(argv: Sequence[str], columns: int, rows: int) -> str:
    """What a command prints to a terminal of that size, until it ends."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(rows)}
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        printed = b""
        while piece := _read(ours):
            printed += piece
    os.close(ours)
    return printed.decode("utf-8", "replace").replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # the other end of a terminal is closed
        return b""


def svg_of_output(words: str, printed: str, columns: int) -> str:
    """A terminal with the command and what it printed, in the fonts of its viewer."""
    console = Console(record=True, width=columns, file=StringIO(), force_terminal=True, highlight=False)
    console.print(f"$ {words}", style="bold", markup=False, soft_wrap=True)
    console.print(Text.from_ansi(printed.rstrip("\n")))
    svg = console.export_svg(title=f"{columns} columns", unique_id=f"terminal-{columns}")
    svg = _FONTS.sub("", svg).replace("Fira Code", "monospace")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main(words: Sequence[str]) -> None:
    """Write the picture; the words are FILE COLUMNSxROWS COMMAND..."""
    file, size, *argv = words
    columns, rows = (int(part) for part in size.split("x"))
    svg = svg_of_output(shlex.join(argv), output_in_terminal(argv, columns, rows), columns)
    Path(file).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
