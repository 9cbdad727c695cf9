"""Help shows a default only where it says something."""

from pathlib import Path
from typing import Any

import pytest

from eee_testbed.eeectl.default_text import default_text


@pytest.mark.parametrize("value", [None, False, "", ()])
def test_what_was_not_given_has_no_default(value: Any) -> None:
    assert default_text(value) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "on"), (("n01", "n02"), "n01, n02"), (Path("runs"), "runs"), (0, "0"), (0.0, "0.0"), ("auto", "auto")],
)
def test_other_defaults_are_words(value: Any, text: str) -> None:
    assert default_text(value) == text
