"""What the commands' exit statuses mean."""

from typing import Final

DONE: Final = 0
REFUSED: Final = 1
"""Refused or failed, and said why."""

WRONG_USE: Final = 2
PENDING: Final = 3
"""Something is still to be done: changes that were found, or trials that are missing."""

INTERRUPTED: Final = 130
"""After Ctrl-C."""
