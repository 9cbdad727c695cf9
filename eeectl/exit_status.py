"""Exit statuses of the commands."""

from typing import Final

DONE: Final = 0
REFUSED: Final = 1
"""Refused or failed; standard error says why."""

WRONG_USE: Final = 2
PENDING: Final = 3
"""Something is still to be done: changes were found, or trials are missing."""

BROKEN: Final = 4
"""An expectation of `eeectl check` does not hold."""

NOT_SHOWN: Final = 5
"""The data do not show whether an expectation of `eeectl check` holds."""

INTERRUPTED: Final = 130
"""After Ctrl-C."""
