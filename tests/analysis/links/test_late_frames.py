"""How often frames are late, from errors of round trips."""

import numpy as np
import pytest

from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.echo_delays import LEAST_LATE, Lateness
from eee_testbed.analysis.links.late_frames import measured_lateness


def _late(busy: Floats, random: np.random.Generator) -> Lateness:
    """What is measured where a frame is late with probability `busy`, by 2 to 60 us; the noise is 0.5 us."""
    count = len(busy)
    errors_us = 0.5 * random.standard_t(3, size=count)
    errors_us += (random.random(count) < busy) * np.exp(random.uniform(np.log(2.0), np.log(60.0), size=count))
    return measured_lateness(errors_us, float(np.median(np.abs(errors_us)) * 1.5))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.4])
def test_the_share_of_late_echoes_is_found_however_much_they_widen_the_noise(share: float) -> None:
    found = _late(np.full(3000, share), np.random.default_rng(4))
    assert found.share == pytest.approx(max(share, LEAST_LATE), abs=0.03)
    assert found.again == pytest.approx(max(share, LEAST_LATE), abs=0.05)


def test_late_echoes_that_follow_late_ones_are_seen_to() -> None:
    random = np.random.default_rng(5)
    busy = np.repeat(np.where(random.random(300) < 0.2, 0.8, 0.02), 10)
    found = _late(busy, random)
    assert found.share == pytest.approx(busy.mean(), abs=0.04)
    assert found.again > 2 * found.share


def test_none_are_seen_where_nothing_is_measured_but_one_value() -> None:
    found = measured_lateness(np.zeros(100), 1e-3)
    assert found == Lateness()
