"""What a record has of many blind fits."""

import pytest

from evaluation.accuracy.blind_links import held_figure


def test_all_intervals_of_all_truths_are_counted_together() -> None:
    figure = held_figure([{"held": {"hold": [True, False], "wake": [True]}}, {"held": {}}, {"held": {"hold": [True]}}])
    assert figure is not None
    assert (figure.value, figure.held, figure.n) == (75.0, "3 of 4", 3)
    assert figure.low == pytest.approx(19.4, abs=0.1)
    assert held_figure([{"held": {}}]) is None
