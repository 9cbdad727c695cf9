"""Gaps, packets and time stamps of the probe, without a network."""

import socket
import struct
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.agents.echo.history import Echo, Tally, quantiles
from eee_testbed.agents.echo.icmp_socket import checksum, echo_request, key_of, stamps_of
from eee_testbed.agents.echo.plan import drawn_ns, parse_range, parse_steps, stepped_ns
from eee_testbed.agents.stream import AgentError
from tests.support import ROOT
from tests.support.laws import law


@law(60)
@given(low=st.floats(1, 1e5), ratio=st.floats(1, 1e3), seed=st.integers(0, 99), log=st.booleans())
def test_drawn_gaps_are_in_their_range_and_come_again(low: float, ratio: float, seed: int, *, log: bool) -> None:
    gaps = list(drawn_ns(low, low * ratio, 50, log=log, seed=seed))
    assert all(low * 1_000 - 1 <= gap <= low * ratio * 1_000 + 1 for gap in gaps)
    assert gaps == list(drawn_ns(low, low * ratio, 50, log=log, seed=seed))
    if ratio > 2:
        assert gaps != list(drawn_ns(low, low * ratio, 50, log=log, seed=seed + 1))


def test_a_log_draw_has_as_many_gaps_in_each_decade() -> None:
    gaps = list(drawn_ns(100, 100_000, 6_000, log=True, seed=1))
    decades = [sum(10**n * 1_000 <= gap < 10 ** (n + 1) * 1_000 for gap in gaps) for n in (2, 3, 4)]
    assert all(1_850 < count < 2_150 for count in decades), decades
    even = list(drawn_ns(100, 100_000, 6_000, log=False, seed=1))
    assert sum(gap > 50_050_000 for gap in even) == pytest.approx(3_000, abs=150)


def test_steps() -> None:
    assert parse_steps("500,1000.5", 1e6) == (500.0, 1000.5)
    found = parse_steps("50:100000:4", 1e6)
    assert found[0] == pytest.approx(50)
    assert found[-1] == pytest.approx(100_000)
    ratios = [b / a for a, b in pairwise(found)]
    assert ratios == pytest.approx([ratios[0]] * 3)
    assert list(stepped_ns((2.0, 1.0), 2, shuffled=False, seed=0)) == [2_000, 2_000, 1_000, 1_000]
    assert parse_range("1:1", 10) == (1.0, 1.0)
    with pytest.raises(AgentError) as refused:
        parse_range("1:11", 10)
    assert refused.value.status == 2


@given(payload=st.integers(0, 200), identifier=st.integers(0, 65_535), sequence=st.integers(0, 65_535))
def test_an_echo_request_sums_to_zero(payload: int, identifier: int, sequence: int) -> None:
    packet = echo_request(identifier, sequence, payload)
    assert len(packet) == 8 + payload
    assert checksum(packet) == 0
    assert struct.unpack_from("!BBxxHH", packet) == (8, 0, identifier, sequence)


def test_a_known_checksum() -> None:
    """The example of RFC 1071, section 3."""
    assert checksum(bytes([0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7])) == 0xFFFF ^ 0xDDF2


def test_stamps_of_software_and_hardware() -> None:
    both = struct.pack("6l", 10, 5, 0, 0, 20, 7)
    message = [(socket.SOL_SOCKET, 37, both)]
    stamps = stamps_of(message)
    assert stamps is not None
    assert (stamps.software_ns, stamps.hardware_ns) == (10_000_000_005, 20_000_000_007)
    only = stamps_of([(socket.SOL_SOCKET, 37, struct.pack("6l", 0, 0, 0, 0, 20, 7))])
    assert only is not None
    assert (only.software_ns, only.hardware_ns) == (None, 20_000_000_007)
    assert stamps_of([(socket.SOL_SOCKET, 29, both)]) is None


def test_the_key_of_a_departure_is_not_that_of_an_icmp_error() -> None:
    extended = struct.pack("IBBBBII", 42, 4, 0, 0, 0, 0, 17)
    assert key_of([(0, 11, extended)]) == 17
    assert key_of([(0, 11, struct.pack("IBBBBII", 113, 2, 3, 1, 0, 0, 17))]) is None
    assert key_of([]) is None


def test_a_row_of_an_echo_stamped_by_the_card_too() -> None:
    echo = Echo(3, 1_000, 5_000, 5_900, last_transmit_ns=4_500, last_receive_ns=None)
    echo.sent_ns, echo.sent_hardware_ns, echo.answered_ns, echo.answered_hardware_ns = 6_000, 100, 6_900, 850
    assert echo.row() == (3, 1_000, 1_000, 1_500, None, 6_000, 900, 750)
    tally = Tally()
    tally.count(echo)
    tally.count(Echo(4, 1_000, 5_000, 5_900))
    lost = Echo(5, 1_000, None, 5_900, sent_ns=6_000)
    tally.count(lost)
    told = tally.as_dict()
    assert (told["echoes_sent"], told["echoes_unsent"], told["echoes_lost"]) == (2, 1, 1)
    assert told["rtt"]["median_ns"] == 900
    assert told["late"]["most_ns"] == 1_000
    assert quantiles([]) is None
    assert quantiles([4, 1, 3, 2, 5]) == {"least_ns": 1, "median_ns": 3, "p90_ns": 4, "p99_ns": 4, "most_ns": 5}


_LEAVE = """
import os, sys
from eee_testbed.agents.echo.quiet_cpu import QuietCpu
allowed = os.sched_getaffinity(0)
cpu = QuietCpu(None, 0)
left = cpu.leave()
now = os.sched_getaffinity(0)
assert (left is None) == (len(allowed) == 1), left
assert now == (allowed if left is None else allowed - {left}), now
again = cpu.leave()
assert again is None or os.sched_getaffinity(0) == allowed - {again} and again in now
pinned = QuietCpu(min(os.sched_getaffinity(0)), 0)
assert pinned.leave() is None
"""


def test_a_busy_cpu_is_left_unless_the_program_is_pinned() -> None:
    subprocess.run([sys.executable, "-c", _LEAVE], check=True, cwd=ROOT)
