"""The twin's account between two answers: what is interpolated, the shares, and the joules."""

from typing import TYPE_CHECKING

import pytest

from eee_testbed.twin.truth.truth import PortPowerTruth
from evaluation.accuracy.live_states import Answer, joule_between, shares_between, totals_at

if TYPE_CHECKING:
    from eee_engine import TimeInState

PS = 10**12


def spent(active_s: float, quiet_s: float, transmit_s: float = 0.0) -> "TimeInState":
    total = round((active_s + quiet_s) * PS)
    return {
        "down_ps": 0,
        "active_ps": round(active_s * PS),
        "transmit_ps": round(transmit_s * PS),
        "sleep_ps": 0,
        "quiet_ps": round(quiet_s * PS),
        "refresh_ps": 0,
        "wake_ps": 0,
        "fast_ps": 0,
        "total_ps": total,
        "wakes": 0,
        "lpi_events": 0,
        "up_by_mbps": {1000: total},
    }


ANSWERS = [
    Answer(1_000, {"sw1:p1": spent(1, 0), "n01:eth0": spent(1, 0)}),
    Answer(3_000, {"sw1:p1": spent(2, 1, 0.5), "n01:eth0": spent(3, 0)}),
]


def test_totals_between_two_answers_are_interpolated() -> None:
    totals = totals_at(ANSWERS, 2_000)
    assert totals["sw1:p1"] == spent(1.5, 0.5, 0.25)


def test_a_moment_that_was_not_watched_is_refused() -> None:
    for at_ns in (500, 3_500):
        with pytest.raises(ValueError, match="not watched"):
            totals_at(ANSWERS, at_ns)


def test_shares_are_of_the_ends_that_are_named() -> None:
    before, after = (one.ports for one in ANSWERS)
    shares = shares_between(before, after, ["sw1:p1"])
    assert (shares.transmit, shares.idle, shares.low_power) == (0.25, 0.25, 0.5)
    assert shares_between(before, after, ["sw1:p1", "n01:eth0"]).low_power == 0.25


def test_a_port_draws_by_both_directions_of_its_cable() -> None:
    before, after = (one.ports for one in ANSWERS)
    truth = PortPowerTruth(up_watt={1000: 1.0}, deep_fraction=0.2)
    partner = {"sw1:p1": "n01:eth0", "n01:eth0": "sw1:p1"}
    # Two seconds: half of 1 W for the direction that was awake, and of the other one awake for 1 s of 2.
    assert joule_between(before, after, partner, {"sw1:p1": truth}) == pytest.approx(1.0 + 0.5 * (1 + 0.2))
