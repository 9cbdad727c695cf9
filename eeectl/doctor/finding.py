"""One finding of the doctor, and the command in a sentence."""

import re
from dataclasses import dataclass
from typing import Literal

Severity = Literal["missing", "optional"]
"""Missing: what `what` is for does not work without it. Optional: only what `sentence` names does not."""

_COMMAND = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is missing or wrong; `command` mends it, or shows more where only a person can mend it."""

    what: str
    sentence: str
    command: str
    severity: Severity = "missing"


def command_in(sentence: str, otherwise: str) -> str:
    """The first command in backticks that a sentence names, else another."""
    found = [text for text in _COMMAND.findall(sentence) if " " in text]
    return found[0] if found else otherwise
