"""Bounds are percent."""

import pytest

from eee_testbed.eeectl.bounds import slowdown_percent
from eee_testbed.lab.errors import LabError


def test_the_sign_may_be_there() -> None:
    assert slowdown_percent("0") == 0.0
    assert slowdown_percent("1000%") == 1000.0


@pytest.mark.parametrize("text", ["", "%", "one", "-1", "1001%", "nan", "1%%"])
def test_what_is_no_slowdown_is_refused(text: str) -> None:
    with pytest.raises(LabError, match="is not a slowdown: give percent, as in 1%"):
        slowdown_percent(text)
