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

_WALL_VERBS: Final = frozenset({"check", "compare", "fit", "predict", "report"})
"""Verbs that work on run folders alone."""

_LAB_VERBS: Final = frozenset({"capture", "check", "exec", "fault", "shell", "status", "truth"})
"""Verbs of `eeectl lab` that live in lab time; the others make, end or set the clock."""

_NO_LABS: Final = ("--method",)
"""Options whose values are called as a lab may be: `--method koibuchi`."""

_STATE_ROOT: Final = "/run/eee-testbed"


def join_lab(tokens: Sequence[str]) -> None:
    """Start this command anew in the time of the lab that it addresses, if that has a clock; else return."""
    if "LAB_CLOCK" in os.environ or not tokens or tokens[0] in _WALL_VERBS:
        return
    if tokens[0] == "lab" and (len(tokens) < 2 or tokens[1] not in _LAB_VERBS):
        return
    page = clock_of(tokens, Path(os.environ.get("EEE_STATE_DIR", _STATE_ROOT)), os.environ.get("EEE_LAB", ""))
    if page is not None:
        from eee_testbed.twin.machine.lab_clock import environment  # noqa: PLC0415 - only for a lab with a clock

        joined = {**os.environ, **environment(str(page), os.environ)}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], joined)  # noqa: S606 - no shell is wanted


def clock_of(tokens: Sequence[str], root: Path, preferred: str) -> Path | None:
    """The clock of the lab that is named by `--lab`, another word, a run, a study or an experiment, in that order.

    If none is, that of the preferred lab, or of the only one that is up. `root` is the folder of the labs' state. None:
    that lab has no clock.
    """
    try:
        clocks = {page.parent.name: page for page in root.glob("*/clock")}
    except OSError:
        clocks = {}
    if not clocks:
        return None
    words = _words(tokens[1:])
    for word in words:
        name = _lab_in(Path(word) / "run.yaml") or _lab_in(Path(word) / "study.yaml") or Path(word).name
        if name in clocks:
            return clocks[name]
        if (Path(word) / "hosts.yml").exists() or any(root.is_dir() for root in _shipped(word)):
            return None  # another lab
    for name in (_lab_in(Path(word)) for word in words if word.endswith((".yaml", ".yml"))):
        if name:
            return clocks.get(name)
    if preferred:
        return clocks.get(Path(preferred).name)
    running = [path.parent.name for path in root.glob("*/lab.json")]
    return clocks.get(running[0] if len(running) == 1 else "virtual")


def _words(tokens: Sequence[str]) -> list[str]:
    """Words that may name a lab, those of `--lab` first; none from `--` on."""
    given = tokens[: tokens.index("--")] if "--" in tokens else tokens
    words = [part for one in given for part in (one.split("=", 1) if one.startswith("--") else [one])]
    after = [*zip(["", *words], words, strict=False)]
    others = [word for before, word in after if before not in ("--lab", *_NO_LABS)]
    return [word for before, word in after if before == "--lab"] + others


def _shipped(word: str) -> tuple[Path, ...]:
    return (Path("inventory") / word,) if re.fullmatch(r"[\w.-]+", word) else ()


def _lab_in(file: Path) -> str:
    """The name of the lab that the file of a run, a study or an experiment has; empty if there is none."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    match = re.search(r"^lab: *['\"]?([^\s'\"#]+)", text, re.MULTILINE)
    return Path(match[1]).name if match else ""
