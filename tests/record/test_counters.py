"""Differences of counters that only grow."""

import pytest

from eee_testbed.record.counters import increase, went_back


@pytest.mark.parametrize(
    ("before", "after", "more", "back"),
    [(5, 8, 3, False), (5, 5, 0, False), (5, 3, None, True), (None, 3, None, False), (5, None, None, False)],
)
def test_a_counter_that_went_back_or_is_missing_has_no_increase(
    before: int | None, after: int | None, more: int | None, *, back: bool
) -> None:
    assert increase(before, after) == more
    assert went_back(before, after) == back
