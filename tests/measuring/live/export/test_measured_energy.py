"""Joules of strips: power integrated over samples, as a run's own files give it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.measuring.live.export.measured_energy import MeasuredEnergy
from eee_testbed.record.sample_tables import Batch
from tests.support.laws import law

_S = 1_000_000_000


def _watts(at_s: float, watt: float | None, mark: str = "") -> Batch:
    at_ns = round(at_s * _S)
    times = {"strip": "pdu1", "tick": 1, "due_ns": at_ns, "sent_ns": at_ns - 1_000, "received_ns": at_ns + 1_000}
    rows = {"outlet": [0, 1], "power_watt": [watt, 1e6], "mark": [mark, ""]}
    return Batch("watts", 2, {**times, **rows})


def _joules(*batches: Batch) -> float:
    energy = MeasuredEnergy()
    for batch in batches:
        energy.take(batch)
    return energy.joules["pdu1"]


@law(30)
@given(st.lists(st.tuples(st.floats(0.1, 20.0), st.floats(0.0, 5_000.0)), min_size=2, max_size=20))
def test_it_is_the_integral_of_the_power(samples: list[tuple[float, float]]) -> None:
    times, at_s = [], 0.0
    for gap_s, watt in samples:
        at_s += gap_s
        times.append((at_s, watt))
    integral = sum((b - a) * (before + after) / 2 for (a, before), (b, after) in pairwise(times))
    assert _joules(*(_watts(*sample) for sample in times)) == pytest.approx(integral, rel=1e-6, abs=1e-5)


def test_nothing_is_counted_where_nothing_is_known() -> None:
    assert _joules(_watts(0, 50), _watts(1, 50), _watts(100, 50), _watts(101, 50)) == pytest.approx(100)
    assert _joules(_watts(0, 50), _watts(1, None), _watts(2, 50)) == pytest.approx(100)
    assert _joules(_watts(0, 50), _watts(1, 900, "stale"), _watts(2, 50)) == pytest.approx(100)
