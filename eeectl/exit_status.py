"""Exit statuses of the commands."""

from typing import Final

from eee_testbed.measuring.study.ending import DONE, INTERRUPTED, PENDING

__all__ = ["BROKEN", "DONE", "INTERRUPTED", "NOT_SHOWN", "PENDING", "REFUSED", "WRONG_USE"]

REFUSED: Final = 1
"""Refused or failed; standard error says why."""

WRONG_USE: Final = 2

BROKEN: Final = 4
"""An expectation of `eeectl check` does not hold."""

NOT_SHOWN: Final = 5
"""The data do not show whether an expectation of `eeectl check` holds."""
