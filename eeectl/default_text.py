"""The default of an option as help and reference show it; none where it only means that the option was not given."""

from pathlib import Path
from typing import Any


def default_text(value: Any) -> str | None:
    """A default in a reader's words; None for what is empty or off."""
    match value:
        case None | False | "" | ():
            return None
        case True:
            return "on"
        case tuple():
            return ", ".join(map(str, value))
        case Path():
            return value.as_posix()
        case _:
            return str(value)
