"""Pages for the site's Markdown library, which reads lists and fences more narrowly than CommonMark does."""

import re
from typing import Final

_MARKS: Final = re.compile(r"^( *```\w+) .*$")
_FENCE: Final = re.compile(r"^( *)```")


def adapted(text: str) -> str:
    """The page with fences that name their language only, and with what a list's item holds indented by four."""
    lines: list[str] = []
    outer = False
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if fence and not fence[1]:
            outer = not outer
        deeper = " " if line.startswith("   ") and not outer else ""
        lines.append(deeper + _MARKS.sub(r"\1", line))
    return "\n".join(lines) + "\n"
