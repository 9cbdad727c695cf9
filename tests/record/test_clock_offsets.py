"""Offsets: the truth is always inside the bound."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.record.clock_offsets import (
    UPTIME_STEP_NS,
    Exchange,
    Offset,
    by_chrony,
    chrony_bound_ns,
    offset_of,
    uptime_exchange,
)

_TRACKING = (
    "C0A80101,ntp,3,1700000000.1,-0.000012000,0.00001,0.00002,1.5,0.001,0.01,0.000400000,0.000100000,64.2,Normal\n"
)


@given(st.integers(-(10**18), 10**18), st.integers(0, 2**32), st.integers(1, 12))
def test_the_true_offset_is_within_the_bound_however_asymmetric_the_path(true_ns: int, seed: int, count: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - drawn ways, no secrets
    exchanges, now = [], 10**18
    for _ in range(count):
        there, back = rng.randint(1, 10**6), rng.randint(1, 10**9)
        exchanges.append(Exchange(now, now + there + true_ns, now + there + back))
        now += there + back + rng.randint(0, 10**6)
    found = offset_of("n01", "ssh round trips", exchanges)
    assert found.consistent
    assert abs(found.offset_ns - true_ns) <= found.bound_ns + 1
    assert found.bound_ns <= min(one.received_ns - one.sent_ns for one in exchanges) // 2 + 2


@given(st.integers(0, 10**15), st.integers(0, 2**32))
def test_a_clock_of_hundredths_is_known_to_less_than_one(zero_ns: int, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - drawn ways, no secrets
    exchanges = []
    for tick in range(20):
        sent = 10**18 + tick * 10**9
        asked = sent + rng.randint(0, 5_000_000)
        uptime_ms = (asked - 10**18 + zero_ns) // UPTIME_STEP_NS * 10
        exchanges.append(uptime_exchange(sent, uptime_ms, asked + rng.randint(0, 5_000_000)))
    found = offset_of("sw1", "sysUpTime", exchanges, UPTIME_STEP_NS)
    assert found.consistent
    assert abs(found.offset_ns - (zero_ns - 10**18)) <= found.bound_ns + 1
    assert found.bound_ns <= 10_000_000


def test_a_stepped_clock_is_inconsistent_and_its_bound_covers_both_offsets() -> None:
    exchanges = [Exchange(0, 1_000, 10), Exchange(100, 9_100, 110)]
    found = offset_of("n01", "ssh round trips", exchanges)
    assert not found.consistent
    assert found.offset_ns - found.bound_ns <= 995
    assert found.offset_ns + found.bound_ns >= 8_995


def test_chronys_tracking_gives_a_bound() -> None:
    assert chrony_bound_ns(_TRACKING) == 12_000 + 100_000 + 200_000
    assert chrony_bound_ns(_TRACKING.replace("Normal", "Not synchronised")) is None
    assert chrony_bound_ns("506 Cannot talk to daemon") is None
    offset = by_chrony("n01", _TRACKING, _TRACKING, 7, -40)
    assert offset == Offset("n01", "chrony", 7, -40, 624_000)
    assert by_chrony("n01", _TRACKING, "", 7, 0) is None


def test_an_offset_needs_an_exchange() -> None:
    with pytest.raises(ValueError, match="at least one exchange"):
        offset_of("n01", "ssh round trips", [])
