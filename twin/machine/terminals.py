"""Which processes somebody runs at a terminal."""

from pathlib import Path
from typing import Final

_TERMINAL: Final = 4
"""Fields of /proc/PID/stat after the name in parentheses: state, parent, group, session, terminal (proc(5))."""


def program_at_terminal(process: int) -> str:
    """The name of a process that has a controlling terminal; empty if it has none, or has ended."""
    try:
        text = (Path("/proc") / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    before, _, fields = text.rpartition(")")
    return before.partition("(")[2] if fields.split()[_TERMINAL] != "0" else ""
