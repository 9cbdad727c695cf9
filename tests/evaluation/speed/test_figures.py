"""Ratios of paired measurements, and what a record has of them."""

import pytest

from evaluation.records import Figure
from evaluation.speed.figures import paired


def test_a_ratio_is_that_of_pairs_and_not_of_medians() -> None:
    ratio = paired("echoes", "us", [2.0, 6.0, 10.0], [1.0, 2.0, 2.0])
    assert (ratio.ours, ratio.other, ratio.ratio, ratio.pairs) == (6.0, 2.0, 3.0, 3)
    assert 2.0 <= ratio.ratio_low <= 3.0 <= ratio.ratio_high <= 5.0
    with pytest.raises(ValueError, match="zip"):
        paired("echoes", "us", [1.0], [1.0, 2.0])


def test_a_record_has_both_sides_and_the_ratio() -> None:
    figure = paired("echoes", "us", [2.0, 2.0], [4.0, 4.0]).figure()
    assert figure == Figure(value=2, anchor_value=4, ratio=0.5, ratio_low=0.5, ratio_high=0.5, n=2)
