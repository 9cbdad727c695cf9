"""A command that addresses a virtual lab with a clock of its own lives in that lab's time.

The controller knows nothing of it: the command is started anew with the lab's clock preloaded. On a rack, or a lab
without a clock, nothing happens.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_WALL_VERBS: Final = frozenset({"compare", "fit", "predict", "report"})
"""Verbs that work on run folders alone."""

_LAB_VERBS: Final = frozenset({"capture", "check", "exec", "fault", "shell", "status", "truth"})
"""Verbs of `eeectl lab` that live in lab time; the others make, end or set the clock."""

_STATE_ROOT: Final = "/run/eee-testbed"


def join_lab(tokens: Sequence[str]) -> None:
    """Start this command anew in the time of the lab that it addresses, if that has a clock; else return."""
    if "LAB_CLOCK" in os.environ or not tokens or tokens[0] in _WALL_VERBS:
        return
    if tokens[0] == "lab" and (len(tokens) < 2 or tokens[1] not in _LAB_VERBS):
        return
    root = Path(os.environ.get("EEE_STATE_DIR", _STATE_ROOT))
    try:
        clocks = {page.parent.name: page for page in root.glob("*/clock")}
    except OSError:
        return
    page = _addressed(tokens, clocks, root) if clocks else None
    if page is not None:
        from twin.machine.lab_clock import environment  # noqa: PLC0415 - only for a lab with a clock

        joined = {**os.environ, **environment(str(page), os.environ)}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], joined)  # noqa: S606 - no shell is wanted


def _addressed(tokens: Sequence[str], clocks: dict[str, Path], root: Path) -> Path | None:
    """The clock of the lab that is named by a word, an option's value or a run's folder; else of the default lab."""
    words = [word.partition("=")[2] if word.startswith("--") and "=" in word else word for word in tokens[1:]]
    for word in words[: words.index("--")] if "--" in words else words:
        name = _lab_of_run(Path(word)) or Path(word).name
        if name in clocks:
            return clocks[name]
        if (Path(word) / "hosts.yml").exists() or any(root.is_dir() for root in _shipped(word)):
            return None  # another lab
    if "EEE_LAB" in os.environ:
        return clocks.get(Path(os.environ["EEE_LAB"]).name)
    running = [path.parent.name for path in root.glob("*/lab.json")]
    return clocks.get(running[0] if len(running) == 1 else "virtual")


def _shipped(word: str) -> tuple[Path, ...]:
    return (Path("inventory") / word,) if re.fullmatch(r"[\w.-]+", word) else ()


def _lab_of_run(folder: Path) -> str:
    try:
        text = (folder / "run.yaml").read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r"^lab: *(\S+)", text, re.MULTILINE)
    return Path(found[1]).name if found else ""
