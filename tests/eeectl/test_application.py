"""Errors become one sentence and a documented exit status."""

import pytest

from eeectl.application import _told
from eeectl.exit_status import INTERRUPTED, REFUSED
from lab.errors import LabError


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (LabError("no lab 'x'."), REFUSED, "no lab 'x'."),
        (KeyboardInterrupt(), INTERRUPTED, "interrupted; what was begun has been undone."),
        (PermissionError(13, "Permission denied", "/a/file"), REFUSED, "/a/file cannot be used: Permission denied."),
        (KeyError("x"), REFUSED, "unexpected KeyError: 'x'; run it again with --debug and report the trace."),
        (OSError("odd"), REFUSED, "unexpected OSError: odd; run it again with --debug and report the trace."),
    ],
)
def test_an_error_is_told_in_one_sentence(error: BaseException, status: int, sentence: str) -> None:
    assert _told(error) == (status, sentence)
