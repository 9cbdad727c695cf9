"""Exit statuses of the commands."""

from collections.abc import Iterable
from typing import Final

from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.study.ending import DONE, INTERRUPTED, PENDING

__all__ = ["BROKEN", "DONE", "INTERRUPTED", "NOT_SHOWN", "PENDING", "REFUSED", "WRONG_USE", "Unsuccessful"]

REFUSED: Final = 1
"""Refused or failed; standard error says why."""

WRONG_USE: Final = 2

BROKEN: Final = 4
"""An expectation of `eeectl check` does not hold."""

NOT_SHOWN: Final = 5
"""The data do not show whether an expectation of `eeectl check` holds."""


class Unsuccessful(LabError):
    """A verb ended with an exit status after it had printed what it has; `sentences` say what failed, one a line."""

    def __init__(self, sentences: Iterable[str], status: int = REFUSED) -> None:
        self.sentences = tuple(sentences)
        self.status = status
        super().__init__("\n".join(self.sentences))
