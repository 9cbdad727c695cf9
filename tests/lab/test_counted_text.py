"""One of a thing has no s."""

import pytest

from eee_testbed.lab.counted_text import counted


@pytest.mark.parametrize(("count", "text"), [(0, "0 links"), (1, "1 link"), (2, "2 links"), (11, "11 links")])
def test_only_one_is_singular(count: int, text: str) -> None:
    assert counted(count, "link") == text
