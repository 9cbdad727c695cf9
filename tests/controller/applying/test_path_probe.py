"""What the output of iputils' `ping -D -O` shows about a change."""

import pytest

from eee_testbed.controller.applying.path_probe import missed_of, path_loss

LINES = """PING 198.19.0.5 (198.19.0.5) 56(84) bytes of data.
[1700000000.000100] 64 bytes from 198.19.0.5: icmp_seq=1 ttl=64 time=0.100 ms
[1700000000.010100] 64 bytes from 198.19.0.5: icmp_seq=2 ttl=64 time=0.101 ms
[1700000000.030200] no answer yet for icmp_seq=3
[1700000000.040200] no answer yet for icmp_seq=4
[1700000000.041000] 64 bytes from 198.19.0.5: icmp_seq=4 ttl=64 time=10.9 ms
[1700000000.040900] 64 bytes from 198.19.0.5: icmp_seq=5 ttl=64 time=0.100 ms
[1700000000.060200] no answer yet for icmp_seq=6
""".splitlines()


def test_late_answers_are_answers_and_the_last_echo_is_left_open() -> None:
    echoes, lost = missed_of(LINES)
    assert echoes == 5
    assert [(one.number, one.noticed_ns) for one in lost] == [(3, 1_700_000_000_030_200_000)]


def test_the_first_lost_echo_is_timed_from_the_first_order() -> None:
    loss = path_loss("n01:n05", 0.01, LINES, 1_700_000_000_000_000_000, 2_000_000)
    assert loss.first_lost_s == pytest.approx(0.0202)
    assert loss.bound_s == pytest.approx(0.012)
    assert str(loss) == "n01:n05: 1 of 5 echoes, one each 10 ms, were lost, the first 0.020 s after the first order"


def test_nothing_lost_and_nothing_sent() -> None:
    assert path_loss("n01:n05", 0.01, LINES[:3], None, 0).lost == 0
    assert "before the first order" in str(path_loss("n01:n05", 0.01, LINES, None, 0))
