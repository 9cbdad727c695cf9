"""Selection of valid echoes."""

import numpy as np

from analysis.links.probes import Probes

NAN = float("nan")


def test_an_echo_counts_if_it_was_punctual_and_it_and_the_one_before_were_answered() -> None:
    probes = Probes.of([0, 10, 20, 30, 40, 50], [5, 5, NAN, 5, 5, 5], punctual=[True, True, True, True, False, True])
    assert probes.usable.tolist() == [False, True, False, False, False, True]
    assert Probes.of([0, 10], [5, 5]).usable.tolist() == [False, True]
    assert np.array_equal(probes.gap_us[1:], np.full(5, 10.0))
