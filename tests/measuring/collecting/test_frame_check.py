"""Octets held against frames: counters that count are never doubted, those that stand still always are."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.measuring.collecting.frame_check import FrameCheck, counts_nothing
from tests.support.laws import law

MIB = 2**20
_CASTS = ("unicast", "multicast", "broadcast")


def _counters(byte: int, *frames: int | None) -> dict[str, list[int | None]]:
    return {"in_byte": [byte], **{f"in_{cast}_frame": [count] for cast, count in zip(_CASTS, frames, strict=True)}}


@law(50)
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(64, 65_535)), min_size=1, max_size=40),
    st.integers(0, 2),
    st.integers(0, 500 * MIB),
)
def test_counters_that_count_are_never_doubted(steps: Sequence[tuple[int, int]], cast: int, ahead_byte: int) -> None:
    """Whatever the size of frames, and though octets are polled earlier or later than frames by some seconds."""
    check, byte, counts = FrameCheck(), 10**9, [10**6, 0, 0]
    assert not check.wrong(_counters(byte, *counts), [""])
    for count, size_byte in ((20_000, 1_500), *steps):
        byte += count * size_byte
        counts[cast] += count
        assert not check.wrong(_counters(byte + ahead_byte % (20_000 * 1_500), *counts), [""])


@law(50)
@given(st.integers(2 * MIB, 10**12), st.integers(0, 10**12))
def test_a_counter_that_is_zero_beside_octets_is_wrong_from_the_first_reading(byte: int, later: int) -> None:
    assert FrameCheck().wrong(_counters(byte, 0, 0, 0), [""]).keys() == {f"in_{cast}_frame" for cast in _CASTS}
    check = FrameCheck()
    assert not check.wrong(_counters(0, 0, 0, 0), [""])
    assert not check.wrong(_counters(later % MIB, 0, 0, 0), [""])
    assert check.wrong(_counters(later % MIB + byte, 0, 0, 0), [""])


def test_only_the_counter_that_stood_still_is_wrong() -> None:
    """Some frames of LLDP do not explain 100 MB."""
    check = FrameCheck()
    check.wrong(_counters(10**9, 5_000_000, 70, 3), [""])
    assert dict(check.wrong(_counters(10**9 + 10**8, 5_000_000, 72, 3), [""])) == {
        "in_unicast_frame": {0},
        "in_broadcast_frame": {0},
    }


def test_a_counter_that_stops_later_is_noticed_and_a_reset_port_starts_again() -> None:
    check, byte = FrameCheck(), 10**9
    check.wrong(_counters(byte, 10**6, 0, 0), [""])
    check.wrong(_counters(byte + 10**9, 2 * 10**6, 0, 0), [""])
    found = [check.wrong(_counters(byte + 10**9 * n, 2 * 10**6, 0, 0), [""]) for n in (2, 3, 4)]
    assert any(found)
    assert not check.wrong(_counters(100, 1, 0, 0), ["reset"])


def test_a_missing_value_is_no_zero() -> None:
    assert not FrameCheck().wrong(_counters(10**9, None, None, None), [""])


@pytest.mark.parametrize(
    ("wide", "narrow", "frames", "replaced"),
    [
        ([0, 0], [7, 0], True, True),
        ([0, 0], [7, 0], False, True),
        ([0, 9], [7, 9], True, True),  # one port is enough
        ([5, 9], [5, 9], True, False),
        ([0, 9], [0, 9], True, False),  # an idle port proves nothing
        ([0, 0], [0, 0], True, True),  # nobody knows yet
        ([0, 0], [0, 0], False, False),  # 32 bits of octets last for seconds
        ([0, 0], [None, None], True, False),
    ],
)
def test_a_wide_counter_that_counts_nothing_is_replaced(
    wide: list[int | None], narrow: list[int | None], *, frames: bool, replaced: bool
) -> None:
    assert counts_nothing(wide, narrow, frames=frames) is replaced
