"""The documentation's pages as tests see them: fenced blocks with their language and marks."""

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support import ROOT

LANGUAGES: Final = frozenset({"sh", "python", "yaml", "text", ""})
MARKS: Final = frozenset({"no-run", "bare-nodes"})
_FENCE: Final = re.compile(r"^ *```")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `line` is that of its fence.

    `marks` are the words behind its language: no-run, or bare-nodes, for one that runs on nodes to be set up.
    """

    page: Path
    line: int
    language: str
    marks: frozenset[str]
    text: str

    @property
    def place(self) -> str:
        """PAGE:LINE."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> tuple[Path, ...]:
    """The README and every page of docs."""
    return (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


def blocks_of(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    begun: tuple[int, list[str]] | None = None
    held: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not _FENCE.match(line):
            held.append(line)
        elif begun is None:
            begun, held = (number, line.strip().removeprefix("```").split()), []
        else:
            (first, words), begun = begun, None
            language = words[0] if words else ""
            yield Block(page, first, language, frozenset(words[1:]), textwrap.dedent("\n".join(held) + "\n"))
    assert begun is None, f"{page}: the block of line {begun and begun[0]} is not closed"


def eeectl_lines(script: str) -> Iterator[list[str]]:
    """The arguments of every call of `eeectl` in a shell script, up to what the shell does with its output."""
    for line in script.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        call: list[str] | None = None
        for word in words:
            if set(word) <= set("|&;()<>"):
                if call is not None:
                    yield call
                call = None
            elif call is not None:
                call.append(word)
            elif word == "eeectl":
                call = []
        if call is not None:
            yield call
